"""Arrays from Python values: nested lists of numbers and arrays, NumPy arrays, numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from adgen.frontend import scalars
from adgen.frontend.arrays.broadcasting import copy_into
from adgen.frontend.arrays.model import Array, View
from adgen.frontend.arrays.shapes import Extents, same_extent
from adgen.frontend.arrays.storage import allocate, constant, exposed, fresh_constant, scalar
from adgen.frontend.complexes.types import Complex
from adgen.frontend.kinds import DTYPES, NUMPY, USABLE
from adgen.frontend.values import Number, Sequence, describe, is_number, is_static
from adgen.ir.nodes import Value
from adgen.ir.types import BOOL, F64, Scalar

if TYPE_CHECKING:
    from adgen.frontend.context import Context

RAGGED = "the items of the nested list do not have the same shape"


def dtype_argument(ctx: Context, dtype: Any, default: Scalar) -> Scalar:
    """The element type that a `dtype` argument asks for."""
    if dtype is None:
        return default
    if isinstance(dtype, Scalar):
        return dtype
    if dtype is bool:
        return BOOL
    try:
        found = np.dtype(dtype)
    except TypeError:
        ctx.fail("AD334", f"{dtype!r} is not a dtype")
    if found not in DTYPES:
        ctx.fail("AD334", f"arrays of {found} are not supported", USABLE)
    return DTYPES[found]


def refuse_complex(ctx: Context, name: str, *values: Any) -> None:
    """Refuse complex numbers as arguments of a function, also in lists and arrays."""
    for value in values:
        if isinstance(value, dict):
            refuse_complex(ctx, name, *value.values())
        elif isinstance(value, list | tuple):
            refuse_complex(ctx, name, *value)
        elif isinstance(value, Sequence):
            refuse_complex(ctx, name, value.array)
        elif (isinstance(value, np.ndarray) and value.dtype.kind == "c") or (
            isinstance(value.element if isinstance(value, Array) else None, Complex)
            or (is_number(value) and isinstance(scalars.kind(ctx, value)[0], Complex))
        ):
            ctx.fail("AD301", f"`{name}` is not supported for complex numbers", "use `z.real` and `z.imag`")


def as_array(ctx: Context, x: Any) -> Array:
    """Any array-like value as an array; a number becomes an array without axes."""
    if isinstance(x, Array):
        return x
    if isinstance(x, np.ndarray):
        return constant(ctx, x)
    if is_number(x):
        return exposed(ctx, x) if isinstance(x, Number) and x.array else scalar(ctx, x)
    if isinstance(x, list | tuple):
        return from_nested(ctx, x)
    if isinstance(x, range):
        return constant(ctx, np.array(x))
    if isinstance(x, Sequence):
        array: Array = x.array
        return array
    ctx.fail("AD335", f"{describe(x)} is not an array")


def from_nested(ctx: Context, nested: Any, dtype: Any = None) -> Array:
    """`np.array` of a nested list whose leaves are numbers or arrays of one shape."""
    if is_static(nested):
        data = scalars.static(ctx, np.array, nested)
        if data.dtype == object or data.dtype.kind not in "fiubc":
            ctx.fail("AD335", RAGGED if data.dtype == object else f"{describe(nested)} is not an array of numbers")
        if dtype is not None:
            element = dtype_argument(ctx, dtype, F64)
            if data.dtype.kind == "c" and not isinstance(element, Complex):
                scalars.refuse_real(ctx, element)
            data = scalars.static(ctx, np.array, nested, NUMPY[element])
        return fresh_constant(ctx, data)
    shape = _static_shape(ctx, nested)
    leaves = [(position, _leaf(ctx, leaf)) for position, leaf in _leaves(nested, len(shape))]
    element = dtype_argument(ctx, dtype, scalars.promote([(_element(ctx, leaf), False) for _, leaf in leaves]))
    inner = _inner_extents(ctx, [leaf for _, leaf in leaves])
    extents = (*(ctx.builder.index(extent) for extent in shape), *inner)
    target = allocate(ctx, element, extents, zero=False)
    for position, leaf in leaves:
        at = tuple(ctx.builder.index(k) for k in position)
        if isinstance(leaf, Array):
            copy_into(ctx, _row(ctx, target, at), leaf)
        else:
            ctx.builder.store(target.base, scalars.fitted(ctx, leaf, element).value, at)
    ctx.writes.written(target.base)
    return target


def item_of(ctx: Context, value: Any, element: Scalar) -> Any:
    """What is assigned to items of an array: numbers, also in lists, must fit into a narrow integer; arrays wrap."""
    if not element.is_narrow:
        return value
    if is_number(value):
        return scalars.fitted(ctx, value, element)
    return from_nested(ctx, value, NUMPY[element]) if isinstance(value, list | tuple) else value


def _static_shape(ctx: Context, nested: Any) -> tuple[int, ...]:
    if not isinstance(nested, list | tuple):
        return ()
    shapes = {_static_shape(ctx, item) for item in nested}
    if len(shapes) > 1:
        ctx.fail("AD335", RAGGED)
    return (len(nested), *(shapes.pop() if shapes else ()))


def _leaves(nested: Any, depth: int) -> Iterator[tuple[tuple[int, ...], Any]]:
    if depth == 0:
        yield (), nested
        return
    for k, item in enumerate(nested):
        for position, leaf in _leaves(item, depth - 1):
            yield (k, *position), leaf


def _leaf(ctx: Context, x: Any) -> Any:
    if isinstance(x, np.ndarray):
        return constant(ctx, x) if x.ndim else x[()]
    if isinstance(x, Array) or is_number(x):
        return x
    ctx.fail("AD335", f"{describe(x)} cannot be an element of an array")


def _element(ctx: Context, leaf: Any) -> Scalar:
    return leaf.element if isinstance(leaf, Array) else scalars.kind(ctx, leaf)[0]


def _inner_extents(ctx: Context, leaves: list[Any]) -> Extents:
    first = leaves[0]
    inner: Extents = first.extents if isinstance(first, Array) else ()
    for leaf in leaves:
        extents = leaf.extents if isinstance(leaf, Array) else ()
        if len(extents) != len(inner):
            ctx.fail("AD335", RAGGED)
        for mine, other in zip(inner, extents):
            same_extent(ctx, mine, other, "all input arrays must have the same shape: {0} is not {1}")
    return inner


def _row(ctx: Context, target: View, at: tuple[Value, ...]) -> View:
    from adgen.frontend.arrays.model import Axis, Frame

    fixed = tuple(Axis(index) for index in at)
    free = tuple(Axis(0, ((k, 1),)) for k in range(target.rank - len(at)))
    return target.framed(ctx, Frame(target.extents[len(at) :], (*fixed, *free)))
