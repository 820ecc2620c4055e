"""Which values share a C variable.

Comes in: a function and when its values are alive.  Goes out: a `Variable` for every scalar that may need one.
Guaranteed: values of one variable are never alive together; what a loop carries is one variable from before the loop to
after it, and the user's `x = x + 1` is one variable too, where nothing else needs the old `x`.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from adgen.emit.uses import Stretch, Uses, same_line
from adgen.ir import core
from adgen.ir.nodes import Operation, Region, Value
from adgen.ir.types import Scalar

SHORT_CHOICE = 3  # operations in a branch of `c ? a : b`


@dataclass(eq=False)
class Variable:
    """A C variable: the values that live in it one after the other, and what became of it in the text."""

    kind: Scalar
    values: list[Value]
    stretches: list[Stretch] = field(default_factory=list)
    name: str = ""  # once declared
    read: bool = False
    names: Counter[str] = field(default_factory=Counter)  # that the user or a pass gave to its values
    pinned: bool = False  # read at places that are not counted as uses: no other value may move in

    @property
    def mutable(self) -> bool:
        """True when it is assigned after its declaration."""
        return len(self.values) > 1

    def hint(self) -> str:
        """The name that most of its values have."""
        usual = [name for name in self.names if not name.startswith("_")] or list(self.names)
        return max(usual, key=lambda name: (self.names[name], -len(name))) if usual else ""


class Variables:
    """The variables of one function."""

    def __init__(self, uses: Uses) -> None:
        self.uses = uses
        self.of: dict[Value, Variable] = {}
        self.fixed: set[Value] = set()
        self.assigned: dict[Operation, frozenset[Variable]] = {}  # by an operation with regions
        self._scan(uses.function.body)
        for value in self.fixed & self.of.keys():
            self.of[value].pinned = True
        self._join(uses.function.body)
        self._collect(uses.function.body)

    def _scan(self, region: Region) -> None:
        """Give every scalar a variable of its own; constants, extents and loop indices need none."""
        for operation in region.operations:
            if operation in self.uses.dead:
                continue
            if operation.row in (core.ALLOC, core.RESHAPE):
                self.fixed.update(self.uses.read(operation))  # extents are read at every access
            for inner in operation.regions:
                for value in inner.arguments[operation.row is core.FOR :]:
                    self._own(value)
                self._scan(inner)
            if operation.row not in (core.CONST, core.DIM):
                for value in operation.results:
                    self._own(value)

    def _own(self, value: Value) -> None:
        if isinstance(value.type, Scalar):
            names = Counter([value.name] if value.name else [])
            self.of[value] = Variable(value.type, [value], _merged(self.uses.alive(value)), names=names)

    def _join(self, region: Region) -> None:
        """Join what flows into each other, innermost loops first: there a saved copy saves most."""
        for operation in region.operations:
            if operation in self.uses.dead:
                continue
            for inner in operation.regions:
                self._join(inner)
            if operation.row.evaluate is not None:
                self._again(operation)
            elif operation.row is core.FOR:
                self._loop(operation, [operation.regions[0].arguments[1:]], operation.operands[2:])
            elif operation.row is core.WHILE:
                self._loop(operation, [inner.arguments for inner in operation.regions], operation.operands)
            elif operation.row is core.IF and not self.chooses(operation):
                for inner in operation.regions:
                    for result, value in zip(operation.results, inner.results, strict=True):
                        self._try(result, value)

    def _again(self, operation: Operation) -> None:
        """`x = x + y` on a line of its own changes `x`."""
        result = operation.result
        for value in operation.operands:
            if value.name and value.name == result.name and value in self.of and not self.uses.same_line(value):
                self._try(result, value)

    def _loop(self, operation: Operation, carried: Sequence[Sequence[Value]], initial: Sequence[Value]) -> None:
        for arguments in carried:
            for result, argument in zip(operation.results, arguments, strict=True):
                self._merge(self.of[result], self.of[argument])
        following = operation.regions[-1].results[bool(operation.attributes.get("exit")) :]
        for result, value in zip(operation.results, following, strict=True):
            self._try(result, value)
        for result, value in zip(operation.results, initial, strict=True):
            self._try(result, value)

    def _try(self, result: Value, value: Value) -> None:
        """Let a value live in the variable that it is copied to, if that is free and goes by the same name."""
        if value not in self.of:
            return  # a parameter, a loop index or a constant
        target, source = self.of[result], self.of[value]
        if target is source or target.kind != source.kind or target.pinned or source.pinned:
            return
        if not _related(target.hint(), source.hint()):
            return
        if not _overlap(target.stretches, source.stretches):
            self._merge(target, source)

    def _merge(self, first: Variable, second: Variable) -> None:
        if first is second:
            return
        if len(first.values) < len(second.values):
            first, second = second, first
        first.values += second.values
        first.names.update(second.names)
        first.pinned |= second.pinned
        for stretch in second.stretches:
            first.stretches.insert(bisect_left(first.stretches, stretch), stretch)
        for value in second.values:
            self.of[value] = first

    def _collect(self, region: Region) -> frozenset[Variable]:
        """Note what operations with regions assign to; all the variables that a region assigns to."""
        found: set[Variable] = set()
        for operation in region.operations:
            if operation in self.uses.dead:
                continue
            found.update(self.of[v] for v in operation.results if v in self.of and self.of[v].mutable)
            if operation.regions:
                results = frozenset(self.of[value] for value in operation.results)
                self.assigned[operation] = results.union(*(self._collect(inner) for inner in operation.regions))
                found |= self.assigned[operation]
        return frozenset(found)

    def chooses(self, operation: Operation) -> bool:
        """True for an `if` that is short enough to be written `c ? a : b`."""
        return len(operation.results) == 1 and all(self._short(operation, inner) for inner in operation.regions)

    def _short(self, owner: Operation, region: Region) -> bool:
        """True for a few operations on the Python line of the `if` itself that need no names."""
        made = [o for o in region.operations if o not in self.uses.dead and o.row not in (core.CONST, core.DIM)]
        return len(made) <= SHORT_CHOICE and all(
            (o.row.pure or o.row is core.LOAD)
            and not o.regions
            and self.uses.foldable(o.results[0])
            and same_line(o.span, owner.span)
            for o in made
        )


def _related(first: str, second: str) -> bool:
    """True when two names are one to a reader: equal, or one of them made up."""
    return first == second or not first or not second or first.startswith("_") or second.startswith("_")


def _merged(stretches: Iterable[Stretch]) -> list[Stretch]:
    """Stretches without overlaps among themselves."""
    found: list[Stretch] = []
    for start, end in sorted(stretches):
        if found and start <= found[-1][1]:
            found[-1] = found[-1][0], max(end, found[-1][1])
        else:
            found.append((start, end))
    return found


def _overlap(first: list[Stretch], second: list[Stretch]) -> bool:
    """True when any two stretches of sorted lists, each free of overlaps, have a tick in common."""
    few, many = (first, second) if len(first) < len(second) else (second, first)
    for start, end in few:
        k = bisect_left(many, (start, start))
        if k < len(many) and many[k][0] <= end:
            return True
        if k and many[k - 1][1] >= start:
            return True
    return False
