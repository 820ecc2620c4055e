"""Extents that a check found equal are one extent from there on.

Comes in: a function.  Goes out: the function in which memory and loops behind a `check` of `a == b` at the top level
name `a` where they named `b`.  Guaranteed: bit-identical results.

So loops over arguments of equal length have one range, and what they fill is seen to be all of a buffer.
"""

from __future__ import annotations

from dataclasses import replace

from adgen import ops
from adgen.ir import core
from adgen.ir.nodes import Function, Operation, Value
from adgen.ir.types import I64
from adgen.passes.surgery import substitute


def equal_extents(function: Function) -> Function:
    """Give equal extents one name.

    Before:  function f(%x: f64[:], %y: f64[:]) -> () {
               %zero = const {type="i64", value=0} : i64
               %n = dim %x {axis=0} : i64
               %m = dim %y {axis=0} : i64
               %same = eq %n, %m : bool
               check %same, %n, %m {exception="ValueError", message="lengths {0} and {1}"}
               for %zero, %m {exit=false, step=1} (%i: i64) {
                 %a = load %x, %i : f64
                 store %y, %a, %i
                 yield
               }
               return
             }
    After:   function f(%x: f64[:], %y: f64[:]) -> () {
               %zero = const {type="i64", value=0} : i64
               %n = dim %x {axis=0} : i64
               %m = dim %y {axis=0} : i64
               %same = eq %n, %m : bool
               check %same, %n, %m {exception="ValueError", message="lengths {0} and {1}"}
               for %zero, %n {exit=false, step=1} (%i: i64) {
                 %a = load %x, %i : f64
                 store %y, %a, %i
                 yield
               }
               return
             }
    """
    place: dict[Value, int] = {}
    made: dict[Value, Operation] = {}
    first: dict[Value, Value] = {}
    operations: list[Operation] = []
    for operation in function.body.operations:
        if operation.regions or operation.row is core.ALLOC:
            operations += substitute([operation], first)
        else:
            operations.append(operation)
        for value in operation.results:
            made[value], place[value] = operation, len(place)
        if operation.row is core.CHECK:
            _unify(operation.operands[0], made, place, first)
    return replace(function, body=replace(function.body, operations=tuple(operations))) if first else function


def _unify(condition: Value, made: dict[Value, Operation], place: dict[Value, int], first: dict[Value, Value]) -> None:
    """Note that what a condition compares is equal: `first` has the constant, or the earliest equal value, of each."""
    test = made.get(condition)
    if test is None or test.row is not ops.EQ or test.operands[0].type != I64:
        return

    def rank(value: Value) -> tuple[bool, int]:
        return value not in made or made[value].row is not core.CONST, place.get(value, -1)

    early, late = sorted((first.get(value, value) for value in test.operands), key=rank)
    if early is not late:
        first.update({value: early for value, known in first.items() if known is late})
        first[late] = early
