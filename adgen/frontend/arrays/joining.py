"""Arrays put together: concatenate, stack and their kin."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from adgen.frontend import scalars
from adgen.frontend.arrays.build import as_array
from adgen.frontend.arrays.integers import Int, add, mul, total, value
from adgen.frontend.arrays.model import Array, Axis, Frame
from adgen.frontend.arrays.registry import expands
from adgen.frontend.arrays.reshaping import reshape
from adgen.frontend.arrays.shapes import axis_argument, same_extent
from adgen.frontend.arrays.shaping import at_least, expand_dims, permuted
from adgen.frontend.arrays.storage import allocate, copy, fill_from
from adgen.frontend.values import Number

if TYPE_CHECKING:
    from adgen.frontend.context import Context

MISMATCH = "all the input array dimensions except for the concatenation axis must match exactly: {0} is not {1}"


def _parts(ctx: Context, arrays: Any) -> list[Array]:
    """The arrays of a sequence; the rows of an array."""
    if isinstance(arrays, list | tuple):
        parts = [as_array(ctx, x) for x in arrays]
    else:
        whole = as_array(ctx, arrays)
        known = ctx.builder.known(whole.extents[0]) if whole.rank else None
        if known is None:
            ctx.fail("AD234", "the arrays to join must be given as a list or a tuple")
        from adgen.frontend.arrays.indexing import getitem

        items = [getitem(ctx, whole, k) for k in range(known)]
        parts = [as_array(ctx, x) for x in items]
    if not parts:
        ctx.fail("AD234", "need at least one array to concatenate")
    return parts


def _rows(ctx: Context, arrays: Any) -> Array | None:
    """The array whose rows are to be joined, when their number is not known."""
    if isinstance(arrays, list | tuple):
        return None
    whole = as_array(ctx, arrays)
    return whole if whole.rank > 1 and ctx.builder.known(whole.extents[0]) is None else None


def _chained(ctx: Context, rows: Array) -> Array:
    """The rows of an array, one behind the other."""
    length = mul(ctx, rows.extents[0], rows.extents[1])
    return copy(ctx, reshape(ctx, rows, tuple(Number(value(ctx, n)) for n in (length, *rows.extents[2:]))))


def join(ctx: Context, parts: Sequence[Array], axis: int) -> Array:
    """The arrays one after another along an axis, in fresh memory."""
    first = parts[0]
    if any(part.rank != first.rank for part in parts):
        ctx.fail("AD331", "all the input arrays must have the same number of dimensions")
    for part in parts[1:]:
        for k in range(first.rank):
            if k != axis:
                same_extent(ctx, first.extents[k], part.extents[k], MISMATCH)
    length = value(ctx, total(ctx, [(1, part.extents[axis]) for part in parts]))
    extents = tuple(length if k == axis else extent for k, extent in enumerate(first.extents))
    element = scalars.promote([(part.element, False) for part in parts])
    result = allocate(ctx, element, extents, zero=False)
    offset: Int = 0
    for part in parts:
        axes = tuple(Axis(offset if k == axis else 0, ((k, 1),)) for k in range(first.rank))
        fill_from(ctx, result.framed(ctx, Frame(part.extents, axes)), part)
        offset = add(ctx, offset, part.extents[axis])
    return result


@expands(np.concatenate)
def concatenate(ctx: Context, arrays: Any, axis: Any = 0) -> Array:
    """`np.concatenate`."""
    rows = _rows(ctx, arrays)
    if rows is not None and axis == 0:
        return _chained(ctx, rows)
    parts = _parts(ctx, arrays)
    if axis is None:
        return join(ctx, [reshape(ctx, part, (-1,)) for part in parts], 0)
    if any(part.rank == 0 for part in parts):
        ctx.fail("AD331", "zero-dimensional arrays cannot be concatenated", "make a list of them: `np.array([...])`")
    return join(ctx, parts, axis_argument(ctx, axis, parts[0].rank))


@expands(np.stack)
def stack(ctx: Context, arrays: Any, axis: Any = 0) -> Array:
    """`np.stack`."""
    rows = _rows(ctx, arrays)
    if rows is not None and axis == 0:
        return copy(ctx, rows)
    parts = _parts(ctx, arrays)
    place = axis_argument(ctx, axis, parts[0].rank + 1)
    if any(part.rank != parts[0].rank for part in parts):
        ctx.fail("AD331", "all input arrays must have the same shape")
    return join(ctx, [expand_dims(ctx, part, place) for part in parts], place)


@expands(np.hstack)
def hstack(ctx: Context, tup: Any) -> Array:
    """`np.hstack`."""
    rows = _rows(ctx, tup)
    if rows is not None and rows.rank == 2:
        return _chained(ctx, rows)
    parts = [at_least(ctx, part, 1) for part in _parts(ctx, tup)]
    return join(ctx, parts, 0 if parts[0].rank == 1 else 1)


@expands(np.vstack)
def vstack(ctx: Context, tup: Any) -> Array:
    """`np.vstack`."""
    rows = _rows(ctx, tup)
    if rows is not None:
        return copy(ctx, rows) if rows.rank == 2 else _chained(ctx, rows)
    return join(ctx, [at_least(ctx, part, 2) for part in _parts(ctx, tup)], 0)


@expands(np.column_stack)
def column_stack(ctx: Context, tup: Any) -> Array:
    """`np.column_stack`: vectors become columns."""
    parts = []
    for part in _parts(ctx, tup):
        matrix = at_least(ctx, part, 2)
        parts.append(matrix if part.rank >= 2 else permuted(ctx, matrix, (1, 0)))
    return join(ctx, parts, 1)


@expands(np.append)
def append(ctx: Context, arr: Any, values: Any, axis: Any = None) -> Array:
    """`np.append`."""
    return concatenate(ctx, [arr, values], axis)


@expands(np.split, np.array_split)
def split(ctx: Context, ary: Any, indices_or_sections: Any, axis: Any = 0) -> list[Array]:
    """`np.split` at static or dynamic positions, or into a static number of equal parts."""
    from adgen.frontend.arrays.indexing import getitem
    from adgen.frontend.arrays.integers import mul, quotient
    from adgen.frontend.arrays.shapes import as_number

    array = as_array(ctx, ary)
    place = axis_argument(ctx, axis, array.rank)
    length = array.extents[place]
    if isinstance(indices_or_sections, int):
        step = quotient(ctx, length, indices_or_sections)
        same_extent(
            ctx,
            value(ctx, mul(ctx, step, indices_or_sections)),
            length,
            "array split does not result in an equal division: {1}",
        )
        bounds = [as_number(ctx, mul(ctx, step, k)) for k in range(1, indices_or_sections)]
    else:
        bounds = [x if isinstance(x, Number) else int(x) for x in indices_or_sections]
    edges = [None, *bounds, None]
    whole = (slice(None),) * place
    return [getitem(ctx, array, (*whole, slice(a, b))) for a, b in pairwise(edges)]


@expands(np.cross)
def cross(ctx: Context, a: Any, b: Any, axis: Any = -1) -> Array:
    """`np.cross` of vectors of three."""
    import operator

    from adgen.frontend.arrays.elementwise import elementwise
    from adgen.frontend.arrays.indexing import getitem
    from adgen.frontend.arrays.storage import settle

    vectors = [settle(ctx, as_array(ctx, x), 0) for x in (a, b)]
    place = [axis_argument(ctx, axis, x.rank) for x in vectors]
    vectors = [permuted(ctx, x, [*(k for k in range(x.rank) if k != p), p]) for x, p in zip(vectors, place)]
    three = ctx.builder.index(3)
    for x in vectors:
        same_extent(ctx, x.extents[-1], three, "the vectors of a cross product must have length {1}, not {0}")
    u, v = ([getitem(ctx, x, (Ellipsis, k)) for k in range(3)] for x in vectors)

    def component(p: int, q: int) -> Any:
        products = [elementwise(ctx, operator.mul, [u[i], v[j]]) for i, j in ((p, q), (q, p))]
        return elementwise(ctx, operator.sub, products)

    parts = [as_array(ctx, component(p, q)) for p, q in ((1, 2), (2, 0), (0, 1))]
    rank = parts[0].rank
    joined = stack(ctx, parts, rank)
    return (
        joined if axis in (-1, rank) else permuted(ctx, joined, _last_to(rank + 1, axis_argument(ctx, axis, rank + 1)))
    )


def _last_to(rank: int, place: int) -> list[int]:
    order = list(range(rank - 1))
    order.insert(place, rank - 1)
    return order
