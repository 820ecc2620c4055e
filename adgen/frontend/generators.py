"""Functions with `yield`: their bodies are lowered where they are iterated, what is done with a value at each `yield`.

The consumer runs in its own frame in the middle of the generator's body; its names are part of the state of the program
meanwhile, as a container is.  A consumer that leaves its loop ends the generator, as `return` would.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from adgen.frontend import comprehensions, operators, recursion, refuse
from adgen.frontend import statements as blocks
from adgen.frontend.scan import BROKEN, RETURNED, walk
from adgen.frontend.values import Number, Yielding

if TYPE_CHECKING:
    from adgen.frontend.context import Context, Frame

ITEMS = ".items"


def yields(statements: list[ast.stmt]) -> list[ast.expr]:
    """The `yield` expressions of a function's body."""
    return [node for node in walk(statements) if isinstance(node, ast.Yield | ast.YieldFrom)]


def begin(ctx: Context, frame: Frame) -> Yielding:
    """The call of a function with `yield`: nothing of its body runs yet."""
    for node in walk(frame.code.statements):
        if isinstance(node, ast.Try | ast.With) and yields([node]):
            ctx.fail(
                "AD205",
                f"`yield` inside `{type(node).__name__.lower()}` is not supported",
                "yield outside of it, or return a list",
            )
    made: Yielding = ctx.own(Yielding(frame))
    return made


def run(ctx: Context, source: Yielding, consume: Callable[[Any], None]) -> None:
    """Lower the body of the generator; `consume` gets each value, in the frame of the generator."""
    comprehensions.use_up(ctx, source)
    frame, span, sites = source.frame, ctx.builder.span, ctx.sites
    recursion.check(ctx, frame)
    ctx.sites = (*sites, span)
    ctx.frames.append(frame)
    frame.names[RETURNED], frame.consume = False, consume
    try:
        blocks.block(ctx, frame.code.statements, frozenset())
    finally:
        ctx.frames.pop()
        ctx.sites = sites
    ctx.builder.span = span


def given(ctx: Context, node: ast.Yield, value: Any) -> None:
    """A `yield` as a statement."""
    frame = ctx.frame
    if frame.consume is None:
        refuse.node(ctx, node)
    frame.consume(operators.secure(ctx, value))


def loop(ctx: Context, source: Yielding, body: Callable[[Any], None], alive: frozenset[str]) -> None:
    """Run a loop's body, in the present frame, for each value; `alive` are the names that it may read afterwards."""
    consumer = ctx.frame
    names = consumer.names
    ctx.scopes[id(names)] = consumer

    def consume(value: Any) -> None:
        for flag in (RETURNED, BROKEN):  # this place is reached where the loop was not left
            names[flag] = False
        span = ctx.builder.span
        ctx.frames.append(consumer)
        try:
            body(value)
        finally:
            ctx.frames.pop()
        ctx.builder.span = span
        for name in [name for name in names if not name.startswith(".") and name not in alive]:
            del names[name]
        stop = _either(ctx, names[RETURNED], names[BROKEN])
        if stop is not False:
            ctx.frame.names[RETURNED] = stop

    run(ctx, source, consume)


def _either(ctx: Context, a: Any, b: Any) -> bool | Number:
    found = operators.conjunction(ctx, a, b, operators.OR)
    return found if isinstance(found, Number) else bool(found)


def items(ctx: Context, source: Yielding) -> list[Any]:
    """All values, where their number is known now."""
    found: list[Any] = ctx.own([])
    source.frame.names[ITEMS] = found  # part of the state of the program
    run(ctx, source, found.append)
    return found
