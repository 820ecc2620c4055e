"""Truth: `and`, `or`, comparisons and conditional expressions, evaluated where Python evaluates them and only there."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from adgen import ops
from adgen.frontend import control, evaluate, operators
from adgen.frontend.arrays.agreement import under
from adgen.frontend.same import same
from adgen.frontend.state import State
from adgen.frontend.values import Number
from adgen.ir.nodes import Value
from adgen.ir.types import BOOL

if TYPE_CHECKING:
    from adgen.frontend.context import Context


def boolean(ctx: Context, node: ast.BoolOp) -> Any:
    """`a and b` is `a` or `b`; the right side is evaluated only where Python would."""
    return _boolean_tail(ctx, node, node.values)


def _boolean_tail(ctx: Context, node: ast.BoolOp, values: list[ast.expr]) -> Any:
    first = evaluate.expression(ctx, values[0])
    if len(values) == 1:
        return first
    truth = operators.truth(ctx, first)
    wants = isinstance(node.op, ast.And)
    if isinstance(truth, bool):
        return _boolean_tail(ctx, node, values[1:]) if truth == wants else first
    if isinstance(first, Number) and first.element == BOOL and not _binds(values[1:]):
        undo, outcome = ctx.mark(), None

        def right() -> bool | Value:
            nonlocal outcome
            outcome = _boolean_tail(ctx, node, values[1:])
            return operators.truth(ctx, outcome)

        both = short_circuit(ctx, truth, wants, right)
        if isinstance(outcome, bool) or (isinstance(outcome, Number) and outcome.element == BOOL):
            return both if isinstance(both, bool) else Number(both, True)
        undo()
    left = control.fork if wants else _reversed_fork
    return left(ctx, truth, lambda: _boolean_tail(ctx, node, values[1:]), lambda: first)


def _reversed_fork(ctx: Context, truth: Value, then: Callable[[], Any], otherwise: Callable[[], Any]) -> Any:
    return control.fork(ctx, truth, otherwise, then)


def _binds(nodes: list[ast.expr]) -> bool:
    return any(isinstance(inner, ast.NamedExpr) for node in nodes for inner in ast.walk(node))


def condition(ctx: Context, node: ast.expr) -> bool | Value:
    """The truth of an expression: a bool when it is static."""
    if isinstance(node, ast.BoolOp) and not _binds(node.values):
        ctx.place(node)
        first = condition(ctx, node.values[0])
        if isinstance(first, bool):
            rest = node.values[1:]
            if first != isinstance(node.op, ast.And) or not rest:
                return first
            tail = rest[0] if len(rest) == 1 else ast.copy_location(ast.BoolOp(node.op, rest), node)
            return condition(ctx, tail)
        return _truth_tail(ctx, node, node.values[1:], first)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        truth = condition(ctx, node.operand)
        return ctx.builder.op(ops.NOT, truth) if isinstance(truth, Value) else not truth
    value = evaluate.expression(ctx, node)
    ctx.place(node)
    return operators.truth(ctx, value)


def _truth_tail(ctx: Context, node: ast.BoolOp, rest: list[ast.expr], truth: Value) -> bool | Value:
    """The truth of `truth and rest` (or `or`)."""
    wants = isinstance(node.op, ast.And)
    tail = rest[0] if len(rest) == 1 else ast.copy_location(ast.BoolOp(node.op, rest), node)
    return short_circuit(ctx, truth, wants, lambda: condition(ctx, tail))


def short_circuit(ctx: Context, truth: Value, wants: bool, right: Callable[[], bool | Value]) -> bool | Value:
    """`truth and right()` where `wants`, else `truth or right()`; the right side runs only where Python runs it.

    Pure operations may as well run always: they have no effect, and a bool carries no derivative.
    """
    builder = ctx.builder
    before = State.capture(ctx)
    with builder.block() as block, under(ctx, truth):
        ctx.ranges.assume(truth, wants)
        outcome = right()
    after = State.capture(ctx)
    before.restore()
    if any(not same(value, dict(after.slots()).get(slot)) for slot, value in before.slots() if slot.owner):
        ctx.fail(
            "AD223", "a list or dict is changed in an operand that is not always evaluated", "use an `if` statement"
        )
    known = outcome if isinstance(outcome, bool) else builder.known(outcome)
    if all(operation.row.pure for operation in block.operations):
        if known is not None:
            return truth if bool(known) == wants else bool(known)
        for operation in block.operations:
            builder.append(operation)
        assert isinstance(outcome, Value)
        return builder.op(ops.AND if wants else ops.OR, truth, outcome)
    builder.blocks.append(block)
    inner = outcome if isinstance(outcome, Value) else builder.const(outcome, BOOL)
    builder.blocks.pop()
    block.results = (inner,)

    def evaluated() -> tuple[Value, ...]:
        builder.blocks[-1].operations.extend(block.operations)
        return (inner,)

    def skipped() -> tuple[Value, ...]:
        return (builder.const(not wants, BOOL),)

    sides = (evaluated, skipped) if wants else (skipped, evaluated)
    (result,) = builder.branch(truth, *sides)
    return result


def compare(ctx: Context, node: ast.Compare) -> Any:
    left = evaluate.expression(ctx, node.left)
    return _compare_tail(ctx, node, left, 0)


def _compare_tail(ctx: Context, node: ast.Compare, left: Any, k: int) -> Any:
    right = evaluate.expression(ctx, node.comparators[k])
    ctx.place(node)
    outcome = operators.compare(ctx, node.ops[k], left, right)
    if k + 1 == len(node.ops):
        return outcome
    truth = operators.truth(ctx, outcome)
    if isinstance(truth, bool):
        return _compare_tail(ctx, node, right, k + 1) if truth else outcome
    both = short_circuit(ctx, truth, True, lambda: operators.truth(ctx, _compare_tail(ctx, node, right, k + 1)))
    return both if isinstance(both, bool) else Number(both, isinstance(outcome, Number) and outcome.weak)


def if_expression(ctx: Context, node: ast.IfExp) -> Any:
    truth = condition(ctx, node.test)
    if isinstance(truth, bool):
        return evaluate.expression(ctx, node.body if truth else node.orelse)
    ctx.place(node)

    sides = (lambda: evaluate.expression(ctx, node.body), lambda: evaluate.expression(ctx, node.orelse))
    return control.fork(ctx, truth, *sides)
