"""Integer expressions around loops: trip counts, and bounds of an expression over all iterations of a loop."""

from __future__ import annotations

from collections.abc import Mapping

from adgen import ops
from adgen.ir import core
from adgen.ir.builder import Builder
from adgen.ir.nodes import Operation, Value


def trip_count(builder: Builder, loop: Operation, clamp: bool = True) -> Value:
    """The number of iterations of a `for` without exit; without `clamp` it may come out negative for none."""
    start, stop = loop.operands[:2]
    step = loop.attributes["step"]
    span = builder.op(ops.SUB, stop, start) if step > 0 else builder.op(ops.SUB, start, stop)
    if abs(step) != 1:
        rounded = builder.op(ops.ADD, span, builder.index(abs(step) - 1))
        span = builder.op(ops.FLOORDIV, rounded, builder.index(abs(step)))
    return builder.op(ops.MAXIMUM, span, builder.index(0)) if clamp else span


def index_of(builder: Builder, loop: Operation, number: Value) -> Value:
    """The index of a loop in its iteration `number`, counted from 0."""
    step = loop.attributes["step"]
    scaled = builder.op(ops.MUL, number, builder.index(step))
    return builder.op(ops.ADD, loop.operands[0], scaled)


def number_of(builder: Builder, loop: Operation, index: Value) -> Value:
    """The iteration number that belongs to an index: the inverse of `index_of`."""
    step = loop.attributes["step"]
    if step > 0:
        distance = builder.op(ops.SUB, index, loop.operands[0])
    else:
        distance = builder.op(ops.SUB, loop.operands[0], index)
    return distance if abs(step) == 1 else builder.op(ops.FLOORDIV, distance, builder.index(abs(step)))


class Bounds:
    """Upper bounds, valid in every iteration, of integers made inside a loop.

    `made` are the operations of the loop's body by result.  `builder` emits before the loop.  An integer is bounded
    when it depends on the index monotonically through `+ - * // min max` with invariants; then the larger of its
    values at the first and the last index bounds it.
    """

    def __init__(
        self, builder: Builder, made: Mapping[Value, Operation], inside: set[Value], index: Value, loop: Operation
    ) -> None:
        self.builder = builder
        self.made = made
        self.inside = inside
        self.index = index
        self.loop = loop
        self.directions: dict[Value, str | None] = {}

    def upper(self, value: Value) -> Value | None:
        """A bound computed outside the loop, or None when there is no such thing."""
        kind = self.direction(value)
        if kind is None:
            return None
        if kind == "constant":
            return self.at(value, self.loop.operands[0], {})
        first = self.at(value, self.loop.operands[0], {})
        trips = trip_count(self.builder, self.loop)
        last_number = self.builder.op(ops.SUB, trips, self.builder.index(1))
        last = self.at(value, index_of(self.builder, self.loop, last_number), {})
        return self.builder.op(ops.MAXIMUM, first, last)

    def at(self, value: Value, index: Value, done: dict[Value, Value]) -> Value:
        """The value with the loop's index replaced, computed before the loop."""
        if value is self.index:
            return index
        if value not in self.inside:
            return value
        if value not in done:
            operation = self.made[value]
            operands = [self.at(operand, index, done) for operand in operation.operands]
            (done[value],) = self.builder.emit(operation.row, operands, operation.attributes)
        return done[value]

    def direction(self, value: Value) -> str | None:
        """How a value moves with the index: constant, linear (either way), up, down; None when unknown."""
        if value is self.index:
            return "up" if self.loop.attributes["step"] > 0 else "down"
        if value not in self.inside:
            return "constant"
        if value not in self.directions:
            self.directions[value] = self._direction(value)
        return self.directions[value]

    def _direction(self, value: Value) -> str | None:
        operation = self.made.get(value)
        if operation is None or not operation.row.pure:
            return None
        kinds = [self.direction(operand) for operand in operation.operands]
        if any(kind is None for kind in kinds):
            return None
        if all(kind == "constant" for kind in kinds):
            return "constant"
        row = operation.row
        if row is ops.ADD or row is ops.MAXIMUM or row is ops.MINIMUM:
            return _together(kinds[0], kinds[1])
        if row is ops.SUB:
            return _together(kinds[0], _flip(kinds[1]))
        if row is ops.NEG:
            return _flip(kinds[0])
        if row is ops.MUL and "constant" in kinds:
            factor = operation.operands[kinds.index("constant")]
            other = kinds[1 - kinds.index("constant")]
            number = self._known(factor)
            return None if number is None else other if number >= 0 else _flip(other)
        if row is ops.FLOORDIV and kinds[1] == "constant":
            number = self._known(operation.operands[1])
            return kinds[0] if number is not None and number > 0 else None
        return None

    def _known(self, value: Value) -> int | None:
        operation = self.made.get(value)
        if operation is not None and operation.row is core.CONST:
            return int(operation.attributes["value"])
        known = self.builder.known(value)
        return None if known is None else int(known)


def _flip(kind: str | None) -> str | None:
    return {"up": "down", "down": "up"}.get(kind or "", kind)


def _together(first: str | None, second: str | None) -> str | None:
    if first == "constant":
        return second
    if second == "constant" or first == second:
        return first
    return None
