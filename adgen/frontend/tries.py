"""`try`: exceptions that are known when compiling are raised and handled here, as Python would.

The front end runs the program: where it finds that Python certainly raises, everything up to that place has been
lowered and nothing after it, so a handler simply goes on from there.  That needs the place to be reached on every run:
what a handler would catch and only a run decides is refused.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable
from typing import TYPE_CHECKING

from adgen.frontend import control, evaluate
from adgen.frontend import statements as blocks
from adgen.frontend.context import Guard, Kinds, PythonError
from adgen.frontend.scan import BROKEN, CONTINUED, RESULT, RETURNED, jumps
from adgen.frontend.values import describe
from adgen.ir import core
from adgen.ir.nodes import Region, walk

if TYPE_CHECKING:
    from adgen.frontend.context import Context

JUMPS = (RETURNED, RESULT, BROKEN, CONTINUED)


def statement(ctx: Context, node: ast.Try) -> None:
    """Lower a `try`."""
    if jumps(node.finalbody, (ast.Return, ast.Break, ast.Continue)):
        ctx.place(node.finalbody[0])
        ctx.fail("AD204", "a `finally` that leaves by a jump is not supported", "jump after the `try`")

    def final() -> None:
        blocks.block(ctx, node.finalbody, ctx.frame.code.flow.after.get(node))

    try:
        _body(ctx, node)
    except PythonError as error:
        if node.finalbody and reaches(ctx, error):
            final()
        raise
    if node.finalbody:
        set_aside(ctx, final)


def _body(ctx: Context, node: ast.Try) -> None:
    """The body, and the handler or the `else` that follows it."""
    handlers = [(_kinds(ctx, handler), handler) for handler in node.handlers]
    guard = Guard(tuple(kind for kinds, _ in handlers for kind in kinds), len(ctx.builder.blocks))
    loop, sites = {flag: ctx.frame.names.get(flag) for flag in (BROKEN, CONTINUED)}, ctx.sites
    block = ctx.builder.blocks[-1]
    mark = len(block.operations)
    keep = ctx.frame.code.flow.after.get(node)
    raised: PythonError | None = None
    ctx.guards.append(guard)
    try:
        blocks.block(ctx, node.body, keep)
    except PythonError as error:
        if not guard.catches(error.exception):
            raise
        if not reaches(ctx, error):
            ctx.refuse_raising(error.exception.__name__, error.span)
        raised = error
    finally:
        ctx.guards.pop()
    for operation in walk(Region((), tuple(block.operations[mark:]), ())):
        if operation.row in (core.CALL, core.CUSTOM) and guard.kinds:
            ctx.refuse_raising("an exception", operation.span)
        if operation.row is core.CHECK and _may_catch(guard, operation.attributes["exception"]):
            ctx.refuse_raising(operation.attributes["exception"], operation.span)
    if raised is None:
        control.guarded(ctx, control.jumped(ctx), lambda: blocks.block(ctx, node.orelse, keep), keep)
        return
    ctx.sites = sites
    for flag, value in loop.items():
        if value is None:
            ctx.frame.names.pop(flag, None)
        else:
            ctx.frame.names[flag] = value
    _handle(ctx, raised, next(handler for kinds, handler in handlers if issubclass(raised.exception, kinds)))


def reaches(ctx: Context, error: PythonError) -> bool:
    """True when the exception is raised on every run that comes to the present place."""
    return error.context is ctx and error.depth == len(ctx.builder.blocks)


def _may_catch(guard: Guard, name: str) -> bool:
    kind = getattr(builtins, name, None)
    if isinstance(kind, type) and issubclass(kind, BaseException):
        return guard.catches(kind)
    return bool(guard.kinds)


def _kinds(ctx: Context, handler: ast.ExceptHandler) -> Kinds:
    """The exceptions that a handler is for."""
    if handler.type is None:
        return (BaseException,)
    found = evaluate.expression(ctx, handler.type)
    kinds = found if isinstance(found, tuple) else (found,)
    for kind in kinds:
        if not (isinstance(kind, type) and issubclass(kind, BaseException)):
            ctx.place(handler.type)
            ctx.fail("AD219", f"{describe(kind)} is not an exception")
    return kinds


def _handle(ctx: Context, error: PythonError, handler: ast.ExceptHandler) -> None:
    names = ctx.frame.names
    if handler.name is not None:
        names[handler.name] = error.instance
    ctx.handled.append(error)
    try:
        blocks.block(ctx, handler.body, ctx.frame.code.flow.after.get(handler.body[-1]))
    finally:
        ctx.handled.pop()
    if handler.name is not None:
        names.pop(handler.name, None)


def set_aside(ctx: Context, final: Callable[[], object]) -> None:
    """Run what is done at the end whatever jumps have been made, which go on afterwards."""
    names = ctx.frame.names
    made = {flag: names[flag] for flag in JUMPS if flag in names}
    for flag in (RETURNED, BROKEN, CONTINUED):
        if flag in names:
            names[flag] = False
    final()
    names.update(made)
