"""A builder that knows in which open block every value was made, and can emit into an outer one.

While the body of a loop is being built, the loop itself is not yet part of the block around it.  So an operation
emitted there now stands before the loop: that is how loop-invariant operations and checks are moved out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from adgen.ir.builder import Block, Builder
from adgen.ir.nodes import Operation, Value


class ScopedBuilder(Builder):
    """`home[value]` is the number of blocks that were open in the block that defines the value, itself included."""

    def __init__(self) -> None:
        super().__init__()
        self.home: dict[Value, int] = {}

    @contextmanager
    def block(self, arguments: Sequence[Value] = ()) -> Iterator[Block]:
        """Open a block, as `Builder.block` does."""
        with super().block(arguments) as block:
            for value in arguments:
                self.home[value] = len(self.blocks)
            yield block

    def append(self, operation: Operation) -> None:
        """Append a finished operation, as `Builder.append` does."""
        super().append(operation)
        for value in operation.results:
            self.home[value] = len(self.blocks)

    def level(self, values: Iterable[Value]) -> int:
        """The outermost level at which all the values can be used."""
        return max((self.home.get(value, 1) for value in values), default=1)

    @contextmanager
    def at(self, level: int) -> Iterator[None]:
        """Emit into the block that is open at a level, that is before the operation under construction there."""
        hidden = self.blocks[level:]
        del self.blocks[level:]
        try:
            yield
        finally:
            self.blocks.extend(hidden)
