"""Numbers and vectors that solve an equation, as operations whose derivative is that of the implicit function.

Comes in: how to search, and the equation, both as code to be lowered in place.  Goes out: a `custom` operation whose
region is the search and whose residual is the equation.  Guaranteed: the derivative is for everything that the equation
reads, variables of the functions around it included; the search itself is not differentiated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from adgen.frontend import arrays, calls, custom, nested, scalars
from adgen.frontend.arrays.model import Array, Frame, View
from adgen.frontend.arrays.storage import allocate, fill_from
from adgen.frontend.enclosed import apart, surroundings
from adgen.frontend.library import lu
from adgen.frontend.making import make_function
from adgen.frontend.specs import ArraySpec, Leaf
from adgen.frontend.values import Method, Number
from adgen.ir import core
from adgen.ir.calls import reachable
from adgen.ir.nodes import Region, Value
from adgen.ir.types import F64, Buffer, Scalar

if TYPE_CHECKING:
    from adgen.frontend.context import Context

Search = Callable[[Method], Sequence[Any]]


def solution(ctx: Context, name: str, search: Search, equation: Callable[[Any], Any], like: Any = None) -> list[Any]:
    """What a search gives: first the x for which the equation is zero, then numbers without a derivative.

    `like` is a number or a vector of the type of x.  The search is given the function that takes x and a direction, and
    gives the derivative of the equation along it.
    """
    like = like if isinstance(like, Array) else Number(scalars.to(ctx, 0.0 if like is None else like, F64), False)
    unknown = _value(like)
    with apart(ctx, name, [unknown]) as stating:
        zero = custom.part(ctx, equation(_wrapped(unknown, like)), like, name, "residual")
        stating.results = (arrays.copy(ctx, zero).base if isinstance(zero, Array) else zero.value,)
    slope = Method((name, stating.region(), unknown, like), _pushed, name)
    out = allocate(ctx, like.element, like.extents, "x", zero=False) if isinstance(like, Array) else None
    with apart(ctx, name) as searching:
        found, *others = search(slope)
        found = custom.part(ctx, found, like, name, "solution")
        if out is not None:
            fill_from(ctx, out, found)
        numbers = [*([] if out else [found.value]), *(scalars.to(ctx, x, scalars.kind(ctx, x)[0]) for x in others)]
        searching.results = tuple(numbers)
    outputs = [] if out is None else [out.base]
    around = surroundings(ctx, name, (searching.region(), stating.region()), outputs)
    results = [Value(value.type, value.name) for value in searching.results]
    known = [*results, unknown] if out else [unknown, *results[1:]]
    title = ctx.reserve(f"{name}_residual")
    ctx.callees[title] = around.function(ctx, title, stating.region(), known)
    attributes = {
        "outputs": len(outputs),
        "types": tuple(str(value.type) for value in results),
        "vjp": "",
        "jvp": "",
        "residual": title,
        "solve": _solve(ctx, like.element) if out else "",
    }
    region = around.region(ctx, searching.region())
    names = [value.name for value in known[: len(results)]]
    made = ctx.builder.emit(core.CUSTOM, (*around.inputs, *outputs), attributes, (region,), names)
    return [*([out] if out else []), *map(Number, made)]


def _value(like: Any) -> Value:
    return Value(Buffer(like.element, like.rank) if isinstance(like, Array) else like.element, "x")


def _wrapped(value: Value, like: Any) -> Any:
    return View(value, Frame.identity(like.extents)) if isinstance(like, Array) else Number(value, like.weak)


def _pushed(ctx: Context, owner: tuple[str, Region, Value, Any], x: Any, direction: Any) -> Any:
    """The derivative of an equation at x along a direction: the equation, differentiated, in place."""
    name, equation, unknown, like = owner
    assert ctx.push is not None
    around = surroundings(ctx, name, (equation,))
    function = around.function(ctx, f"{name}_equation", equation, [unknown])
    function = reachable(replace(function, callees=dict(ctx.callees)))
    pushed = ctx.push(function, len(around.inputs))
    pair = [custom.part(ctx, value, like, name, "direction") for value in (x, direction)]
    operands = [*around.inputs, *(nested.operand(ctx, value) for value in pair)]
    *_, change = nested.splice(ctx, nested.with_callees(ctx, pushed), operands)
    return _wrapped(change, like)


def _solve(ctx: Context, element: Scalar) -> str:
    """A callee that solves linear systems."""
    leaves = [Leaf(("a",), ArraySpec(element, 2)), Leaf(("b",), ArraySpec(element, 1))]
    title = ctx.reserve("linear_solve")
    ctx.callees[title] = make_function(
        ctx, title, leaves, lambda inner, found: calls.call(inner, lu.solve, [found[leaf.path] for leaf in leaves], {})
    ).function
    return title
