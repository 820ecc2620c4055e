"""Loops whose iterations a vector unit may run side by side, although they add into carried sums.

Comes in: an optimised function.  Goes out: the same, with `simd` set on such loops.  A loop is marked when it is
innermost, its sums are integers or were declared `unordered` by whoever made it (sums of cotangents, NumPy's
reductions), and no iteration touches what another one writes: every access to written memory has the loop's own index,
or one and the same distance from it, at one and the same axis.  A loop without sums is marked only when it is over
directions side by side: compilers write such a short one out before they look for vectors; about others they find out
themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from adgen import ops
from adgen.ir import core
from adgen.ir.nodes import Function, Operation, Region, Value, walk
from adgen.ir.types import is_float
from adgen.passes.activity import roots
from adgen.passes.independence import sum_of


def independent(function: Function) -> Function:
    """Mark loops whose carried sums may be taken in any order.

    Before:  function f(%x: f64[:]) -> (out) {
               %zero = const {type="i64", value=0} : i64
               %n = dim %x {axis=0} : i64
               %start = const {type="f64", value=0.0} : f64
               %s = for %zero, %n, %start {exit=false, step=1, unordered=true} (%i: i64, %t: f64) {
                 %a = load %x, %i : f64
                 %u = add %t, %a : f64
                 yield %u
               } : f64
               return %s
             }
    After:   function f(%x: f64[:]) -> (out) {
               %zero = const {type="i64", value=0} : i64
               %n = dim %x {axis=0} : i64
               %start = const {type="f64", value=0.0} : f64
               %s = for %zero, %n, %start {exit=false, simd=true, step=1, unordered=true} (%i: i64, %t: f64) {
                 %a = load %x, %i : f64
                 %u = add %t, %a : f64
                 yield %u
               } : f64
               return %s
             }
    """
    root = roots(function)
    body = _region(function.body, root, False)
    return function if body is function.body else replace(function, body=body)


def _region(region: Region, root: Mapping[Value, Value], divided: bool) -> Region:
    operations = tuple(_marked(operation, root, divided) for operation in region.operations)
    if all(new is old for new, old in zip(operations, region.operations, strict=True)):
        return region
    return replace(region, operations=operations)


def _marked(operation: Operation, root: Mapping[Value, Value], divided: bool) -> Operation:
    if operation.regions:
        divided |= bool(operation.attributes.get("parallel"))
        regions = tuple(_region(region, root, divided) for region in operation.regions)
        if any(new is not old for new, old in zip(regions, operation.regions, strict=True)):
            operation = replace(operation, regions=regions)
    if operation.row is not core.FOR or operation.attributes.get("simd"):
        return operation
    simd = not operation.attributes.get("exit") and _is_independent(operation, root, divided)
    if simd == bool(operation.attributes.get("simd")):
        return operation
    attributes = {name: value for name, value in operation.attributes.items() if name != "simd"}
    return replace(operation, attributes=attributes | ({"simd": True} if simd else {}))


def _is_independent(loop: Operation, root: Mapping[Value, Value], divided: bool) -> bool:
    """Without sums a C compiler sees for itself, but where threads share a loop it knows less about pointers."""
    region = loop.regions[0]
    index, *carried = region.arguments
    known = not (carried or divided or loop.attributes.get("abreast"))
    if known or not all(_is_plain(operation) for operation in region.operations):
        return False
    if any(is_float(value.type) for value in carried) and not loop.attributes.get("unordered"):
        return False
    sums = all(sum_of(region, value, result) is not None for value, result in zip(carried, region.results, strict=True))
    return sums and _touches_its_own(region, index, root)


def _is_plain(operation: Operation) -> bool:
    """An operation, an access, or a choice between values that are computed from what is read."""
    if operation.row is core.IF:
        inner = [o for region in operation.regions for o in region.operations]
        return all(o.row is not core.IF and (o.row.pure or o.row is core.LOAD) for o in inner)
    return operation.row.pure or operation.row in core.ACCESSES


def _touches_its_own(region: Region, index: Value, root: Mapping[Value, Value]) -> bool:
    accesses = [operation for operation in walk(region) if operation.row in core.ACCESSES]
    written = {root[o.operands[0]] for o in accesses if o.row is not core.LOAD}
    different = _different(region, index)
    for buffer in written:
        mine = [operation for operation in accesses if root[operation.operands[0]] is buffer]
        handles = {operation.operands[0] for operation in mine}
        places = [{place for place in enumerate(core.indices_of(o)) if place[1] in different} for o in mine]
        if len(handles) > 1 or not set.intersection(*places):
            return False
    return True


def _different(region: Region, index: Value) -> set[Value]:
    """Values that no two iterations share: the index, and what is at a fixed distance from it or from its negative."""
    inside = {value for operation in walk(region) for value in operation.results} | set(region.arguments)
    found = {index}
    for operation in region.operations:
        if operation.row in (ops.ADD, ops.SUB):
            moved = [operand for operand in operation.operands if operand in found]
            fixed = [operand for operand in operation.operands if operand not in inside]
            if len(moved) == len(fixed) == 1:
                found.add(operation.result)
    return found
