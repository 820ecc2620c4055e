"""What the functions of `library.flow` mean in compiled code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from adgen import ops
from adgen.frontend import calls, comprehensions, memory, scalars
from adgen.frontend.arrays.elementwise import combined
from adgen.frontend.arrays.model import Lazy, View
from adgen.frontend.arrays.registry import expands
from adgen.frontend.arrays.selection import Selection
from adgen.frontend.arrays.storage import finish
from adgen.frontend.complexes.types import complex_kind
from adgen.frontend.library import flow
from adgen.frontend.specs import rebuild
from adgen.frontend.state import is_instance, items_of
from adgen.frontend.values import KINDS, Closure, Method, Number, describe, is_number, is_static
from adgen.ir import core
from adgen.ir.nodes import Operation, Value
from adgen.ir.types import F32, F64, Buffer, Scalar, is_float
from adgen.sizes import bytes_of

if TYPE_CHECKING:
    from adgen.frontend.context import Context


@expands(flow.stop_gradient)
def stop_gradient(ctx: Context, x: Any) -> Any:
    """`adgen.stop_gradient`."""
    if is_static(x):
        return x
    if isinstance(x, Number):
        return Number(_stopped(ctx, x.value), x.weak)
    if memory.is_array(x):
        return _stopped_array(ctx, memory.wrap(ctx, x))
    if not isinstance(x, KINDS) and (isinstance(x, tuple | list | dict) or is_instance(x)):
        return ctx.own(rebuild(type(x), [(key, stop_gradient(ctx, item)) for key, item in items_of(x).items()]))
    ctx.fail("AD302", f"`stop_gradient` is not defined for {describe(x)}", "pass a number, an array or a structure")


@expands(flow.checkpoint)
def checkpoint(ctx: Context, target: Any, memory: Any = 0) -> Any:
    """`adgen.checkpoint` of what a loop runs over, or of a function."""
    if not is_static(memory):
        ctx.fail("AD222", "the memory of a checkpoint must be known when compiling")
    limit = bytes_of(memory)
    if callable(target) or isinstance(target, Closure | Method):
        return calls.call(ctx, flow.recomputed, [target, limit], {})
    source = comprehensions.iterate(ctx, target)
    if source.unroll:
        ctx.fail("AD244", "a loop over known items is taken apart, and its steps cannot be run again", "use a `range`")
    return ctx.own(replace(source, memory=limit))


@expands(flow.tap)
def tap(ctx: Context, y: Any, name: Any) -> Any:
    """`adgen.tap`."""
    if not isinstance(name, str):
        ctx.fail("AD222", "the name of a tap must be a string that is known when compiling")
    if ctx.taps is None:
        help = "tap what this function is given, or gives"
        ctx.fail("AD144", "a function that calls itself or has a derivative rule cannot be tapped", help)
    if memory.is_array(y):
        array = memory.wrap(ctx, y)
        if array.element.is_float and isinstance(array, View | Lazy):
            return _tapped_array(ctx, array, name)
    elif is_number(y) and scalars.kind(ctx, y)[0] in (F64, F32):
        number = ctx.number(y)
        return Number(ctx.builder.op(ops.TAPPED, number.value, _shift(ctx, name, number.element, ())), number.weak)
    ctx.fail("AD302", f"`tap` is not defined for {describe(y)}", "pass a real number or an array of them")


def _tapped_array(ctx: Context, array: View | Lazy, name: str) -> Any:
    shift = _shift(ctx, name, array.element, array.extents)

    def reader(ctx: Context, indices: tuple[Value, ...]) -> Value:
        return ctx.builder.op(ops.TAPPED, array.read(ctx, indices), ctx.builder.load(shift, indices))

    return finish(ctx, combined(ctx, array.element, array.extents, reader, (array,), 0, ("tapped", name, array)))


def _shift(ctx: Context, name: str, element: Scalar, extents: Sequence[Value]) -> Value:
    """What the values of a name are shifted by; it is made before everything else."""
    assert ctx.taps is not None
    known = ctx.taps.get(name)
    if known is None:
        extents = [_at_entry(ctx, extent) for extent in extents]
        kind = Buffer(element, len(extents)) if extents else element
        attributes = {"element": str(element), "name": name}
        known = ctx.taps[name] = _append(ctx, Operation(core.TAP, tuple(extents), (Value(kind, name),), attributes))
    elif known.type != (Buffer(element, len(extents)) if extents else element):
        ctx.fail("AD302", f"`{name}` is tapped with different types", "use a name for each")
    else:
        for axis, extent in enumerate(extents):
            message = f"`{name}` is tapped with extents {{0}} and {{1}} along axis {axis}"
            memory.agree(ctx, ctx.builder.dim(known, axis), extent, message)
    return known


def _append(ctx: Context, operation: Operation) -> Value:
    ctx.entry.append(operation)
    ctx.builder.definitions[operation.result] = operation
    return operation.result


def _at_entry(ctx: Context, value: Value) -> Value:
    """A value that depends on arguments alone, computed before everything else."""
    if value in ctx.builder.blocks[0].arguments or any(value in operation.results for operation in ctx.entry):
        return value
    made = ctx.builder.definitions.get(value)
    if made is None or not made.row.pure or made.regions:
        ctx.fail("AD320", "the shape of a tapped array depends on computed values", "tap its elements")
    operands = tuple(_at_entry(ctx, operand) for operand in made.operands)
    return _append(ctx, replace(made, operands=operands, results=(Value(value.type, value.name),)))


def _stopped(ctx: Context, value: Value) -> Value:
    b = ctx.builder
    if complex_kind(value.type) is not None:
        return b.whole(*(b.op(ops.STOP, part) for part in b.parts(value)))
    return b.op(ops.STOP, value) if is_float(value.type) else value


def _stopped_array(ctx: Context, array: Any) -> Any:
    if isinstance(array, Selection):
        return array.with_inner(_stopped_array(ctx, array.inner))
    assert isinstance(array, View | Lazy)

    def reader(ctx: Context, indices: tuple[Value, ...]) -> Value:
        return _stopped(ctx, array.read(ctx, indices))

    recipe = ("stopped", array)
    return finish(ctx, combined(ctx, array.element, array.extents, reader, (array,), 0, recipe))
