"""Elementwise operations: broadcasting, types, and expressions that are computed where they are read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from adgen import ops
from adgen.frontend import scalars
from adgen.frontend.arrays.broadcasting import stretch
from adgen.frontend.arrays.build import as_array
from adgen.frontend.arrays.loops import when
from adgen.frontend.arrays.model import Array, Lazy, View, footprint
from adgen.frontend.arrays.selection import Selection
from adgen.frontend.arrays.shapes import Extents, broadcast
from adgen.frontend.arrays.storage import finish, settle
from adgen.frontend.values import Number, is_number
from adgen.ir import core
from adgen.ir.nodes import Operation, Value, walk
from adgen.ir.types import BOOL, Scalar

if TYPE_CHECKING:
    from adgen.frontend.context import Context


DEAR = 100  # the work of an operation with a loop in it


def is_operand_array(x: Any) -> bool:
    """True for what takes part in an elementwise operation element by element."""
    return isinstance(x, Array | list | tuple) or (isinstance(x, np.ndarray) and x.ndim > 0)


def elementwise(ctx: Context, callable_: Any, operands: Sequence[Any]) -> Any:
    """A scalar function applied to arrays and numbers, element by element: an expression, or a number."""
    if callable_ is np.where and len(operands) == 3:
        return where(ctx, *operands)
    if any(isinstance(x, Selection) for x in operands):
        return _selected(ctx, callable_, operands)
    prepared = [as_array(ctx, x) if is_operand_array(x) else x for x in operands]
    arrays = [x for x in prepared if isinstance(x, Array)]
    if not arrays:
        return scalars.apply(ctx, callable_, *prepared)
    extents = broadcast(ctx, [x.extents for x in arrays])
    spread = [stretch(ctx, x, extents) if isinstance(x, Array) else x for x in prepared]
    return finish(ctx, _apply(ctx, callable_, spread, extents))


def _selected(ctx: Context, callable_: Any, operands: Sequence[Any]) -> Selection:
    """The function applied to the elements that a mask picks."""
    selections = [x for x in operands if isinstance(x, Selection)]
    first = selections[0]
    if any(isinstance(x, Array) and not isinstance(x, Selection) for x in operands):
        first.refuse("it is combined with an array whose shape is known")
    if any(not first.alike(ctx, other) for other in selections[1:]):
        first.refuse("it is combined with elements picked by another mask")
    inner = [x.inner if isinstance(x, Selection) else x for x in operands]
    return first.with_inner(elementwise(ctx, callable_, inner))


def _apply(ctx: Context, callable_: Any, operands: Sequence[Any], extents: Extents) -> Lazy:
    arrays = [x for x in operands if isinstance(x, View | Lazy)]
    element, work = probe(ctx, callable_, operands)

    def reader(ctx: Context, indices: tuple[Value, ...]) -> Value:
        numbers = [Number(x.read(ctx, indices), weak=False) if isinstance(x, Array) else x for x in operands]
        return scalars.to(ctx, scalars.apply(ctx, callable_, *numbers), element)

    return combined(ctx, element, extents, reader, arrays, work, (callable_, *operands))


def combined(
    ctx: Context,
    element: Scalar,
    extents: Extents,
    reader: Callable[[Any, tuple[Value, ...]], Value],
    arrays: Sequence[View | Lazy],
    work: int,
    recipe: tuple[Any, ...] = (),
) -> Lazy:
    """An expression that reads arrays of its own extents at exactly its own index."""
    lazies = [x for x in arrays if isinstance(x, Lazy)]
    reads = [x for x in arrays if isinstance(x, View)] + [view for x in lazies for view in x.reads]
    irregular = frozenset(root for x in lazies for root in x.irregular)
    cost = work + sum(x.cost for x in lazies)
    raises = any(x.raises for x in lazies)
    roots = footprint(ctx, *arrays)
    return Lazy(element, extents, reader, cost, raises, tuple(reads), roots, irregular, recipe, span=ctx.builder.span)


def probe(ctx: Context, callable_: Any, operands: Sequence[Any]) -> tuple[Scalar, int]:
    """The element type of a function's result and the work of one element; nothing is emitted."""
    samples = [Value(x.element) if isinstance(x, Array) else x for x in operands]
    with ctx.builder.block([x for x in samples if isinstance(x, Value)]) as scratch:
        numbers = [Number(x, weak=False) if isinstance(x, Value) else x for x in samples]
        result = ctx.number(scalars.apply(ctx, callable_, *numbers))
    return result.element, sum(map(_work, scratch.operations))


def _work(operation: Operation) -> int:
    """What an operation costs; one that loops, or may, is dear."""
    inner = (op for region in operation.regions for op in walk(region))
    loops = any(op.row in (*core.LOOPS, core.CUSTOM, core.CALL) for op in (operation, *inner))
    return DEAR if loops else operation.row.cost


def where(ctx: Context, condition: Any, a: Any, b: Any) -> Any:
    """`np.where`: the branch that is not taken contributes nothing, neither to the value nor to the derivative."""
    operands = [x if is_number(x) else as_array(ctx, x) for x in (condition, a, b)]
    if not any(isinstance(x, Array) for x in operands):
        return scalars.apply(ctx, np.where, *operands)
    if any(isinstance(x, Selection) for x in operands):
        return _selected(ctx, np.where, operands)
    element = scalars.promote([_kind(ctx, x) for x in operands[1:]])
    arrays = [as_array(ctx, settle(ctx, x, 10**9) if isinstance(x, Array) else x) for x in operands]
    extents = broadcast(ctx, [x.extents for x in arrays])
    test, first, second = (stretch(ctx, x, extents) for x in arrays)
    bare = all(isinstance(x, View) or x.cost == 0 for x in (first, second))

    def chosen(ctx: Context, indices: tuple[Value, ...]) -> Value:
        flag = scalars.convert(ctx, test.read(ctx, indices), BOOL)
        sides = [lambda x=x: (scalars.convert(ctx, x.read(ctx, indices), element),) for x in (first, second)]
        if bare:
            return ctx.builder.op(ops.SELECT, flag, sides[0]()[0], sides[1]()[0])
        return when(ctx, flag, sides[0], sides[1])[0]

    return finish(ctx, combined(ctx, element, extents, chosen, (test, first, second), 1, ("where", *operands)))


def _kind(ctx: Context, x: Any) -> tuple[Scalar, bool]:
    return (x.element, False) if isinstance(x, Array) else scalars.kind(ctx, x)


def astype(ctx: Context, array: Array, element: Scalar) -> Array:
    """The elements converted."""
    if isinstance(array, Selection):
        return array.with_inner(astype(ctx, array.inner, element))
    assert isinstance(array, View | Lazy)

    def reader(ctx: Context, indices: tuple[Value, ...]) -> Value:
        return scalars.convert(ctx, array.read(ctx, indices), element)

    return combined(ctx, element, array.extents, reader, (array,), 0, ("astype", element, array))
