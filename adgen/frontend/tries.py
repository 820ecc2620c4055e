"""`try`: exceptions that are known when compiling are raised and handled here, as Python would.

The front end runs the program: where it finds that Python certainly raises, everything up to that place has been
lowered and nothing after it, so a handler simply goes on from there.  That needs the place to be reached on every run.
Where arithmetic may raise - a division by zero, an overflow, a domain - the statement becomes a branch on that.  Any
other exception that a handler would catch and only a run decides is refused.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from adgen import ops
from adgen.frontend import control, evaluate
from adgen.frontend import statements as blocks
from adgen.frontend.context import Guard, Hazard, Kinds, PythonError
from adgen.frontend.same import same
from adgen.frontend.scan import BROKEN, CONTINUED, RETURNED, jumps
from adgen.frontend.state import State
from adgen.frontend.values import describe
from adgen.ir import core
from adgen.ir.builder import Block
from adgen.ir.nodes import Operation, Region, Value, walk

if TYPE_CHECKING:
    from adgen.frontend.context import Context


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


@dataclass(frozen=True, eq=False)
class Trying:
    """A `try` whose body is being lowered: its handlers with what they are for, and the state that they start with."""

    node: ast.Try
    handlers: list[tuple[Kinds, ast.ExceptHandler]]
    keep: frozenset[str] | None
    loop: dict[str, Any]
    sites: Any

    @property
    def kinds(self) -> Kinds:
        """All that is caught."""
        return tuple(kind for kinds, _ in self.handlers for kind in kinds)

    def handler(self, kind: type[BaseException]) -> ast.ExceptHandler:
        """The first handler for an exception."""
        return next(handler for kinds, handler in self.handlers if issubclass(kind, kinds))


def _body(ctx: Context, node: ast.Try) -> None:
    """The body, and the handler or the `else` that follows it."""
    handlers = [(_kinds(ctx, handler), handler) for handler in node.handlers]
    loop = {flag: ctx.frame.names.get(flag) for flag in (BROKEN, CONTINUED)}
    trying = Trying(node, handlers, ctx.frame.code.flow.after.get(node), loop, ctx.sites)
    _from(ctx, trying, 0)


def _from(ctx: Context, trying: Trying, k: int) -> None:
    """The statements of the body from number `k` on, and the `else`.

    A statement is evaluated first; where that may raise, what it does and what follows is the other side of a branch.
    """
    body = trying.node.body
    if k == len(body):
        blocks.block(ctx, trying.node.orelse, trying.keep)
        return
    simple = isinstance(body[k], ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Return)
    guard = Guard(trying.kinds, len(ctx.builder.blocks), [] if simple else None)
    before = State.capture(ctx) if simple else None
    finish: Callable[[], None] | None = None
    block = ctx.builder.blocks[-1]
    mark, shared = len(block.operations), dict(block.shared)

    def lowered() -> None:
        nonlocal finish
        if simple:
            finish = blocks.prepared(ctx, body[k])
        else:
            blocks.block(ctx, body[k:], trying.keep)

    if not _guarded(ctx, trying, guard, lowered):
        return
    if finish is None:
        control.guarded(
            ctx, control.jumped(ctx), lambda: blocks.block(ctx, trying.node.orelse, trying.keep), trying.keep
        )
        return
    if not guard.hazards:
        _finish(ctx, trying, k, finish)
        return
    _check_pure(ctx, block.operations[max(mark, guard.hazards[0].position) :], guard.hazards[0], before)
    _keep(block, mark, {hazard.condition for hazard in guard.hazards})  # the value itself is computed in the branch
    block.shared.clear()
    block.shared.update(shared)

    def again() -> None:
        nonlocal finish
        if _guarded(ctx, trying, Guard(trying.kinds, len(ctx.builder.blocks), []), lowered, assured=True):
            assert finish is not None
            _finish(ctx, trying, k, finish)

    _branches(ctx, trying, guard.hazards, again)


def _finish(ctx: Context, trying: Trying, k: int, finish: Callable[[], None]) -> None:
    """What a statement does with the value that is at hand, and what follows it."""
    if _guarded(ctx, trying, Guard(trying.kinds, len(ctx.builder.blocks), None), finish):
        control.guarded(ctx, control.jumped(ctx), lambda: _from(ctx, trying, k + 1), trying.keep)


def _guarded(ctx: Context, trying: Trying, guard: Guard, run: Callable[[], None], assured: bool = False) -> bool:
    """Run a part of the body; False when it has raised, and a handler has been lowered in place of the rest.

    `assured`: what may happen in it is known not to.
    """
    block = ctx.builder.blocks[-1]
    mark = len(block.operations)
    raised: PythonError | None = None
    ctx.guards.append(guard)
    try:
        run()
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
        return True
    if guard.hazards and not assured:
        ctx.refuse_raising(guard.hazards[0].kind.__name__, guard.hazards[0].span)
    _handle(ctx, trying, raised)
    return False


def _branches(ctx: Context, trying: Trying, hazards: list[Hazard], rest: Callable[[], None]) -> None:
    """The handler of the first of these that happens, or the rest."""
    if not hazards:
        rest()
        return
    first, others = hazards[0], hazards[1:]
    condition = first.condition
    while others and trying.handler(others[0].kind) is trying.handler(first.kind):
        condition = ctx.builder.op(ops.OR, condition, others.pop(0).condition)
    error = PythonError("AD501", f"the function raises {first.kind.__name__}", first.span)
    error.instance = first.kind()
    known = ctx.builder.known(condition)
    if known is not None:
        _handle(ctx, trying, error) if known else _branches(ctx, trying, others, rest)
        return

    def otherwise() -> None:
        _branches(ctx, trying, others, rest)

    control.fork(ctx, condition, lambda: _handle(ctx, trying, error), otherwise, trying.keep)


def _keep(block: Block, mark: int, needed: set[Value]) -> None:
    """Drop operations from `mark` on that only compute, and not these values."""
    kept: list[Operation] = []
    for operation in reversed(block.operations[mark:]):
        if not operation.row.pure or not needed.isdisjoint(operation.results):
            kept.append(operation)
            needed.update(operand for inner in (operation, *_inside(operation)) for operand in inner.operands)
            needed.update(
                result for inner in (operation, *_inside(operation)) for r in inner.regions for result in r.results
            )
    block.operations[mark:] = reversed(kept)


def _inside(operation: Operation) -> list[Operation]:
    return [inner for region in operation.regions for inner in walk(region)]


EFFECTS = (core.STORE, core.ACCUMULATE, core.CHECK, core.WHILE, core.CALL, core.CUSTOM)


def _check_pure(ctx: Context, operations: list[Operation], first: Hazard, before: State | None) -> None:
    """Refuse a value whose evaluation does more than compute once something may have raised."""
    if any(operation.row in EFFECTS for operation in walk(Region((), tuple(operations), ()))):
        ctx.refuse_raising(first.kind.__name__, first.span)
    assert before is not None
    after = dict(State.capture(ctx).slots())
    if any(not same(value, after.get(slot)) for slot, value in before.slots()):
        ctx.refuse_raising(first.kind.__name__, first.span)


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


def _handle(ctx: Context, trying: Trying, error: PythonError) -> None:
    """The handler of an exception, from the place on where it is raised."""
    handler, names = trying.handler(error.exception), ctx.frame.names
    ctx.sites = trying.sites
    for flag, value in trying.loop.items():
        names.pop(flag, None)
        if value is not None:
            names[flag] = value
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
    made = {flag: names[flag] for flag in control.FLAGS if flag in names}
    for flag in (RETURNED, BROKEN, CONTINUED):
        if flag in names:
            names[flag] = False
    final()
    names.update(made)
