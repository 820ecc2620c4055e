"""Sums, products, means and what is made of them, over all or some axes.

A reduction over all axes is a loop that carries the result; over some axes it is an expression whose element is such a
loop, so that it fuses with what is done to it.  Elements picked by a mask are reduced under an `if`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from adgen import ops
from adgen.frontend import scalars
from adgen.frontend.arrays.build import as_array, dtype_argument
from adgen.frontend.arrays.elementwise import astype, elementwise
from adgen.frontend.arrays.integers import Int, product, sub, value
from adgen.frontend.arrays.loops import NAMES, fold, when
from adgen.frontend.arrays.model import Array, expression
from adgen.frontend.arrays.registry import expands
from adgen.frontend.arrays.selection import Selection
from adgen.frontend.arrays.shapes import axes_argument, axis_argument
from adgen.frontend.arrays.slicing import integer
from adgen.frontend.arrays.storage import finish, settle
from adgen.frontend.complexes.types import Complex
from adgen.frontend.values import Number
from adgen.ir.nodes import Row, Value
from adgen.ir.types import BOOL, F64, I64, Scalar, is_natural
from adgen.ops.kinks import ZERO

if TYPE_CHECKING:
    from adgen.frontend.context import Context

Step = Callable[..., Sequence[Value]]
EXPENSIVE = 100
HINTS: dict[Row, str] = {ops.ADD: "total", ops.MUL: "product", ops.MAXIMUM: "largest", ops.MINIMUM: "smallest"}


@dataclass(frozen=True)
class Line:
    """The elements that one element of a reduction is made of."""

    array: Array
    extents: tuple[Value, ...]
    names: tuple[str, ...]
    place: Callable[[Sequence[Value]], tuple[Value, ...]]
    mask: Array | None = None

    def read(self, ctx: Context, indices: Sequence[Value]) -> Value:
        """One element."""
        return self.array.read(ctx, self.place(indices))

    def fold(self, ctx: Context, initial: Sequence[Value], step: Step, hints: Sequence[str] = ()) -> tuple[Value, ...]:
        """Carry values over all elements; `step(element, indices, *carried)` gives the next ones."""

        def body(indices: tuple[Value, ...], *carried: Value) -> Sequence[Value]:
            if self.mask is None:
                return step(self.read(ctx, indices), indices, *carried)
            flag = self.mask.read(ctx, indices)
            return when(ctx, flag, lambda: step(self.read(ctx, indices), indices, *carried), lambda: carried)

        return fold(ctx, self.extents, initial, body, self.names, hints)

    def count(self, ctx: Context) -> Int:
        """The number of elements."""
        if self.mask is None:
            return product(ctx, self.extents)
        b = ctx.builder
        return self.sum(ctx, b.index(0), lambda _: b.index(1), "count")

    def sum(self, ctx: Context, start: Value, convert: Callable[[Value], Value], hint: str) -> Value:
        """Start plus all elements, converted.

        What a mask leaves out adds zero, so that the sum is one that may be added up in any order.
        """
        b = ctx.builder

        def body(indices: tuple[Value, ...], total: Value) -> Sequence[Value]:
            flag = self.mask.read(ctx, indices) if self.mask else b.const(True)
            nothing = b.const(0, start.type)
            (term,) = when(ctx, flag, lambda: (convert(self.read(ctx, indices)),), lambda: (nothing,))
            return (b.op(ops.ADD, total, term),)

        (total,) = fold(ctx, self.extents, (start,), body, self.names, (hint,))
        return total


def reduction(
    ctx: Context,
    array: Array,
    axis: Any,
    keepdims: Any,
    element: Scalar,
    compute: Callable[[Line], Value],
) -> Any:
    """Apply `compute` to every line of elements along the axes."""
    if isinstance(array, Selection):
        return _masked(ctx, array, axis, keepdims, compute)
    axes = axes_argument(ctx, None if array.rank == 0 and axis in (0, -1) else axis, array.rank)
    kept = tuple(k for k in range(array.rank) if k not in axes)
    lengths = tuple(array.extents[k] for k in axes)
    names = tuple(NAMES[k] if k < len(NAMES) else f"i{k}" for k in axes)
    one = ctx.builder.index(1)
    extents = tuple(one if k in axes else array.extents[k] for k in range(array.rank) if keepdims or k in kept)

    def reader(ctx: Context, outer: tuple[Value, ...]) -> Value:
        fixed = {k: outer[k if keepdims else position] for position, k in enumerate(kept)}

        def place(indices: Sequence[Value]) -> tuple[Value, ...]:
            moving = dict(zip(axes, indices))
            return tuple(fixed[k] if k in fixed else moving[k] for k in range(array.rank))

        return compute(Line(array, lengths, names, place))

    return finish(ctx, expression(ctx, element, extents, reader, (array,), EXPENSIVE))


def _masked(ctx: Context, array: Selection, axis: Any, keepdims: Any, compute: Callable[[Line], Value]) -> Any:
    if keepdims or array.inner.rank != array.mask.rank or axis not in (None, 0, -1):
        array.refuse("it is reduced along some of its axes")
    line = Line(array.inner, array.inner.extents, tuple(NAMES), tuple, array.mask)
    return Number(compute(line), weak=False)


def accumulate(ctx: Context, line: Line, row: Row, start: Value, convert: Callable[[Value], Value]) -> Value:
    """Combine all elements with an operation."""
    hint = HINTS.get(row, "found")
    if row is ops.ADD:
        return line.sum(ctx, start, convert, hint)

    def step(x: Value, indices: Sequence[Value], total: Value) -> Sequence[Value]:
        return (ctx.builder.op(row, total, convert(x)),)

    (result,) = line.fold(ctx, (start,), step, (hint,))
    return result


def folded(ctx: Context, a: Any, axis: Any, keepdims: Any, row: Row, start: Any, element: Scalar) -> Any:
    """A reduction with one operation, in one element type."""
    array = as_array(ctx, a)
    first = ctx.builder.const(start, element)
    return reduction(
        ctx,
        array,
        axis,
        keepdims,
        element,
        lambda line: accumulate(ctx, line, row, first, lambda x: scalars.convert(ctx, x, element)),
    )


def summed_type(ctx: Context, dtype: Any, element: Scalar) -> Scalar:
    """The type in which NumPy adds up, or multiplies, numbers of a type; `dtype` is the argument that may say so."""
    if dtype is not None:
        return dtype_argument(ctx, dtype, element)
    if element.is_narrow and is_natural(element):
        ctx.fail(
            "AD334",
            f"NumPy adds up and multiplies {element.full_name} in uint64, which is not supported",
            "say in which type: `dtype=np.int64`",
        )
    return element if element.is_float else I64


@expands(np.sum, method="sum")
def sum_(ctx: Context, a: Any, axis: Any = None, dtype: Any = None, keepdims: Any = False) -> Any:
    """`np.sum`."""
    array = as_array(ctx, a)
    return folded(ctx, array, axis, keepdims, ops.ADD, 0, summed_type(ctx, dtype, array.element))


@expands(np.prod, method="prod")
def prod(ctx: Context, a: Any, axis: Any = None, dtype: Any = None, keepdims: Any = False) -> Any:
    """`np.prod`: a carried product, whose derivative is right where factors are zero."""
    array = as_array(ctx, a)
    return folded(ctx, array, axis, keepdims, ops.MUL, 1, summed_type(ctx, dtype, array.element))


@expands(np.any, method="any")
def any_(ctx: Context, a: Any, axis: Any = None, keepdims: Any = False) -> Any:
    """`np.any`."""
    return folded(ctx, a, axis, keepdims, ops.OR, False, BOOL)


@expands(np.all, method="all")
def all_(ctx: Context, a: Any, axis: Any = None, keepdims: Any = False) -> Any:
    """`np.all`."""
    return folded(ctx, a, axis, keepdims, ops.AND, True, BOOL)


@expands(np.count_nonzero)
def count_nonzero(ctx: Context, a: Any, axis: Any = None, keepdims: Any = False) -> Any:
    """`np.count_nonzero`."""
    return sum_(ctx, astype(ctx, as_array(ctx, a), BOOL), axis, None, keepdims)


def _mean(
    ctx: Context, line: Line, element: Scalar, less: Int = 0, term: Callable[[Value], Value] | None = None
) -> Value:
    b = ctx.builder
    convert = term or (lambda x: scalars.convert(ctx, x, element))
    total = accumulate(ctx, line, ops.ADD, b.const(0.0, element), convert)
    number = scalars.convert(ctx, value(ctx, sub(ctx, line.count(ctx), less)), element)
    return b.op(ops.DIV, total, number)


def floating(ctx: Context, array: Array, dtype: Any) -> Scalar:
    return dtype_argument(ctx, dtype, array.element if array.element.is_float else F64)


@expands(np.mean, method="mean")
def mean(ctx: Context, a: Any, axis: Any = None, dtype: Any = None, keepdims: Any = False) -> Any:
    """`np.mean`; of integers in float64."""
    array = as_array(ctx, a)
    element = floating(ctx, array, dtype)
    return reduction(ctx, array, axis, keepdims, element, lambda line: _mean(ctx, line, element))


@expands(np.var, method="var")
def var(ctx: Context, a: Any, axis: Any = None, dtype: Any = None, ddof: Any = 0, keepdims: Any = False) -> Any:
    """`np.var`: the mean of the squares of what remains when the mean is taken off."""
    array = _twice(ctx, a)
    element = floating(ctx, array, dtype)
    return reduction(ctx, array, axis, keepdims, size_type(element), lambda line: _variance(ctx, line, element, ddof))


@expands(np.std, method="std")
def std(ctx: Context, a: Any, axis: Any = None, dtype: Any = None, ddof: Any = 0, keepdims: Any = False) -> Any:
    """`np.std`; its derivative is zero where all elements are equal."""
    array = _twice(ctx, a)
    element = floating(ctx, array, dtype)
    size = size_type(element)
    return reduction(ctx, array, axis, keepdims, size, lambda line: root(ctx, _variance(ctx, line, element, ddof)))


def _twice(ctx: Context, a: Any) -> Array:
    array = as_array(ctx, a)
    return array.with_inner(settle(ctx, array.inner)) if isinstance(array, Selection) else settle(ctx, array)


def _variance(ctx: Context, line: Line, element: Scalar, ddof: Any) -> Value:
    b = ctx.builder
    middle = _mean(ctx, line, element)

    def squared(x: Value) -> Value:
        return square_of_size(ctx, b.op(ops.SUB, scalars.convert(ctx, x, element), middle))

    return _mean(ctx, line, size_type(element), integer(ctx, ddof, "ddof"), squared)


def size_type(element: Scalar) -> Scalar:
    """The type of the absolute value of a float or complex number."""
    return element.part if isinstance(element, Complex) else element


def square_of_size(ctx: Context, x: Value) -> Value:
    """The square of the absolute value of a number."""
    b = ctx.builder
    squares = [b.op(ops.MUL, part, part) for part in b.flat([x])]
    return squares[0] if len(squares) == 1 else b.op(ops.ADD, *squares)


def root(ctx: Context, x: Value) -> Value:
    """The square root of a sum of squares; its derivative is zero where the sum is."""
    b = ctx.builder
    positive = b.op(ops.GT, x, b.const(0.0, x.type))
    size = when(ctx, positive, lambda: (b.op(ops.SQRT, x),), lambda: (x,))[0]
    b.kink("root of a sum of squares", ZERO, size, size)
    return size


@expands(np.average)
def average(ctx: Context, a: Any, axis: Any = None, weights: Any = None, keepdims: Any = False) -> Any:
    """`np.average`."""
    if weights is None:
        return mean(ctx, a, axis, None, keepdims)
    array, weights = as_array(ctx, a), settle(ctx, as_array(ctx, weights))
    if weights.rank < array.rank:
        weights = _along_axis(ctx, weights, axis, array.rank)
    if not weights.element.is_float:
        meeting = scalars.promote([(array.element, False), (weights.element, False)])
        weights = astype(ctx, weights, meeting if meeting.is_float else F64)
    weighted = elementwise(ctx, operator.mul, [array, weights])
    total = sum_(ctx, weighted, axis, None, keepdims)
    return elementwise(ctx, operator.truediv, [total, sum_(ctx, weights, axis, None, keepdims)])


def _along_axis(ctx: Context, weights: Array, axis: Any, rank: int) -> Any:
    """A vector of weights for one axis, as an array that is broadcast along the others."""
    from adgen.frontend.arrays.indexing import getitem

    if axis is None or weights.rank != 1:
        ctx.fail("AD331", "weights of another shape than the array need an axis, and must be a vector along it")
    place = axis_argument(ctx, axis, rank)
    return getitem(ctx, weights, tuple(slice(None) if k == place else None for k in range(rank)))


def _along(expansion: Callable[..., Any]) -> Callable[..., Any]:
    """A ufunc's `reduce`, which takes the first axis unless told otherwise."""

    def reduce(ctx: Context, array: Any, axis: Any = 0, dtype: Any = None, keepdims: Any = False) -> Any:
        if dtype is not None:
            array = astype(ctx, as_array(ctx, array), dtype_argument(ctx, dtype, F64))
        return expansion(ctx, array, axis=axis, keepdims=keepdims)

    return reduce


expands(np.add.reduce)(_along(sum_))
expands(np.multiply.reduce)(_along(prod))
expands(np.logical_or.reduce)(_along(any_))
expands(np.logical_and.reduce)(_along(all_))


def _without_nan(ctx: Context, a: Any) -> Array:
    array = as_array(ctx, a)
    if not array.element.is_float:
        return array
    result = elementwise(ctx, np.where, [elementwise(ctx, np.isnan, [array]), 0.0, array])
    return result if isinstance(result, Array) else as_array(ctx, result)


@expands(np.nansum)
def nansum(ctx: Context, a: Any, axis: Any = None, keepdims: Any = False) -> Any:
    """`np.nansum`: NaN counts as zero."""
    return sum_(ctx, _without_nan(ctx, a), axis, None, keepdims)


@expands(np.nanmean)
def nanmean(ctx: Context, a: Any, axis: Any = None, keepdims: Any = False) -> Any:
    """`np.nanmean`: the mean of what is not NaN."""
    array = _twice(ctx, a)
    if not array.element.is_float:
        return mean(ctx, array, axis, None, keepdims)
    present = elementwise(ctx, np.logical_not, [elementwise(ctx, np.isnan, [array])])
    number = sum_(ctx, present, axis, None, keepdims)
    return elementwise(ctx, operator.truediv, [nansum(ctx, array, axis, keepdims), number])
