"""Memory: making buffers, filling them, copying, and what may overlap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from adgen.frontend import aliasing, scalars
from adgen.frontend.arrays.integers import Int, add, at_least, mul, plain, sub
from adgen.frontend.arrays.loops import nest
from adgen.frontend.arrays.model import Array, Axis, Frame, Lazy, View
from adgen.frontend.complexes.types import Complex, memory_of
from adgen.frontend.kinds import DTYPES, USABLE
from adgen.frontend.values import Number
from adgen.ir import core
from adgen.ir.nodes import Value
from adgen.ir.types import Scalar

if TYPE_CHECKING:
    from adgen.frontend.context import Context


# -- making ------------------------------------------------------------------------------------------------------


def allocate(ctx: Context, element: Scalar, extents: Sequence[Value], name: str = "", zero: bool = True) -> View:
    """A fresh array."""
    base = ctx.builder.alloc(element, extents, name, zero)
    return View(base, Frame.identity(extents))


def parameter(ctx: Context, value: Value, element: Scalar | None = None, extents: Sequence[str | int] = ()) -> View:
    """A parameter of the function, which is a buffer, some of whose extents may be known.

    With a complex `element` its last axis holds the parts.
    """
    b = ctx.builder
    dims = b.dims(value)
    fixed = {axis: extent for axis, extent in enumerate(extents) if isinstance(extent, int)}
    if isinstance(element, Complex):
        fixed[len(dims) - 1] = 2
    if fixed:
        (value,) = b.emit(core.RESHAPE, (value, *(b.index(fixed[k]) if k in fixed else n for k, n in enumerate(dims))))
    if isinstance(element, Complex):
        value = b.handle(value)
    return View(value, Frame.identity(b.dims(value)))


def constant(ctx: Context, data: Any) -> View:
    """An array that is known now, as a table that cannot be written."""
    data = np.asarray(data)
    if data.dtype.kind == "f" and data.dtype.itemsize == 2:
        data = data.astype(np.float32)
    if data.dtype not in DTYPES:
        ctx.fail("AD334", f"arrays of {data.dtype} are not supported", USABLE)
    frozen = np.ascontiguousarray(data).reshape(data.shape).copy()
    frozen.flags.writeable = False
    (base,) = ctx.builder.emit(core.TABLE, (), {"element": str(DTYPES[data.dtype]), "data": frozen})
    extents = tuple(ctx.builder.index(extent) for extent in data.shape)
    return View(base, Frame.identity(extents), "it is a constant of the program")


def fresh_constant(ctx: Context, data: Any) -> Lazy:
    """The same, as a value that is copied into memory of its own when it gets a name."""
    table = constant(ctx, data)
    return Lazy(
        table.element,
        table.extents,
        lambda ctx, indices: table.read(ctx, indices),
        reads=(table,),
        recipe=("copy", table),
    )


def filled(ctx: Context, element: Scalar, extents: Sequence[Value], number: Any) -> Lazy:
    """An array whose elements are all one number; `number` None leaves them unspecified."""
    value = scalars.to(ctx, 0 if number is None else number, element)
    return Lazy(element, tuple(extents), lambda ctx, indices: value, fill="none" if number is None else value)


def materialise(ctx: Context, array: Array, name: str = "") -> Array:
    """An array that gets a name: an expression is computed into memory of its own, a view stays a view."""
    if isinstance(array, View):
        memory = memory_of(array.base)
        operation = ctx.builder.definitions.get(memory)
        if name and not memory.name and operation is not None and operation.row in (core.ALLOC, core.RESHAPE):
            memory.name = name
        return array
    if isinstance(array, Lazy):
        return copy(ctx, array, name)
    from adgen.frontend.arrays.masks import snapshot
    from adgen.frontend.arrays.selection import Selection

    return snapshot(ctx, array, name) if isinstance(array, Selection) else array


def copy(ctx: Context, array: Array, name: str = "") -> View:
    """A fresh array with the same elements."""
    if isinstance(array, Lazy) and array.fill is not None:
        zero = _is_zero(ctx, array.fill)
        target = allocate(ctx, array.element, array.extents, name, zero)
        if zero or array.fill == "none":
            return target
    else:
        target = allocate(ctx, array.element, array.extents, name, zero=False)
    fill_from(ctx, target, array)
    return target


def shared_copy(ctx: Context, view: View, reason: str) -> View:
    """A copy where NumPy may give the memory itself: it is neither written nor read after the memory is."""
    target = allocate(ctx, view.element, view.extents, zero=False)
    first = len(ctx.builder.blocks[-1].operations)
    fill_from(ctx, target, view)
    aliasing.note(ctx, first, [aliasing.Move(target.base, view.base, "")])
    return replace(
        target, readonly=view.readonly or f"it is {reason}, which in NumPy may share memory with the original"
    )


def _is_zero(ctx: Context, fill: Any) -> bool:
    if not isinstance(fill, Value):
        return False
    number = ctx.builder.known(fill)
    return number is not None and number == 0 and not any(np.signbit([np.real(number), np.imag(number)]))


# -- writing -----------------------------------------------------------------------------------------------------


def writable(ctx: Context, array: Array) -> View:
    """The view to write through, or a diagnostic that says why there is none."""
    if isinstance(array, Lazy):
        ctx.fail("AD232", "this array has no name, so writing into it has no effect", "assign it to a name first")
    if not isinstance(array, View):
        ctx.fail("AD232", "this array cannot be written into")
    if array.readonly:
        ctx.fail("AD232", f"this array cannot be written into: {array.readonly}", "make a copy with `.copy()` first")
    return array


def fill_from(ctx: Context, target: View, source: Array) -> None:
    """Store every element of a source of the same extents that does not overlap the target."""

    def body(indices: tuple[Value, ...]) -> None:
        value = scalars.convert(ctx, source.read(ctx, indices), target.element)
        ctx.builder.store(target.base, value, target.frame.locate(ctx, indices))

    nest(ctx, target.extents, body)
    ctx.writes.written(target.base)


def separate(ctx: Context, target: View, source: Array) -> Array:
    """The source, copied first when writing the target could change elements that are read later."""
    return copy(ctx, source) if interferes(ctx, target, source) else source


# -- overlap -----------------------------------------------------------------------------------------------------


def interferes(ctx: Context, target: View, source: Array) -> bool:
    """True unless it is proved that writing target[i] after reading source[i], for every i in turn, is safe."""
    owner = ctx.writes.root(target.base)
    if isinstance(source, View):
        return ctx.writes.root(source.base) is owner and not _harmless(ctx, target, source)
    if isinstance(source, Lazy):
        if owner in source.irregular:
            return True
        return any(interferes(ctx, target, view) for view in source.reads)
    return False


def _harmless(ctx: Context, target: View, source: View) -> bool:
    if source.base is not target.base:
        return False
    pairs = list(zip(target.frame.axes, source.frame.axes))
    if all(_same_axis(ctx, a, b) for a, b in pairs):
        return True
    return any(_apart(ctx, a, target.extents, b, source.extents) for a, b in pairs)


def _same_axis(ctx: Context, a: Axis, b: Axis) -> bool:
    if len(a.terms) != len(b.terms) or plain(ctx, sub(ctx, a.offset, b.offset)) != 0:
        return False
    return all(k == m and plain(ctx, sub(ctx, s, t)) == 0 for (k, s), (m, t) in zip(a.terms, b.terms))


def _apart(ctx: Context, a: Axis, a_extents: Sequence[Value], b: Axis, b_extents: Sequence[Value]) -> bool:
    """The two never give the same index."""
    first, second = _interval(ctx, a, a_extents), _interval(ctx, b, b_extents)
    if first is None or second is None:
        return False
    if at_least(ctx, first[0], add(ctx, second[1], 1)) or at_least(ctx, second[0], add(ctx, first[1], 1)):
        return True
    stride = {step for axis in (a, b) for _, step in axis.terms}
    distance = plain(ctx, sub(ctx, a.offset, b.offset))
    if not stride or not isinstance(distance, int) or not all(isinstance(step, int) for step in stride):
        return False
    return distance % int(np.gcd.reduce([int(step) for step in stride if isinstance(step, int)])) != 0


def _interval(ctx: Context, axis: Axis, extents: Sequence[Value]) -> tuple[Int, Int] | None:
    """Bounds of the indices that an axis gives."""
    low = high = axis.offset
    for k, step in axis.terms:
        if not isinstance(step, int):
            return None
        reach = mul(ctx, step, sub(ctx, extents[k], 1))
        low, high = (low, add(ctx, high, reach)) if step > 0 else (add(ctx, low, reach), high)
    return low, high


def base(array: Array) -> Value | None:
    """The buffer behind a view."""
    return array.base if isinstance(array, View) else None


def identical(a: Array, b: Array) -> bool:
    """True when two arrays are the same elements of the same memory in the same order."""
    return a is b or (isinstance(a, View) and isinstance(b, View) and a.base is b.base and a.frame == b.frame)


def wrap(ctx: Context, x: Any) -> Array:
    """Any array of the program as an `Array`; a NumPy array known now becomes a constant."""
    return x if isinstance(x, Array) else constant(ctx, x)


def is_array(x: Any) -> bool:
    """True for a dynamic array and for a NumPy array with axes that is known now."""
    return isinstance(x, Array) or (isinstance(x, np.ndarray) and x.ndim > 0)


def scalar(ctx: Context, x: Any) -> Lazy:
    """A number as an array without axes."""
    number = ctx.number(x)
    value = number.value
    return Lazy(number.element, (), lambda ctx, indices: value, fill=value, recipe=("scalar", value))


def bare(x: Any) -> Any:
    """The value alone of an array without axes, for what makes a copy of it."""
    return Number(x.value, weak=False) if isinstance(x, Number) and x.array else x


def exposed(ctx: Context, number: Number) -> View:
    """An array without axes as one that others may be views of: from now on neither is written into."""
    ctx.exposed[id(number)] = number
    one = allocate(ctx, number.element, (ctx.builder.index(1),), zero=False)
    ctx.builder.store(one.base, number.value, (ctx.builder.index(0),))
    return View(one.base, Frame((), (Axis(0),)), "it may share the memory of an array without axes")


def finish(ctx: Context, array: Array) -> Any:
    """What the user's program sees: an array without axes is a NumPy scalar."""
    return array if array.rank else Number(array.read(ctx, ()), weak=False)


def boxed(ctx: Context, number: Any, element: Scalar | None = None) -> Number:
    """A number as an array without axes of its own."""
    return Number(ctx.number(number, element).value, weak=False, array=True)


def settle(ctx: Context, array: Array, cheap: int = 2) -> Array:
    """An array that is going to be read more than once: expensive expressions are computed first."""
    if isinstance(array, Lazy) and array.rank and (array.cost > cheap or array.raises):
        return copy(ctx, array)
    return array
