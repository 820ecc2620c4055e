"""One subscript on one axis: integers and slices, exactly as Python clamps and wraps them.

Comes in: an extent and an integer or slice, static or dynamic.  Goes out: the index, or the offset, step and extent
of a slice.  Guaranteed: what is provable costs no operation; `u[1:-1]`, `u[2:]` and `u[:-2]` have one and the same
extent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adgen import ops
from adgen.frontend import scalars
from adgen.frontend.arrays import integers
from adgen.frontend.arrays.agreement import within
from adgen.frontend.arrays.checks import both, compare, require
from adgen.frontend.arrays.integers import Int, add, at_least, maximum, minimum, plain, quotient, sub, value
from adgen.frontend.values import Number
from adgen.ir.nodes import Value

if TYPE_CHECKING:
    from adgen.frontend.context import Context


def integer(ctx: Context, x: Any, what: str = "an index") -> Int:
    """A subscript or a bound as an int or an i64 value."""
    if isinstance(x, Value | int) and not isinstance(x, bool):
        return plain(ctx, x)
    if not isinstance(x, Number) and hasattr(x, "__index__") and not isinstance(x, bool):
        return int(x)
    return plain(ctx, scalars.as_index(ctx, x, what))


def normalised(ctx: Context, index: Int, extent: Value, axis: int) -> Int:
    """A subscript as an index in `[0, extent)`: negative ones count from the end, others raise `IndexError`.

    Nothing is emitted for code of the library whose subscripts are known to be right.
    """
    message = f"index {{0}} is out of bounds for axis {axis} with size {{1}}"
    details = (index, extent)
    if ctx.trusted and not isinstance(index, int):
        return index
    if at_least(ctx, index, 0):
        if not at_least(ctx, extent, add(ctx, index, 1)):
            require(ctx, compare(ctx, ops.LT, index, extent), "IndexError", message, details)
        return index
    if at_least(ctx, -1, index):
        wrapped = add(ctx, extent, index)
        if not at_least(ctx, wrapped, 0):
            require(ctx, compare(ctx, ops.GE, wrapped, 0), "IndexError", message, details)
        return wrapped
    b = ctx.builder
    tests = []
    if not at_least(ctx, add(ctx, extent, index), 0):
        tests.append(compare(ctx, ops.GE, index, b.op(ops.NEG, extent)))
    if not at_least(ctx, sub(ctx, extent, index), 1):
        tests.append(compare(ctx, ops.LT, index, extent))
    if tests:
        require(ctx, both(ctx, *tests), "IndexError", message, details)
    return wrapped_index(ctx, index, extent)


def wrapped_index(ctx: Context, index: Int, extent: Value) -> Value:
    """`index + extent` if the index is negative, else the index."""
    negative = compare(ctx, ops.LT, index, 0)
    return ctx.builder.op(ops.SELECT, negative, value(ctx, add(ctx, index, extent)), value(ctx, index))


def sliced(ctx: Context, key: slice, extent: Value) -> tuple[Int, int, Value]:
    """Offset, step and extent of a slice of an axis."""
    step = 1 if key.step is None else integer(ctx, key.step, "a slice step")
    if not isinstance(step, int):
        ctx.fail_dynamic(
            "AD336", "the step of a slice must be a constant", "write the slice as a loop over its indices"
        )
    if step == 0:
        ctx.fail("AD336", "slice step cannot be zero")
    start = None if key.start is None else integer(ctx, key.start, "a slice bound")
    stop = None if key.stop is None else integer(ctx, key.stop, "a slice bound")
    if step > 0:
        first, length = _forward(ctx, start, stop, extent)
    else:
        first, length = _backward(ctx, start, stop, extent)
    stride = abs(step)
    if stride > 1:
        length = quotient(ctx, add(ctx, length, stride - 1), stride)
    return first, step, value(ctx, length)


def _forward(ctx: Context, start: Int | None, stop: Int | None, extent: Value) -> tuple[Int, Int]:
    """The first index and the number of indices between the bounds.

    A start beyond the end needs no clamp, nor a stop before the beginning: the length is zero anyway.
    """
    first = 0 if start is None else _counted(ctx, start, extent)
    last = extent if stop is None else _counted(ctx, stop, extent)
    first = maximum(ctx, first, 0)
    return first, integers.size(ctx, sub(ctx, _cut(ctx, last, extent), first))


def _backward(ctx: Context, start: Int | None, stop: Int | None, extent: Value) -> tuple[Int, Int]:
    end = sub(ctx, extent, 1)
    first = end if start is None else _counted(ctx, start, extent)
    last: Int = -1 if stop is None else _counted(ctx, stop, extent)
    first = _cut(ctx, first, end)
    return first, integers.size(ctx, sub(ctx, first, maximum(ctx, last, -1)))


def _cut(ctx: Context, bound: Int, limit: Int) -> Int:
    """The bound, or the limit where it may lie beyond."""
    return bound if within(ctx, bound, limit) else minimum(ctx, bound, limit)


def _counted(ctx: Context, bound: Int, extent: Value) -> Int:
    """A bound counted from the front; it may still lie outside of the axis."""
    if at_least(ctx, bound, 0):
        return bound
    if at_least(ctx, -1, bound):
        return add(ctx, extent, bound)
    return wrapped_index(ctx, bound, extent)
