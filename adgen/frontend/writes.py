"""How often each buffer has been written while a function is lowered.

An array expression that has not been computed yet remembers the versions of the buffers it reads, so that reading it
after one of them has changed is noticed.
"""

from __future__ import annotations

from adgen.frontend.complexes.types import memory_of
from adgen.ir import core
from adgen.ir.builder import Builder
from adgen.ir.nodes import Value


class Writes:
    """Counts the writes to every buffer of one builder."""

    def __init__(self, builder: Builder) -> None:
        self._builder = builder
        self._versions: dict[Value, int] = {}

    def root(self, base: Value) -> Value:
        """The buffer that owns the memory of a handle."""
        base = memory_of(base)
        operation = self._builder.definitions.get(base)
        while operation is not None and operation.row is core.RESHAPE:
            base = operation.operands[0]
            operation = self._builder.definitions.get(base)
        return base

    def version(self, root: Value) -> int:
        """The number of writes to a root so far."""
        return self._versions.get(root, 0)

    def written(self, base: Value) -> None:
        """Something in the memory of a handle changes."""
        root = self.root(base)
        self._versions[root] = self.version(root) + 1
