"""Run-time checks, each emitted once where it holds, and the facts that follow from it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from adgen import ops
from adgen.frontend.arrays.integers import Int, at_least, plain, value
from adgen.ir.nodes import Row, Value

if TYPE_CHECKING:
    from adgen.frontend.context import Context


def require(ctx: Context, condition: Value, exception: str, message: str, details: Sequence[Int] = ()) -> None:
    """Raise `exception(message)` at run time when the condition is false.

    `{0}`, `{1}` ... in the message stand for the details; constants are written into the text, so that no more than two
    may be dynamic: any others are written as `n`.
    """
    if ctx.builder.known(condition) is True or ctx.ranges.noted((condition, exception)):
        return
    text = message
    dynamic: list[Value] = []
    for position, detail in enumerate(details):
        number = plain(ctx, detail)
        if isinstance(number, Value) and len(dynamic) < 2:
            text = text.replace(f"{{{position}}}", f"{{#{len(dynamic)}}}")
            dynamic.append(number)
        else:
            text = text.replace(f"{{{position}}}", str(number) if isinstance(number, int) else "n")
    ctx.builder.check(condition, exception, text.replace("{#", "{"), dynamic)
    ctx.ranges.note((condition, exception))
    ctx.ranges.assume(condition)


def compare(ctx: Context, row: Row, a: Int, b: Int) -> Value:
    """A comparison of integers."""
    return ctx.builder.op(row, value(ctx, a), value(ctx, b))


def either(ctx: Context, *conditions: Value) -> Value:
    """The disjunction."""
    result = conditions[0]
    for condition in conditions[1:]:
        result = ctx.builder.op(ops.OR, result, condition)
    return result


def both(ctx: Context, *conditions: Value) -> Value:
    """The conjunction."""
    result = conditions[0]
    for condition in conditions[1:]:
        result = ctx.builder.op(ops.AND, result, condition)
    return result


def at_least_or_raise(ctx: Context, a: Int, b: Int, exception: str, message: str, details: Sequence[Int] = ()) -> None:
    """Raise unless `a >= b`; nothing is emitted where that is proved."""
    if not at_least(ctx, a, b):
        require(ctx, compare(ctx, ops.GE, a, b), exception, message, details)
