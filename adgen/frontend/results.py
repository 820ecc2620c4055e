"""What a lowered function gives back: its return value as IR results, and which parameters it writes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from adgen.diagnostics import AdgenError, Span
from adgen.frontend import arrays, generators, memory
from adgen.frontend.arrays.model import View
from adgen.frontend.complexes.types import Complex
from adgen.frontend.specs import OutputConstant, OutputLeaf, OutputStruct, OutputTree, array_output, output_leaves
from adgen.frontend.state import is_instance
from adgen.frontend.values import (
    Choice,
    Closure,
    Dynamic,
    Generator,
    Loop,
    Number,
    Poison,
    Sequence,
    Text,
    Yielding,
    describe,
    instance_fields,
    is_static,
    python_type,
)
from adgen.ir import core
from adgen.ir.builder import Block
from adgen.ir.nodes import Region, Value, walk

if TYPE_CHECKING:
    from adgen.frontend.context import Context


def collect(ctx: Context, value: Any, block: Block) -> tuple[OutputTree, list[Value]]:
    """The output tree of a return value and the IR results of its leaves; arrays get buffers of their own."""
    found: list[Value] = []
    tops = {result for op in block.operations if op.row is core.ALLOC for result in op.results}

    def visit(value: Any) -> OutputTree:
        if isinstance(value, Poison):
            ctx.fail(value.code, value.message, value.help)
        if isinstance(value, Choice):
            ctx.builder.span = value.span
            ctx.fail(value.reason.code, value.reason.message, value.reason.help)
        if isinstance(value, Yielding):
            place = generators.yields(value.frame.code.statements)[0]
            ctx.builder.span = Span(value.frame.code.file, place.lineno, place.col_offset)
            ctx.fail("AD205", "what a function with `yield` gives cannot be returned", "return a list, tuple or array")
        if isinstance(value, Number):
            return number(value)
        if isinstance(value, Sequence):
            ctx.fail("AD324", "a list whose length is known at run time only cannot be returned", "return an array")
        if isinstance(value, Dynamic | np.ndarray):
            return array(memory.wrap(ctx, value))
        if isinstance(value, Closure | Loop | Generator | Text):
            ctx.fail("AD325", f"{describe(value)} cannot be returned", "return numbers, arrays and containers of those")
        if is_static(value) and not isinstance(value, tuple | list | dict):
            return OutputConstant(value)
        if isinstance(value, tuple | list | dict):
            pairs = value.items() if isinstance(value, dict) else enumerate(value)
            return OutputStruct(type(value), tuple((key, visit(item)) for key, item in pairs))
        if dataclasses.is_dataclass(value) or is_instance(value):
            return OutputStruct(type(value), tuple((k, visit(x)) for k, x in instance_fields(value).items()))
        ctx.fail("AD325", f"{describe(value)} cannot be returned", "return numbers, arrays and containers of those")

    def number(value: Number) -> OutputTree:
        if isinstance(value.element, Complex):
            parts = zip(("real", "imag"), ctx.builder.parts(value.value))
            items = tuple((key, number(Number(part, value.weak))) for key, part in parts)
            return OutputStruct(python_type(arrays.bare(value)), items)
        found.append(value.value)
        return OutputLeaf(len(found) - 1, value.element, None, value.weak and not value.element.is_narrow)

    def array(value: Any) -> OutputTree:
        base = memory.base_of(value)
        whole = isinstance(value, View) and base in tops and value.whole(ctx)
        if not whole or base in found:
            value = arrays.copy(ctx, value, "")
            base = memory.base_of(value)
        assert base is not None
        found.append(base)
        return array_output(len(found) - 1, value.element, value.rank)

    return visit(value), found


def owners(ctx: Context) -> Callable[[Value], Value]:
    """The function that gives the buffer which owns the memory of a handle."""

    def owner(value: Value) -> Value:
        operation = ctx.builder.definitions.get(value)
        while operation is not None and operation.row is core.RESHAPE:
            value = operation.operands[0]
            operation = ctx.builder.definitions.get(value)
        return value

    return owner


def mutated(ctx: Context, region: Region, owner: Callable[[Value], Value]) -> tuple[int, ...]:
    """The indices of the parameters that are written."""
    written = {owner(op.operands[0]) for op in walk(region) if op.row in (core.STORE, core.ACCUMULATE)}
    return tuple(k for k, parameter in enumerate(region.arguments) if parameter in written)


def require_result(ctx: Context, output: OutputTree, mutated: tuple[int, ...], name: str, span: Span | None) -> None:
    """Refuse a function that computes nothing that a caller could see."""
    if isinstance(output, OutputConstant) and output.value is None and not mutated:
        message = f"`{name}` has no `return` of a value: it returns None and writes into no argument"
        raise AdgenError("AD326", message, span, "end it with `return` and the result")


def names(output: OutputTree, taken: list[str]) -> list[str]:
    """Names for the results: `out`, or `out_0`, `out_loss` by the place in the structure."""
    found: list[str] = []

    def visit(tree: OutputTree, name: str) -> None:
        if isinstance(tree, OutputLeaf):
            while name in taken or name in found:
                name += "_"
            found.append(name)
        elif isinstance(tree, OutputStruct):
            for key, inner in tree.items:
                part = str(key) if str(key).replace("_", "a").isalnum() else "item"
                visit(inner, f"{name}_{part}")

    visit(output, "out")
    return found


__all__ = ["collect", "mutated", "names", "output_leaves", "owners", "require_result"]
