"""Loops over the elements of one box that are not in another."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from adgen import ops
from adgen.ir.builder import Builder
from adgen.ir.nodes import Value
from adgen.passes.boxes import Bound, Box, contains

Body = Callable[[tuple[Value, ...]], None]
NAMES = "ijklmnop"


def bound_value(builder: Builder, bound: Bound) -> Value:
    """The end of an interval as a value."""
    base, offset = bound
    if base is None or offset == 0:
        return builder.index(offset) if base is None else base
    return builder.op(ops.ADD, base, builder.index(offset))


def outside_nest(builder: Builder, outer: Box, inner: Box, body: Body) -> None:
    """Emit `body(indices)` for every element of the outer box that is not in the inner one.

    Along the last axis that is what comes before and what comes after the inner box, in rows that meet it, and
    everything in others.
    """
    if contains(inner, outer):
        return
    ends = [(bound_value(builder, each.low), bound_value(builder, each.high)) for each in outer]
    cuts = []
    for (low, high), each in zip(ends, inner):
        start = _clamped(builder, low, bound_value(builder, each.low), high)
        cuts.append((start, builder.op(ops.MAXIMUM, start, bound_value(builder, each.high))))

    def level(indices: tuple[Value, ...], meets: Value | None) -> None:
        axis = len(indices)
        low, high = ends[axis]
        first, last = cuts[axis]
        if axis < len(outer) - 1:
            _loop(builder, axis, low, high, lambda x: level((*indices, x), _both(builder, meets, x, first, last)))
            return
        if meets is not None:
            first, last = (builder.op(ops.SELECT, meets, cut, high) for cut in (first, last))
        _loop(builder, axis, low, first, lambda x: body((*indices, x)))
        _loop(builder, axis, last, high, lambda x: body((*indices, x)))

    level((), None)


def box_nest(builder: Builder, box: Box, body: Body) -> None:
    """Emit `body(indices)` for every element of a box."""

    def level(indices: tuple[Value, ...]) -> None:
        axis = len(indices)
        if axis == len(box):
            body(indices)
            return
        low, high = (bound_value(builder, bound) for bound in (box[axis].low, box[axis].high))
        _loop(builder, axis, low, high, lambda x: level((*indices, x)))

    level(())


def _clamped(builder: Builder, low: Value, value: Value, high: Value) -> Value:
    first, second = builder.known(low), builder.known(value)
    inside = builder.op(ops.MINIMUM, value, high)
    if first is not None and second is not None and first <= second:
        return inside  # unless the box is empty, and then nothing is run over
    return builder.op(ops.MAXIMUM, low, inside)


def _both(builder: Builder, meets: Value | None, x: Value, first: Value, last: Value) -> Value:
    here = builder.op(ops.AND, builder.op(ops.GE, x, first), builder.op(ops.LT, x, last))
    return here if meets is None else builder.op(ops.AND, meets, here)


def _loop(builder: Builder, axis: int, low: Value, high: Value, body: Callable[[Value], None]) -> None:
    def iteration(index: Value) -> Sequence[Value]:
        body(index)
        return ()

    builder.loop(low, high, (), iteration, name=NAMES[axis])
