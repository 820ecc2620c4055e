"""A choice between numbers in memory that can all be read is no branch.

Comes in: a function.  Goes out: the function in which an `if` that only loads elements, which are there whatever the
condition says, is a `select`.  Guaranteed: the same numbers; a derivative adds a zero to an element that was not
chosen.

So a sum under a mask, and its derivative, is a loop without branches, which a vector unit runs.  Branches that compute
anything stay: what was not chosen must not contribute `0 * inf`.
"""

from __future__ import annotations

from adgen import ops
from adgen.ir import core
from adgen.ir.builder import Builder
from adgen.ir.nodes import Function, Operation, Value, walk
from adgen.ir.rebuild import Mapping, clone, mapped, rebuild, record
from adgen.passes.indices import Definitions

MOST_LOADS = 4  # in a branch


def masked(function: Function) -> Function:
    """Choose instead of branching.

    Before:  function f(%A: f64[:], %mask: bool[:]) -> (out) {
               %zero = const {type="i64", value=0} : i64
               %none = const {type="f64", value=0.0} : f64
               %n = dim %A {axis=0} : i64
               %s = for %zero, %n, %none {exit=false, step=1} (%i: i64, %t: f64) {
                 %m = load %mask, %i : bool
                 %a = if %m {types=["f64"]} () {
                   %b = load %A, %i : f64
                   yield %b
                 } () {
                   yield %none
                 } : f64
                 %u = add %t, %a : f64
                 yield %u
               } : f64
               return %s
             }
    After:   function f(%A: f64[:], %mask: bool[:]) -> (out) {
               %zero = const {type="i64", value=0} : i64
               %none = const {type="f64", value=0.0} : f64
               %n = dim %A {axis=0} : i64
               %s = for %zero, %n, %none {exit=false, step=1} (%i: i64, %t: f64) {
                 %m = load %mask, %i : bool
                 %b = load %A, %i : f64
                 %a = select %m, %b, %none : f64
                 %u = add %t, %a : f64
                 yield %u
               } : f64
               return %s
             }
    """
    choice = _Choice(function)
    found = any(choice.can_be(operation) for operation in walk(function.body))
    return rebuild(function, choice) if found else function


class _Choice:
    """The transform, and which branches it takes."""

    def __init__(self, function: Function) -> None:
        self.definitions = Definitions(function)
        self.ends: dict[Value, Value] = {}  # of the range from zero that an index runs through
        for loop in walk(function.body):
            if loop.row is core.FOR and self.definitions.known(loop.operands[0]) == 0 and loop.attributes["step"] > 0:
                self.ends[loop.regions[0].arguments[0]] = loop.operands[1]

    def __call__(self, builder: Builder, operation: Operation, mapping: Mapping) -> bool:
        if not self.can_be(operation):
            return False
        for region in operation.regions:
            clone(builder, region.operations, mapping)
        (condition,) = mapped(operation.operands, mapping)
        pairs = zip(*(mapped(region.results, mapping) for region in operation.regions))
        chosen = [a if a is b else builder.op(ops.SELECT, condition, a, b) for a, b in pairs]
        record(builder, operation, tuple(chosen), mapping)
        return True

    def can_be(self, operation: Operation) -> bool:
        """True for an `if` that only loads what is there."""
        if operation.row is not core.IF or not operation.results:
            return False
        inside = [each for region in operation.regions for each in region.operations]
        return len(inside) <= MOST_LOADS and all(
            each.row is core.CONST or (each.row is core.LOAD and self.is_there(each)) for each in inside
        )

    def is_there(self, load: Operation) -> bool:
        """True when each index runs through the axis."""
        buffer, *indices = load.operands
        return all(self.is_extent(self.ends.get(index), buffer, axis) for axis, index in enumerate(indices))

    def is_extent(self, end: Value | None, buffer: Value, axis: int) -> bool:
        """True for the extent of an axis."""
        made = self.definitions.definitions.get(buffer)
        if end is None or (made is not None and made.row is core.ALLOC):
            return end is not None and made is not None and made.operands[axis] is end
        told = self.definitions.definitions.get(end)
        if told is None or told.row is not core.DIM:
            return False
        return told.operands[0] is buffer and told.attributes["axis"] == axis
