"""Diagonals of matrices."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from adgen.frontend.arrays.build import as_array
from adgen.frontend.arrays.integers import add, minimum, size, sub, value
from adgen.frontend.arrays.keys import framed
from adgen.frontend.arrays.making import zeros
from adgen.frontend.arrays.model import Array, Axis, Frame, View
from adgen.frontend.arrays.registry import expands
from adgen.frontend.arrays.slicing import integer
from adgen.frontend.arrays.storage import copy, fill_from, settle

if TYPE_CHECKING:
    from adgen.frontend.context import Context


@expands(np.diagonal, method="diagonal")
def diagonal(ctx: Context, a: Any, offset: Any = 0) -> Array:
    """`np.diagonal` of the first two axes: a view that must not be written."""
    array = as_array(ctx, a)
    if array.rank != 2:
        ctx.fail("AD331", "a diagonal needs a matrix")
    shift = integer(ctx, offset, "the diagonal")
    if not isinstance(shift, int):
        ctx.fail_dynamic("AD234", "the number of a diagonal must be a constant")
    rows, columns = array.extents
    length = minimum(ctx, sub(ctx, rows, max(-shift, 0)), sub(ctx, columns, max(shift, 0)))
    axes = (Axis(max(-shift, 0), ((0, 1),)), Axis(max(shift, 0), ((0, 1),)))
    view = framed(ctx, array, Frame((value(ctx, size(ctx, length)),), axes))
    return replace(view, readonly="it is a diagonal") if isinstance(view, View) else view


@expands(np.diag)
def diag(ctx: Context, v: Any, k: Any = 0) -> Array:
    """`np.diag`: the diagonal of a matrix, or the matrix with a diagonal."""
    array = as_array(ctx, v)
    if array.rank == 2:
        return diagonal(ctx, array, k)
    if array.rank != 1 or not isinstance(k, int):
        ctx.fail("AD331", "`np.diag` needs a vector or a matrix, and a constant number of the diagonal")
    array = settle(ctx, array)
    length = value(ctx, add(ctx, array.extents[0], abs(k)))
    result = copy(ctx, zeros(ctx, [length, length], array.element))
    axes = (Axis(max(-k, 0), ((0, 1),)), Axis(max(k, 0), ((0, 1),)))
    fill_from(ctx, View(result.base, Frame(array.extents, axes)), array)
    return result
