"""Rows of shared arrays that the iterations of a block read again and again.

Comes in: an independent loop and what varies in it.  Goes out: the loads that walk along the iteration's own row inside
a loop that does not choose the place, and so read it once for every turn of that loop.  A block copies such rows first,
one element of all its iterations beside the other.  Guaranteed: the elements copied are those that the loads read; the
loops along them have bounds from outside, and step by one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial, reduce

from adgen import ops
from adgen.ir import core
from adgen.ir.builder import Builder
from adgen.ir.nodes import Operation, Region, Value, walk, walk_one
from adgen.ir.rebuild import mapped
from adgen.ir.types import is_float
from adgen.passes.indices import Indices
from adgen.passes.variance import Kind, Variance

Split = tuple[Value | None, int]


@dataclass(frozen=True)
class Key:
    """Which elements of which array: for each axis the first and the end, or None for the blocks' own index."""

    buffer: Value
    ranges: tuple[tuple[Split, Split] | None, ...]


@dataclass
class Row:
    """Elements to copy, and under which loops they are read."""

    loops: tuple[Operation | None, ...]  # that walk along each axis
    readers: list[tuple[Operation, ...]] = field(default_factory=list)  # the other loops around each load

    def ranges(self, builder: Builder, mapping: dict[Value, Value]) -> list[tuple[Value, Value]]:
        """The first index and the end of each loop along an axis, upwards."""
        return [_ascending(builder, loop, mapping) for loop in self.loops if loop is not None]

    def is_read(self, builder: Builder, mapping: dict[Value, Value]) -> Value:
        """Whether all loops around some load have an iteration."""
        runs = [[_runs(builder, loop, mapping) for loop in around] for around in self.readers]
        each = [reduce(partial(builder.op, ops.AND), conditions) for conditions in runs]
        return reduce(partial(builder.op, ops.OR), each)


class Rows:
    """The rows to copy, and the loads that then read the copy."""

    def __init__(self, loop: Operation, variance: Variance, indices: Indices) -> None:
        self.loop = loop
        self.variance = variance
        self.indices = indices
        self.found: dict[Key, Row] = {}
        self.of: dict[Operation, Key] = {}
        self.inside = {value for o in walk(loop.regions[0]) for value in o.results}
        self.inside.update(loop.regions[0].arguments)
        for load, loops in self._loads(loop.regions[0], ()):
            self._note(load, loops)

    def _loads(self, region: Region, loops: tuple[Operation, ...]) -> Iterator[tuple[Operation, tuple[Operation, ...]]]:
        """The loads that all iterations reach in the same way, with the loops around them."""
        for operation in region.operations:
            kind = self.variance.kinds.get(operation)
            if operation.row is core.LOAD and kind is Kind.SIDE_BY_SIDE:
                yield operation, loops
            elif operation.row is core.FOR and kind is Kind.AROUND and self._is_plain(operation):
                yield from self._loads(operation.regions[0], (*loops, operation))

    def _is_plain(self, loop: Operation) -> bool:
        """True for a loop over a range that is known before the blocks begin."""
        return abs(loop.attributes["step"]) == 1 and not any(value in self.inside for value in loop.operands[:2])

    def _note(self, load: Operation, loops: tuple[Operation, ...]) -> None:
        buffer, *places = load.operands
        found, root = self.variance.found, self.variance.root[buffer]
        if root in found.private | found.own | found.added or buffer in self.inside:
            return
        walking = {loop.regions[0].arguments[0]: loop for loop in loops}
        mine = [place is self.loop.regions[0].arguments[0] for place in places]
        along = tuple(None if own else walking.get(place) for own, place in zip(mine, places, strict=True))
        if sum(mine) != 1 or along.count(None) != 1 or len(set(along)) != len(along):
            return
        others = tuple(loop for loop in loops if loop not in along)
        if not others:
            return
        key = Key(buffer, tuple(None if inner is None else self._range(inner) for inner in along))
        self.found.setdefault(key, Row(along)).readers.append(others)
        self.of[load] = key

    def _range(self, loop: Operation) -> tuple[Split, Split]:
        start, stop = (self.indices.split(value) for value in loop.operands[:2])
        if loop.attributes["step"] > 0:
            return start, stop
        return (stop[0], stop[1] + 1), (start[0], start[1] + 1)


def writes_rows(loop: Operation, variance: Variance) -> bool:
    """True for a nest that does nothing but fill a row of shared memory for each iteration with what is there: it is
    walked along the rows, in whose order they lie in memory."""
    inside = list(walk_one(loop))
    plain = (core.FOR, core.LOAD, core.STORE)
    if loop.row is not core.FOR or any(o.row not in plain and not (o.row.pure and not _is_number(o)) for o in inside):
        return False
    stores = [o for o in inside if o.row is core.STORE]
    return bool(stores) and all(is_strided(store, variance) for store in stores)


def _is_number(operation: Operation) -> bool:
    return any(is_float(value.type) for value in operation.results)


def is_strided(access: Operation, variance: Variance) -> bool:
    """True for an access to a shared array whose neighbours in a block are not neighbours in memory."""
    indices = core.indices_of(access)
    varying = [value in variance.values for value in indices]
    shared = variance.root[access.operands[0]] not in variance.found.private
    return shared and any(varying) and not (indices[-1] is variance.index and not any(varying[:-1]))


def _ascending(builder: Builder, loop: Operation, mapping: dict[Value, Value]) -> tuple[Value, Value]:
    """The first index of a loop and the end, upwards."""
    start, stop = mapped(loop.operands[:2], mapping)
    if loop.attributes["step"] > 0:
        return start, stop
    one = builder.index(1)
    return builder.op(ops.ADD, stop, one), builder.op(ops.ADD, start, one)


def _runs(builder: Builder, loop: Operation, mapping: dict[Value, Value]) -> Value:
    """Whether a loop has an iteration."""
    start, stop = mapped(loop.operands[:2], mapping)
    return builder.op(ops.LT, *((start, stop) if loop.attributes["step"] > 0 else (stop, start)))
