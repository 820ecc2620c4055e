"""Numbers that solve an equation, as operations whose derivative is that of the implicit function.

Comes in: how to search, and the equation, both as code to be lowered in place.  Goes out: a `custom` operation whose
region is the search and whose residual is the equation.  Guaranteed: the derivative is for everything that the equation
reads, variables of the functions around it included; the search itself is not differentiated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from adgen.frontend import scalars
from adgen.frontend.enclosed import apart, surroundings
from adgen.frontend.values import Number
from adgen.ir import core
from adgen.ir.nodes import Value
from adgen.ir.types import F64

if TYPE_CHECKING:
    from adgen.frontend.context import Context


def solution(
    ctx: Context, name: str, search: Callable[[], Sequence[Any]], equation: Callable[[Number], Any]
) -> tuple[Number, ...]:
    """What a search gives: first the number for which the equation is zero, then others without a derivative."""
    with apart(ctx, name) as searching:
        found = search()
        searching.results = (
            scalars.to(ctx, found[0], F64),
            *(scalars.to(ctx, x, scalars.kind(ctx, x)[0]) for x in found[1:]),
        )
    with apart(ctx, name, [Value(F64, "x")]) as stating:
        stating.results = (scalars.to(ctx, equation(Number(stating.arguments[0])), F64),)
    regions = searching.region(), stating.region()
    around = surroundings(ctx, name, regions)
    results = [*stating.arguments, *(Value(value.type, value.name) for value in searching.results[1:])]
    title = ctx.reserve(f"{name}_residual")
    ctx.callees[title] = around.function(ctx, title, regions[1], results)
    types = tuple(str(value.type) for value in results)
    attributes = {"outputs": 0, "types": types, "vjp": "", "jvp": "", "residual": title}
    region = around.region(ctx, regions[0])
    made = ctx.builder.emit(core.CUSTOM, around.inputs, attributes, (region,), [value.name for value in results])
    return tuple(Number(value) for value in made)
