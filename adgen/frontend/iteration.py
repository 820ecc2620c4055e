"""`for` and `while` statements: which become IR loops, which are taken apart.

A loop over a `range` or an array stays a loop.  A loop over a static sequence is unrolled.  A loop that carries values
of changing kind (`None` first, a number later) has its first iteration peeled off, or is unrolled when its trip count
is known; when neither is possible the diagnostic of the failed loop is shown.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from adgen import ops
from adgen.diagnostics import AdgenError
from adgen.frontend import assign, comprehensions, control, evaluate, filling, generators, logic, scalars
from adgen.frontend import statements as blocks
from adgen.frontend.choices import each
from adgen.frontend.context import NeedStatic
from adgen.frontend.loop_emission import Choosing, Header, Unstable
from adgen.frontend.loops import run_loop
from adgen.frontend.scan import BROKEN, CONTINUED
from adgen.frontend.state import State
from adgen.frontend.values import Choice, Loop, Number, Yielding
from adgen.ir.nodes import Value

if TYPE_CHECKING:
    from adgen.frontend.context import Context

MOST_ITERATIONS = 10_000
MOST_OPERATIONS = 200_000


def for_statement(ctx: Context, node: ast.For) -> None:
    """Lower a `for`."""
    _for(ctx, node, evaluate.expression(ctx, node.iter))


def _for(ctx: Context, node: ast.For, iterated: Any) -> None:
    if isinstance(iterated, Choice):
        each(ctx, iterated, lambda candidate: _for(ctx, node, candidate))
        return
    if isinstance(iterated, Yielding):
        outer, alive = _enter(ctx), ctx.frame.code.flow.head[node] | ctx.frame.code.flow.after[node]
        generators.loop(ctx, iterated, lambda value: _iteration(ctx, node, value), alive)
        _finish(ctx, node, outer)
        return
    length = len(iterated) if isinstance(iterated, list | dict) else 0
    source = comprehensions.iterate(ctx, iterated)
    ctx.place(node)
    outer = _enter(ctx)
    if source.unroll or source.trip == 0 or (source.trip == 1 and source.what != "range"):
        _unroll(ctx, node, _items(source))
    else:
        _loop(ctx, node, source, peeled=False)
    if isinstance(iterated, list | dict) and len(iterated) != length:
        ctx.place(node)
        ctx.fail("AD242", "a list or dict changes its size while it is iterated", "iterate over a copy")
    _finish(ctx, node, outer)


def _iteration(ctx: Context, node: ast.For, value: Any) -> None:
    """The body for one value."""
    ctx.place(node.target)
    assign.target(ctx, node.target, value)
    blocks.block(ctx, node.body, ctx.frame.code.flow.head[node] | ctx.frame.code.flow.after[node])
    ctx.frame.names[CONTINUED] = False


def _items(source: Loop) -> list[Callable[[], Any]]:
    def item(index: int) -> Callable[[], Any]:
        return lambda: source.item(index)

    return [item(index) for index in range(source.start, source.stop, source.step)]


def _enter(ctx: Context) -> dict[str, Any]:
    """Set the flags of the loop around aside."""
    names = ctx.frame.names
    outer = {flag: names[flag] for flag in (BROKEN, CONTINUED) if flag in names}
    names[BROKEN] = names[CONTINUED] = False
    return outer


def _finish(ctx: Context, node: ast.For | ast.While, outer: dict[str, Any]) -> None:
    """Lower the `else` of a loop and restore the flags of the loop around."""
    names = ctx.frame.names
    broken = names.get(BROKEN, False)
    for flag in (BROKEN, CONTINUED):
        names.pop(flag, None)
    names.update(outer)
    if not node.orelse or broken is True:
        return
    alive = ctx.frame.code.flow.after.get(node)
    left = control.jumped(ctx)
    if left is True:
        return
    if not isinstance(broken, Number):
        control.guarded(ctx, left, lambda: blocks.block(ctx, node.orelse, alive), alive)
        return
    unbroken = ctx.builder.op(ops.NOT, broken.value)
    if isinstance(left, Value):
        unbroken = ctx.builder.op(ops.AND, unbroken, ctx.builder.op(ops.NOT, left))
    control.guarded_by(ctx, unbroken, lambda: blocks.block(ctx, node.orelse, alive), alive)


def _loop(ctx: Context, node: ast.For, source: Loop, peeled: bool) -> None:
    """An IR loop, or what is left when that is not possible."""
    entry, undo = State.capture(ctx), ctx.mark()
    try:
        run_loop(ctx, _header(ctx, node, source), _body(ctx, node, source))
        return
    except (Unstable, NeedStatic) as error:
        if source.memory is not None:
            raise  # taken apart it would not be run again
        lists = filling.grown(ctx, node) if source.trip is None and isinstance(error, Unstable) else {}
        if lists:
            entry.restore()
            undo()
            _filled(ctx, node, source, lists)
            return
        if source.trip is None or source.trip > MOST_ITERATIONS or (peeled and isinstance(error, Choosing)):
            raise
        failure = error
        entry.restore()
        undo()
    ways: list[Callable[[], None]] = []
    if isinstance(failure, Unstable) and not peeled and source.trip > 1:
        ways.append(lambda: _peel(ctx, node, source))
    if isinstance(failure, Choosing):
        ways.append(lambda: run_loop(ctx, replace(_header(ctx, node, source), choosing=True), _body(ctx, node, source)))
    for way in ways:
        try:
            way()
            return
        except AdgenError:
            entry.restore()
            undo()
    _unroll(ctx, node, _items(source), failure)


def _filled(ctx: Context, node: ast.For, source: Loop, lists: dict[str, list[Any]]) -> None:
    """An IR loop that appends an item to each of the lists in every iteration."""
    counted = comprehensions.normalised(ctx, source)
    count = scalars.as_index(ctx, counted.stop)
    inner = _body(ctx, node, counted)

    def run(index: Value | None) -> None:
        assert index is not None
        filling.at(ctx, lists, index)
        inner(index)

    filling.fill(ctx, count, lists, lambda: run_loop(ctx, _header(ctx, node, counted), run))


def _header(ctx: Context, node: ast.For, source: Loop) -> Header:
    start = scalars.as_index(ctx, source.start, "a bound of `range`")
    stop = scalars.as_index(ctx, source.stop, "a bound of `range`")
    name = node.target.id if isinstance(node.target, ast.Name) and source.what == "range" else "i"
    if isinstance(node.target, ast.Tuple) and source.start == 0 and isinstance(node.target.elts[0], ast.Name):
        name = node.target.elts[0].id if _is_enumerate(node.iter) else name
    name = name if name.isidentifier() and name != "_" else "i"
    return Header(node, start, stop, source.step, source.trip, name, None, source.trip is None, source.memory)


def _is_enumerate(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "enumerate"


def _body(ctx: Context, node: ast.For, source: Loop) -> Callable[[Value | None], None]:
    def run(index: Value | None) -> None:
        assert index is not None
        ctx.place(node.target)
        assign.target(ctx, node.target, source.item(Number(index)))
        blocks.block(ctx, node.body, ctx.frame.code.flow.head[node] | ctx.frame.code.flow.after[node])

    return run


def _peel(ctx: Context, node: ast.For, source: Loop) -> None:
    """The first iteration by itself, then a loop over the others."""
    rest = replace(source, start=source.start + source.step)
    _iterations(ctx, node, _items(source)[:1], lambda: _loop(ctx, node, rest, peeled=True))


def _unroll(ctx: Context, node: ast.For, items: list[Callable[[], Any]], failure: AdgenError | None = None) -> None:
    """Every iteration by itself."""
    if len(items) > MOST_ITERATIONS:
        ctx.fail("AD240", f"a loop over a sequence of {len(items)} items is too long to be unrolled", "use an array")
    _iterations(ctx, node, items, lambda: None, failure)


def _iterations(
    ctx: Context,
    node: ast.For,
    items: list[Callable[[], Any]],
    rest: Callable[[], None],
    failure: AdgenError | None = None,
) -> None:
    keep = ctx.frame.code.flow.head[node] | ctx.frame.code.flow.after[node]
    names = ctx.frame.names
    size = len(ctx.builder.definitions)

    def run(first: int) -> None:
        for k in range(first, len(items)):
            sites = ctx.sites
            ctx.sites = (*sites, (id(node), k))
            ctx.place(node.target)
            assign.target(ctx, node.target, items[k]())
            blocks.block(ctx, node.body, keep)
            names[CONTINUED] = False
            ctx.sites = sites
            if len(ctx.builder.definitions) - size > MOST_OPERATIONS:
                ctx.place(node)
                if failure is not None:
                    raise failure
                ctx.fail("AD240", "this loop is too long to be unrolled", "use an array")
            left = control.jumped(ctx)
            if left is True:
                return
            if left is not False:
                control.guarded(ctx, left, functools.partial(run, k + 1), keep)
                return
        rest()

    run(0)


# -- while -----------------------------------------------------------------------------------------------------------


def while_statement(ctx: Context, node: ast.While) -> None:
    """Lower a `while`."""
    outer = _enter(ctx)
    entry, undo = State.capture(ctx), ctx.mark()
    keep = ctx.frame.code.flow.head[node] | ctx.frame.code.flow.after[node]

    def test() -> bool | Value:
        return logic.condition(ctx, node.test)

    def run(index: Value | None) -> None:
        blocks.block(ctx, node.body, keep)

    try:
        run_loop(ctx, Header(node, test=test), run)
    except (Unstable, NeedStatic) as error:
        entry.restore()
        undo()
        _unroll_while(ctx, node, keep, error)
    _finish(ctx, node, outer)


def _unroll_while(ctx: Context, node: ast.While, keep: frozenset[str], failure: AdgenError) -> None:
    """Run a loop whose test is decided now."""
    names = ctx.frame.names
    size = len(ctx.builder.definitions)

    def run(first: int) -> None:
        for k in range(first, MOST_ITERATIONS):
            truth = logic.condition(ctx, node.test)
            if not isinstance(truth, bool):
                raise failure
            if not truth:
                return
            sites = ctx.sites
            ctx.sites = (*sites, (id(node), k))
            blocks.block(ctx, node.body, keep)
            names[CONTINUED] = False
            ctx.sites = sites
            left = control.jumped(ctx)
            if left is True:
                return
            if left is not False:
                control.guarded(ctx, left, functools.partial(run, k + 1), keep)
                return
            if len(ctx.builder.definitions) - size > MOST_OPERATIONS:
                break
        raise failure

    run(0)
