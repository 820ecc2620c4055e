"""Sizes at function entry: integers of the body computed, or bounded, from the parameters alone.

Comes in: a function.  Goes out: for an extent an expression over integer parameters and extents of parameters that is
equal to it, or never smaller when it changes with loops.  None when there is no such expression.
"""

from __future__ import annotations

from collections.abc import Callable

from adgen import ops
from adgen.ir import core
from adgen.ir.builder import Builder
from adgen.ir.nodes import Function, Operation, Region, Value
from adgen.ir.types import Scalar

Pair = tuple[Value, Value]


class EntryBounds:
    """Lower and upper bounds of integers, emitted into an open block of a builder."""

    def __init__(self, function: Function, builder: Builder) -> None:
        self.builder = builder
        self.known: dict[Value, Pair | None] = {}
        self.definition: dict[Value, Operation] = {}
        self.loops: dict[Value, Operation] = {}  # by index
        for value in function.parameters:
            if isinstance(value.type, Scalar):
                self.known[value] = (value, value)
        self._scan(function.body)

    def _scan(self, region: Region) -> None:
        for operation in region.operations:
            for value in operation.results:
                self.definition[value] = operation
            if operation.row is core.FOR:
                self.loops[operation.regions[0].arguments[0]] = operation
            for inner in operation.regions:
                self._scan(inner)

    def exact(self, value: Value) -> Value | None:
        """The value computed at entry, when it does not change with any loop."""
        pair = self.pair(value)
        return pair[0] if pair is not None and pair[0] is pair[1] else None

    def upper(self, value: Value) -> Value | None:
        """A value at entry that is never exceeded."""
        pair = self.pair(value)
        return None if pair is None else pair[1]

    def pair(self, value: Value) -> Pair | None:
        """Lower and upper bound; the same value twice when exact."""
        if value not in self.known:
            self.known[value] = None  # while it is being worked out
            self.known[value] = self._pair(value)
        return self.known[value]

    def _pair(self, value: Value) -> Pair | None:
        if value in self.loops:
            return self._index(self.loops[value])
        operation = self.definition.get(value)
        if operation is None or not operation.row.pure or not isinstance(value.type, Scalar):
            return None
        if operation.row is core.DIM:
            return self._dim(operation)
        pairs = [self.pair(operand) for operand in operation.operands]
        found = [pair for pair in pairs if pair is not None]
        if len(found) != len(pairs):
            return None
        if all(low is high for low, high in found):
            (made,) = self.builder.emit(operation.row, [low for low, _ in found], operation.attributes)
            return made, made
        rule = _RULES.get(operation.row)
        return rule(self, found) if rule else None

    def _dim(self, operation: Operation) -> Pair | None:
        buffer = self.definition.get(operation.operands[0])
        axis = operation.attributes["axis"]
        if buffer is None:
            made = self.builder.op(core.DIM, operation.operands[0], axis=axis)
            return made, made
        if buffer.row is core.TABLE:
            made = self.builder.index(buffer.attributes["data"].shape[axis])
            return made, made
        return self.pair(buffer.operands[axis + (buffer.row is core.RESHAPE)])

    def _index(self, loop: Operation) -> Pair | None:
        start, stop = (self.pair(value) for value in loop.operands[:2])
        if start is None or stop is None:
            return None
        one = self.builder.index(1)
        if loop.attributes["step"] > 0:
            return start[0], self.builder.op(ops.SUB, stop[1], one)
        return self.builder.op(ops.ADD, stop[0], one), start[1]

    def each(self, row: object, pairs: list[Pair]) -> Pair:
        """Apply an operation that grows with all its operands to lower and to upper bounds."""
        low, high = (self.builder.op(row, *(pair[side] for pair in pairs)) for side in (0, 1))  # type: ignore[arg-type]
        return low, high

    def sub(self, pairs: list[Pair]) -> Pair:
        first, second = pairs
        return (
            self.builder.op(ops.SUB, first[0], second[1]),
            self.builder.op(ops.SUB, first[1], second[0]),
        )

    def mul(self, pairs: list[Pair]) -> Pair | None:
        for (low, high), other in (pairs, pairs[::-1]):
            factor = self.builder.known(low)
            if low is high and factor is not None:
                ends = [self.builder.op(ops.MUL, low, end) for end in other]
                return (ends[0], ends[1]) if factor >= 0 else (ends[1], ends[0])
        return None

    def floordiv(self, pairs: list[Pair]) -> Pair | None:
        divisor = self.builder.known(pairs[1][0])
        if pairs[1][0] is not pairs[1][1] or divisor is None or divisor <= 0:
            return None
        return self.each(ops.FLOORDIV, pairs)

    def select(self, pairs: list[Pair]) -> Pair:
        _, first, second = pairs
        return (
            self.builder.op(ops.MINIMUM, first[0], second[0]),
            self.builder.op(ops.MAXIMUM, first[1], second[1]),
        )


_RULES: dict[object, Callable[[EntryBounds, list[Pair]], Pair | None]] = {
    ops.ADD: lambda bounds, pairs: bounds.each(ops.ADD, pairs),
    ops.MAXIMUM: lambda bounds, pairs: bounds.each(ops.MAXIMUM, pairs),
    ops.MINIMUM: lambda bounds, pairs: bounds.each(ops.MINIMUM, pairs),
    ops.SUB: EntryBounds.sub,
    ops.MUL: EntryBounds.mul,
    ops.FLOORDIV: EntryBounds.floordiv,
    ops.SELECT: EntryBounds.select,
}
