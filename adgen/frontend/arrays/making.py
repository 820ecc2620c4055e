"""New arrays: zeros, ones, ranges, identities, triangles, and arrays from nested lists."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from adgen import ops
from adgen.frontend import scalars
from adgen.frontend.arrays.broadcasting import assignable
from adgen.frontend.arrays.build import as_array, dtype_argument, from_nested
from adgen.frontend.arrays.checks import compare
from adgen.frontend.arrays.elementwise import astype
from adgen.frontend.arrays.integers import Int, add, size, sub, value
from adgen.frontend.arrays.model import Array, Axis, Frame, Lazy, View, expression
from adgen.frontend.arrays.registry import expands
from adgen.frontend.arrays.selection import Selection
from adgen.frontend.arrays.shapes import shape_argument
from adgen.frontend.arrays.slicing import integer
from adgen.frontend.arrays.storage import bare, boxed, copy, filled, finish, fresh_constant, settle, shared_copy
from adgen.frontend.complexes.types import C128, Complex
from adgen.frontend.kinds import NUMPY
from adgen.frontend.values import Number, is_number, is_static
from adgen.ir.nodes import Value
from adgen.ir.types import F64, I64, Scalar

if TYPE_CHECKING:
    from adgen.frontend.context import Context

TABLE_LIMIT = 64  # elements: longer constant ranges are computed


def _check_order(ctx: Context, order: Any) -> None:
    if order not in ("C", "K", "A"):
        ctx.fail("AD234", "only C order is supported")


@expands(np.zeros)
def zeros(ctx: Context, shape: Any, dtype: Any = None, order: Any = "C") -> Array:
    """`np.zeros`."""
    _check_order(ctx, order)
    return filled(ctx, dtype_argument(ctx, dtype, F64), shape_argument(ctx, shape), 0)


@expands(np.ones)
def ones(ctx: Context, shape: Any, dtype: Any = None, order: Any = "C") -> Array:
    """`np.ones`."""
    _check_order(ctx, order)
    return filled(ctx, dtype_argument(ctx, dtype, F64), shape_argument(ctx, shape), 1)


@expands(np.empty)
def empty(ctx: Context, shape: Any, dtype: Any = None, order: Any = "C") -> Array:
    """`np.empty`."""
    _check_order(ctx, order)
    return filled(ctx, dtype_argument(ctx, dtype, F64), shape_argument(ctx, shape), None)


def ndarray(ctx: Context, shape: Any, dtype: Any = float) -> Array:
    """`np.ndarray` of a shape: memory that holds nothing yet."""
    return empty(ctx, shape, dtype)


def grid(ctx: Context, key: Any, sparse: bool) -> Any:
    """`np.mgrid[key]`, and with `sparse` `np.ogrid[key]`: ranges, with a complex step their number of points."""
    slices = key if isinstance(key, tuple) else (key,)
    if not all(isinstance(part, slice) for part in slices):
        ctx.fail("AD304", "`np.mgrid` takes slices")
    ranges = [_axis_points(ctx, part) for part in slices]
    element = scalars.promote([(points.element, False) for points in ranges])
    vectors = [astype(ctx, points, element) for points in ranges]
    if not isinstance(key, tuple):
        return vectors[0]
    grids = meshgrid(ctx, *vectors, indexing="ij", sparse=sparse)
    if sparse:
        return tuple(grids)
    from adgen.frontend.arrays.joining import stack

    return stack(ctx, grids)


def _axis_points(ctx: Context, part: slice) -> Array:
    start, step = (0 if part.start is None else part.start), (1 if part.step is None else part.step)
    if any(isinstance(scalars.kind(ctx, x)[0], Complex) for x in (start, part.stop, step) if isinstance(x, Number)):
        ctx.fail_dynamic("AD304", "`np.mgrid` takes real bounds, and a complex step that is a constant")
    if isinstance(step, complex):
        return linspace(ctx, start, part.stop, int(abs(step)))
    return arange(ctx, start, part.stop, step)


@expands(np.full)
def full(ctx: Context, shape: Any, fill_value: Any, dtype: Any = None, order: Any = "C") -> Array:
    """`np.full`."""
    _check_order(ctx, order)
    value_ = as_array(ctx, fill_value)
    element = dtype_argument(ctx, dtype, value_.element)
    extents = shape_argument(ctx, shape)
    if value_.rank:
        return astype(ctx, assignable(ctx, value_, extents), element)
    return filled(ctx, element, extents, fill_value if is_number(fill_value) else finish(ctx, value_))


def _like(ctx: Context, a: Any, number: Any, dtype: Any, shape: Any) -> Any:
    array = as_array(ctx, bare(a))
    if isinstance(array, Selection):
        return array.with_inner(_like(ctx, array.inner, number, dtype, shape))
    element = dtype_argument(ctx, dtype, array.element)
    extents = array.extents if shape is None else shape_argument(ctx, shape)
    return filled(ctx, element, extents, number) if extents else boxed(ctx, number or 0, element)


@expands(np.zeros_like)
def zeros_like(ctx: Context, a: Any, dtype: Any = None, order: Any = "K", shape: Any = None) -> Any:
    """`np.zeros_like`."""
    return _like(ctx, a, 0, dtype, shape)


@expands(np.ones_like)
def ones_like(ctx: Context, a: Any, dtype: Any = None, order: Any = "K", shape: Any = None) -> Any:
    """`np.ones_like`."""
    return _like(ctx, a, 1, dtype, shape)


@expands(np.empty_like)
def empty_like(ctx: Context, a: Any, dtype: Any = None, order: Any = "K", shape: Any = None) -> Any:
    """`np.empty_like`."""
    return _like(ctx, a, None, dtype, shape)


@expands(np.full_like)
def full_like(ctx: Context, a: Any, fill_value: Any, dtype: Any = None, shape: Any = None) -> Any:
    """`np.full_like`."""
    return _like(ctx, a, fill_value, dtype, shape)


# -- conversion --------------------------------------------------------------------------------------------------


@expands(np.array)
def array(ctx: Context, object: Any, dtype: Any = None, copy: Any = True) -> Any:
    """`np.array`: new memory, unless `copy` is None or False and there is an array already."""
    result = _converted(ctx, object, dtype)
    if result is not object or not copy:
        return result
    return boxed(ctx, result) if isinstance(result, Number) else fresh(ctx, result)


@expands(np.asarray, np.asanyarray)
def asarray(ctx: Context, a: Any, dtype: Any = None) -> Any:
    """`np.asarray`: the array itself where it is one."""
    return _converted(ctx, a, dtype)


@expands(np.ascontiguousarray)
def ascontiguousarray(ctx: Context, a: Any, dtype: Any = None) -> Any:
    """`np.ascontiguousarray`: the array itself where it lies in C order in one piece."""
    result = _converted(ctx, a, dtype)
    if isinstance(result, Number):
        from adgen.frontend.arrays.indexing import getitem

        return getitem(ctx, as_array(ctx, result if result is a else bare(result)), (None,))
    if not isinstance(result, View) or result.whole(ctx):
        return result
    return shared_copy(ctx, result, "a contiguous copy")


def _converted(ctx: Context, x: Any, dtype: Any) -> Any:
    if isinstance(x, list | tuple):
        return from_nested(ctx, x, dtype)
    if isinstance(x, Number) and x.array:
        element = dtype_argument(ctx, dtype, x.element)
        return x if x.element == element else boxed(ctx, x, element)
    result = as_array(ctx, x)
    element = dtype_argument(ctx, dtype, result.element)
    if result.rank == 0:
        return boxed(ctx, finish(ctx, result), element)
    return result if element == result.element else astype(ctx, result, element)


def fresh(ctx: Context, view: Array) -> View:
    """A copy that is made at once, since the original may change."""
    return copy(ctx, view)


# -- ranges ------------------------------------------------------------------------------------------------------


@expands(np.arange)
def arange(ctx: Context, start: Any, stop: Any = None, step: Any = 1, dtype: Any = None) -> Array:
    """`np.arange` of static or dynamic numbers."""
    if stop is None:
        start, stop = 0, start
    kinds = [scalars.kind(ctx, x) for x in (start, stop, step)]
    natural = scalars.promote(kinds)
    element = dtype_argument(ctx, dtype, natural if natural.is_float else I64)
    if is_static((start, stop, step)):
        data = scalars.static(ctx, np.arange, start, stop, step)
        if data.size <= TABLE_LIMIT:
            return fresh_constant(ctx, data.astype(NUMPY[element]))
        length: Int = data.size
    elif natural.is_float:
        length = _float_length(ctx, start, stop, step)
    else:
        length = _integer_length(ctx, integer(ctx, start), integer(ctx, stop), integer(ctx, step))
    work = natural if natural.is_float else I64
    first, delta = scalars.to(ctx, start, work), scalars.to(ctx, step, work)
    return _ramp(ctx, first, delta, value(ctx, length), element)


def _ramp(ctx: Context, first: Value, delta: Value, length: Value, element: Scalar) -> Lazy:
    b = ctx.builder

    def reader(ctx: Context, indices: tuple[Value, ...]) -> Value:
        scaled = b.op(ops.MUL, scalars.convert(ctx, indices[0], delta.type), delta)  # type: ignore[arg-type]
        return scalars.convert(ctx, b.op(ops.ADD, first, scaled), element)

    return expression(ctx, element, (length,), reader, (), 1)


def _integer_length(ctx: Context, start: Int, stop: Int, step: Int) -> Int:
    if not isinstance(step, int):
        ctx.fail_dynamic("AD234", "the step of `np.arange` must be a constant")
    if step == 0:
        ctx.fail("AD234", "`np.arange`: the step must not be zero")
    distance = sub(ctx, stop, start) if step > 0 else sub(ctx, start, stop)
    from adgen.frontend.arrays.integers import quotient

    return size(ctx, quotient(ctx, add(ctx, distance, abs(step) - 1), abs(step)))


def _float_length(ctx: Context, start: Any, stop: Any, step: Any) -> Int:
    b = ctx.builder
    first, last, delta = (scalars.to(ctx, x, F64) for x in (start, stop, step))
    steps = b.op(ops.CEIL, b.op(ops.DIV, b.op(ops.SUB, last, first), delta))
    return size(ctx, scalars.convert(ctx, steps, I64))


@expands(np.linspace)
def linspace(ctx: Context, start: Any, stop: Any, num: Any = 50, endpoint: Any = True, dtype: Any = None) -> Array:
    """`np.linspace` between two numbers."""
    if as_array(ctx, start).rank or as_array(ctx, stop).rank or not isinstance(endpoint, bool):
        ctx.fail("AD234", "`np.linspace` is supported between two numbers")
    b = ctx.builder
    (length,) = shape_argument(ctx, num)
    work = next((C128 for x in (start, stop) if isinstance(scalars.kind(ctx, x)[0], Complex)), F64)
    element = dtype_argument(ctx, dtype, work)
    first, last = scalars.to(ctx, start, work), scalars.to(ctx, stop, work)
    intervals = value(ctx, sub(ctx, length, 1) if endpoint else length)
    distance = b.op(ops.SUB, last, first)
    step = b.op(ops.DIV, distance, scalars.convert(ctx, intervals, work))
    positive = b.op(ops.GT, intervals, b.index(0))

    def reader(ctx: Context, indices: tuple[Value, ...]) -> Value:
        (k,) = indices
        offset = b.op(ops.MUL, scalars.convert(ctx, k, work), step)
        inside = b.op(ops.ADD, first, offset)
        if not endpoint:
            return scalars.convert(ctx, inside, element)
        is_last = b.op(ops.AND, b.op(ops.EQ, k, intervals), positive)
        at_end = b.op(ops.SELECT, b.op(ops.EQ, k, b.index(0)), first, inside)
        return scalars.convert(ctx, b.op(ops.SELECT, is_last, last, at_end), element)

    return expression(ctx, element, (length,), reader, (), 2)


@expands(np.meshgrid)
def meshgrid(ctx: Context, *xi: Any, indexing: Any = "xy", sparse: Any = False, copy: Any = True) -> Any:
    """`np.meshgrid` of vectors: a tuple from NumPy 2 on."""
    vectors = [settle(ctx, as_array(ctx, x)) for x in xi]
    if any(x.rank != 1 for x in vectors):
        ctx.fail("AD331", "`np.meshgrid` needs vectors")
    order = list(range(len(vectors)))
    if indexing == "xy" and len(vectors) > 1:
        order[0], order[1] = 1, 0
    one = ctx.builder.index(1)
    grids: list[Array] = []
    for k, vector in enumerate(vectors):
        extents = tuple(vectors[order[p]].extents[0] if not sparse or order[p] == k else one for p in range(len(order)))
        frame = Frame(extents, (Axis(0, ((order.index(k), 1),)),))
        assert isinstance(vector, View | Lazy)
        grids.append(fresh(ctx, vector.framed(ctx, frame)))
    return tuple(grids) if int(np.__version__.partition(".")[0]) > 1 else ctx.own(grids)


# -- matrices ----------------------------------------------------------------------------------------------------


def _matrix(
    ctx: Context,
    extents: Sequence[Value],
    element: Scalar,
    reader: Callable[[Value, Value], Value],
) -> Lazy:
    return expression(ctx, element, tuple(extents), lambda ctx, indices: reader(*indices), (), 1)


def _constant_diagonal(ctx: Context, k: Any) -> int:
    if not isinstance(k, int):
        ctx.fail_dynamic("AD234", "the number of a diagonal must be a constant")
    return k


@expands(np.eye)
def eye(ctx: Context, N: Any, M: Any = None, k: Any = 0, dtype: Any = None) -> Array:
    """`np.eye`."""
    extents = shape_argument(ctx, (N, N if M is None else M))
    element = dtype_argument(ctx, dtype, F64)
    b, shift = ctx.builder, _constant_diagonal(ctx, k)
    one, zero = b.const(1, element), b.const(0, element)

    def reader(i: Value, j: Value) -> Value:
        return b.op(ops.SELECT, compare(ctx, ops.EQ, add(ctx, i, shift), j), one, zero)

    return _matrix(ctx, extents, element, reader)


@expands(np.identity)
def identity(ctx: Context, n: Any, dtype: Any = None) -> Array:
    """`np.identity`."""
    return eye(ctx, n, None, 0, dtype)


@expands(np.tri)
def tri(ctx: Context, N: Any, M: Any = None, k: Any = 0, dtype: Any = None) -> Array:
    """`np.tri`: ones at and below a diagonal."""
    extents = shape_argument(ctx, (N, N if M is None else M))
    element = dtype_argument(ctx, dtype, F64)
    b, shift = ctx.builder, _constant_diagonal(ctx, k)
    one, zero = b.const(1, element), b.const(0, element)

    def reader(i: Value, j: Value) -> Value:
        return b.op(ops.SELECT, compare(ctx, ops.GE, add(ctx, i, shift), j), one, zero)

    return _matrix(ctx, extents, element, reader)


def _triangle(ctx: Context, m: Any, k: Any, lower: bool) -> Array:
    source, shift = as_array(ctx, m), _constant_diagonal(ctx, k)
    if source.rank < 2:
        ctx.fail("AD331", "a triangle needs a matrix")
    b = ctx.builder
    zero = b.const(0, source.element)
    row = ops.GE if lower else ops.LE

    def reader(ctx: Context, indices: tuple[Value, ...]) -> Value:
        inside = compare(ctx, row, add(ctx, indices[-2], shift), indices[-1])
        return b.op(ops.SELECT, inside, source.read(ctx, indices), zero)

    return expression(ctx, source.element, source.extents, reader, (source,), 1 + getattr(source, "cost", 0))


@expands(np.tril)
def tril(ctx: Context, m: Any, k: Any = 0) -> Array:
    """`np.tril`."""
    return _triangle(ctx, settle(ctx, as_array(ctx, m)), k, lower=True)


@expands(np.triu)
def triu(ctx: Context, m: Any, k: Any = 0) -> Array:
    """`np.triu`."""
    return _triangle(ctx, settle(ctx, as_array(ctx, m)), k, lower=False)
