"""Where values are made, used and alive: what decides which of them share a C variable and which get none.

Comes in: a function.  Goes out: counts of uses by operations that matter, and the stretches of time in which a value
is alive.  Guaranteed: two values that are never alive together may live in one variable.

Time is counted along the text.  An operation reads its operands at one tick and makes its results at a later one; what
lives through a loop lives at every tick of it; what is used in one branch of an `if` is not alive in the other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from adgen.diagnostics import Span
from adgen.ir import core
from adgen.ir.nodes import Function, Operation, Region, Value, walk
from adgen.ir.types import Buffer

Stretch = tuple[int, int]  # first and last tick


@dataclass(eq=False)
class Place:
    """A region in the text: its first and last tick, and the operation that owns it."""

    owner: Operation | None
    outer: Place | None
    start: int = 0
    end: int = 0
    whole: Stretch = (0, 0)  # the ticks of the owner

    @property
    def repeats(self) -> bool:
        """True when the region may be executed more than once each time its owner is reached."""
        return self.owner is not None and self.owner.row in core.LOOPS


@dataclass(eq=False)
class Uses:
    """Facts about the values of one function."""

    function: Function
    sized: frozenset[Value] = frozenset()  # buffers whose first extent the text needs even if no operation reads it
    count: Counter[Value] = field(default_factory=Counter)
    definition: dict[Value, Operation] = field(default_factory=dict)
    root: dict[Value, Value] = field(default_factory=dict)
    dead: set[Operation] = field(default_factory=set)
    born: dict[Value, tuple[Place, int]] = field(default_factory=dict)
    seen: dict[Value, list[tuple[Place, int]]] = field(default_factory=dict)
    user: dict[Value, Operation | None] = field(default_factory=dict)  # the last; None for the end of a region
    places: dict[Region, Place] = field(default_factory=dict)
    written: dict[Operation, frozenset[Value]] = field(default_factory=dict)  # buffers, by an operation with regions
    tick: int = 0

    def __post_init__(self) -> None:
        self.root.update((v, v) for v in self.function.parameters if isinstance(v.type, Buffer))
        self._count(self.function.body)
        self._number(self.function.body, Place(None, None))

    # -- counting ------------------------------------------------------------------------------------------------

    def _count(self, region: Region) -> None:
        """Count uses from the end, so that operations whose results nobody uses can be left out."""
        self.count.update(region.results)
        for operation in reversed(region.operations):
            droppable = operation.row.pure or operation.row is core.LOAD
            if droppable and not any(self.count[value] for value in operation.results):
                self.dead.add(operation)
                continue
            for inner in reversed(operation.regions):
                self._count(inner)
            self.count.update(self.read(operation))

    def read(self, operation: Operation) -> tuple[Value, ...]:
        """The operands that the text of an operation or of later accesses needs."""
        operands = operation.operands
        if operation.row is core.DIM and operation.attributes["axis"] == 0:
            self.sized |= {operands[0]}
        if operation.row is core.ALLOC:
            first = operation.attributes["zero"] or operation.result in self.sized
            return operands if first else operands[1:]
        if operation.row is core.RESHAPE:
            return operands if operation.result in self.sized else (operands[0], *operands[2:])
        return operands

    # -- time ----------------------------------------------------------------------------------------------------

    def _number(self, region: Region, place: Place) -> frozenset[Value]:
        """Give ticks to a region; the buffers that it writes."""
        self.places[region] = place
        place.start = self._advance()
        written: set[Value] = set()
        for value in region.arguments:
            self.born[value] = place, place.start
        for operation in region.operations:
            if operation in self.dead:
                continue
            now = self._advance()
            for value in self.read(operation):
                self.seen.setdefault(value, []).append((place, now))
                self.user[value] = operation
            inner = [Place(operation, place) for _ in operation.regions]
            if inner:
                changed = [self._number(owned, part) for part, owned in zip(inner, operation.regions, strict=True)]
                self.written[operation] = frozenset().union(*changed)
                written |= self.written[operation]
            written.update(self.root[value] for value in core.writes_of(operation))
            self._keep_steady(operation, inner)
            after = self._advance()
            for part in inner:
                part.whole = now + 1, after - 1
            for value in operation.results:
                self.born[value] = place, after
                self.definition[value] = operation
                if isinstance(value.type, Buffer):
                    self.root[value] = self.root[operation.operands[0]] if operation.row is core.RESHAPE else value
        place.end = self._advance()
        for value in region.results:
            self.seen.setdefault(value, []).append((place, place.end))
            self.user[value] = None
        return frozenset(written)

    def _keep_steady(self, operation: Operation, inner: list[Place]) -> None:
        """A loop's end is read at every iteration; what a `while` carries passes through its condition."""
        if operation.row is core.FOR:
            self.seen[operation.operands[1]].append((inner[0], inner[0].end))
        elif operation.row is core.WHILE:
            for value in operation.regions[0].arguments:
                self.seen.setdefault(value, []).append((inner[0], inner[0].end))

    def _advance(self) -> int:
        self.tick += 1
        return self.tick

    # -- answers -------------------------------------------------------------------------------------------------

    def alive(self, value: Value) -> Iterator[Stretch]:
        """The stretches of time in which a value is alive."""
        home, birth = self.born[value]
        last = birth
        for place, tick in self.seen.get(value, ()):
            while place is not home:
                assert place.outer is not None
                if place.repeats:
                    yield place.whole
                else:
                    yield place.start, tick
                tick = place.whole[0] - 1
                place = place.outer
            last = max(last, tick)
        yield birth, last

    def same_line(self, value: Value) -> bool:
        """True when the only user of a value stands on the Python line that made it."""
        made, user = self.definition.get(value), self.user.get(value)
        if self.count[value] != 1 or made is None or user is None:
            return False
        return same_line(made.span, user.span)

    def foldable(self, value: Value) -> bool:
        """True when the value is used once, at a place that is reached at most once each time the value is made."""
        if self.count[value] != 1:
            return False
        home, _ = self.born[value]
        ((place, _),) = self.seen[value][:1]
        while place is not home:
            if place.repeats or place.outer is None:
                return False
            place = place.outer
        return True


def same_line(first: Span | None, second: Span | None) -> bool:
    """True when two places are on one line, or one of them is not known."""
    return first is None or second is None or (first.file, first.line) == (second.file, second.line)


def written(function: Function) -> set[Value]:
    """The buffers that a function stores into, by the handles that they were made or passed in with."""
    root: dict[Value, Value] = {}
    found: set[Value] = set()
    for operation in walk(function.body):
        if operation.row is core.RESHAPE:
            source = operation.operands[0]
            root[operation.result] = root.get(source, source)
        found.update(root.get(target, target) for target in core.writes_of(operation))
    return found
