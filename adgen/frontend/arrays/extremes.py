"""Maxima and minima over axes, and where they are.

The derivative of a maximum goes to the element that attains it.  Where several do, it is shared equally among them:
the value is then the element plus the mean of (element - maximum) over the ties, which adds exactly zero and moves the
derivative.  This costs a loop only where there are ties.  Infinite maxima are not shared: the first one has it all.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from adgen import ops
from adgen.frontend import scalars
from adgen.frontend.arrays.build import as_array
from adgen.frontend.arrays.checks import compare, require
from adgen.frontend.arrays.elementwise import astype, elementwise
from adgen.frontend.arrays.integers import value
from adgen.frontend.arrays.loops import when
from adgen.frontend.arrays.model import Array
from adgen.frontend.arrays.reduce import Line, accumulate, reduction
from adgen.frontend.arrays.registry import expands
from adgen.frontend.arrays.selection import Selection
from adgen.frontend.arrays.shapes import axes_argument, flat
from adgen.frontend.arrays.storage import settle
from adgen.ir.nodes import Row, Value
from adgen.ir.types import BOOL, I64
from adgen.ops.kinks import SHARED

if TYPE_CHECKING:
    from adgen.frontend.context import Context


@expands(np.max, np.amax, method="max")
def max_(ctx: Context, a: Any, axis: Any = None, keepdims: Any = False) -> Any:
    """`np.max`."""
    return _extreme(ctx, a, axis, keepdims, ops.GT)


@expands(np.min, np.amin, method="min")
def min_(ctx: Context, a: Any, axis: Any = None, keepdims: Any = False) -> Any:
    """`np.min`."""
    return _extreme(ctx, a, axis, keepdims, ops.LT)


@expands(np.ptp)
def ptp(ctx: Context, a: Any, axis: Any = None, keepdims: Any = False) -> Any:
    """`np.ptp`: the maximum minus the minimum."""
    array = _ready(ctx, a)
    return elementwise(ctx, np.subtract, [max_(ctx, array, axis, keepdims), min_(ctx, array, axis, keepdims)])


@expands(np.argmax, method="argmax")
def argmax(ctx: Context, a: Any, axis: Any = None, keepdims: Any = False) -> Any:
    """`np.argmax`: the first position."""
    return _position(ctx, a, axis, keepdims, ops.GT)


@expands(np.argmin, method="argmin")
def argmin(ctx: Context, a: Any, axis: Any = None, keepdims: Any = False) -> Any:
    """`np.argmin`: the first position."""
    return _position(ctx, a, axis, keepdims, ops.LT)


def _ready(ctx: Context, a: Any) -> Array:
    array = as_array(ctx, a)
    return array.with_inner(settle(ctx, array.inner)) if isinstance(array, Selection) else settle(ctx, array)


def _extreme(ctx: Context, a: Any, axis: Any, keepdims: Any, better: Row) -> Any:
    array = _ready(ctx, a)
    if array.rank == 0:
        return a
    _not_empty(ctx, array, axis)
    compute = _shared if array.element.is_float else _plain
    return reduction(ctx, array, axis, keepdims, array.element, lambda line: compute(ctx, line, better))


def _plain(ctx: Context, line: Line, better: Row) -> Value:
    """The extreme of integers or booleans, which has no derivative."""
    b, kind = ctx.builder, line.array.element
    if kind == BOOL:
        row, start = (ops.OR, False) if better is ops.GT else (ops.AND, True)
        return accumulate(ctx, line, row, b.const(start), lambda x: x)
    row, edge = (ops.MAXIMUM, kind.numbers[0]) if better is ops.GT else (ops.MINIMUM, kind.numbers[-1])
    return accumulate(ctx, line, row, b.const(edge, kind), lambda x: x)


def _not_empty(ctx: Context, array: Array, axis: Any) -> None:
    if isinstance(array, Selection):
        return
    for k in axes_argument(ctx, axis, array.rank):
        extent = array.extents[k]
        if not ctx.ranges.below(ctx.builder.index(0), extent):
            message = "zero-size array to reduction operation maximum or minimum which has no identity"
            require(ctx, compare(ctx, ops.GT, extent, 0), "ValueError", message)


def locate(ctx: Context, line: Line, better: Row, first_nan: bool) -> tuple[tuple[Value, ...], Value]:
    """The indices of the first extreme element and the number of elements equal to it."""
    b = ctx.builder
    zeros = tuple(b.index(0) for _ in line.extents)
    empty = line.mask is not None
    kind = line.array.element
    start = b.const(0, kind) if empty else line.read(ctx, zeros)

    def step(x: Value, indices: tuple[Value, ...], best: Value, count: Value, *places: Value) -> list[Value]:
        win = b.op(better, x, best)
        if kind.is_float:
            nan = b.op(ops.ISNAN, x)
            win = b.op(ops.OR, win, b.op(ops.AND, nan, b.op(ops.NOT, b.op(ops.ISNAN, best))) if first_nan else nan)
        if empty:
            win = b.op(ops.OR, win, b.op(ops.EQ, count, b.index(0)))
        more = b.op(ops.SELECT, b.op(ops.EQ, x, best), b.op(ops.ADD, count, b.index(1)), count)
        moved = [b.op(ops.SELECT, win, new, old) for new, old in zip(indices, places)]
        return [b.op(ops.SELECT, win, x, best), b.op(ops.SELECT, win, b.index(1), more), *moved]

    hints = ("best", "ties", *(f"{name}_best" for name in line.names[: len(zeros)]))
    best, count, *places = line.fold(ctx, (start, b.index(0), *zeros), step, hints)
    if b.tells_kinks and kind.is_float:
        _tell_ties(ctx, line, better, best, tuple(places))
    if empty:
        require(ctx, compare(ctx, ops.GT, count, 0), "ValueError", "the mask picks no element to take the extreme of")
    return tuple(places), count


def _tell_ties(ctx: Context, line: Line, better: Row, best: Value, places: tuple[Value, ...]) -> None:
    """Say how much better the extreme element is than all others."""
    b = ctx.builder
    row, worst = (ops.MAXIMUM, -math.inf) if better is ops.GT else (ops.MINIMUM, math.inf)

    def step(x: Value, indices: tuple[Value, ...], second: Value) -> list[Value]:
        own = b.const(True)
        for here, place in zip(indices, places):
            own = b.op(ops.AND, own, b.op(ops.EQ, here, place))
        return [b.op(ops.SELECT, own, second, b.op(row, x, second))]

    (second,) = line.fold(ctx, (b.const(worst, best.type),), step, ("second",))
    b.kink("max" if better is ops.GT else "min", SHARED, b.op(ops.SUB, best, second), best, second)


def _shared(ctx: Context, line: Line, better: Row) -> Value:
    """The extreme element; its derivative is shared equally among ties."""
    b = ctx.builder
    places, count = locate(ctx, line, better, first_nan=False)
    extreme = line.read(ctx, places)
    zero = b.const(0.0, extreme.type)

    def excess(x: Value) -> Value:
        return b.op(ops.SELECT, b.op(ops.EQ, x, extreme), b.op(ops.SUB, x, extreme), zero)

    def among_ties() -> tuple[Value]:
        total = accumulate(ctx, line, ops.ADD, zero, excess)
        return (b.op(ops.ADD, extreme, b.op(ops.DIV, total, scalars.convert(ctx, count, line.array.element))),)

    tied = b.op(ops.AND, b.op(ops.GT, count, b.index(1)), b.op(ops.ISFINITE, extreme))
    return when(ctx, tied, among_ties, lambda: (extreme,))[0]


def _position(ctx: Context, a: Any, axis: Any, keepdims: Any, better: Row) -> Any:
    array = _ready(ctx, a)
    if isinstance(array, Selection):
        array.refuse("a position in it is needed")
    if array.element == BOOL:
        array = astype(ctx, array, I64)
    if axis is None and array.rank > 1 and keepdims:
        ctx.fail("AD234", "`argmax` and `argmin` with keepdims need an axis")

    _not_empty(ctx, array, axis)

    def compute(line: Line) -> Value:
        places, _ = locate(ctx, line, better, first_nan=True)
        return value(ctx, flat(ctx, line.extents, places))

    return reduction(ctx, array, axis, keepdims, I64, compute)


@expands(np.maximum.reduce)
def maximum_reduce(ctx: Context, array: Any, axis: Any = 0, keepdims: Any = False) -> Any:
    """`np.maximum.reduce`: along the first axis unless told otherwise."""
    return max_(ctx, array, axis, keepdims)


@expands(np.minimum.reduce)
def minimum_reduce(ctx: Context, array: Any, axis: Any = 0, keepdims: Any = False) -> Any:
    """`np.minimum.reduce`: along the first axis unless told otherwise."""
    return min_(ctx, array, axis, keepdims)
