"""Running sums and products, differences."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from adgen import ops
from adgen.frontend import scalars
from adgen.frontend.arrays.build import as_array
from adgen.frontend.arrays.elementwise import elementwise
from adgen.frontend.arrays.indexing import getitem
from adgen.frontend.arrays.loops import NAMES, nest, span
from adgen.frontend.arrays.model import Array
from adgen.frontend.arrays.reduce import sum_, summed_type
from adgen.frontend.arrays.registry import expands
from adgen.frontend.arrays.reshaping import reshape
from adgen.frontend.arrays.shapes import axis_argument
from adgen.frontend.arrays.storage import allocate, settle
from adgen.ir.nodes import Row, Value
from adgen.ir.types import BOOL

if TYPE_CHECKING:
    from adgen.frontend.context import Context


def _scan(ctx: Context, a: Any, axis: Any, dtype: Any, row: Row, start: int) -> Array:
    """Store every carried value of a reduction along an axis."""
    array = as_array(ctx, a)
    if axis is None:
        array, axis = reshape(ctx, array, (-1,)), 0
    place = axis_argument(ctx, axis, array.rank)
    element = summed_type(ctx, dtype, array.element)
    result = allocate(ctx, element, array.extents, zero=False)
    others = [extent for k, extent in enumerate(array.extents) if k != place]
    names = [name for k, name in enumerate(NAMES) if k != place]

    def line(outer: tuple[Value, ...]) -> None:
        def step(index: Value, carried: Value) -> list[Value]:
            indices = (*outer[:place], index, *outer[place:])
            x = scalars.convert(ctx, array.read(ctx, indices), element)
            value = ctx.builder.op(row, carried, x)
            ctx.builder.store(result.base, value, indices)
            return [value]

        span(ctx, 0, array.extents[place], [ctx.builder.const(start, element)], step, NAMES[place])

    nest(ctx, others, line, names)
    ctx.writes.written(result.base)
    return result


@expands(np.cumsum, method="cumsum")
def cumsum(ctx: Context, a: Any, axis: Any = None, dtype: Any = None) -> Array:
    """`np.cumsum`."""
    return _scan(ctx, a, axis, dtype, ops.ADD, 0)


@expands(np.cumprod, method="cumprod")
def cumprod(ctx: Context, a: Any, axis: Any = None, dtype: Any = None) -> Array:
    """`np.cumprod`: a carried product, whose derivative is right where factors are zero."""
    return _scan(ctx, a, axis, dtype, ops.MUL, 1)


@expands(np.diff)
def diff(ctx: Context, a: Any, n: Any = 1, axis: Any = -1) -> Any:
    """`np.diff`."""
    array = as_array(ctx, a)
    if not isinstance(n, int) or n < 0:
        ctx.fail("AD234", "`np.diff`: the order must be a constant that is not negative")
    place = axis_argument(ctx, axis, array.rank)
    before = (slice(None),) * place
    operator_ = operator.ne if array.element == BOOL else operator.sub
    for _ in range(n):
        array = settle(ctx, array)
        later, earlier = (getitem(ctx, array, (*before, key)) for key in (slice(1, None), slice(None, -1)))
        array = elementwise(ctx, operator_, [later, earlier])
    return array


TRAPEZOID = getattr(np, "trapezoid", None) or getattr(np, "trapz", None)


@expands(TRAPEZOID, getattr(np, "trapz", None))
def trapezoid(ctx: Context, y: Any, x: Any = None, dx: Any = 1.0, axis: Any = -1) -> Any:
    """`np.trapezoid`: the integral of a piecewise linear function."""
    values = settle(ctx, as_array(ctx, y))
    place = axis_argument(ctx, axis, values.rank)
    before = (slice(None),) * place
    later, earlier = (getitem(ctx, values, (*before, key)) for key in (slice(1, None), slice(None, -1)))
    width = dx
    if x is not None:
        grid = as_array(ctx, x)
        width = diff(ctx, grid, 1, place if grid.rank > 1 else -1)
        if grid.rank == 1 and place < values.rank - 1:
            shape = tuple(slice(None) if k == place else None for k in range(place, values.rank))
            width = getitem(ctx, width, shape)
    area = elementwise(ctx, operator.mul, [width, elementwise(ctx, operator.add, [later, earlier])])
    return sum_(ctx, elementwise(ctx, operator.truediv, [area, 2.0]), place)
