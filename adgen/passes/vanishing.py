"""Zeros that need no guard: those of products whose other factors are finite then.

Comes in: a function.  Goes out: the function without the guards (`strong_zeros`) that give zero where what they guard
is zero anyway.  Guaranteed: the same results, infinities and nan included, but for the sign of zeros; a bounded number
of steps for each guard.

That a factor is finite follows from the zero itself: a sum, a difference or a product that is a number was made of
numbers, as no infinity and no nan ever becomes a number again in them.  So `s * u` is zero where `u` is when `u` was
made as `s * s * c - c`: an infinite `s` would have made it infinite.
"""

from __future__ import annotations

import math
from collections.abc import Mapping as Table

from adgen import ops
from adgen.ir import core
from adgen.ir.builder import Builder
from adgen.ir.nodes import Function, Operation, Value, walk
from adgen.ir.rebuild import Mapping, mapped, rebuild, record
from adgen.ir.types import is_float
from adgen.passes.dead_code import dead_code

Made = Table[Value, Operation]

STEPS = 64  # values that are looked at
STRICT = (ops.ADD, ops.SUB, ops.MUL, ops.NEG, ops.ABS, ops.SQRT, ops.FMA, ops.TO_F64, ops.TO_F32)


def vanishing(function: Function) -> Function:
    """Drop guards that do nothing.

    Before:  function f(%s: f64, %c: f64) -> (out) {
               %zero = const {type="f64", value=0.0} : f64
               %one = const {type="f64", value=1.0} : f64
               %a = mul %s, %s : f64
               %u = sub %a, %c : f64
               %b = mul %s, %u : f64
               %z = eq %u, %zero : bool
               %d = select %z, %zero, %b {guard=true} : f64
               %out = add %one, %d : f64
               return %out
             }
    After:   function f(%s: f64, %c: f64) -> (out) {
               %one = const {type="f64", value=1.0} : f64
               %a = mul %s, %s : f64
               %u = sub %a, %c : f64
               %b = mul %s, %u : f64
               %out = add %one, %b : f64
               return %out
             }
    """
    if not any("guard" in operation.attributes for operation in walk(function.body)):
        return function
    return dead_code(rebuild(function, _unguarded))


def _unguarded(builder: Builder, operation: Operation, mapping: Mapping) -> bool:
    if operation.row is not ops.SELECT or "guard" not in operation.attributes:
        return False
    condition, _, part = mapped(operation.operands, mapping)
    test = builder.definitions.get(condition)
    if test is None or test.row is not ops.EQ or not vanishes(builder.definitions, part, test.operands[0]):
        return False
    record(builder, operation, (part,), mapping)
    return True


def vanishes(made: Made, part: Value, moving: Value) -> bool:
    """True when `part` is surely zero if `moving` is; `made` has the operations that made values."""
    return _Zero(made, moving).zero(part)


class _Zero:
    """What holds when a value is zero."""

    def __init__(self, made: Made, moving: Value) -> None:
        self.made = made
        self.moving = moving
        self.numbers: set[Value] = set()  # neither infinite nor nan
        self.divisors: set[Value] = set()  # neither zero nor nan
        self._steps = STEPS
        work = [moving]
        while work and len(self.numbers) < STEPS:
            value = work.pop()
            if value in self.numbers:
                continue
            self.numbers.add(value)
            operation = made.get(value)
            if operation is None:
                continue
            if operation.row in STRICT:
                work += [operand for operand in operation.operands if is_float(operand.type)]
            elif operation.row is ops.DIV:
                work.append(operation.operands[0])
                self.divisors.add(operation.operands[1])

    def zero(self, value: Value) -> bool:
        """True when the value is zero."""
        self._steps -= 1
        if value is self.moving:
            return True
        operation = self.made.get(value)
        if operation is None or self._steps < 0:
            return False
        row, operands = operation.row, operation.operands
        if row is core.CONST:
            return bool(operation.attributes["value"] == 0)
        if row in (ops.NEG, ops.ABS, ops.TO_F64, ops.TO_F32):
            return self.zero(operands[0])
        if row in (ops.ADD, ops.SUB):
            return all(map(self.zero, operands))
        if row is ops.SELECT:
            return all(map(self.zero, operands[1:]))
        if row is ops.MUL:
            return any(self.zero(a) and self.number(b) for a, b in (operands, operands[::-1]))
        return row is ops.DIV and self.zero(operands[0]) and self.divides(operands[1])

    def number(self, value: Value) -> bool:
        """True when the value is neither infinite nor nan."""
        self._steps -= 1
        if value in self.numbers:
            return True
        operation = self.made.get(value)
        if operation is None or self._steps < 0:
            return False
        row, operands = operation.row, operation.operands
        if row is core.CONST:
            return math.isfinite(operation.attributes["value"])
        if row in (ops.NEG, ops.ABS):
            return self.number(operands[0])
        if row is ops.SELECT:
            return all(map(self.number, operands[1:]))
        if row is ops.TO_F64 and not is_float(operands[0].type):
            return True
        return self.zero(value)

    def divides(self, value: Value) -> bool:
        """True when the value is neither zero nor nan."""
        operation = self.made.get(value)
        if operation is not None and operation.row is core.CONST:
            number = operation.attributes["value"]
            return bool(number != 0) and not math.isnan(number)
        return value in self.divisors
