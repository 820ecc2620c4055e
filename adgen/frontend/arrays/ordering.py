"""Sorting, searching, interpolation.

`argsort` is a stable merge sort of positions, so no derivative passes through it; `sort` gathers the elements in that
order, and their derivatives go back where they came from.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from adgen import ops
from adgen.frontend import scalars
from adgen.frontend.arrays.broadcasting import copy_into
from adgen.frontend.arrays.build import as_array
from adgen.frontend.arrays.checks import compare, require
from adgen.frontend.arrays.loops import NAMES, nest, span, when
from adgen.frontend.arrays.model import Array, View, expression
from adgen.frontend.arrays.registry import expands
from adgen.frontend.arrays.reshaping import reshape
from adgen.frontend.arrays.shapes import axis_argument
from adgen.frontend.arrays.storage import allocate, copy, finish, settle, writable
from adgen.ir import core
from adgen.ir.nodes import Value
from adgen.ir.types import F64, I64

if TYPE_CHECKING:
    from adgen.frontend.context import Context


@expands(np.argsort, method="argsort")
def argsort(ctx: Context, a: Any, axis: Any = -1, kind: Any = None, stable: Any = None) -> Array:
    """`np.argsort`, always stable; NaN last."""
    array, place = _prepared(ctx, a, axis)
    return _sorted_positions(ctx, array, place)


@expands(np.sort)
def sort(ctx: Context, a: Any, axis: Any = -1, kind: Any = None, stable: Any = None) -> Array:
    """`np.sort`."""
    array, place = _prepared(ctx, a, axis)
    order = _sorted_positions(ctx, array, place)

    def reader(ctx: Context, indices: tuple[Value, ...]) -> Value:
        position = order.read(ctx, indices)
        return array.read(ctx, (*indices[:place], position, *indices[place + 1 :]))

    return expression(ctx, array.element, array.extents, reader, (array, order), 3)


@expands(method="sort")
def sort_in_place(ctx: Context, array: Any, axis: Any = -1, kind: Any = None) -> None:
    """`array.sort`: in place."""
    target = writable(ctx, array)
    copy_into(ctx, target, sort(ctx, copy(ctx, target), axis))


def _prepared(ctx: Context, a: Any, axis: Any) -> tuple[Array, int]:
    array = settle(ctx, as_array(ctx, a), 0)
    if axis is None:
        array, axis = reshape(ctx, array, (-1,)), 0
    return array, axis_argument(ctx, axis, array.rank)


def _sorted_positions(ctx: Context, array: Array, place: int) -> View:
    b = ctx.builder
    result = allocate(ctx, I64, array.extents, "order", zero=False)
    scratch = allocate(ctx, I64, (array.extents[place],), "merged", zero=False)
    others = [extent for k, extent in enumerate(array.extents) if k != place]

    def line(outer: tuple[Value, ...]) -> None:
        def full(index: Value) -> tuple[Value, ...]:
            return (*outer[:place], index, *outer[place:])

        def start(index: Value) -> Sequence[Value]:
            b.store(result.base, index, full(index))
            return ()

        span(ctx, 0, array.extents[place], (), start)
        _merge_sort(ctx, array, result, scratch, array.extents[place], full)

    nest(ctx, others, line, [name for k, name in enumerate(NAMES) if k != place])
    ctx.writes.written(result.base)
    return result


def _while(ctx: Context, carried: Sequence[Value], test: Any, body: Any, names: Sequence[str]) -> tuple[Value, ...]:
    b = ctx.builder
    regions = []
    for emit in (lambda *state: (test(*state),), body):
        arguments = [Value(x.type, name) for x, name in zip(carried, names)]
        with b.block(arguments) as block:
            block.results = tuple(emit(*arguments))
        regions.append(block.region())
    return b.emit(core.WHILE, carried, None, regions, names)


def _merge_sort(ctx: Context, array: Array, order: View, scratch: View, length: Value, full: Any) -> None:
    """Bottom-up: runs of doubling width are merged until one is left."""
    b = ctx.builder

    def pass_(width: Value) -> list[Value]:
        double = b.op(ops.MUL, width, b.index(2))

        def merge(low: Value) -> list[Value]:
            middle = b.op(ops.MINIMUM, b.op(ops.ADD, low, width), length)
            high = b.op(ops.MINIMUM, b.op(ops.ADD, low, double), length)

            def place(k: Value, left: Value, right: Value) -> list[Value]:
                take_left = _left_first(ctx, array, order, full, left, middle, right, high)
                source = b.op(ops.SELECT, take_left, left, right)
                b.store(scratch.base, b.load(order.base, full(source)), (k,))
                one = b.index(1)
                step_left = b.op(ops.SELECT, take_left, b.op(ops.ADD, left, one), left)
                return [step_left, b.op(ops.SELECT, take_left, right, b.op(ops.ADD, right, one))]

            b.loop(low, high, (low, middle), place, name="k", names=("left", "right"))
            return [high]

        _while(ctx, (b.index(0),), lambda low: b.op(ops.LT, low, length), merge, ("low",))

        def back(index: Value) -> Sequence[Value]:
            b.store(order.base, b.load(scratch.base, (index,)), full(index))
            return ()

        span(ctx, 0, length, (), back)
        return [double]

    _while(ctx, (b.index(1),), lambda width: b.op(ops.LT, width, length), pass_, ("width",))


def _left_first(
    ctx: Context, array: Array, order: View, full: Any, left: Value, middle: Value, right: Value, high: Value
) -> Value:
    """Whether the next element of the merged run is the left one: the right run is used up, or not smaller."""
    b = ctx.builder

    def compared() -> tuple[Value]:
        def sides() -> tuple[Value]:
            x, y = (array.read(ctx, full(b.load(order.base, full(k)))) for k in (left, right))
            less = b.op(ops.LT, y, x)
            if array.element.is_float:
                nan = b.op(ops.AND, b.op(ops.ISNAN, x), b.op(ops.NOT, b.op(ops.ISNAN, y)))
                less = b.op(ops.OR, less, nan)
            return (b.op(ops.NOT, less),)

        return (b.branch(b.op(ops.LT, right, high), sides, lambda: (b.const(True),))[0],)

    return b.branch(b.op(ops.LT, left, middle), compared, lambda: (b.const(False),))[0]


def bisect(ctx: Context, grid: Array, x: Value, right: bool) -> Value:
    """The number of elements of a sorted vector that are smaller than `x` (or equal, with `right`)."""
    b = ctx.builder
    low, high = b.index(0), grid.extents[0]

    def halve(low: Value, high: Value) -> list[Value]:
        middle = b.op(ops.FLOORDIV, b.op(ops.ADD, low, high), b.index(2))
        y = grid.read(ctx, (middle,))
        before = b.op(ops.LE if right else ops.LT, y, x)
        after = b.op(ops.ADD, middle, b.index(1))
        return [b.op(ops.SELECT, before, after, low), b.op(ops.SELECT, before, high, middle)]

    result, _ = _while(ctx, (low, high), lambda low, high: b.op(ops.LT, low, high), halve, ("low", "high"))
    return result


@expands(np.searchsorted)
def searchsorted(ctx: Context, a: Any, v: Any, side: Any = "left") -> Any:
    """`np.searchsorted` by bisection."""
    grid, wanted = settle(ctx, as_array(ctx, a), 0), as_array(ctx, v)
    if grid.rank != 1:
        ctx.fail("AD331", "`np.searchsorted` needs a vector to search in")
    element = scalars.promote([(grid.element, False), (wanted.element, False)])
    grid = _in_type(ctx, grid, element)

    def reader(ctx: Context, indices: tuple[Value, ...]) -> Value:
        x = scalars.convert(ctx, wanted.read(ctx, indices), element)
        return bisect(ctx, grid, x, side == "right")

    return finish(ctx, expression(ctx, I64, wanted.extents, reader, (grid, wanted), 50))


def _in_type(ctx: Context, array: Array, element: Any) -> Array:
    from adgen.frontend.arrays.elementwise import astype

    return array if array.element == element else settle(ctx, astype(ctx, array, element), -1)


@expands(np.interp)
def interp(ctx: Context, x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Any:
    """`np.interp`: piecewise linear, constant beyond the ends."""
    if period is not None:
        from adgen.frontend import calls
        from adgen.frontend.library.integrals import periodic

        return calls.call(ctx, periodic, [x, xp, fp, period], {})
    wanted = as_array(ctx, x)
    grid, values = (_in_type(ctx, settle(ctx, as_array(ctx, a), 0), F64) for a in (xp, fp))
    if grid.rank != 1 or values.rank != 1:
        ctx.fail("AD331", "`np.interp` needs vectors of points and values")
    b = ctx.builder
    from adgen.frontend.arrays.shapes import same_extent

    same_extent(ctx, grid.extents[0], values.extents[0], "fp and xp are not of the same length: {0} is not {1}")
    length = grid.extents[0]
    if not ctx.ranges.below(b.index(0), length):
        require(ctx, compare(ctx, ops.GT, length, 0), "ValueError", "array of sample points is empty")
    last = b.op(ops.SUB, length, b.index(1))

    def outside(given: Any, index: Value) -> Value:
        return values.read(ctx, (index,)) if given is None else scalars.to(ctx, given, F64)

    def inside(at: Value, interval: Value) -> tuple[Value]:
        after = b.op(ops.ADD, interval, b.index(1))
        x0, x1 = (grid.read(ctx, (k,)) for k in (interval, after))
        y0, y1 = (values.read(ctx, (k,)) for k in (interval, after))
        slope = b.op(ops.DIV, b.op(ops.SUB, y1, y0), b.op(ops.SUB, x1, x0))
        return (b.op(ops.ADD, b.op(ops.MUL, slope, b.op(ops.SUB, at, x0)), y0),)

    def reader(ctx: Context, indices: tuple[Value, ...]) -> Value:
        at = scalars.convert(ctx, wanted.read(ctx, indices), F64)
        below = b.op(ops.LT, at, grid.read(ctx, (b.index(0),)))
        above = b.op(ops.GT, at, grid.read(ctx, (last,)))

        def middle() -> tuple[Value, ...]:
            position = b.op(ops.SUB, bisect(ctx, grid, at, right=True), b.index(1))
            in_range = b.op(ops.AND, b.op(ops.GE, position, b.index(0)), b.op(ops.LT, position, last))
            return when(ctx, in_range, lambda: inside(at, position), lambda: at_node(position))

        def at_node(position: Value) -> tuple[Value]:
            # Beyond every interval there is the last point, and a NaN, for which no comparison holds.
            nan = b.op(ops.ISNAN, at)
            return (b.op(ops.SELECT, nan, at, values.read(ctx, (last,))),)

        def upper() -> tuple[Value, ...]:
            return when(ctx, above, lambda: (outside(right, last),), middle)

        return when(ctx, below, lambda: (outside(left, b.index(0)),), upper)[0]

    return finish(ctx, expression(ctx, F64, wanted.extents, reader, (wanted, grid, values), 60))
