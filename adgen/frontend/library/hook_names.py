"""`adgen.hook`: a `custom` operation that copies, and whose rule is a function that is lowered in place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adgen.frontend import arrays, calls, custom, memory, nested, scalars
from adgen.frontend.arrays.model import Frame, View
from adgen.frontend.arrays.registry import expands
from adgen.frontend.arrays.storage import allocate, fill_from
from adgen.frontend.enclosed import apart, surroundings
from adgen.frontend.library import flow
from adgen.frontend.values import Number, describe, is_number
from adgen.ir import core
from adgen.ir.nodes import Operation, Region, Row, Value
from adgen.ir.types import F32, F64, Buffer, is_float

if TYPE_CHECKING:
    from adgen.frontend.context import Context


@expands(flow.hook)
def hook(ctx: Context, y: Any, rule: Any) -> Any:
    """`adgen.hook`."""
    if memory.is_array(y) and memory.wrap(ctx, y).element.is_float:
        return _array(ctx, memory.wrap(ctx, y), rule)
    if is_number(y) and scalars.kind(ctx, y)[0] in (F64, F32):
        return _number(ctx, ctx.number(y), rule)
    ctx.fail("AD302", f"`hook` is not defined for {describe(y)}", "pass a real number or an array of them")


def _number(ctx: Context, y: Number, rule: Any) -> Number:
    with apart(ctx, "hook", [Value(y.element, "bar")]) as ruling:
        bar = Number(ruling.arguments[0], y.weak)
        answer = custom.part(ctx, calls.call(ctx, rule, [bar], {}), bar, "hook", "vjp")
        ruling.results = (answer.value,)
    (made,) = _emit(ctx, y.value, ruling.region(), Region((), (), (y.value,)), None)
    return Number(made, y.weak)


def _array(ctx: Context, y: Any, rule: Any) -> View:
    base = nested.operand(ctx, y)
    frame = Frame.identity(y.extents)
    result = allocate(ctx, y.element, y.extents, zero=False)
    with apart(ctx, "hook", [Value(base.type, "bar")]) as ruling:
        bar = View(ruling.arguments[0], frame)
        answer = custom.part(ctx, calls.call(ctx, rule, [bar], {}), bar, "hook", "vjp")
        ruling.results = (arrays.copy(ctx, answer).base,)
    with ctx.builder.block() as copying:
        fill_from(ctx, result, View(base, frame))
    _emit(ctx, base, ruling.region(), copying.region(), result.base)
    return result


def _emit(ctx: Context, y: Value, rule: Region, copying: Region, out: Value | None) -> tuple[Value, ...]:
    """The operation, whose rule gives zero for what the user's function reads besides the cotangent."""
    outputs = () if out is None else (out,)
    around = surroundings(ctx, "hook", (rule, copying), outputs, (y,))
    with ctx.builder.block(rule.arguments) as block:
        block.operations.extend(rule.operations)
        zeros = [_zero(ctx, value) for value in around.inputs[1:] if is_float(value.type)]
        block.results = (*rule.results, *zeros)
    title = ctx.reserve("hook_vjp")
    names = [f"out_{k}" for k in range(len(block.results))]
    ctx.callees[title] = around.function(ctx, title, block.region(), [Value(y.type, "y")], names)
    types = tuple(str(value.type) for value in copying.results)
    attributes = {"outputs": len(outputs), "types": types, "vjp": title, "jvp": ""}
    region = around.region(ctx, copying)
    return ctx.builder.emit(core.CUSTOM, (*around.inputs, *outputs), attributes, (region,), [y.name] * len(types))


def _zero(ctx: Context, value: Value) -> Value:
    """A zero for an input, made from nothing but that."""

    def emit(row: Row, operands: tuple[Value, ...], **attributes: Any) -> Value:
        types = row.infer(tuple(operand.type for operand in operands), attributes)
        ctx.builder.append(Operation(row, operands, (Value(types[0]),), attributes, (), ctx.span))
        return ctx.builder.blocks[-1].operations[-1].result

    if not isinstance(value.type, Buffer):
        return emit(core.CONST, (), value=0.0, type=str(value.type))
    extents = tuple(emit(core.DIM, (value,), axis=axis) for axis in range(value.type.rank))
    return emit(core.ALLOC, extents, element=str(value.type.element), zero=True)
