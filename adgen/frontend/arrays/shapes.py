"""Extents: broadcasting, equality, shape arguments.

Extents are i64 values.  Two that meet are taken for equal where a check at the entry can say so.  Others meet at run
time as NumPy says: an extent of one is stretched, anything else must be equal, or a `ValueError` is raised.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from adgen import ops
from adgen.frontend import scalars
from adgen.frontend.arrays.agreement import agree
from adgen.frontend.arrays.checks import at_least_or_raise, compare, either, require
from adgen.frontend.arrays.integers import Int, mul, plain, product, total
from adgen.frontend.arrays.model import Axis, Frame
from adgen.frontend.values import Number
from adgen.ir.nodes import Value

if TYPE_CHECKING:
    from adgen.frontend.context import Context

Extents = tuple[Value, ...]


def is_one(ctx: Context, extent: Value) -> bool:
    """The extent is the constant 1."""
    return ctx.builder.known(extent) == 1


def equal(ctx: Context, a: Value, b: Value) -> bool:
    """The extents are provably equal."""
    return ctx.ranges.equal(a, b)


def broadcast(ctx: Context, shapes: Sequence[Extents], exception: str = "ValueError") -> Extents:
    """The extents of the result of an elementwise operation."""
    rank = max(len(shape) for shape in shapes)
    result: list[Value] = [ctx.builder.index(1)] * rank
    vectors = all(len(shape) == 1 for shape in shapes)
    for shape in shapes:
        for axis in range(1, len(shape) + 1):
            result[-axis] = _meet(ctx, result[-axis], shape[-axis], vectors, exception)
    return tuple(result)


def _meet(ctx: Context, a: Value, b: Value, vectors: bool, exception: str) -> Value:
    if is_one(ctx, a):
        return b
    if is_one(ctx, b):
        return a
    if agree(ctx, a, b):
        return b if ctx.builder.known(a) is None else a
    message = (
        "operands could not be broadcast together with shapes ({0},) ({1},)"
        if vectors
        else "operands could not be broadcast together: an axis of length {0} meets one of length {1}"
    )
    known_a, known_b = ctx.builder.known(a), ctx.builder.known(b)
    one = ctx.builder.index(1)
    conditions = [compare(ctx, ops.EQ, a, b)]
    conditions += [compare(ctx, ops.EQ, x, one) for x, known in ((a, known_a), (b, known_b)) if known is None]
    require(ctx, either(ctx, *conditions), exception, message, (a, b))
    if known_a is not None:
        return a
    if known_b is not None:
        return b
    return ctx.builder.op(ops.SELECT, compare(ctx, ops.EQ, a, one), b, a)


def stretch_frame(ctx: Context, shape: Extents, extents: Extents) -> Frame:
    """How an array of a shape is read as an array of the extents it is broadcast to."""
    shift = len(extents) - len(shape)
    axes = []
    for k, extent in enumerate(shape):
        step = stretch_step(ctx, extent, extents[k + shift])
        axes.append(Axis(0, ((k + shift, step),) if isinstance(step, Value) or step else ()))
    return Frame(extents, tuple(axes))


def stretch_step(ctx: Context, extent: Value, target: Value) -> Int:
    """The step with which an axis is read: 0 when it is stretched, 1 when not, a run-time choice when unknown."""
    if is_one(ctx, extent):
        return 0
    if equal(ctx, extent, target) or ctx.builder.known(extent) is not None:
        return 1
    b = ctx.builder
    return b.op(ops.SELECT, compare(ctx, ops.EQ, extent, 1), b.index(0), b.index(1), name="step")


def same_extent(ctx: Context, a: Value, b: Value, message: str) -> None:
    """Raise `ValueError` at run time unless the extents are equal: no broadcasting here."""
    if not equal(ctx, a, b):
        require(ctx, compare(ctx, ops.EQ, a, b), "ValueError", message, (a, b))


def shape_argument(ctx: Context, shape: Any) -> Extents:
    """The extents that a `shape` argument asks for: an integer or a sequence of integers, static or dynamic."""
    items = list(shape) if isinstance(shape, tuple | list) else [shape]
    extents = []
    for item in items:
        if not isinstance(item, Number | int | Value) and not hasattr(item, "__index__"):
            ctx.fail("AD332", f"a shape is made of integers, not of {type(item).__name__}")
        extent = item if isinstance(item, Value) else scalars.as_index(ctx, item, "an extent")
        at_least_or_raise(ctx, extent, 0, "ValueError", "negative dimensions are not allowed")
        extents.append(extent)
    return tuple(extents)


def count(ctx: Context, extents: Sequence[Int]) -> Int:
    """The number of elements."""
    return product(ctx, extents)


def shape_tuple(ctx: Context, extents: Extents) -> tuple[Any, ...]:
    """`.shape`: Python ints where known, dynamic ints elsewhere."""
    return tuple(as_number(ctx, extent) for extent in extents)


def as_number(ctx: Context, x: Int) -> Any:
    """An integer as the Python int that the user's program sees."""
    x = plain(ctx, x)
    return x if isinstance(x, int) else Number(x, weak=True)


def axis_argument(ctx: Context, axis: Any, rank: int) -> int:
    """A static axis counted from the front."""
    if isinstance(axis, bool) or not hasattr(axis, "__index__"):
        ctx.fail("AD333", "the axis must be an integer constant")
    number = int(axis)
    if not -rank <= number < rank:
        ctx.fail("AD333", f"axis {number} is out of bounds for an array of dimension {rank}")
    return number % rank


def axes_argument(ctx: Context, axis: Any, rank: int) -> tuple[int, ...]:
    """Static axes counted from the front, in increasing order; None means all."""
    if axis is None:
        return tuple(range(rank))
    items = axis if isinstance(axis, tuple | list) else (axis,)
    axes = [axis_argument(ctx, item, rank) for item in items]
    if len(set(axes)) != len(axes):
        ctx.fail("AD333", "an axis is named twice")
    return tuple(sorted(axes))


def flat(ctx: Context, extents: Extents, indices: Sequence[Int]) -> Int:
    """The position of an element in C order."""
    strides = [product(ctx, extents[k + 1 :]) for k in range(len(extents))]
    return total(ctx, [(1, mul(ctx, index, stride)) for index, stride in zip(indices, strides)])
