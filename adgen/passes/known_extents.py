"""Integers that a check fixes: behind `n == 3` the number of iterations is 3.

Comes in: a function.  Goes out: the function with each check as early in its region as it may stand, and with constants
for integers that it leaves one value, and for what follows from them.  Guaranteed: a check moves over nothing that
raises, calls or may not end, so the same check fails first; it may fail before something was stored.

A condition `n == 11 or n == 1`, as broadcasting makes, leaves one value where an earlier check says `n > 10`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from adgen import ops
from adgen.ir import core
from adgen.ir.builder import Builder
from adgen.ir.nodes import Function, Operation, Region, Value, walk
from adgen.ir.rebuild import Mapping, clone, clone_operation, mapped, rebuild_with, record
from adgen.ir.types import I64, is_float
from adgen.passes.dead_code import dead_code
from adgen.passes.forms import Forms
from adgen.passes.polynomials import Form
from adgen.passes.ranges import Ranges, Scope
from adgen.passes.scoped import ScopedBuilder

BARRIERS = (core.CHECK, core.CALL, core.CUSTOM, core.EXTERNAL, core.WHILE, core.PUSH, core.POP)


def known_extents(function: Function) -> Function:
    """Use the number that an integer must have.

    Before:  function f(%A: f64[:], %x: f64) -> (out) {
               %zero = const {type="i64", value=0} : i64
               %three = const {type="i64", value=3} : i64
               %n = dim %A {axis=0} : i64
               %y = exp %x : f64
               %c = eq %n, %three : bool
               check %c {exception="ValueError", message="a vector in space is needed"}
               %s = for %zero, %n, %y {exit=false, step=1} (%i: i64, %t: f64) {
                 %a = load %A, %i : f64
                 %u = add %t, %a : f64
                 yield %u
               } : f64
               return %s
             }
    After:   function f(%A: f64[:], %x: f64) -> (out) {
               %n = dim %A {axis=0} : i64
               %three = const {type="i64", value=3} : i64
               %c = eq %n, %three : bool
               check %c {exception="ValueError", message="a vector in space is needed"}
               %zero = const {type="i64", value=0} : i64
               %y = exp %x : f64
               %s = for %zero, %three, %y {exit=false, step=1} (%i: i64, %t: f64) {
                 %a = load %A, %i : f64
                 %u = add %t, %a : f64
                 yield %u
               } : f64
               return %s
             }
    """
    if not any(o.row is core.CHECK and "trace" not in o.attributes for o in walk(function.body)):
        return function
    function = replace(function, body=_early(function.body))
    builder = ScopedBuilder()
    return dead_code(rebuild_with(builder, function, _Known(builder)))


def _early(region: Region) -> Region:
    """The region with its checks, and what they are computed from, as early as they may be."""
    front: list[Operation] = []
    back: list[Operation] = []  # what the next check may move over
    made: dict[Value, Operation] = {}  # by what is in `back`
    moved: set[int] = set()

    def close() -> None:
        front.extend(operation for operation in back if id(operation) not in moved)
        back.clear()
        made.clear()

    for operation in region.operations:
        if operation.regions:
            regions = tuple(_early(inner) for inner in operation.regions)
            operation = replace(operation, regions=regions)
        needed = _computed_from(operation, made) if operation.row is core.CHECK else None
        if needed is not None:
            moved.update(id(each) for each in needed)
            front += [*needed, operation]
            for each in needed:
                for value in each.results:
                    del made[value]
        elif _is_barrier(operation):
            close()
            front.append(operation)
        else:
            back.append(operation)
            made.update((value, operation) for value in operation.results)
    close()
    return replace(region, operations=tuple(front))


def _computed_from(check: Operation, made: dict[Value, Operation]) -> list[Operation] | None:
    """The operations among these that a check depends on, in order; None when one of them must stay."""
    if "trace" in check.attributes:
        return None
    found: dict[int, Operation] = {}

    def visit(values: Iterable[Value]) -> bool:
        for value in values:
            operation = made.get(value)
            if operation is None or id(operation) in found:
                continue
            if not operation.row.pure or not visit(operation.operands):
                return False
            found[id(operation)] = operation
        return True

    return list(found.values()) if visit(check.operands) else None


def _is_barrier(operation: Operation) -> bool:
    inner = (o for region in operation.regions for o in walk(region))
    return operation.row in BARRIERS or any(o.row in BARRIERS for o in inner)


class _Known:
    """Rebuilds a function; `fixed` are values of it that stand for others from here on."""

    def __init__(self, builder: ScopedBuilder) -> None:
        self.forms = Forms(builder)
        self.ranges = Ranges(self.forms)
        self.ranges.open(Scope())
        self.fixed: Mapping = {}

    def __call__(self, builder: Builder, operation: Operation, mapping: Mapping) -> bool:
        if operation.row in core.OWNERS:
            self.owner(builder, operation, mapping)
        elif operation.row is core.CHECK:
            clone_operation(builder, operation, mapping)
            self.learn(builder, mapping.get(operation.operands[0], operation.operands[0]), mapping)
        elif operation.row is core.DIM:
            clone_operation(builder, operation, mapping)
            found = mapping[operation.result]
            mapping[operation.result] = self.fixed.get(found, found)
        else:
            return False
        return True

    def owner(self, builder: Builder, operation: Operation, mapping: Mapping) -> None:
        """Nothing that is learnt in a region is known behind it."""
        operands = mapped(operation.operands, mapping)
        if operation.row is core.IF and (maker := builder.definitions.get(operands[0])) is not None:
            known = self.ranges.decides(maker)
            operands = operands if known is None else (builder.const(known),)
        regions = []
        for number, region in enumerate(operation.regions):
            arguments = tuple(Value(value.type, value.name) for value in region.arguments)
            inner = mapping | dict(zip(region.arguments, arguments)) if _has_checks(region) else mapping
            inner.update(zip(region.arguments, arguments))
            outer, self.fixed = self.fixed, dict(self.fixed)
            facts = self.ranges.consequences(operands[0], number == 0) if operation.row is core.IF else []
            self.ranges.open(Scope(list(facts)))
            with builder.block(arguments) as block:
                clone(builder, region.operations, inner, self)
                block.results = mapped(region.results, inner)
            self.ranges.close()
            self.fixed = outer
            regions.append(block.region())
        names = [value.name for value in operation.results]
        made = builder.emit(operation.row, operands, operation.attributes, regions, names, builder.span)
        record(builder, operation, made, mapping)

    def learn(self, builder: Builder, condition: Value, mapping: Mapping) -> None:
        """From here on the condition holds."""
        fixed: Mapping = {}
        for fact in self.facts(condition):
            self.ranges.assume(fact)
            full = self.forms.full(fact)
            if len(full.atoms) != 1 or not self.ranges.proves(-full):
                continue
            (atom,) = full.atoms
            value = self.forms.atoms[atom]
            slope, rest = full.terms.get((atom,)), full.terms.get((), 0)
            if slope in (1, -1) and len(full.terms) <= 2 and value.type == I64 and value not in self.fixed:
                fixed[value] = builder.index(int(-rest * slope))
        if fixed:
            self.replace(builder, fixed, mapping)

    def facts(self, condition: Value) -> list[Form]:
        """What is not negative when a condition holds."""
        definitions = self.forms.known.definitions
        operation = definitions.get(condition)
        while operation is not None and operation.row is ops.OR:
            sides = [(value, definitions.get(value)) for value in operation.operands]
            open_ = [(value, side) for value, side in sides if side is None or self.ranges.decides(side) is not False]
            if len(open_) != 1:
                return []
            ((condition, operation),) = open_
        return self.ranges.conjuncts(condition)[0]

    def replace(self, builder: Builder, fixed: Mapping, mapping: Mapping) -> None:
        """Put constants in the place of values and of what is computed from them."""
        for block in builder.blocks:
            for operation in tuple(block.operations):
                if not operation.row.pure or not any(value in fixed for value in operation.operands):
                    continue
                if operation.row is core.DIM or any(is_float(value.type) for value in operation.results):
                    continue
                operands = mapped(operation.operands, fixed)
                names = [value.name for value in operation.results]
                made = builder.emit(operation.row, operands, operation.attributes, (), names)
                fixed.update(zip(operation.results, made))
        self.fixed.update(fixed)
        for value, new in mapping.items():
            if new in fixed:
                mapping[value] = fixed[new]


def _has_checks(region: Region) -> bool:
    return any(operation.row is core.CHECK for operation in walk(region))
