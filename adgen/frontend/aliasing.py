"""Where a cell holds a copy and Python would have one array under two names, no program may tell the difference.

The finished function is walked as it would run, with which buffers are one array in Python (`pairs`) and which lack a
write that Python would have made through another name (`stale`).  Reading a stale buffer, or leaving an argument
without its write, is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NoReturn

from adgen.diagnostics import AdgenError, Span
from adgen.ir import core
from adgen.ir.nodes import Operation, Region, Value, walk

if TYPE_CHECKING:
    from adgen.frontend.context import Context

Owner = Callable[[Value], Value]


@dataclass(frozen=True)
class Move:
    """A cell takes the contents of a source: a buffer, or None for an expression without memory."""

    cell: Value | None
    source: Value | None
    name: str


def note(ctx: Context, first: int, moves: Sequence[Move]) -> None:
    """What the innermost open block got from operation `first` on does these moves."""
    made = ctx.builder.blocks[-1].operations[first:]
    for operation in made:
        ctx.upkeep.add(operation)
        for region in operation.regions:
            ctx.upkeep.update(walk(region))
    if made:
        ctx.moves[made[0]] = list(moves)


@dataclass
class Sharing:
    """What Python would hold in one array, at one point of the program."""

    pairs: set[frozenset[Value]] = field(default_factory=set)
    stale: dict[Value, tuple[str, Span | None]] = field(default_factory=dict)

    def copy(self) -> Sharing:
        """The same, to be changed independently."""
        return Sharing(set(self.pairs), dict(self.stale))

    def merge(self, other: Sharing) -> bool:
        """Add what holds on another path.  True: something was new."""
        new_pairs = other.pairs - self.pairs
        new_stale = {buffer: reason for buffer, reason in other.stale.items() if buffer not in self.stale}
        self.pairs |= new_pairs
        self.stale.update(new_stale)
        return bool(new_pairs or new_stale)

    def partners(self, buffer: Value) -> frozenset[Value]:
        """Every buffer that may be one array with this one in Python.

        Pairs are closed when they are made, on one path; pairs of different paths say nothing together.
        """
        return frozenset[Value]().union(*(pair for pair in self.pairs if buffer in pair)) - {buffer}

    def forget(self, buffer: Value) -> None:
        """The buffer is made anew."""
        self.stale.pop(buffer, None)
        self.pairs = {pair for pair in self.pairs if buffer not in pair}


def verify(region: Region, owner: Owner, moves: Mapping[Operation, Sequence[Move]], upkeep: Set[Operation]) -> None:
    """Raise AdgenError where a program could see that a cell and what it was copied from are two arrays."""
    if not moves:
        return
    walker = _Walker(owner, moves, upkeep, frozenset(region.arguments))
    state = Sharing()
    walker.block(region, state)
    for result in region.results:
        walker.read(state, owner(result))


@dataclass
class _Walker:
    owner: Owner
    moves: Mapping[Operation, Sequence[Move]]
    upkeep: Set[Operation]
    arguments: frozenset[Value]

    def block(self, region: Region, state: Sharing) -> None:
        """Run a region, changing the state."""
        for operation in region.operations:
            if operation in self.moves:
                self.move(state, self.moves[operation])
            if operation not in self.upkeep:
                self.operation(operation, state)
            elif operation.row is core.ALLOC:
                state.forget(operation.results[0])

    def operation(self, operation: Operation, state: Sharing) -> None:
        """Run one operation of the program."""
        if operation.row is core.ALLOC:
            state.forget(operation.results[0])
        elif operation.row is core.LOAD:
            self.read(state, self.owner(operation.operands[0]))
        elif operation.row in (core.STORE, core.ACCUMULATE):
            self.write(state, self.owner(operation.operands[0]), operation.span)
        elif operation.row is core.IF:
            other = state.copy()
            self.block(operation.regions[0], state)
            self.block(operation.regions[1], other)
            state.merge(other)
        elif operation.regions:
            self.loop(operation.regions, state)

    def loop(self, regions: Iterable[Region], state: Sharing) -> None:
        """Run a loop until another iteration adds nothing."""
        regions = tuple(regions)
        while True:
            after = state.copy()
            for region in regions:
                self.block(region, after)
            if not state.merge(after):
                return

    def read(self, state: Sharing, buffer: Value) -> None:
        """The program looks at a buffer."""
        if buffer in state.stale:
            _refuse(*state.stale[buffer])

    def write(self, state: Sharing, buffer: Value, span: Span | None) -> None:
        """The program changes a buffer: the others of its group lack the write."""
        for other in sorted(state.partners(buffer), key=lambda value: value.name):
            name = other.name or buffer.name or "this array"
            if other in self.arguments:
                _refuse(name, span)
            state.stale.setdefault(other, (buffer.name or name, span))

    def move(self, state: Sharing, moves: Sequence[Move]) -> None:
        """Cells take new contents, all at once."""
        before = state.copy()
        taken = {move.cell for move in moves}
        pairs: set[frozenset[Value]] = set()
        seen: list[tuple[Value, Value]] = []
        for move in moves:
            if move.cell is None or move.source is None:
                continue
            source = self.owner(move.source)
            self.read(before, source)
            partners = before.partners(source) - taken
            if source not in taken:
                partners |= {source}
            pairs |= {frozenset((move.cell, partner)) for partner in partners}
            for cell, other in seen:
                if other is source or frozenset((other, source)) in before.pairs:
                    pairs.add(frozenset((move.cell, cell)))
            seen.append((move.cell, source))
        for move in moves:
            if move.cell is not None:
                state.forget(move.cell)
        state.pairs |= pairs


def _refuse(name: str, span: Span | None) -> NoReturn:
    raise AdgenError(
        "AD341",
        f"this write may also change another array: in Python `{name}` shares its memory on some path",
        span,
        f"make it independent first: `{name} = {name}.copy()`",
    )
