"""Operations on values whose static part is chosen at run time: applied to every candidate, joined by the tag.

A candidate for which Python certainly raises becomes a check of the tag, before the operation.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from adgen import ops
from adgen.frontend import control
from adgen.frontend.context import PythonError
from adgen.frontend.join import narrowed
from adgen.frontend.state import State
from adgen.frontend.values import Choice, Number
from adgen.ir.nodes import Value

if TYPE_CHECKING:
    from adgen.frontend.context import Context

Operation = Callable[..., Any]


def distributed(operation: Operation) -> Operation:
    """The operation, for operands that may be choices too."""

    @functools.wraps(operation)
    def apply(ctx: Context, *operands: Any, **named: Any) -> Any:
        k = next((k for k, operand in enumerate(operands) if isinstance(operand, Choice)), None)
        if k is None:
            return operation(ctx, *operands, **named)
        first, rest = operands[:k], operands[k + 1 :]
        return each(ctx, operands[k], lambda candidate: apply(ctx, *first, candidate, *rest, **named))

    return apply


@dataclass
class _Raised(Exception):
    """Python raises for the candidate with this code."""

    code: int
    error: PythonError


def each(ctx: Context, choice: Choice, operation: Callable[[Any], Any]) -> Any:
    """The operation on a choice."""
    value = narrowed(ctx, choice)
    entry, undo, span = State.capture(ctx), ctx.mark(), ctx.builder.span
    while isinstance(value, Choice):
        try:
            return _selected(ctx, value, operation)
        except _Raised as raised:
            entry.restore()
            undo()
            ctx.builder.span = raised.error.span
            error, fine = raised.error.instance, ctx.builder.op(ops.NOT, _is(ctx, value, raised.code))
            ctx.may_raise(type(error))
            ctx.builder.check(fine, type(error).__name__, str(error))
            ctx.ranges.assume(fine)
            ctx.builder.span = span
            undo, value = ctx.mark(), narrowed(ctx, value)
    return operation(value)


def _is(ctx: Context, choice: Choice, code: int) -> Value:
    return ctx.builder.op(ops.EQ, choice.tag, ctx.builder.index(code))


def _selected(ctx: Context, choice: Choice, operation: Callable[[Any], Any]) -> Any:
    """Branches by the tag, with the operation in each."""
    codes, outcomes = list(choice.candidates), dict[int, Any]()

    def apply(code: int) -> Any:
        operations = ctx.builder.blocks[-1].operations
        first = len(operations)
        try:
            outcomes[code] = operation(choice.candidates[code])
        except PythonError as error:
            certain = error.context is ctx and error.depth == len(ctx.builder.blocks)
            if not certain or not all(made.row.pure for made in operations[first:]):
                raise
            raise _Raised(code, error) from None
        return outcomes[code]

    def branch(k: int) -> Any:
        if k == len(codes) - 1:
            return apply(codes[k])
        return control.fork(ctx, _is(ctx, choice, codes[k]), lambda: apply(codes[k]), lambda: branch(k + 1))

    result = branch(0)
    if isinstance(result, Number):  # what its truth says about the tag
        known = {code: _known(ctx, outcome) for code, outcome in outcomes.items()}
        excluded = [frozenset(c for c, truth in known.items() if truth is side) for side in (False, True)]
        ctx.ranges.excludes(result.value, choice.tag, *excluded)
    return result


def _known(ctx: Context, outcome: Any) -> bool | None:
    """A truth value that is known now."""
    if isinstance(outcome, Number):
        outcome = ctx.builder.known(outcome.value)
    return outcome if isinstance(outcome, bool) else None
