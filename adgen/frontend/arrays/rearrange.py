"""The same elements in other places: roll, flip, tile, repeat, take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from adgen import ops
from adgen.frontend.arrays.build import as_array
from adgen.frontend.arrays.checks import compare, require
from adgen.frontend.arrays.indexing import getitem
from adgen.frontend.arrays.integers import Int, mul, quotient, remainder, sub, value
from adgen.frontend.arrays.keys import framed
from adgen.frontend.arrays.model import Array, Axis, Frame, View, expression
from adgen.frontend.arrays.registry import expands
from adgen.frontend.arrays.reshaping import reshape
from adgen.frontend.arrays.shapes import axes_argument, axis_argument, flat, shape_argument
from adgen.frontend.arrays.shaping import at_least, permuted
from adgen.frontend.arrays.slicing import integer
from adgen.frontend.arrays.storage import copy, settle
from adgen.ir.nodes import Value

if TYPE_CHECKING:
    from adgen.frontend.context import Context


@expands(np.roll)
def roll(ctx: Context, a: Any, shift: Any, axis: Any = None) -> Array:
    """`np.roll` by static or dynamic amounts."""
    array = settle(ctx, as_array(ctx, a))
    if axis is None:
        return reshape(ctx, roll(ctx, reshape(ctx, array, (-1,)), shift, 0), _shape(array))
    axes = list(axis) if isinstance(axis, tuple | list) else [axis]
    shifts = list(shift) if isinstance(shift, tuple | list) else [shift] * len(axes)
    for amount, place in zip(shifts, axes, strict=True):
        array = _rolled(ctx, array, integer(ctx, amount, "a shift"), axis_argument(ctx, place, array.rank))
    return array


def _shape(array: Array) -> tuple[Any, ...]:
    from adgen.frontend.values import Number

    return tuple(Number(extent) for extent in array.extents)


def _rolled(ctx: Context, array: Array, shift: Int, place: int) -> Array:
    def reader(ctx: Context, indices: tuple[Value, ...]) -> Value:
        source = value(ctx, remainder(ctx, sub(ctx, indices[place], shift), array.extents[place]))
        return array.read(ctx, (*indices[:place], source, *indices[place + 1 :]))

    return expression(ctx, array.element, array.extents, reader, (array,), 1)


@expands(np.flip)
def flip(ctx: Context, m: Any, axis: Any = None) -> Array:
    """`np.flip`: a view."""
    array = as_array(ctx, m)
    flipped = axes_argument(ctx, axis, array.rank)
    axes = tuple(
        Axis(sub(ctx, extent, 1), ((k, -1),)) if k in flipped else Axis(0, ((k, 1),))
        for k, extent in enumerate(array.extents)
    )
    return framed(ctx, array, Frame(array.extents, axes))


@expands(np.fliplr)
def fliplr(ctx: Context, m: Any) -> Array:
    """`np.fliplr`."""
    return flip(ctx, m, 1)


@expands(np.flipud)
def flipud(ctx: Context, m: Any) -> Array:
    """`np.flipud`."""
    return flip(ctx, m, 0)


@expands(np.rot90)
def rot90(ctx: Context, m: Any, k: Any = 1) -> Array:
    """`np.rot90` in the plane of the first two axes."""
    array = as_array(ctx, m)
    if not isinstance(k, int) or array.rank < 2:
        ctx.fail("AD234", "`np.rot90` needs a matrix and a constant number of turns")
    order = [1, 0, *range(2, array.rank)]
    turns = k % 4
    if turns == 2:
        return flip(ctx, array, (0, 1))
    if turns == 1:
        return permuted(ctx, flip(ctx, array, 1), order)
    return flip(ctx, permuted(ctx, array, order), 1) if turns else array


@expands(np.tile)
def tile(ctx: Context, A: Any, reps: Any) -> Array:
    """`np.tile`."""
    array = settle(ctx, as_array(ctx, A))
    counts = shape_argument(ctx, reps)
    array = at_least(ctx, array, len(counts))
    one = ctx.builder.index(1)
    counts = (*(one for _ in range(array.rank - len(counts))), *counts)
    extents = tuple(value(ctx, mul(ctx, n, c)) for n, c in zip(array.extents, counts))

    def reader(ctx: Context, indices: tuple[Value, ...]) -> Value:
        sources = [
            index if ctx.builder.known(c) == 1 else value(ctx, remainder(ctx, index, n))
            for index, n, c in zip(indices, array.extents, counts)
        ]
        return array.read(ctx, sources)

    return expression(ctx, array.element, extents, reader, (array,), 1)


@expands(np.repeat, method="repeat")
def repeat(ctx: Context, a: Any, repeats: Any, axis: Any = None) -> Array:
    """`np.repeat` by a constant number."""
    array = settle(ctx, as_array(ctx, a))
    if axis is None:
        array, axis = reshape(ctx, array, (-1,)) if array.rank else at_least(ctx, array, 1), 0
    place = axis_argument(ctx, axis, array.rank)
    if isinstance(repeats, list | tuple) and len(repeats) == 1:
        repeats = repeats[0]
    if isinstance(repeats, list | tuple | np.ndarray | Array):
        ctx.fail("AD234", "`np.repeat` with a different number for every element is not supported")
    (times,) = shape_argument(ctx, repeats)
    b = ctx.builder
    number = b.known(times)
    length = value(ctx, mul(ctx, array.extents[place], times))
    extents = tuple(length if k == place else extent for k, extent in enumerate(array.extents))

    def reader(ctx: Context, indices: tuple[Value, ...]) -> Value:
        index = indices[place]
        source = (
            b.op(ops.FLOORDIV, index, times) if number is None else value(ctx, quotient(ctx, index, max(number, 1)))
        )
        return array.read(ctx, (*indices[:place], source, *indices[place + 1 :]))

    return expression(ctx, array.element, extents, reader, (array,), 1)


@expands(np.resize)
def resize(ctx: Context, a: Any, new_shape: Any) -> Array:
    """`np.resize`: the elements in C order, over and over, until the new shape is full."""
    vector = reshape(ctx, settle(ctx, as_array(ctx, a)), (-1,))
    extents = shape_argument(ctx, new_shape)

    def reader(ctx: Context, indices: tuple[Value, ...]) -> Value:
        position = value(ctx, remainder(ctx, flat(ctx, extents, indices), vector.extents[0]))
        return vector.read(ctx, (position,))

    return expression(ctx, vector.element, extents, reader, (vector,), 2)


@expands(np.take, method="take")
def take(ctx: Context, a: Any, indices: Any, axis: Any = None) -> Any:
    """`np.take`: always a copy."""
    array = as_array(ctx, a)
    if axis is None:
        array, axis = reshape(ctx, array, (-1,)), 0
    place = axis_argument(ctx, axis, array.rank)
    key = list(indices) if isinstance(indices, tuple) else indices
    picked = getitem(ctx, array, (*(slice(None),) * place, key))
    return copy(ctx, picked) if isinstance(picked, View) else picked


@expands(np.take_along_axis)
def take_along_axis(ctx: Context, arr: Any, indices: Any, axis: Any) -> Array:
    """`np.take_along_axis`."""
    from adgen.frontend.arrays.shapes import equal
    from adgen.frontend.arrays.slicing import normalised

    array, picks = settle(ctx, as_array(ctx, arr)), settle(ctx, as_array(ctx, indices))
    place = axis_argument(ctx, axis, array.rank)
    if picks.rank != array.rank:
        ctx.fail("AD331", "`indices` and `arr` must have the same number of dimensions")
    for k, (mine, other) in enumerate(zip(array.extents, picks.extents)):
        if k != place and not equal(ctx, mine, other):
            message = "an axis of `indices` has length {1} instead of {0}"
            require(ctx, compare(ctx, ops.EQ, mine, other), "IndexError", message, (mine, other))

    def reader(ctx: Context, at: tuple[Value, ...]) -> Value:
        index = normalised(ctx, picks.read(ctx, at), array.extents[place], place)
        return array.read(ctx, (*at[:place], value(ctx, index), *at[place + 1 :]))

    return expression(ctx, array.element, picks.extents, reader, (array, picks), 3, raises=True)
