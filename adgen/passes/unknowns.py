"""What of a program is decided by integers and shapes alone.

Comes in: a function, and values: by default its floating-point parameters.  Goes out: which values, contents of memory
and extents depend on them in any way (`unknown`), and for every operation how many such decisions stand between it and
the start (its level).  Guaranteed: conservative; everything that is not unknown is the same in every run in which the
operation is reached and everything but these values is the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from adgen.ir import core
from adgen.ir.nodes import Function, Operation, Region, Value
from adgen.ir.types import is_float
from adgen.passes.activity import roots


class Unknowns:
    """The unknown values of a function; memory by root.

    `blurred` are the axes whose extent is unknown; `merged` the stacks of which nobody knows how much is on them;
    `made` the level at which memory is made: what is written at a deeper one is perhaps not written.
    """

    def __init__(self, function: Function, sources: Iterable[Value] | None = None) -> None:
        self.root = roots(function)
        if sources is None:
            sources = (value for value in function.parameters if is_float(value.type))
        self.values = {self.root.get(value, value) for value in sources}
        self.merged: set[Value] = set()
        self.made = dict.fromkeys(function.parameters, 0)
        self._axes: dict[Value, set[int]] = {}
        self._reshaped: set[Value] = set()
        before = None
        while before != (before := self._size()):
            self._region(function.body, 0)

    def _size(self) -> tuple[int, int, int]:
        return len(self.values), len(self.merged), sum(map(len, self._axes.values()))

    def __contains__(self, value: Value) -> bool:
        return self.root.get(value, value) in self.values

    def any(self, values: Iterable[Value]) -> bool:
        """True when one of the values is unknown."""
        return any(value in self for value in values)

    def blurred(self, handle: Value, axis: int) -> bool:
        """True when nobody knows how long an axis is."""
        axes = self._axes.get(self.root[handle], ())
        return axis in axes or bool(axes and self.root[handle] in self._reshaped)

    def is_open(self, loop: Operation, level: int) -> bool:
        """True for a loop whose number of iterations has no known bound; at a deeper level that is any `while`."""
        if loop.row is core.WHILE:
            return level > 0 or loop.regions[0].results[0] in self
        return self.any(loop.operands[:2])

    def may_leave(self, loop: Operation) -> bool:
        """True for a `for` that may end before its last iteration, nobody knows where."""
        return bool(loop.attributes.get("exit")) and loop.regions[0].results[0] in self

    def _mark(self, values: Iterable[Value]) -> None:
        self.values.update(self.root.get(value, value) for value in values)

    def _region(self, region: Region, level: int) -> None:
        for operation in region.operations:
            self._visit(operation, level)

    def _visit(self, operation: Operation, level: int) -> None:
        row, operands, results = operation.row, operation.operands, operation.results
        if row in (core.ALLOC, core.RESHAPE, core.STACK):
            self._memory(operation, level)
        elif row in (core.STORE, core.ACCUMULATE, core.PUSH, core.POP):
            root = self.root[operands[0]]
            hidden = level > self.made[root]
            if hidden or self.any(operands[1:]):
                self._mark((root,))
            if hidden and row in (core.PUSH, core.POP):
                self.merged.add(root)
            if operands[0] in self:
                self._mark(results)
        elif row in core.LOOPS:
            self._loop(operation, level)
        elif row is core.IF:
            hidden = operands[0] in self
            for region in operation.regions:
                self._region(region, level + hidden)
                self._mark(r for r, y in zip(results, region.results, strict=True) if hidden or y in self)
        elif row is core.DIM:
            if self.blurred(operands[0], operation.attributes["axis"]):
                self._mark(results)
        elif self.any(operands) or (row is core.CALL and level > 0):
            self._mark(results)

    def _memory(self, operation: Operation, level: int) -> None:
        made = operation.result
        root = self.root[made]
        if operation.row is core.RESHAPE:
            self._reshaped.add(root)
            extents: Sequence[Value] = operation.operands[1:]
        else:
            self.made[root] = level
            extents = operation.operands
        axes = {axis for axis, extent in enumerate(extents) if extent in self}
        if axes:
            self._axes.setdefault(root, set()).update(axes)
            self._mark((root,))

    def _loop(self, loop: Operation, level: int) -> None:
        is_for = loop.row is core.FOR
        body, first = loop.regions[-1], int(is_for)
        exit = int(bool(loop.attributes.get("exit")))
        free = self.is_open(loop, level)
        leaves = self.may_leave(loop)
        if free and is_for:
            self._mark(body.arguments[:1])
        carried = zip(loop.operands[2 * first :], body.results[exit:], loop.results, strict=True)
        for k, (start, following, result) in enumerate(carried):
            arguments = [body.arguments[first + k]]
            if not is_for:
                arguments.append(loop.regions[0].arguments[k])
            if free or self.any((start, following, *arguments)):
                self._mark((*arguments, result))
            elif leaves:
                self._mark((result,))
        for region in loop.regions:
            self._region(region, level + (free or leaves))
