"""Numbers that solve an equation, as operations whose derivative is that of the implicit function.

Comes in: how to search, and the equation, both as code to be lowered in place.  Goes out: a `custom` operation whose
region is the search and whose residual is the equation.  Guaranteed: the derivative is for everything that the equation
reads, variables of the functions around it included; the search itself is not differentiated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from adgen.frontend import nested, scalars
from adgen.frontend.same import same
from adgen.frontend.state import State
from adgen.frontend.values import Number
from adgen.ir import core
from adgen.ir.nodes import Function, Operation, Region, Value, walk
from adgen.ir.types import F64

if TYPE_CHECKING:
    from adgen.frontend.context import Context

REMADE = (core.CONST, core.TABLE, core.DIM)  # what a region makes for itself instead of taking it from outside


def solution(
    ctx: Context, name: str, search: Callable[[], Sequence[Any]], equation: Callable[[Number], Any]
) -> tuple[Number, ...]:
    """What a search gives: first the number for which the equation is zero, then others without a derivative."""
    builder = ctx.builder
    before = State.capture(ctx)
    with builder.block() as searching:
        found = search()
        searching.results = (
            scalars.to(ctx, found[0], F64),
            *(scalars.to(ctx, x, scalars.kind(ctx, x)[0]) for x in found[1:]),
        )
    _unchanged(ctx, before, name)
    with builder.block([Value(F64, "x")]) as stating:
        stating.results = (scalars.to(ctx, equation(Number(stating.arguments[0])), F64),)
    _unchanged(ctx, before, name)
    regions = searching.region(), stating.region()
    outer = dict.fromkeys(value for region in regions for value in _outer(region))
    definitions = builder.definitions
    makers = [definitions[value] for value in outer if value in definitions and definitions[value].row in REMADE]
    inputs = dict.fromkeys(value for maker in makers for value in maker.operands)
    inputs.update(dict.fromkeys(value for value in outer if value not in {maker.result for maker in makers}))
    roots = {ctx.writes.root(value) for value in outer}
    if any(op.row in core.WRITES and ctx.writes.root(op.operands[0]) in roots for r in regions for op in walk(r)):
        _refuse(ctx, name)
    results = [Value(value.type, "x" if k == 0 else value.name) for k, value in enumerate(regions[0].results)]
    title = ctx.reserve(f"{name}_residual")
    ctx.callees[title] = _function(ctx, title, regions[1], list(inputs), makers, results)
    types = tuple(str(value.type) for value in results)
    attributes = {"outputs": 0, "types": types, "vjp": "", "jvp": "", "residual": title}
    region = _closed(ctx, regions[0], {value: value for value in inputs}, makers)
    made = builder.emit(core.CUSTOM, inputs, attributes, (region,), [value.name for value in results])
    return tuple(Number(value) for value in made)


def _outer(region: Region) -> Iterator[Value]:
    """The values from outside that a region uses."""
    inside = set(region.arguments)
    used: list[Value] = []

    def visit(operations: Iterable[Operation]) -> None:
        for operation in operations:
            used.extend(operation.operands)
            inside.update(operation.results)
            for inner in operation.regions:
                inside.update(inner.arguments)
                visit(inner.operations)
                used.extend(inner.results)

    visit(region.operations)
    return (value for value in (*used, *region.results) if value not in inside)


def _closed(ctx: Context, region: Region, values: dict[Value, Value], makers: Sequence[Operation]) -> Region:
    """A copy of a region that makes constants and extents itself; `values` stand for what else comes from outside."""
    operations = tuple(nested.copied(ctx, each, values) for each in (*makers, *region.operations))
    return Region((), operations, tuple(values[value] for value in region.results))


def _function(
    ctx: Context, title: str, equation: Region, inputs: list[Value], makers: Sequence[Operation], results: list[Value]
) -> Function:
    """The equation as a function of what is known and of what the search gives."""
    parameters = [Value(value.type, value.name or "p") for value in (*inputs, *results)]
    values = dict(zip(inputs, parameters)) | {equation.arguments[0]: parameters[len(inputs)]}
    body = _closed(ctx, equation, values, makers)
    return Function(title, Region(tuple(parameters), body.operations, body.results), ("out",), ctx.span)


def _unchanged(ctx: Context, before: State, name: str) -> None:
    """Refuse a function that changes variables or containers outside of it."""
    after, old = State.capture(ctx), dict(before.slots())
    for slot, value in after.slots():
        if (slot.owner == 0 or slot.owner in before.containers) and not same(old.get(slot), value):
            _refuse(ctx, name)


def _refuse(ctx: Context, name: str) -> None:
    ctx.fail("AD148", f"the function given to `{name}` changes something outside of it", "return the value instead")
