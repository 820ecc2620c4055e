"""Arrays without axes and NumPy scalars: their subscripts.

Both are numbers here; an array without axes is a `Number` marked `array`, and the object is its memory.  Comes in: a
subscript of one.  Goes out: what NumPy gives for it; for an assignment, the number that the name is bound to from now
on.  Guaranteed: an assignment that could be seen under another name is refused.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from adgen.frontend import arrays, scalars
from adgen.frontend.arrays.updates import allow_cast
from adgen.frontend.state import references
from adgen.frontend.values import Number, is_number
from adgen.ir.types import BOOL

if TYPE_CHECKING:
    from adgen.frontend.context import Context

ONE_NAME = "keep it under one name, outside of the loops and branches that change it, or use `np.where(...)`"


def get(ctx: Context, number: Number, key: Any) -> Any:
    """`number[key]` of a NumPy scalar or an array without axes."""
    if key == ():
        return Number(number.value, weak=False)
    if key is Ellipsis:
        return number if number.array else arrays.boxed(ctx, number)
    if _is_flag(ctx, key):
        return arrays.getitem(ctx, _line(ctx, number), _line(ctx, key))
    return arrays.getitem(ctx, arrays.as_array(ctx, number), key)


def _is_flag(ctx: Context, key: Any) -> bool:
    return is_number(key) and scalars.kind(ctx, key)[0] == BOOL


def _line(ctx: Context, number: Any) -> Any:
    """A number as an array of one axis."""
    return arrays.getitem(ctx, arrays.as_array(ctx, arrays.bare(number)), (None,))


def store(ctx: Context, node: ast.expr, number: Number, key: Any, act: Callable[[Any, Any], None]) -> None:
    """Change an array without axes that a name holds; `act(array, key)` does it to an array of one element."""
    if ctx.inference is not None:
        ctx.inference.array(ctx, number, 1)
    alone(ctx, number)
    frame = ctx.frame
    if not isinstance(node, ast.Name) or frame.names.get(node.id) is not number:
        ctx.fail("AD232", "an array without axes is written into that is not a local variable", ONE_NAME)
    memory = arrays.copy(ctx, _line(ctx, number), node.id)
    if _is_flag(ctx, key):
        act(memory, _line(ctx, key))
    elif key in ((), Ellipsis):
        act(memory, (0, Ellipsis))
    else:
        ctx.fail("AD337", "too many indices: the array has 0 dimensions")
    changed = memory.read(ctx, [ctx.builder.index(0)])
    changed.name = changed.name or node.id
    frame.names[node.id] = Number(changed, weak=False, array=True)


def alone(ctx: Context, number: Number) -> None:
    """Refuse to write into what is not an array, and into an array that has other names."""
    if not number.array:
        ctx.fail(
            "AD319",
            "a NumPy scalar, or what may be one, does not support item assignment",
            "make it an array with `np.array(...)` right before, or use `np.where(...)`",
        )
    if id(number) in ctx.exposed or references(ctx, number) > 1:
        ctx.fail("AD232", "an array without axes is written into that has several names", ONE_NAME)


def augmented(ctx: Context, operator_: Callable[..., Any], number: Number, value: Any) -> Number:
    """`number op= value` for an array without axes: its type stays."""
    alone(ctx, number)
    if not is_number(value):
        ctx.fail("AD331", "an array without axes cannot hold the result of an operation with an array")
    result = ctx.number(scalars.binary(ctx, operator_, number, value))
    allow_cast(ctx, result.element, number.element)
    return arrays.boxed(ctx, result, number.element)


__all__ = ["alone", "augmented", "get", "store"]
