"""The same elements under other axes: transposes, new and dropped axes, broadcasts; all of them views."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from adgen import ops
from adgen.frontend.arrays.broadcasting import stretch
from adgen.frontend.arrays.build import as_array
from adgen.frontend.arrays.checks import compare, require
from adgen.frontend.arrays.keys import framed
from adgen.frontend.arrays.model import Array, Axis, Frame, Lazy, View
from adgen.frontend.arrays.registry import expands
from adgen.frontend.arrays.shapes import axes_argument, axis_argument, broadcast, equal, is_one, shape_argument
from adgen.frontend.arrays.storage import finish, settle

if TYPE_CHECKING:
    from adgen.frontend.context import Context


def permuted(ctx: Context, array: Array, order: Sequence[int]) -> Array:
    """Axis k of the result is axis `order[k]`."""
    extents = tuple(array.extents[k] for k in order)
    axes = tuple(Axis(0, ((order.index(k), 1),)) for k in range(array.rank))
    return framed(ctx, array, Frame(extents, axes))


@expands(np.transpose)
def transpose(ctx: Context, a: Any, axes: Any = None) -> Array:
    """`np.transpose`."""
    array = as_array(ctx, a)
    if axes is None:
        return permuted(ctx, array, range(array.rank)[::-1])
    order = [axis_argument(ctx, axis, array.rank) for axis in axes]
    if sorted(order) != list(range(array.rank)):
        ctx.fail("AD333", "axes don't match array")
    return permuted(ctx, array, order)


@expands(method="transpose")
def transpose_method(ctx: Context, array: Any, *axes: Any) -> Array:
    """`array.transpose`."""
    if len(axes) == 1 and (axes[0] is None or isinstance(axes[0], tuple | list)):
        return transpose(ctx, array, axes[0])
    return transpose(ctx, array, axes or None)


@expands(np.swapaxes, method="swapaxes")
def swapaxes(ctx: Context, a: Any, axis1: Any, axis2: Any) -> Array:
    """`np.swapaxes`."""
    array = as_array(ctx, a)
    order = list(range(array.rank))
    p, q = axis_argument(ctx, axis1, array.rank), axis_argument(ctx, axis2, array.rank)
    order[p], order[q] = order[q], order[p]
    return permuted(ctx, array, order)


@expands(np.moveaxis)
def moveaxis(ctx: Context, a: Any, source: Any, destination: Any) -> Array:
    """`np.moveaxis`."""
    array = as_array(ctx, a)
    sources, targets = (
        [axis_argument(ctx, x, array.rank) for x in (axes if isinstance(axes, tuple | list) else (axes,))]
        for axes in (source, destination)
    )
    order = [k for k in range(array.rank) if k not in sources]
    for target, origin in sorted(zip(targets, sources, strict=True)):
        order.insert(target, origin)
    return permuted(ctx, array, order)


@expands(np.squeeze, method="squeeze")
def squeeze(ctx: Context, a: Any, axis: Any = None) -> Any:
    """`np.squeeze`: axes of length one are dropped."""
    array = as_array(ctx, a)
    if axis is None:
        dropped = [k for k, extent in enumerate(array.extents) if is_one(ctx, extent)]
        if any(ctx.builder.known(extent) is None for extent in array.extents):
            help = "name the axis: `squeeze(axis=...)`"
            ctx.fail("AD234", "`squeeze` without an axis: which axes have length one depends on the data", help)
    else:
        dropped = list(axes_argument(ctx, axis, array.rank))
    message = "cannot select an axis to squeeze out which has size not equal to one"
    for k in dropped:
        if not is_one(ctx, array.extents[k]):
            require(ctx, compare(ctx, ops.EQ, array.extents[k], 1), "ValueError", message)
    kept = [k for k in range(array.rank) if k not in dropped]
    axes = tuple(Axis(0, ((kept.index(k), 1),) if k in kept else ()) for k in range(array.rank))
    return finish(ctx, framed(ctx, array, Frame(tuple(array.extents[k] for k in kept), axes)))


@expands(np.expand_dims)
def expand_dims(ctx: Context, a: Any, axis: Any) -> Array:
    """`np.expand_dims`."""
    array = as_array(ctx, a)
    count_ = len(axis) if isinstance(axis, tuple | list) else 1
    return _with_ones(ctx, array, axes_argument(ctx, axis, array.rank + count_))


def _with_ones(ctx: Context, array: Array, positions: Sequence[int]) -> Array:
    """The array with axes of length one at these positions of the result."""
    rank = array.rank + len(positions)
    old = [k for k in range(rank) if k not in positions]
    one = ctx.builder.index(1)
    extents = tuple(array.extents[old.index(k)] if k in old else one for k in range(rank))
    return framed(ctx, array, Frame(extents, tuple(Axis(0, ((k, 1),)) for k in old)))


def at_least(ctx: Context, array: Array, rank: int) -> Array:
    """The array with axes of length one in front, up to a rank."""
    return _with_ones(ctx, array, range(max(0, rank - array.rank)))


@expands(np.atleast_1d)
def atleast_1d(ctx: Context, a: Any) -> Array:
    """`np.atleast_1d`."""
    return at_least(ctx, as_array(ctx, a), 1)


@expands(np.atleast_2d)
def atleast_2d(ctx: Context, a: Any) -> Array:
    """`np.atleast_2d`."""
    return at_least(ctx, as_array(ctx, a), 2)


@expands(np.broadcast_to)
def broadcast_to(ctx: Context, a: Any, shape: Any) -> Array:
    """`np.broadcast_to`: a view that must not be written."""
    array = as_array(ctx, a)
    wanted = shape_argument(ctx, shape)
    for extent, target in zip(array.extents[::-1], wanted[::-1]):
        if not is_one(ctx, extent) and not equal(ctx, extent, target):
            fits = ctx.builder.op(ops.OR, compare(ctx, ops.EQ, extent, target), compare(ctx, ops.EQ, extent, 1))
            require(ctx, fits, "ValueError", "cannot broadcast an axis of length {0} to length {1}", (extent, target))
    return _frozen(stretch(ctx, array, wanted))


@expands(np.broadcast_arrays)
def broadcast_arrays(ctx: Context, *arrays: Any) -> tuple[Array, ...]:
    """`np.broadcast_arrays`: views that must not be written."""
    prepared = [settle(ctx, as_array(ctx, x)) for x in arrays]
    extents = broadcast(ctx, [x.extents for x in prepared])
    return tuple(_frozen(stretch(ctx, x, extents)) for x in prepared)


def _frozen(array: View | Lazy) -> Array:
    return replace(array, readonly="it is broadcast") if isinstance(array, View) else array
