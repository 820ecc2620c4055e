"""Iteration: what can be iterated, comprehensions, generator expressions."""

from __future__ import annotations

import ast
import contextlib
import itertools
import operator
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from adgen.frontend import arrays, assign, calls, evaluate, generators, logic, memory, operators, scalars, subscripts
from adgen.frontend.choices import each
from adgen.frontend.context import Frame, NeedStatic
from adgen.frontend.source import make_code
from adgen.frontend.state import State
from adgen.frontend.values import (
    ALL,
    Choice,
    Closure,
    Generator,
    Loop,
    Number,
    Sequence,
    Yielding,
    describe,
    is_iterator,
    is_number,
    is_static,
)
from adgen.ir.nodes import Value

if TYPE_CHECKING:
    from adgen.frontend.context import Context

LARGEST = 10_000


KEYS, VALUES, ITEMS = (type(view) for view in (dict[Any, Any]().keys(), dict[Any, Any]().values(), {0: 0}.items()))


def iterate(ctx: Context, value: Any) -> Loop:
    """What a loop over a value runs over."""
    if isinstance(value, Yielding):
        ctx.fail("AD205", "what a function with `yield` gives is iterated lazily here", "make a list of it first")
    first = use_up(ctx, value) if is_iterator(value) else 0
    if isinstance(value, Loop):
        start = scalars.binary(ctx, operator.add, value.start, first * value.step) if first else value.start
        return replace(value, start=start, what="range" if value.what == "range" else "items", used=0)
    if isinstance(value, range):
        return Loop(value.start, value.stop, value.step, lambda index: index)
    if isinstance(value, Sequence):
        loop = _over_array(ctx, value.array, "list")
        return Loop(loop.start, loop.stop, 1, lambda index: _weak(loop.item(index)), "list")
    if memory.is_array(value):
        return _over_array(ctx, memory.wrap(ctx, value), "array")
    if isinstance(value, Generator):
        return _over_generator(ctx, value, first)
    if isinstance(value, Number):
        if ctx.inference is not None:
            ctx.inference.array(ctx, value, 1)
        ctx.fail(
            "AD322", f"{describe(value)} is not iterable", "is this argument meant to be an array?", raises=TypeError
        )
    if isinstance(value, (list, dict, KEYS, VALUES, ITEMS)):
        return _over_container(ctx, value)
    if hasattr(type(value), "__next__"):
        message = f"{describe(value)} can be run through once only, and compiling would use it up"
        ctx.fail("AD241", message, "use a list or a tuple")
    if isinstance(value, str | bytes | tuple | set | frozenset) or hasattr(value, "__iter__"):
        return over_items(ctx, scalars.static(ctx, tuple, value))
    method = operators.method_of(value, "__getitem__")
    if method is not None and operators.method_of(value, "__len__") is not None:
        count = calls.call(ctx, len, [value], {})
        return Loop(0, count, 1, lambda index: calls.call(ctx, method, [value, index], {}), "items", unroll=True)
    certain = TypeError if value is None else None
    ctx.fail("AD322", f"{describe(value)} is not iterable", raises=certain)


def use_up(ctx: Context, iterator: Any) -> int:
    """Run an iterator to its end; gives how many of its items were taken before."""
    taken: Any = iterator.used
    if not isinstance(taken, int) or taken == ALL:
        ctx.fail_dynamic("AD241", "this iterator has been used up", "make a list of it first")
    iterator.used = ALL
    return taken


def iterator(ctx: Context, loop: Loop, what: str = "iterator") -> Loop:
    """A loop as something that can be run through once."""
    made: Loop = ctx.own(replace(loop, what=what, used=0))
    return made


def adopt(ctx: Context, value: Any) -> Any:
    """What Python has computed now; the items of an iterator are taken out of it."""
    if not hasattr(type(value), "__next__"):
        return ctx.own(value)
    items = scalars.static(ctx, lambda: tuple(itertools.islice(value, LARGEST + 1)))
    if len(items) > LARGEST:
        ctx.fail("AD240", f"{describe(value)} has too many items to handle one by one", "use an array and a loop")
    return iterator(ctx, over_items(ctx, items))


def following(ctx: Context, iterator: Any, default: Any = NotImplemented) -> Any:
    """`next`."""
    if not is_iterator(iterator):
        ctx.fail("AD322", f"{describe(iterator)} is not an iterator")
    if isinstance(iterator, Yielding):
        return first(ctx, generator_over(ctx, iterator), default)
    taken, before, undo = use_up(ctx, iterator), State.capture(ctx), ctx.mark()
    if isinstance(iterator, Generator):
        try:
            items = collect(ctx, iterator.node, iterator.frame, iterator.source, taken + 1)
        except NeedStatic:
            if taken:
                raise
            before.restore()
            undo()
            return first(ctx, iterator, default)
        left = items[taken:]
    else:
        if iterator.trip is None:
            ctx.fail_dynamic("AD227", "whether this iterator has another item is known at run time only", "use a loop")
        left = [iterator.item(iterator.start + taken * iterator.step)] if taken < iterator.trip else []
    iterator.used = taken + 1 if left else ALL
    if left:
        return left[0]
    if default is NotImplemented:
        ctx.fail(
            "AD305", "StopIteration: the iterator has no more items", "give `next` a default", raises=StopIteration
        )
    return default


def first(ctx: Context, generator: Generator, default: Any) -> Any:
    """The first item of a generator expression, after which it is not run on."""
    name = ast.Name(".default", ast.Load())
    end = ast.Raise(name, None) if default is NotImplemented else ast.Return(name)
    function = nested_loops(generator.node, [ast.Return(generator.node.elt)], [end], [".default"])
    last = StopIteration if default is NotImplemented else default
    return calls.call(ctx, Closure("next", function, generator.frame), [generator.source, last], {}, "next")


def over_items(ctx: Context, items: Any) -> Loop:
    """A loop over a static sequence: unrolled, or indexed at run time next to something of run-time length."""
    return Loop(0, len(items), 1, lambda index: subscripts.get(ctx, items, index), "items", unroll=True)


def _over_container(ctx: Context, value: Any) -> Loop:
    """A loop over a container that the body may change: items are read as the loop comes to them, as in Python."""
    length = len(value)
    keys = list(range(length)) if isinstance(value, list) else list(value)
    owner = value if isinstance(value, list) else getattr(value, "mapping", None)
    if isinstance(value, (VALUES, ITEMS)):
        keys = list(owner or ())

    def item(index: Any) -> Any:
        if len(value) != length:
            ctx.fail("AD242", "a list or dict changes its size while it is iterated", "iterate over a copy")
        if not isinstance(index, int):
            return subscripts.get(ctx, list(value), index)
        key = keys[index]
        if owner is None or isinstance(value, (dict, KEYS)):
            return key
        return (key, owner[key]) if isinstance(value, ITEMS) else owner[key]

    return Loop(0, length, 1, item, "items", unroll=True)


def _weak(item: Any) -> Any:
    return Number(item.value, True) if isinstance(item, Number) else item


def _over_array(ctx: Context, array: Any, what: str) -> Loop:
    if array.rank == 0:
        ctx.fail("AD322", "an array without axes is not iterable")
    extent, item = arrays.iterate(ctx, array)
    return Loop(0, memory.static_extent(ctx, extent), 1, lambda index: item(scalars.as_index(ctx, index)), what)


def _over_generator(ctx: Context, value: Generator, first: int) -> Loop:
    node = value.node
    if len(node.generators) == 1 and not node.generators[0].ifs and not first:
        source = iterate(ctx, value.source)
        if not source.unroll:
            frame = _scope(ctx, node, value.frame)
            return Loop(source.start, source.stop, source.step, _element(ctx, node, frame, source), "items")
        return over_items(ctx, tuple(collect(ctx, node, value.frame, source)))
    return over_items(ctx, tuple(collect(ctx, node, value.frame, value.source)[first:]))


def _element(ctx: Context, node: Any, frame: Frame, source: Loop) -> Callable[[Any], Any]:
    def item(index: Any) -> Any:
        def compute() -> Any:
            assign.target(ctx, node.generators[0].target, source.item(index))
            return evaluate.expression(ctx, node.elt)

        return _in_frame(ctx, frame, compute)

    return item


def _scope(ctx: Context, node: ast.expr, parent: Frame) -> Frame:
    """A frame for the names that a comprehension binds."""
    arguments = ast.arguments([], [], None, [], [], None, [])
    targets: list[ast.stmt] = [ast.Expr(generator.target) for generator in node.generators]  # type: ignore[attr-defined]
    function = ast.FunctionDef("<comprehension>", arguments, targets, [], None)
    ast.copy_location(function, node)
    code = make_code("<comprehension>", parent.code.file, function, parent.code.module)
    return Frame(code, {}, parent)


def _in_frame(ctx: Context, frame: Frame, compute: Callable[[], Any]) -> Any:
    ctx.frames.append(frame)
    try:
        return compute()
    finally:
        ctx.frames.pop()


def items_of(ctx: Context, value: Any) -> Iterable[Any]:
    """All items of something whose number of items is known now."""
    if isinstance(value, Yielding):
        return generators.items(ctx, value)
    return _each(ctx, iterate(ctx, value))


def _each(ctx: Context, source: Loop) -> Iterable[Any]:
    trip = source.trip
    if trip is None:
        ctx.fail_dynamic("AD227", "the number of items is known at run time only", "use an array and a loop")
    if trip > LARGEST:
        ctx.fail("AD240", f"{trip} items are too many to handle one by one", "use an array and a loop")
    return (source.item(index) for index in range(source.start, source.stop, source.step))


def spread(ctx: Context, value: Any) -> list[Any]:
    """All items, as a list: `*value`, `list(value)`, unpacking."""
    if isinstance(value, Choice):
        value = each(ctx, value, lambda candidate: tuple(spread(ctx, candidate)))
        if isinstance(value, Choice):
            ctx.fail_dynamic("AD227", "the number of items is known at run time only", "use an array and a loop")
    return list(value) if isinstance(value, tuple | list) else list(items_of(ctx, value))


def evaluate_node(ctx: Context, node: Any) -> Any:
    """A comprehension or generator expression; what its first clause runs over is evaluated here, as in Python."""
    source = operators.secure(ctx, evaluate.expression(ctx, node.generators[0].iter))
    ctx.place(node)
    if isinstance(source, Yielding):
        return _of_yielding(ctx, node, source)
    if isinstance(node, ast.GeneratorExp):
        return ctx.own(Generator(node, ctx.frame, source))
    if isinstance(node, ast.ListComp):
        source = iterate(ctx, source)
        dynamic = _dynamic_list(ctx, node, source)
        return dynamic if dynamic is not None else ctx.own(collect(ctx, node, ctx.frame, source))
    return _keyed(ctx, node, collect(ctx, node, ctx.frame, source))


def _of_yielding(ctx: Context, node: Any, source: Yielding) -> Any:
    """A comprehension over what a function with `yield` gives: one more such function."""
    item = ast.Tuple([node.key, node.value], ast.Load()) if isinstance(node, ast.DictComp) else node.elt
    closure = Closure("<genexpr>", nested_loops(node, [ast.Expr(ast.Yield(item))], []), ctx.frame)
    made = calls.call(ctx, closure, [source], {})
    if isinstance(node, ast.GeneratorExp):
        return made
    values = spread(ctx, made)
    return ctx.own(values) if isinstance(node, ast.ListComp) else _keyed(ctx, node, values)


def nested_loops(
    node: Any, statements: list[ast.stmt], after: list[ast.stmt], parameters: Iterable[str] = ()
) -> ast.FunctionDef:
    """The function of `.source` (and more) that runs the clauses of a comprehension as loops around statements."""
    for k, clause in reversed(list(enumerate(node.generators))):
        for test in reversed(clause.ifs):
            statements = [ast.If(test, statements, [])]
        source = clause.iter if k else ast.Name(".source", ast.Load())
        statements = [ast.For(clause.target, source, statements, [])]
    names = [ast.arg(name) for name in (".source", *parameters)]
    arguments = ast.arguments([], names, None, [], [], None, [])
    function = ast.FunctionDef("<loops>", arguments, [*statements, *after], [], None)
    _locate(function, node)
    return function


def _keyed(ctx: Context, node: Any, values: list[Any]) -> Any:
    """A dict or a set."""
    if isinstance(node, ast.DictComp):
        if not is_static([key for key, _ in values]):
            ctx.fail("AD222", "the keys of a dict must be known when compiling")
        return ctx.own(dict(values))
    if not is_static(values):
        ctx.fail("AD221", "a set of run-time values is not supported", "use a tuple or an array")
    return ctx.own(set(values))


def _dynamic_list(ctx: Context, node: ast.ListComp, source: Loop) -> Sequence | None:
    """A list over an iteration of run-time length, as an array; None when the length is static."""
    if source.trip is not None or len(node.generators) != 1 or node.generators[0].ifs:
        return None
    frame = _scope(ctx, node, ctx.frame)
    loop = normalised(ctx, Loop(source.start, source.stop, source.step, _element(ctx, node, frame, source)))
    return Sequence(memory.tabulate(ctx, scalars.as_index(ctx, loop.stop), loop.item))


class _Enough(Exception):
    """As many items as were asked for have been found."""


def collect(ctx: Context, node: Any, parent: Frame, source: Any, most: int | None = None) -> list[Any]:
    """The items of a comprehension whose loops and conditions are static, or the first `most` of them.

    `source` is what its first clause runs over.
    """
    frame = _scope(ctx, node, parent)
    found: list[Any] = []

    def level(k: int) -> None:
        if k == len(node.generators):
            if isinstance(node, ast.DictComp):
                key = evaluate.expression(ctx, node.key)
                found.append((key, operators.secure(ctx, evaluate.expression(ctx, node.value))))
            else:
                found.append(operators.secure(ctx, evaluate.expression(ctx, node.elt)))
            if len(found) == most:
                raise _Enough
            return
        generator = node.generators[k]
        loop = iterate(ctx, evaluate.expression(ctx, generator.iter) if k else source)
        if loop.trip is None:
            ctx.place(generator.iter)
            ctx.fail_dynamic(
                "AD227",
                "this comprehension gives a list whose length is known at run time only",
                "fill an array in a loop",
            )
        for item in _each(ctx, loop):
            assign.target(ctx, generator.target, item)
            if all(_holds(ctx, test) for test in generator.ifs):
                level(k + 1)

    with contextlib.suppress(_Enough):
        _in_frame(ctx, frame, lambda: level(0))
    return found


def _holds(ctx: Context, test: ast.expr) -> bool:
    truth = logic.condition(ctx, test)
    if isinstance(truth, Value):
        ctx.place(test)
        ctx.fail_dynamic(
            "AD228",
            "the condition of this comprehension is decided at run time, and so is its length",
            "accumulate in a loop instead",
        )
    return truth


def normalised(ctx: Context, loop: Loop) -> Loop:
    """The loop with indices 0, 1, 2 ..."""
    if loop.start == 0 and loop.step == 1 and isinstance(loop.start, int):
        return loop

    def item(index: Any) -> Any:
        moved = scalars.binary(ctx, operator.mul, index, loop.step) if loop.step != 1 else index
        return loop.item(scalars.binary(ctx, operator.add, loop.start, moved))

    if loop.trip is not None:
        return Loop(0, loop.trip, 1, item, loop.what, loop.unroll)
    span = scalars.binary(ctx, operator.sub, loop.stop, loop.start)
    if loop.step != 1:
        up = scalars.binary(ctx, operator.floordiv, scalars.unary(ctx, operator.neg, span), loop.step)
        span = scalars.unary(ctx, operator.neg, up)
    count = scalars.apply(ctx, np.maximum, span, 0)
    return Loop(0, Number(count.value, True), 1, item, loop.what)


# -- reductions of generator expressions ---------------------------------------------------------------------------


def reduce(ctx: Context, kind: str, generator: Generator, start: Any) -> Any:
    """`sum`, `max`, `min`, `any` or `all` of a generator expression, as the loop that Python runs."""
    node = generator.node
    if use_up(ctx, generator):
        ctx.fail("AD241", "items of this iterator have been taken", "make a list of it first")
    item, acc, some = (ast.Name(n, ast.Load()) for n in (".item", ".acc", ".some"))

    def store(name: str, value: ast.expr) -> ast.stmt:
        return ast.Assign([ast.Name(name, ast.Store())], value)

    if kind == "sum":
        body = [store(".acc", ast.BinOp(acc, ast.Add(), node.elt))]
    elif kind in ("any", "all"):
        test: ast.expr = node.elt if kind == "any" else ast.UnaryOp(ast.Not(), node.elt)
        body = [ast.If(test, [ast.Return(ast.Constant(kind == "any"))], [])]
    else:
        better = ast.Compare(item, [ast.Gt() if kind == "max" else ast.Lt()], [acc])
        first = [store(".acc", item), store(".some", ast.Constant(True))]
        body = [store(".item", node.elt), ast.If(some, [ast.If(better, [store(".acc", item)], [])], first)]
    statements = nested_loops(node, body, []).body
    if kind in ("max", "min"):
        error = ast.Call(ast.Name(".error", ast.Load()), [ast.Constant(f"{kind}() iterable argument is empty")], [])
        check = ast.If(ast.UnaryOp(ast.Not(), some), [ast.Raise(error, None)], [])
        statements = [store(".some", ast.Constant(False)), *statements, check]
    result: ast.expr = acc if kind not in ("any", "all") else ast.Constant(kind == "all")
    names = [ast.arg(".acc"), ast.arg(".error"), ast.arg(".source")]
    arguments = ast.arguments([], names, None, [], [], None, [])
    function = ast.FunctionDef(f"<{kind}>", arguments, [*statements, ast.Return(result)], [], None)
    _locate(function, node)
    closure = Closure(f"{kind}", function, generator.frame)
    return calls.call(ctx, closure, [start, ValueError, generator.source], {}, kind)


def generator_over(ctx: Context, iterable: Any) -> Generator:
    """The generator expression `(item for item in iterable)` of a value at hand."""
    name = ast.Name(".each", ast.Load())
    clause = ast.comprehension(ast.Name(".each", ast.Store()), ast.Name(".source", ast.Load()), [], 0)
    node = ast.GeneratorExp(name, [clause])
    span = ctx.builder.span
    node.lineno, node.col_offset = (span.line, span.column) if span is not None else (1, 0)
    _locate(node, node)
    return Generator(node, ctx.frame, iterable)


def _locate(tree: ast.AST, place: ast.expr) -> None:
    """Give new nodes the place of the expression that they stand for; the user's own keep theirs."""
    for inner in ast.walk(tree):
        if "lineno" in inner._attributes and not hasattr(inner, "lineno"):
            ast.copy_location(inner, place)


__all__ = ["collect", "evaluate_node", "is_number", "iterate", "normalised", "reduce", "spread"]
