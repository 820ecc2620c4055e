"""Operations with derivative rules of their own: applying a rule, and forgetting it.

Comes in: a function with `custom` operations.  Goes out: from `inline_custom` the function with their regions in their
place, as it is emitted.  `inlined` puts the body of a rule where a derivative is being made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from adgen import ops
from adgen.diagnostics import AdgenError
from adgen.ir import core
from adgen.ir.builder import Builder
from adgen.ir.calls import everywhere, reachable
from adgen.ir.nodes import Function, Operation, Value, walk
from adgen.ir.rebuild import Mapping, clone, clone_operation, mapped, rebuild, record
from adgen.ir.types import Buffer

IDENTITIES = (ops.STOP, ops.TAPPED)
FORGOTTEN = (core.CUSTOM, core.TAP, *IDENTITIES)


def inline_custom(function: Function) -> Function:
    """A `custom` operation becomes what it runs, and what is there for derivatives alone becomes its operand, or goes.

    Before:  function f(%x: f64) -> (out) {
               %out = custom %x {jvp="", outputs=0, types=["f64"], vjp="f_rule"} () {
                 %y = exp %x : f64
                 yield %y
               } : f64
               return %out
             }
             function f_rule(%x: f64, %y: f64, %y_bar: f64) -> (x_bar) {
               %x_bar = mul %y, %y_bar : f64
               return %x_bar
             }
    After:   function f(%x: f64) -> (out) {
               %y = exp %x : f64
               return %y
             }
    """

    def inside(builder: Builder, operation: Operation, mapping: Mapping) -> bool:
        if operation.row in IDENTITIES:
            record(builder, operation, mapped(operation.operands[:1], mapping), mapping)
            return True
        if operation.row is core.TAP:
            record(builder, operation, (_zeros(builder, operation, mapping),), mapping)
            return True
        if operation.row is core.FOR and "memory" in operation.attributes:
            plain = {key: value for key, value in operation.attributes.items() if key != "memory"}
            clone_operation(builder, replace(operation, attributes=plain), mapping, inside)
            return True
        if operation.row is not core.CUSTOM or "external" in operation.attributes:
            return False
        (region,) = operation.regions
        clone(builder, region.operations, mapping, inside)
        record(builder, operation, mapped(region.results, mapping), mapping)
        return True

    functions = (function, *function.callees.values())
    if not any(_is_forgotten(operation) for each in functions for operation in walk(each.body)):
        return function
    return reachable(everywhere(function, lambda each: rebuild(each, inside)))


def _is_forgotten(operation: Operation) -> bool:
    return operation.row in FORGOTTEN or (operation.row is core.FOR and "memory" in operation.attributes)


def external_calls(function: Function) -> Function:
    """A C function is called, and nothing needs to be said about what it may do any more.

    Of `%y = custom %x {external="drag@1", ...} () { ... } : f64` there remains the same without the region:
    `%y = external %x {external="drag@1", ...} : f64`.
    """

    def called(builder: Builder, operation: Operation, mapping: Mapping) -> bool:
        if operation.row is not core.CUSTOM:
            return False
        attributes = {name: operation.attributes[name] for name in ("external", "outputs", "types")}
        names = [value.name for value in operation.results]
        made = builder.emit(core.EXTERNAL, mapped(operation.operands, mapping), attributes, (), names, builder.span)
        record(builder, operation, made, mapping)
        return True

    if not any(operation.row is core.CUSTOM for operation in walk(function.body)):
        return function
    return rebuild(function, called)


def require_rule(operation: Operation) -> None:
    """Refuse the derivative of a C function that has none."""
    function = operation.attributes.get("external")
    if function is not None:
        raise AdgenError(
            "AD156",
            f"the C function `{str(function).partition('@')[0]}` has no derivative",
            operation.span,
            "name its derivative functions with `vjp=` or `jvp=` of `adgen.external`; they may be functions of Python "
            "that call other C functions",
        )


def _zeros(builder: Builder, tap: Operation, mapping: Mapping) -> Value:
    kind = tap.result.type
    if isinstance(kind, Buffer):
        return builder.alloc(kind.element, mapped(tap.operands, mapping), tap.result.name)
    return builder.const(0.0, kind)


def inlined(builder: Builder, rule: Function, operands: Sequence[Value]) -> tuple[Value, ...]:
    """Emit the body of a rule at the open block of a builder; gives its results."""
    mapping = dict(zip(rule.parameters, operands, strict=True))
    clone(builder, rule.body.operations, mapping)
    return mapped(rule.results, mapping)


def zeros(rule: Function) -> list[bool]:
    """Which results of a rule are buffers that nothing was written into."""
    allocated = {op.result for op in rule.body.operations if op.row is core.ALLOC and op.attributes["zero"]}
    written = {
        value for op in walk(rule.body) if op.row not in (core.LOAD, core.DIM, core.ALLOC) for value in op.operands
    }
    return [value in allocated and value not in written for value in rule.results]


def zeros_like(builder: Builder, value: Value, name: str) -> Value:
    """A zero scalar, or a buffer of zeros with the extents of another."""
    if isinstance(value.type, Buffer):
        return builder.alloc(value.type.element, builder.dims(value), name)
    return builder.const(0.0, value.type)
