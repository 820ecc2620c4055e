"""The same elements in C order under another shape.

A reshape of memory that is one piece is the IR's `reshape`, and so a view; where the elements have to be put in order
first, the result is a copy that must not be written, since NumPy may have given a view.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from adgen import ops
from adgen.frontend.arrays.build import as_array
from adgen.frontend.arrays.checks import compare, require
from adgen.frontend.arrays.integers import Int, product, same, value
from adgen.frontend.arrays.model import Array, Axis, Frame, View
from adgen.frontend.arrays.registry import expands
from adgen.frontend.arrays.shapes import Extents, count, equal, is_one, shape_argument
from adgen.frontend.arrays.storage import copy, shared_copy
from adgen.ir import core

if TYPE_CHECKING:
    from adgen.frontend.context import Context


@expands(np.reshape)
def reshape_function(ctx: Context, a: Any, shape: Any = None, order: Any = "C", newshape: Any = None) -> Array:
    """`np.reshape`."""
    if order != "C":
        ctx.fail("AD234", "only C order is supported")
    return reshape(ctx, as_array(ctx, a), newshape if shape is None else shape)


@expands(method="reshape")
def reshape_method(ctx: Context, array: Any, *shape: Any, order: Any = "C") -> Array:
    """`array.reshape`."""
    return reshape_function(ctx, array, shape[0] if len(shape) == 1 else shape, order)


def reshape(ctx: Context, array: Array, shape: Any) -> Array:
    """The elements in C order under another shape; -1 stands for what is left."""
    wanted = _completed(ctx, array.extents, shape)
    if len(wanted) == array.rank and all(equal(ctx, a, b) for a, b in zip(wanted, array.extents)):
        return array
    if isinstance(array, View):
        view = _split_vector(ctx, array, wanted) or _whole_tail(ctx, array, wanted)
        if view is not None:
            return view
        return _rebased(ctx, shared_copy(ctx, array, "a reshaped copy"), wanted)
    return _rebased(ctx, copy(ctx, array), wanted)


def _completed(ctx: Context, extents: Extents, shape: Any) -> Extents:
    """The wanted extents, with -1 replaced, checked against the number of elements."""
    items = list(shape) if isinstance(shape, tuple | list) else [shape]
    free = [k for k, item in enumerate(items) if not hasattr(item, "element") and int(item) == -1]
    if len(free) > 1:
        ctx.fail("AD332", "can only specify one unknown dimension")
    total = count(ctx, extents)
    given = shape_argument(ctx, [item for k, item in enumerate(items) if k not in free])
    rest = product(ctx, given)
    message = "cannot reshape array of size {0} into the given shape"
    if free:
        if isinstance(rest, int) and isinstance(total, int) and rest and total % rest == 0:
            inferred: Int = total // rest
        else:
            inferred = _divided(ctx, extents, given, total, rest, message)
        result = list(given)
        result.insert(free[0], value(ctx, inferred))
        return tuple(result)
    if not same(ctx, total, rest):
        require(ctx, compare(ctx, ops.EQ, total, rest), "ValueError", message, (total,))
    return given


def _divided(ctx: Context, extents: Extents, given: Extents, total: Int, rest: Int, message: str) -> Int:
    """`total / rest`: the product of the extents that remain when the given ones are struck out, else a quotient."""
    left = list(extents)
    for extent in given:
        match = next((k for k, other in enumerate(left) if equal(ctx, extent, other)), None)
        if is_one(ctx, extent):
            continue
        if match is None:
            break
        left.pop(match)
    else:
        return product(ctx, left)
    b = ctx.builder
    divisor, dividend = value(ctx, rest), value(ctx, total)
    require(ctx, compare(ctx, ops.GT, divisor, 0), "ValueError", message, (total,))
    quotient = b.op(ops.FLOORDIV, dividend, divisor)
    require(ctx, compare(ctx, ops.EQ, b.op(ops.MUL, quotient, divisor), dividend), "ValueError", message, (total,))
    ctx.ranges.assume(compare(ctx, ops.GE, quotient, 0))
    return quotient


def _rebased(ctx: Context, view: View, extents: Extents) -> View:
    """A whole buffer under another shape."""
    (base,) = ctx.builder.emit(core.RESHAPE, (view.base, *extents))
    return View(base, Frame.identity(extents), view.readonly)


def _split_vector(ctx: Context, view: View, wanted: Extents) -> View | None:
    """A vector in any view as an array of higher rank: every old index is a sum of new ones."""
    if view.rank != 1 or view.whole(ctx):
        return None
    terms = tuple((k, product(ctx, wanted[k + 1 :])) for k in range(len(wanted)))
    return view.framed(ctx, Frame(wanted, (Axis(0, terms),)))


def _whole_tail(ctx: Context, view: View, wanted: Extents) -> View | None:
    """A view whose last axes are the buffer's own, reshaped in these axes only."""
    kept = 0
    while kept < min(view.rank, len(wanted)) and equal(ctx, view.extents[kept], wanted[kept]):
        kept += 1
    dims = ctx.builder.dims(view.base)
    for front in range(kept, -1, -1):
        tail = view.rank - front
        head = len(dims) - tail
        if head < 0 or not all(_own_axis(ctx, view, head + k, front + k, dims) for k in range(tail)):
            continue
        if any(k >= front for axis in view.frame.axes[:head] for k, _ in axis.terms):
            continue
        if front and not same(ctx, product(ctx, view.extents[front:]), product(ctx, wanted[front:])):
            continue  # as many elements in all, but not in this part: possible where an axis is empty
        base = _rebased(ctx, View(view.base, Frame.identity(dims)), (*dims[:head], *wanted[front:]))
        axes = (*view.frame.axes[:head], *(Axis(0, ((front + k, 1),)) for k in range(len(wanted) - front)))
        return View(base.base, Frame(wanted, axes), view.readonly)
    return None


def _own_axis(ctx: Context, view: View, axis: int, k: int, dims: Extents) -> bool:
    return view.frame.axes[axis] == Axis(0, ((k, 1),)) and equal(ctx, view.extents[k], dims[axis])


@expands(np.ravel, method="ravel")
def ravel(ctx: Context, a: Any, order: Any = "C") -> Array:
    """`np.ravel`: a view where NumPy gives one."""
    return reshape_function(ctx, a, (-1,), order)


@expands(method="flatten")
def flatten(ctx: Context, a: Any, order: Any = "C") -> Array:
    """`array.flatten`: always a copy."""
    return reshape_function(ctx, copy(ctx, as_array(ctx, a)), (-1,), order)
