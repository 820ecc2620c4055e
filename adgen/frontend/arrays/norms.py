"""Norms of vectors and matrices."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from adgen import ops
from adgen.frontend import scalars
from adgen.frontend.arrays.build import as_array
from adgen.frontend.arrays.elementwise import elementwise
from adgen.frontend.arrays.extremes import max_, min_
from adgen.frontend.arrays.reduce import accumulate, floating, reduction, root, size_type, square_of_size, sum_
from adgen.frontend.arrays.registry import expands
from adgen.ir.nodes import Value

if TYPE_CHECKING:
    from adgen.frontend.context import Context


@expands(np.linalg.norm, scipy="linalg.norm")
def norm(ctx: Context, x: Any, ord: Any = None, axis: Any = None, keepdims: Any = False) -> Any:
    """`np.linalg.norm` of vectors, and the Frobenius norm; its derivative at the zero vector is zero."""
    array = as_array(ctx, x)
    vector = array.rank == 1 or isinstance(axis, int)
    if ord in (None, "fro") or (ord == 2 and vector):
        element = floating(ctx, array, None)
        size = size_type(element)
        zero = ctx.builder.const(0.0, size)

        def squared(x: Value) -> Value:
            return square_of_size(ctx, scalars.convert(ctx, x, element))

        return reduction(
            ctx, array, axis, keepdims, size, lambda line: root(ctx, accumulate(ctx, line, ops.ADD, zero, squared))
        )
    sizes = elementwise(ctx, np.absolute, [array])
    if vector and ord == 1:
        return sum_(ctx, sizes, axis, None, keepdims)
    if vector and ord in (math.inf, -math.inf):
        extreme = max_ if ord > 0 else min_
        return extreme(ctx, sizes, axis, keepdims)
    if not vector and axis is None and not keepdims:
        return _of_matrix(ctx, array, sizes, ord)
    ctx.fail("AD236", f"`np.linalg.norm` with ord={ord!r} is not supported here", "use the 2-norm or Frobenius norm")


def _of_matrix(ctx: Context, array: Any, sizes: Any, ord: Any) -> Any:
    """The norms of a matrix other than Frobenius's: of sums of rows or columns, and of singular values."""
    from adgen.frontend.library import names, singular

    if ord in (1, -1, math.inf, -math.inf):
        extreme = max_ if ord > 0 else min_
        return extreme(ctx, sum_(ctx, sizes, 0 if abs(ord) == 1 else 1))
    if ord in (2, -2):
        return names.run(ctx, singular.spectral, (array,), ord < 0)
    if ord == "nuc":
        return names.run(ctx, singular.nuclear, (array,))
    ctx.fail("AD236", f"`np.linalg.norm` with ord={ord!r} is not supported here", "use the 2-norm or Frobenius norm")
