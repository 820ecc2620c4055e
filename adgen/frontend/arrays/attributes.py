"""What a program asks of an array: attributes, methods, its items in turn."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from adgen.frontend import scalars
from adgen.frontend.arrays import masks
from adgen.frontend.arrays.broadcasting import copy_into
from adgen.frontend.arrays.build import as_array, dtype_argument, item_of
from adgen.frontend.arrays.elementwise import astype as converted
from adgen.frontend.arrays.elementwise import elementwise, where
from adgen.frontend.arrays.indexing import add_at, getitem
from adgen.frontend.arrays.making import fresh
from adgen.frontend.arrays.model import Array, Axis, Frame, View
from adgen.frontend.arrays.registry import expands, function
from adgen.frontend.arrays.reshaping import ravel
from adgen.frontend.arrays.selection import Selection
from adgen.frontend.arrays.shapes import as_number, axis_argument, count, shape_tuple
from adgen.frontend.arrays.shaping import transpose
from adgen.frontend.arrays.storage import bare, boxed, finish, settle, writable
from adgen.frontend.complexes.types import Complex, memory_of
from adgen.frontend.kinds import NUMPY
from adgen.frontend.values import Number
from adgen.ir.nodes import Value

if TYPE_CHECKING:
    from adgen.frontend.context import Context


def attribute(ctx: Context, array: Array, name: str) -> Any:
    """`array.name` for attributes that are not methods; a diagnostic for those that do not exist."""
    if isinstance(array, Selection) and name in ("shape", "size"):
        return _selected_size(ctx, array, name)
    if name == "shape":
        return shape_tuple(ctx, array.extents)
    if name == "ndim":
        return array.rank
    if name == "size":
        return as_number(ctx, count(ctx, array.extents))
    if name == "T":
        return transpose(ctx, array)
    if name == "dtype":
        return NUMPY[array.element]
    if name in ("real", "imag"):
        return part(ctx, array, name)
    if name == "flat":
        return ravel(ctx, array)
    if name in ("itemsize", "nbytes"):
        width = int(NUMPY[array.element].itemsize)
        return width if name == "itemsize" else elementwise(ctx, operator.mul, [attribute(ctx, array, "size"), width])
    ctx.fail("AD237", f"the attribute `{name}` of arrays is not supported")


def part(ctx: Context, array: Array, name: str) -> Any:
    """`array.real`, `array.imag`: of memory a view of it."""
    if not isinstance(array.element, Complex):
        return array if name == "real" else elementwise(ctx, np.imag, [array])
    if not isinstance(array, View):
        return elementwise(ctx, np.real if name == "real" else np.imag, [array])
    frame = array.frame
    axes = (*frame.axes, Axis(0 if name == "real" else 1))
    return View(memory_of(array.base), Frame(frame.extents, axes), array.readonly)


@expands(np.real)
def real(ctx: Context, val: Any) -> Any:
    """`np.real`."""
    return part(ctx, as_array(ctx, val), "real")


@expands(np.imag)
def imag(ctx: Context, val: Any) -> Any:
    """`np.imag`."""
    return part(ctx, as_array(ctx, val), "imag")


@expands(method="conj")
def conj(ctx: Context, array: Any) -> Any:
    """`array.conj()`: of real numbers the array itself."""
    return elementwise(ctx, np.conjugate, [array]) if isinstance(array.element, Complex) else array


@expands(method="conjugate")
def conjugate(ctx: Context, array: Any) -> Any:
    """`array.conjugate()`."""
    return conj(ctx, array)


@expands(np.angle)
def angle(ctx: Context, z: Any, deg: Any = False) -> Any:
    """`np.angle`."""
    return elementwise(ctx, np.angle, [z, bool(deg)])


@expands(np.iscomplexobj)
def iscomplexobj(ctx: Context, x: Any) -> bool:
    """`np.iscomplexobj`: decided by the type."""
    return isinstance(as_array(ctx, bare(x)).element, Complex)


@expands(np.isrealobj)
def isrealobj(ctx: Context, x: Any) -> bool:
    """`np.isrealobj`."""
    return not iscomplexobj(ctx, x)


@expands(np.iscomplex)
def iscomplex(ctx: Context, x: Any) -> Any:
    """`np.iscomplex`: the imaginary part is not zero."""
    return elementwise(ctx, np.not_equal, [imag(ctx, x), 0])


@expands(np.isreal)
def isreal(ctx: Context, x: Any) -> Any:
    """`np.isreal`: the imaginary part is zero."""
    return elementwise(ctx, np.equal, [imag(ctx, x), 0])


def _selected_size(ctx: Context, array: Selection, name: str) -> Any:
    if array.rank != 1:
        array.refuse("its shape is needed here")
    from adgen.frontend.arrays.reduce import count_nonzero

    number = Number(count_nonzero(ctx, array.mask).value, weak=True)
    return number if name == "size" else (number,)


@expands(np.shape)
def shape(ctx: Context, a: Any) -> Any:
    """`np.shape`."""
    return attribute(ctx, as_array(ctx, a), "shape")


@expands(np.ndim)
def ndim(ctx: Context, a: Any) -> int:
    """`np.ndim`."""
    return as_array(ctx, a).rank


@expands(np.size)
def size(ctx: Context, a: Any, axis: Any = None) -> Any:
    """`np.size`."""
    array = as_array(ctx, a)
    if axis is None:
        return attribute(ctx, array, "size")
    return as_number(ctx, array.extents[axis_argument(ctx, axis, array.rank)])


@expands(np.copy, method="copy")
def copy(ctx: Context, a: Any, order: Any = "C") -> Any:
    """`np.copy`: made at once, since the original may change."""
    array = as_array(ctx, bare(a))
    if isinstance(array, Selection):
        return masks.snapshot(ctx, array)
    return fresh(ctx, array) if array.rank else boxed(ctx, finish(ctx, array))


@expands(method="astype")
def astype(ctx: Context, array: Any, dtype: Any, copy: Any = True) -> Any:
    """`array.astype`: without `copy` the array itself where it has the type."""
    given = as_array(ctx, array)
    element = dtype_argument(ctx, dtype, given.element)
    return finish(ctx, given if not copy and element == given.element else converted(ctx, given, element))


@expands(method="fill")
def fill(ctx: Context, array: Any, value: Any) -> None:
    """`array.fill`."""
    target = writable(ctx, array)
    copy_into(ctx, target, as_array(ctx, item_of(ctx, value, target.element)))


@expands(method="item")
def item(ctx: Context, array: Any, *index: Any) -> Any:
    """`array.item`: one element as a Python number."""
    if not index:
        extents = as_array(ctx, array).extents
        if any(ctx.builder.known(extent) not in (None, 1) for extent in extents):
            ctx.fail("AD331", "can only convert an array of size 1 to a Python scalar")
        from adgen.frontend.arrays.shapes import same_extent

        for extent in extents:
            same_extent(ctx, extent, ctx.builder.index(1), "can only convert an array of size 1 to a Python scalar")
        index = (0,) * len(extents)
    elif len(index) == 1 and isinstance(index[0], tuple):
        index = index[0]
    elif len(index) == 1 and array.rank > 1:
        array = ravel(ctx, array)
    number = getitem(ctx, array, tuple(index))
    return scalars.unboxed(ctx, number)


@expands(np.where)
def where_(ctx: Context, condition: Any, x: Any = None, y: Any = None) -> Any:
    """`np.where` with three arguments; with one it is `np.nonzero`."""
    if x is None and y is None:
        return function(np.nonzero)(ctx, condition)  # type: ignore[misc]
    if x is None or y is None:
        ctx.fail("AD323", "either both or neither of x and y should be given", raises=ValueError)
    return where(ctx, condition, x, y)


@expands(np.select)
def select(ctx: Context, condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    """`np.select`: the choice of the first condition that holds."""
    result = default
    for condition, choice in reversed(list(zip(condlist, choicelist, strict=True))):
        result = where(ctx, condition, choice, result)
    return result


@expands(np.clip, method="clip")
def clip(ctx: Context, a: Any, min: Any = None, max: Any = None, a_min: Any = None, a_max: Any = None) -> Any:
    """`np.clip`: the bounds count as inside."""
    low, high = (a_min if min is None else min), (a_max if max is None else max)
    return elementwise(ctx, np.clip, [a, low, high])


@expands(np.round, np.around, method="round")
def round_(ctx: Context, a: Any, decimals: Any = 0) -> Any:
    """`np.round`."""
    return elementwise(ctx, np.round, [a, decimals])


@expands(np.nan_to_num)
def nan_to_num(ctx: Context, x: Any, copy: Any = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    """`np.nan_to_num`."""
    if not copy:
        ctx.fail("AD234", "`nan_to_num`: the argument `copy` is not supported", "write `x[:] = np.nan_to_num(x)`")
    return elementwise(ctx, np.nan_to_num, [x, copy, nan, posinf, neginf])


@expands(np.isclose)
def isclose(ctx: Context, a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08) -> Any:
    """`np.isclose`."""
    return elementwise(ctx, np.isclose, [a, b, rtol, atol])


@expands(np.allclose)
def allclose(ctx: Context, a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08) -> Any:
    """`np.allclose`."""
    from adgen.frontend.arrays.reduce import all_

    return all_(ctx, isclose(ctx, a, b, rtol, atol))


@expands(np.array_equal)
def array_equal(ctx: Context, a1: Any, a2: Any) -> Any:
    """`np.array_equal` of arrays of equal shape."""
    from adgen.frontend.arrays.reduce import all_

    return all_(ctx, elementwise(ctx, np.equal, [a1, a2]))


@expands(np.add.at)
def add_at_(ctx: Context, a: Any, indices: Any, b: Any) -> None:
    """`np.add.at`: every occurrence of an index counts."""
    add_at(ctx, a, indices, b)


@expands(np.subtract.at)
def subtract_at(ctx: Context, a: Any, indices: Any, b: Any) -> None:
    """`np.subtract.at`."""
    add_at(ctx, a, indices, b, operator.sub)


@expands(np.copyto)
def copyto(ctx: Context, dst: Any, src: Any) -> None:
    """`np.copyto`."""
    fill(ctx, dst, src)


@expands(np.fill_diagonal)
def fill_diagonal(ctx: Context, a: Any, val: Any) -> None:
    """`np.fill_diagonal` of a matrix."""
    from dataclasses import replace

    from adgen.frontend.arrays.diagonals import diagonal

    view = diagonal(ctx, writable(ctx, a))
    assert isinstance(view, View)
    fill(ctx, replace(view, readonly=""), val)


def iterate(ctx: Context, array: Array) -> tuple[Value, Callable[[Any], Any]]:
    """The number of items along the first axis, and what gives one of them for an index in range."""
    if isinstance(array, Selection):
        array.refuse("it is iterated over")
    if array.rank == 0:
        ctx.fail("AD331", "iteration over a 0-d array")
    whole = settle(ctx, array, -1)

    def one(index: Any) -> Any:
        axes = (Axis(index), *(Axis(0, ((k, 1),)) for k in range(whole.rank - 1)))
        from adgen.frontend.arrays.keys import framed

        return finish(ctx, framed(ctx, whole, Frame(whole.extents[1:], axes)))

    return whole.extents[0], one
