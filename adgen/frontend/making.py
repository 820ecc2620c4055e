"""One IR function from what runs inside it: parameters from leaves, results from a value of the domain.

Comes in: a context, leaves, and a function from the values of the leaves by path to what is returned.  Goes out: the
IR function, the structure of its results, and which parameters it writes.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from adgen.diagnostics import Span
from adgen.frontend import aliasing, arrays, memory, results, source
from adgen.frontend.arrays import agreement
from adgen.frontend.context import Context, Frame
from adgen.frontend.specs import ArraySpec, Leaf, OutputTree, Path, ScalarSpec, bound
from adgen.frontend.values import Number
from adgen.ir.nodes import Function, Value

Run = Callable[[Context, Mapping[Path, Any]], Any]
_EMPTY = ast.FunctionDef("call", ast.arguments([], [], None, [], [], None, []), [ast.Pass()], [], None)


@dataclass(frozen=True, eq=False)
class Made:
    """An IR function that shares the callees of its context, the structure of its results, the parameters it writes."""

    function: Function
    output: OutputTree
    mutated: tuple[int, ...]


def fill(ctx: Context, leaves: Sequence[Leaf], arguments: Sequence[Value], span: Span | None, run: Run) -> Made:
    """The function of a fresh context."""
    builder = ctx.builder
    builder.span = span
    with builder.block(arguments) as block:
        values = {leaf.path: _wrap(ctx, argument, leaf) for leaf, argument in zip(leaves, arguments)}
        outer = source.make_code("<call>", span.file if span else "<unknown>", _EMPTY, {})
        ctx.frames.append(Frame(outer, {}))
        returned = run(ctx, values)
        builder.span = span
        output, outcomes = results.collect(ctx, returned, block)
        block.results = tuple(outcomes)
    block.operations[:0] = [*agreement.entry(ctx), *ctx.entry]
    region = block.region()
    owner = results.owners(ctx)
    mutated = results.mutated(ctx, region, owner)
    aliasing.verify(region, owner, ctx.moves, ctx.upkeep)
    names = results.names(output, [leaf.name for leaf in leaves])
    builder.span = span
    return Made(builder.function(ctx.title, block, names), output, mutated)


def make_function(around: Context, title: str, leaves: Sequence[Leaf], run: Run) -> Made:
    """A function of its own, made while another one is being lowered; it shares that one's callees."""
    ctx = Context(title=title, patterns=around.patterns)
    ctx.callees, ctx.customs, ctx.record, ctx.warnings = around.callees, around.customs, around.record, around.warnings
    ctx.push, ctx.ruled = around.push, around.ruled
    leaves = [replace(leaf, spec=_plain(leaf.spec)) for leaf in leaves]
    return fill(ctx, leaves, [argument(leaf) for leaf in leaves], around.span, run)


def _plain(spec: ScalarSpec | ArraySpec) -> ScalarSpec | ArraySpec:
    return ArraySpec(spec.element, spec.rank) if isinstance(spec, ArraySpec) else spec


def argument(leaf: Leaf) -> Value:
    """The parameter of a leaf."""
    return Value(leaf.kind, leaf.name if leaf.name.isidentifier() else "argument")


def _wrap(ctx: Context, argument: Value, leaf: Leaf) -> Any:
    if isinstance(leaf.spec, ScalarSpec):
        return Number(argument, leaf.spec.weak)
    for axis, extent in enumerate(leaf.spec.extents):
        if isinstance(extent, int):
            message = f"`{leaf.name}` has extent {{0}} along axis {axis}, not {extent}"
            memory.agree(ctx, ctx.builder.dim(argument, axis), ctx.builder.index(extent), message)
    array = arrays.parameter(ctx, argument, leaf.spec.element, leaf.spec.extents)
    for axis, extent in enumerate(leaf.spec.extents):
        if isinstance(extent, str) and bound(extent):
            agreement.agree(ctx, ctx.named.setdefault(extent, array.extents[axis]), array.extents[axis])
    return array
