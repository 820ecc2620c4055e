"""Extents that checks found equal are one extent from there on.

Comes in: a function.  Goes out: the function in which memory and loops behind a `check` of `a == b` at the top level
name `a` where they named `b`.  Guaranteed: bit-identical results.

Checks of `a <= b` and `b <= a` are one of `a == b`.  One that holds unless a loop has no iterations, as one that was
taken out of the loop, holds inside that loop.  So loops over arguments of equal length have one range, and what they
fill is seen to be all of a buffer.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from adgen import ops
from adgen.ir import core
from adgen.ir.nodes import Function, Operation, Value
from adgen.ir.types import I64
from adgen.passes.surgery import substitute

Guard = tuple[Value, Value] | None  # the end and the start of a loop that has an iteration


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
    facts = _Facts()
    operations: list[Operation] = []
    for operation in function.body.operations:
        operations.append(facts.applied(operation))
        facts.note(operation)
    same = all(new is old for new, old in zip(operations, function.body.operations))
    return function if same else replace(function, body=replace(function.body, operations=tuple(operations)))


@dataclass
class _Facts:
    """What the checks so far say."""

    place: dict[Value, int] = field(default_factory=dict)
    made: dict[Value, Operation] = field(default_factory=dict)
    first: dict[Guard, dict[Value, Value]] = field(default_factory=dict)  # the constant, or the earliest equal value
    less: set[tuple[Value, Value, Guard]] = field(default_factory=set)

    def note(self, operation: Operation) -> None:
        """Take up an operation."""
        for value in operation.results:
            self.made[value], self.place[value] = operation, len(self.place)
        if operation.row is not core.CHECK:
            return
        test, guard = self.made.get(operation.operands[0]), None
        if test is not None and test.row is ops.OR:
            test, other = (self.made.get(value) for value in test.operands)
            if other is None or other.row is not ops.LE:
                return
            end, start = other.operands
            guard = end, start
        if test is None or len(test.operands) != 2 or test.operands[0].type != I64:
            return
        a, b = test.operands
        if test.row is ops.LE:
            self.less.add((a, b, guard))
        if test.row is ops.EQ or (test.row is ops.LE and (b, a, guard) in self.less):
            self.unify(a, b, guard)

    def unify(self, a: Value, b: Value, guard: Guard) -> None:
        """Note that two values are equal."""
        first = self.first.setdefault(guard, {})
        early, late = sorted((first.get(value, value) for value in (a, b)), key=self.rank)
        if early is not late:
            first.update({value: early for value, known in first.items() if known is late})
            first[late] = early

    def rank(self, value: Value) -> tuple[bool, int]:
        """Constants first, then what was there first."""
        return value not in self.made or self.made[value].row is not core.CONST, self.place.get(value, -1)

    def applied(self, operation: Operation) -> Operation:
        """An operation that names the first of equal values."""
        first = self.first.get(None, {})
        inside: dict[Value, Value] = {}
        if operation.row is core.FOR and operation.attributes["step"] > 0:
            inside = self.first.get((operation.operands[1], operation.operands[0]), {})
        if operation.row is core.ALLOC or operation.regions:
            (operation,) = substitute([operation], first)
        if inside:
            (region,) = operation.regions
            body = replace(region, operations=tuple(substitute(region.operations, inside)))
            operation = replace(operation, regions=(body,))
        return operation
