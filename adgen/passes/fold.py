"""Folding of control flow: branches and loops whose course is known.

Comes in: a function.  Goes out: the function rebuilt, so that pure operations are shared and constants folded, with
an `if` of known condition replaced by its branch, loops of no or one iteration by their body, a carried value that
never changes by its start, a result that is the same in both branches by that value, and an `if` that only chooses
by `select`.  Guaranteed: bit-identical results; derivatives do not change either: a `select` replaces an `if` only
when the branches compute nothing but integers and truth values, so that no untaken branch can contribute `0 * inf`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from adgen import ops
from adgen.ir import core
from adgen.ir.builder import Builder
from adgen.ir.nodes import Function, Operation, Region, Value
from adgen.ir.rebuild import Mapping, clone, clone_operation, clone_region, mapped, rebuild, record
from adgen.ir.types import BOOL, I64
from adgen.passes.dead_code import dead_code

SELECTED_OPERATIONS = 4  # a branch of more operations than this stays a branch


def fold(function: Function) -> Function:
    """Replace control flow whose course is known.

    Before:  function f(%x: f64, %c: bool, %n: i64) -> (out) {
               %one = const {type="i64", value=1} : i64
               %two = const {type="i64", value=2} : i64
               %less = lt %one, %two : bool
               %y = if %less {types=["f64"]} () {
                 %a = sin %x : f64
                 yield %a
               } () {
                 yield %x
               } : f64
               %z, %w = for %one, %two, %y, %x {exit=false, step=1} (%i: i64, %s: f64, %t: f64) {
                 %p = mul %s, %t : f64
                 yield %p, %t
               } : f64, f64
               %k = if %c {types=["i64"]} () {
                 yield %one
               } () {
                 %m = add %n, %one : i64
                 yield %m
               } : i64
               %f = to_f64 %k : f64
               %r = add %z, %f : f64
               return %r
             }
    After:   function f(%x: f64, %c: bool, %n: i64) -> (out) {
               %one = const {type="i64", value=1} : i64
               %a = sin %x : f64
               %p = mul %a, %x : f64
               %m = add %n, %one : i64
               %k = select %c, %one, %m : i64
               %f = to_f64 %k : f64
               %r = add %p, %f : f64
               return %r
             }
    """
    return dead_code(rebuild(function, fold_operation))


def fold_operation(builder: Builder, operation: Operation, mapping: Mapping) -> bool:
    """The transform of `fold`: takes over the operations with regions that it can do without."""
    if operation.row is core.IF:
        return _fold_if(builder, operation, mapping)
    if operation.row is core.FOR:
        return _fold_for(builder, operation, mapping)
    if operation.row is core.WHILE:
        return _fold_while(builder, operation, mapping)
    return False


def _inline(builder: Builder, region: Region, arguments: Sequence[Value], mapping: Mapping) -> tuple[Value, ...]:
    """Emit a region's operations here, with its arguments replaced, and give what it yields."""
    mapping.update(zip(region.arguments, arguments, strict=True))
    clone(builder, region.operations, mapping, fold_operation)
    return mapped(region.results, mapping)


def _fold_if(builder: Builder, operation: Operation, mapping: Mapping) -> bool:
    condition = mapping.get(operation.operands[0], operation.operands[0])
    known = builder.known(condition)
    if known is not None:
        results = _inline(builder, operation.regions[0 if known else 1], (), mapping)
        record(builder, operation, results, mapping)
        return True
    regions = [clone_region(builder, region, mapping, fold_operation) for region in operation.regions]
    if _only_chooses(builder, regions):
        yields = []
        for region in regions:
            inner: Mapping = {}
            clone(builder, region.operations, inner)
            yields.append(mapped(region.results, inner))
        results = tuple(_select(builder, condition, a, b) for a, b in zip(*yields))
        record(builder, operation, results, mapping)
        return True
    _emit_if(builder, operation, condition, regions, mapping)
    return True


def _emit_if(
    builder: Builder, operation: Operation, condition: Value, regions: Sequence[Region], mapping: Mapping
) -> None:
    """An `if` without the results that are equal in both branches."""
    common = [_common(builder, a, b) for a, b in zip(regions[0].results, regions[1].results)]
    wanted = [value is None for value in common]
    shrunk = [replace(region, results=_chosen(region.results, wanted)) for region in regions]
    types = tuple(str(value.type) for value in shrunk[0].results)
    names = [value.name for value in _chosen(operation.results, wanted)]
    results = iter(builder.emit(core.IF, (condition,), {"types": types}, shrunk, names, builder.span))
    record(builder, operation, tuple(next(results) if value is None else value for value in common), mapping)


def _common(builder: Builder, first: Value, second: Value) -> Value | None:
    """The one value that two branches yield, usable after them; None when they may differ."""
    if first is second:
        return first
    known = builder.known(first)
    if known is not None and first.type == second.type and repr(known) == repr(builder.known(second)):
        return builder.const(known, first.type)
    return None


def _only_chooses(builder: Builder, regions: Sequence[Region]) -> bool:
    """True when the branches do nothing but cheap arithmetic on integers."""
    if not regions[0].results:
        return False
    for region in regions:
        if len(region.operations) > SELECTED_OPERATIONS:
            return False
        for operation in region.operations:
            kinds = {value.type for value in (*operation.operands, *operation.results)}
            plain = operation.row is core.CONST or (operation.row.evaluate is not None and kinds <= {I64, BOOL})
            if not plain:
                return False
    return True


def _select(builder: Builder, condition: Value, first: Value, second: Value) -> Value:
    common = _common(builder, first, second)
    return builder.op(ops.SELECT, condition, first, second) if common is None else common


def _fold_for(builder: Builder, operation: Operation, mapping: Mapping) -> bool:
    operands = mapped(operation.operands, mapping)
    (region,) = operation.regions
    exit = int(bool(operation.attributes["exit"]))
    start, stop = builder.known(operands[0]), builder.known(operands[1])
    trips = None
    if operands[0] is operands[1]:
        trips = 0
    elif start is not None and stop is not None:
        trips = len(range(start, stop, operation.attributes["step"]))
    if trips == 0:
        record(builder, operation, operands[2:], mapping)
        return True
    if trips == 1 and "memory" not in operation.attributes:
        results = _inline(builder, region, (operands[0], *operands[2:]), mapping)
        record(builder, operation, results[exit:], mapping)
        return True
    changing = [
        following is not argument and mapping.get(following, following) is not initial
        for argument, following, initial in zip(region.arguments[1:], region.results[exit:], operands[2:], strict=True)
    ]
    if all(changing):
        return False
    for argument, result, initial, keep in zip(region.arguments[1:], operation.results, operands[2:], changing):
        if not keep:
            mapping[argument] = mapping[result] = initial
    smaller = replace(
        operation,
        operands=(*operation.operands[:2], *_chosen(operation.operands[2:], changing)),
        results=_chosen(operation.results, changing),
        regions=(
            Region(
                (region.arguments[0], *_chosen(region.arguments[1:], changing)),
                region.operations,
                (*region.results[:exit], *_chosen(region.results[exit:], changing)),
            ),
        ),
    )
    clone_operation(builder, smaller, mapping, fold_operation)
    return True


def _fold_while(builder: Builder, operation: Operation, mapping: Mapping) -> bool:
    """A `while` whose condition is false whatever is carried: only its condition runs, once."""
    condition, body = operation.regions
    cloned = clone_region(builder, condition, mapping, fold_operation)
    operands = mapped(operation.operands, mapping)
    if builder.known(cloned.results[0]) is False:
        _inline(builder, condition, operands, mapping)
        record(builder, operation, operands, mapping)
        return True
    regions = (cloned, clone_region(builder, body, mapping, fold_operation))
    names = [value.name for value in operation.results]
    results = builder.emit(core.WHILE, operands, operation.attributes, regions, names, builder.span)
    record(builder, operation, results, mapping)
    return True


def _chosen(values: tuple[Value, ...], wanted: Sequence[bool]) -> tuple[Value, ...]:
    return tuple(value for value, keep in zip(values, wanted) if keep)
