"""Is memory overwritten completely before any of it is read?

Comes in: a list of operations that run in order, and a buffer.  Goes out: `FULL` when they store into every element
before they read any (so what the buffer held before does not matter), `PARTIAL` when they read nothing that they have
not written, `READS` otherwise.  Guaranteed: exact in what it accepts, conservative in what it refuses.

Elements are covered by stores at constant indices, and by nests of loops that run over a whole axis, forwards or
backwards, with an unconditional store at exactly the loops' indices.  The first rows of an axis may be stored one by
one when the loop starts after them.  Inside such a loop, rows of earlier iterations may be read.  A part of an axis
that one nest has stored into may be read by another.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from math import prod

from adgen.ir import core
from adgen.ir.nodes import Operation, Region, Value, walk_one
from adgen.ir.types import Buffer
from adgen.passes.boxes import Box, reads_within, stored_boxes
from adgen.passes.indices import Definitions, Indices, known_trips


class Cover(Enum):
    """What a list of operations does to the elements of a buffer."""

    FULL = "full"
    PARTIAL = "partial"
    READS = "reads"


@dataclass(frozen=True)
class Axis:
    """The loop that runs over an axis, around what is being looked at."""

    index: Value
    step: int


class Coverage:
    """Questions about one `alloc`; `uses` gives the operations of a region that have to do with its memory."""

    def __init__(
        self, definitions: Definitions, alloc: Operation, uses: Callable[[Region], Sequence[Operation]]
    ) -> None:
        self.definitions = definitions
        self.indices = Indices(definitions)
        self.handle = alloc.result
        self.extents = alloc.operands
        self.uses = uses

    def of(self, region: Region) -> Cover:
        """What the operations of a region do to the buffer."""
        return self._scan(region, (), frozenset(), False)

    def _scan(self, region: Region, axes: tuple[Axis, ...], done: frozenset[tuple[int, ...]], full: bool) -> Cover:
        """The same for the elements whose first indices are those of `axes`.

        `done` are the constant rest indices of elements written before the region; with `full` all of them are.
        """
        written = set(done)
        boxes: list[Box] = []  # stored into before, as wholes
        for operation in self.uses(region):
            if full and not axes:
                break  # nothing is left that could be read too early
            if operation.row in (core.LOAD, core.ACCUMULATE):
                if not self._readable(operation, axes, written, full):
                    return Cover.READS
            elif operation.row is core.STORE:
                rest = self._constant_rest(operation.operands[0], operation.operands[2:], axes)
                if rest is not None:
                    written.add(rest)
                    full = full or self._all(written, len(axes))
            elif operation.row is core.CUSTOM and not full and self._taken(_seen_by(operation)):
                return Cover.READS
            elif operation.regions:
                cover = self._owner(operation, axes, frozenset(written), full)
                if cover is Cover.READS and not self._within(operation, boxes):
                    return cover
                boxes += stored_boxes(self.indices, operation, self.handle)
                full = full or cover is Cover.FULL
                if operation.row is core.CUSTOM and not full and self._taken(core.outputs_of(operation)):
                    return Cover.READS  # rules read all of what is filled
        return Cover.FULL if full else Cover.PARTIAL

    def _owner(
        self, operation: Operation, axes: tuple[Axis, ...], done: frozenset[tuple[int, ...]], full: bool
    ) -> Cover:
        if not full and operation.row is core.FOR and self._runs_over(operation, axes, done):
            axis = Axis(operation.regions[0].arguments[0], operation.attributes["step"])
            if self._scan(operation.regions[0], (*axes, axis), frozenset(), False) is Cover.FULL:
                return Cover.FULL
        covers = {self._scan(region, axes, done, full) for region in operation.regions}
        if Cover.READS in covers:
            return Cover.READS
        surely = operation.row in (core.IF, core.CUSTOM) or self._runs(operation)
        return Cover.FULL if surely and covers == {Cover.FULL} else Cover.PARTIAL

    def _within(self, operation: Operation, boxes: Sequence[Box]) -> bool:
        """True when all that is read is in a box that has been stored into, under the buffer's first handle."""
        made = self.definitions.definitions
        handles = {value for each in walk_one(operation) for value in each.operands if value in made}
        reshaped = any(made[value].row is core.RESHAPE for value in handles)
        return not reshaped and reads_within(self.indices, operation, self.handle, boxes)

    def _taken(self, operands: Sequence[Value]) -> bool:
        """True when operands of a `custom` operation, which its rules may read, are the buffer, under any handle."""
        made = self.definitions.definitions
        handles = [value for value in operands if isinstance(value.type, Buffer)]
        return any(value is self.handle or (value in made and made[value].row is core.RESHAPE) for value in handles)

    def _runs(self, loop: Operation) -> bool:
        """True when a loop surely has an iteration."""
        return loop.row is core.FOR and bool(known_trips(self.definitions, loop))

    def _runs_over(self, loop: Operation, axes: tuple[Axis, ...], done: frozenset[tuple[int, ...]]) -> bool:
        """True when a loop visits every index of the next axis that is not done already."""
        if loop.attributes["exit"] or len(axes) == len(self.extents):
            return False
        extent = self.extents[len(axes)]
        start, stop = loop.operands[:2]
        if loop.attributes["step"] == -1:
            base, offset = self.indices.split(extent)
            return self.indices.split(start) == (base, offset - 1) and self.definitions.known(stop) == -1
        first = self.definitions.known(start)
        if loop.attributes["step"] != 1 or self.indices.split(stop) != self.indices.split(extent) or first is None:
            return False
        last_axis = len(axes) == len(self.extents) - 1
        return first <= 0 or (last_axis and all((index,) in done for index in range(min(first, len(done) + 1))))

    def _constant_rest(self, handle: Value, indices: Sequence[Value], axes: tuple[Axis, ...]) -> tuple[int, ...] | None:
        """The constants that follow the indices of the axes, or None for any other element."""
        if handle is not self.handle or any(index is not axis.index for index, axis in zip(indices, axes)):
            return None
        numbers = [self.definitions.known(index) for index in indices[len(axes) :]]
        return None if None in numbers else tuple(int(number or 0) for number in numbers)

    def _all(self, written: set[tuple[int, ...]], axis: int) -> bool:
        extents = [self.definitions.known(extent) for extent in self.extents[axis:]]
        return None not in extents and len(written) >= prod(int(extent or 0) for extent in extents)

    def _readable(
        self, operation: Operation, axes: tuple[Axis, ...], written: set[tuple[int, ...]], full: bool
    ) -> bool:
        """True when an element that is read has been written by these operations."""
        skip = 1 if operation.row is core.LOAD else 2
        handle, indices = operation.operands[0], operation.operands[skip:]
        if handle is not self.handle:
            return False
        if self._constant_rest(handle, indices, axes) in written:
            return True
        for axis, index in zip(axes, indices):
            if index is axis.index:
                continue
            base, offset = self.indices.split(index)
            return base is axis.index and offset * axis.step < 0
        return full


def _seen_by(custom: Operation) -> tuple[Value, ...]:
    """What a `custom` operation may read: its inputs, and the outputs of a C function, which may add to zeros."""
    outputs = core.outputs_of(custom) if "external" in custom.attributes else ()
    return (*core.inputs_of(custom), *outputs)
