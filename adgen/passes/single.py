"""Single precision: every `f64` of a function becomes an `f32`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from adgen import ops
from adgen.diagnostics import AdgenError
from adgen.ir import core
from adgen.ir.builder import Builder
from adgen.ir.calls import everywhere
from adgen.ir.nodes import Function, Operation, Region, Value
from adgen.ir.rebuild import Mapping, mapped, record
from adgen.ir.types import F32, F64, Buffer, Stack, Type


def single(function: Function) -> Function:
    """Compute in single precision throughout: parameters, memory, constants, results.

    What is there in double precision alone takes and gives numbers that are converted.

    Before:  function f(%A: f64[:], %i: i64) -> (out) {
               %x = load %A, %i : f64
               %n = to_f64 %i : f64
               %third = const {type="f64", value=0.3333333333333333} : f64
               %y = mul %x, %third : f64
               %z = add %y, %n : f64
               return %z
             }
    After:   function f(%A: f32[:], %i: i64) -> (out) {
               %x = load %A, %i : f32
               %n = to_f32 %i : f32
               %third = const {type="f32", value=0.3333333432674408} : f32
               %y = mul %x, %third : f32
               %z = add %y, %n : f32
               return %z
             }
    """
    return everywhere(function, _of)


def narrowed(kind: Type) -> Type:
    """The type in single precision."""
    if isinstance(kind, Buffer):
        return Buffer(F32, kind.rank) if kind.element == F64 else kind
    if isinstance(kind, Stack):
        return Stack(F32) if kind.element == F64 else kind
    return F32 if kind == F64 else kind


def _of(function: Function) -> Function:
    builder = Builder()
    builder.span = function.span
    return replace(function, body=_region(builder, function.body, {}))


def _region(builder: Builder, region: Region, mapping: Mapping) -> Region:
    arguments = tuple(Value(narrowed(value.type), value.name) for value in region.arguments)
    mapping.update(zip(region.arguments, arguments, strict=True))
    outer = builder.span
    with builder.block(arguments) as block:
        for operation in region.operations:
            builder.span = operation.span or outer
            _operation(builder, operation, mapping)
        block.results = mapped(region.results, mapping)
    builder.span = outer
    return block.region()


def _operation(builder: Builder, operation: Operation, mapping: Mapping) -> None:
    row, operands = operation.row, mapped(operation.operands, mapping)
    if "external" in operation.attributes and any(narrowed(v.type) != v.type for v in _touched(operation)):
        raise AdgenError(
            "AD196",
            "a C function that takes or gives `double` is called here, which is not there in single precision",
            operation.span,
            "declare it with f32, and with `float` in C, or leave out --float32",
        )
    if row is ops.TO_F64:
        results: tuple[Value, ...] = (operands[0] if operands[0].type == F32 else builder.op(ops.TO_F32, *operands),)
    elif row is core.CONST and operation.result.type == F64:
        results = (builder.const(np.float32(operation.attributes["value"]), F32, operation.result.name),)
    else:
        attributes = {name: _attribute(name, value) for name, value in operation.attributes.items()}
        regions = [_region(builder, region, mapping) for region in operation.regions]
        names = [value.name for value in operation.results]
        if _takes(operation, operands, attributes):
            results = builder.emit(row, operands, attributes, regions, names, builder.span)
        else:
            wide = [builder.op(ops.TO_F64, value) if value.type == F32 else value for value in operands]
            results = tuple(
                builder.op(ops.TO_F32, value) if value.type == F64 else value
                for value in builder.emit(row, wide, operation.attributes, (), names, builder.span)
            )
    record(builder, operation, results, mapping)


def _takes(operation: Operation, operands: tuple[Value, ...], attributes: dict[str, Any]) -> bool:
    """True unless an operation is there in double precision alone, as some special functions are."""
    try:
        operation.row.infer(tuple(value.type for value in operands), attributes)
    except TypeError:
        return False
    return True


def _touched(operation: Operation) -> tuple[Value, ...]:
    return (*operation.operands, *operation.results)


def _attribute(name: str, value: Any) -> Any:
    """An attribute that names types, or holds numbers, in single precision."""
    if name in ("element", "type"):
        return "f32" if value == "f64" else value
    if name == "types":
        return tuple("f32" if kind == "f64" else kind for kind in value)
    if isinstance(value, np.ndarray) and value.dtype == np.float64:
        narrow = value.astype(np.float32)
        narrow.flags.writeable = False
        return narrow
    return value
