"""`with`: what a context manager does before and after the block is lowered around it.

Managers are objects of classes written in Python, and functions under `contextlib.contextmanager`, whose text up to the
`yield` is what is done before and the rest what is done after.
"""

from __future__ import annotations

import ast
import contextlib
import inspect
import types
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from adgen.frontend import assign, calls, control, evaluate, inline, operators, refuse, tries
from adgen.frontend import statements as blocks
from adgen.frontend.context import Frame, PythonError
from adgen.frontend.scan import RETURNED
from adgen.frontend.source import code_of

if TYPE_CHECKING:
    from adgen.frontend.context import Context

TRANSPARENT = (np.errstate, warnings.catch_warnings, contextlib.nullcontext)


@dataclass(frozen=True, eq=False)
class Manager:
    """What is done before the block, which gives what `as` names, and after it; true where that ends an exception."""

    enter: Callable[[], Any]
    leave: Callable[[BaseException | None], bool]


def statement(ctx: Context, node: ast.With) -> None:
    """Lower a `with`."""
    _items(ctx, node, node.items)


def _items(ctx: Context, node: ast.With, items: list[ast.withitem]) -> None:
    keep = ctx.frame.code.flow.after.get(node)
    if not items:
        blocks.block(ctx, node.body, keep)
        return
    manager = _manager(ctx, node, items[0].context_expr)
    value = manager.enter()
    if items[0].optional_vars is not None:
        assign.target(ctx, items[0].optional_vars, value)
    try:
        _items(ctx, node, items[1:])
    except PythonError as error:
        if not tries.reaches(ctx, error) or not manager.leave(error.instance):
            raise
        return
    tries.set_aside(ctx, lambda: manager.leave(None))


def _manager(ctx: Context, node: ast.With, expression: ast.expr) -> Manager:
    call = expression if isinstance(expression, ast.Call) else None
    found = evaluate.expression(ctx, expression if call is None else call.func)
    ctx.place(expression)
    if found in TRANSPARENT or isinstance(found, TRANSPARENT):
        return Manager(lambda: None, lambda error: False)
    if call is not None and _is_generator_manager(found):
        return _of_generator(ctx, node, found.__wrapped__, *calls.arguments(ctx, call, settle=True))
    manager = found if call is None else evaluate.expression(ctx, call)
    enter, leave = (operators.method_of(manager, name) for name in ("__enter__", "__exit__"))
    if enter is None or leave is None:
        refuse.node(ctx, node)

    def left(error: BaseException | None) -> bool:
        kind = None if error is None else type(error)
        return operators.truth(ctx, calls.call(ctx, leave, [manager, kind, error, None], {})) is True

    return Manager(lambda: calls.call(ctx, enter, [manager], {}), left)


def _is_generator_manager(function: Any) -> bool:
    """True for a function under `contextlib.contextmanager`."""
    inner = getattr(function, "__wrapped__", None)
    return inspect.isgeneratorfunction(inner) and getattr(function, "__code__", None) is _HELPER


@contextlib.contextmanager
def _example() -> Any:
    yield


_HELPER = _example.__code__


def _of_generator(
    ctx: Context, node: ast.With, function: types.FunctionType, args: list[Any], keywords: dict[str, Any]
) -> Manager:
    code = code_of(function)
    names = inline.bind(
        ctx, code.node.args, code.name, args, keywords, function.__defaults__ or (), function.__kwdefaults__ or {}
    )
    frame = Frame(code, names, None, inline.cells_of(function))
    frame.names[RETURNED] = False
    found = _split(code.statements)
    if found is None:
        refuse.node(ctx, node)
    before, given, after = found

    def run(statements: list[ast.stmt]) -> None:
        ctx.frames.append(frame)
        try:
            blocks.block(ctx, statements, frozenset())
            if control.jumped(ctx) is not False:
                refuse.node(ctx, node)
        finally:
            ctx.frames.pop()
        ctx.place(node)

    def enter() -> Any:
        run(before)
        ctx.frames.append(frame)
        try:
            return None if given is None else evaluate.expression(ctx, given)
        finally:
            ctx.frames.pop()

    def leave(error: BaseException | None) -> bool:
        if error is not None and not isinstance(code.statements[len(before)], ast.Try):
            return False  # the generator ends where it yields
        run(after[0] if error is not None else [*after[0], *after[1]])
        return False

    return Manager(enter, leave)


Split = tuple[list[ast.stmt], ast.expr | None, tuple[list[ast.stmt], list[ast.stmt]]]


def _split(statements: list[ast.stmt]) -> Split | None:
    """What comes before the `yield`, what it gives, what comes after it in any case and without an exception."""
    for k, statement in enumerate(statements):
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Yield):
            rest = statements[k + 1 :]
            return None if _yields(rest) else (statements[:k], statement.value.value, ([], rest))
        if isinstance(statement, ast.Try) and len(statement.body) == 1 and not statement.handlers:
            (inner,) = statement.body
            if isinstance(inner, ast.Expr) and isinstance(inner.value, ast.Yield) and not statement.orelse:
                rest = statements[k + 1 :]
                if _yields(rest) or _yields(statement.finalbody):
                    return None
                return statements[:k], inner.value.value, (statement.finalbody, rest)
        if _yields([statement]):
            return None
    return None


def _yields(statements: list[ast.stmt]) -> bool:
    return any(isinstance(inner, ast.Yield | ast.YieldFrom) for s in statements for inner in ast.walk(s))
