"""Copying operations through a builder, which shares, folds and simplifies them again.

Comes in: operations and a map from the values they use to the values to use instead.  Goes out: copies appended to the
builder's open block, with the map extended by everything the operations define.  Guaranteed: names and spans are kept;
a value that the map does not know stands for itself; linear in the number of operations.

A `transform` is asked first about every operation: `transform(builder, operation, mapping)` returns True when it has
taken the operation over, that is emitted what it wants and recorded the results in `mapping`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from adgen.ir import core
from adgen.ir.builder import Builder
from adgen.ir.nodes import Function, Operation, Region, Value

Mapping = dict[Value, Value]
Transform = Callable[[Builder, Operation, Mapping], bool]


def clone(
    builder: Builder, operations: Iterable[Operation], mapping: Mapping, transform: Transform | None = None
) -> None:
    """Append copies of operations to the open block; `mapping` gains their results and region arguments."""
    outer = builder.span
    for operation in operations:
        builder.span = operation.span or outer
        if transform is None or not transform(builder, operation, mapping):
            clone_operation(builder, operation, mapping, transform)
    builder.span = outer


def clone_operation(
    builder: Builder, operation: Operation, mapping: Mapping, transform: Transform | None = None
) -> None:
    """Append a copy of one operation, its regions copied with the transform."""
    operands = tuple([mapping.get(value, value) for value in operation.operands])
    row = operation.row
    if row is core.DIM:
        record(builder, operation, (builder.dim(operands[0], operation.attributes["axis"]),), mapping)
        return
    if row is core.CHECK and builder.known(operands[0]) is True:
        return
    regions = tuple([clone_region(builder, region, mapping, transform) for region in operation.regions])
    names = [value.name for value in operation.results]
    results = builder.emit(row, operands, operation.attributes, regions, names, builder.span)
    record(builder, operation, results, mapping)


def clone_region(builder: Builder, region: Region, mapping: Mapping, transform: Transform | None = None) -> Region:
    """A copy of a region with arguments of its own."""
    arguments = tuple(Value(value.type, value.name) for value in region.arguments)
    mapping.update(zip(region.arguments, arguments))
    with builder.block(arguments) as block:
        clone(builder, region.operations, mapping, transform)
        block.results = mapped(region.results, mapping)
    return block.region()


def mapped(values: Iterable[Value], mapping: Mapping) -> tuple[Value, ...]:
    """What the map has for the values; a value unknown to it stands for itself."""
    return tuple([mapping.get(value, value) for value in values])


def record(builder: Builder, operation: Operation, results: tuple[Value, ...], mapping: Mapping) -> None:
    """Note what an operation's results have become; a nameless replacement takes over the name."""
    for value, new in zip(operation.results, results, strict=True):
        mapping[value] = new
        if value.name and not new.name:
            maker = builder.definitions.get(new)
            if maker is not None and (maker.row is not core.CONST or operation.row is core.CONST):
                new.name = value.name


def rebuild(function: Function, transform: Transform | None = None) -> Function:
    """A copy of a function in which equal pure operations are shared and constants are folded.

    Before:  function f(%x: f64) -> (out) {
               %a = sin %x : f64
               %b = sin %x : f64
               %two = const {type="f64", value=2.0} : f64
               %three = const {type="f64", value=3.0} : f64
               %c = mul %two, %three : f64
               %d = mul %a, %b : f64
               %e = mul %d, %c : f64
               return %e
             }
    After:   function f(%x: f64) -> (out) {
               %a = sin %x : f64
               %two = const {type="f64", value=2.0} : f64
               %three = const {type="f64", value=3.0} : f64
               %0 = const {type="f64", value=6.0} : f64
               %d = mul %a, %a : f64
               %e = mul %d, %0 : f64
               return %e
             }
    """
    return rebuild_with(Builder(), function, transform)


def rebuild_with(builder: Builder, function: Function, transform: Transform | None) -> Function:
    """The same, with a given builder."""
    builder.span = function.span
    body = clone_region(builder, function.body, {}, transform)
    return replace(function, body=body)
