"""Checks of indices: dropped where proved, moved before the loop where one test stands for all iterations.

Comes in: a function.  Goes out: the function with integer comparisons decided where the ranges of the loop indices
decide them, and with fewer `check`s in loops.  Guaranteed: the function raises for the same arguments as before.  When
it does, it may raise before it has stored what it stored otherwise, and a program that fails twice may name the other
failure if both are of the same exception class.  The details of a message are those of the first failing iteration; if
the index is not linear in a loop's, they are the nearest that would fail.

A condition that is linear in the index of a `for` holds in all iterations when it holds in the first or in the last
one, depending on the sign of the slope.  That one test moves before the loop, guarded by `the loop runs`, and from
there outward through the nest.  A check stays behind an `exit` unless the first iteration decides, behind a check of
another exception, in a loop with a `call`, and in the branch of an `if`.
"""

from __future__ import annotations

from adgen.ir import core
from adgen.ir.builder import Builder
from adgen.ir.nodes import Function, Operation, Region, Value, walk
from adgen.ir.rebuild import Mapping, clone, clone_operation, mapped, rebuild_with, record
from adgen.ir.types import I64
from adgen.passes.check_motion import Enclosing, Moving, emit_moved, limits, move
from adgen.passes.dead_code import dead_code
from adgen.passes.forms import Forms
from adgen.passes.polynomials import Form
from adgen.passes.ranges import COMPARISONS, Ranges, Scope
from adgen.passes.scoped import ScopedBuilder

LATEST = 8  # tests that are compared with a new one
ANYTHING = "*"  # what a call may raise


def hoist_checks(function: Function) -> Function:
    """Test an index once, before the loop, and not at all where it is surely in range.

    Before:  function f(%A: f64[:], %n: i64) -> (out) {
               %zero = const {type="i64", value=0} : i64
               %x = const {type="f64", value=0.0} : f64
               %d = dim %A {axis=0} : i64
               %s = for %zero, %n, %x {exit=false, step=1} (%i: i64, %t: f64) {
                 %low = ge %i, %zero : bool
                 %high = lt %i, %d : bool
                 %c = and %low, %high : bool
                 check %c, %i, %d {exception="IndexError", message="index {0} is out of bounds for size {1}"}
                 %a = load %A, %i : f64
                 %u = add %t, %a : f64
                 yield %u
               } : f64
               return %s
             }
    After:   function f(%A: f64[:], %n: i64) -> (out) {
               %zero = const {type="i64", value=0} : i64
               %x = const {type="f64", value=0.0} : f64
               %d = dim %A {axis=0} : i64
               %0 = le %n, %d : bool
               check %0, %d, %d {exception="IndexError", message="index {0} is out of bounds for size {1}"}
               %s = for %zero, %n, %x {exit=false, step=1} (%i: i64, %t: f64) {
                 %a = load %A, %i : f64
                 %u = add %t, %a : f64
                 yield %u
               } : f64
               return %s
             }
    """
    if not any(operation.row is core.CHECK or operation.row in COMPARISONS for operation in walk(function.body)):
        return function
    builder = ScopedBuilder()
    return dead_code(rebuild_with(builder, function, _Checks(builder, _calls(function))))


def _calls(function: Function) -> bool:
    return any(operation.row is core.CALL for operation in walk(function.body))


class _Checks:
    """Rebuilds a function; one scope of ranges and one `Enclosing` for every open block."""

    def __init__(self, builder: ScopedBuilder, calls: bool) -> None:
        self.calls = calls
        self.forms = Forms(builder)
        self.ranges = Ranges(self.forms)
        self.ranges.open(Scope())
        self.enclosing = [Enclosing(None)]

    def __call__(self, builder: Builder, operation: Operation, mapping: Mapping) -> bool:
        assert isinstance(builder, ScopedBuilder)
        row = operation.row
        if row in core.OWNERS:
            self._owner(builder, operation, mapping)
        elif row is core.CHECK:
            self._check(builder, operation, mapping)
        elif row in COMPARISONS and operation.operands[0].type == I64:
            clone_operation(builder, operation, mapping)
            self._decide(builder, operation, mapping)
        else:
            return False
        return True

    def _decide(self, builder: Builder, operation: Operation, mapping: Mapping) -> None:
        """Replace a comparison by its truth where that is proved."""
        made = builder.definitions.get(mapping[operation.result])
        if made is not None and made.row in COMPARISONS:
            truth = self.ranges.decides(made)
            if truth is not None:
                mapping[operation.result] = builder.const(truth)

    def _owner(self, builder: ScopedBuilder, operation: Operation, mapping: Mapping) -> None:
        operands = mapped(operation.operands, mapping)
        regions = []
        for number, region in enumerate(operation.regions):
            arguments = tuple(Value(value.type, value.name) for value in region.arguments)
            mapping.update(zip(region.arguments, arguments))
            scope, loop = Scope(), None
            if operation.row is core.FOR:
                loop = self._loop(operation, operands, arguments[0])
                if self.calls and any(inner.row is core.CALL for inner in walk(region)):
                    loop.raising.add(ANYTHING)
                scope = Scope([loop.runs], loop.index, loop.least, loop.greatest)
            elif operation.row is core.IF:
                scope = Scope(list(self.ranges.consequences(operands[0], number == 0)))
            self.ranges.open(scope)
            self.enclosing.append(loop or Enclosing(operation))
            with builder.block(arguments) as block:
                clone(builder, region.operations, mapping, self)
                block.results = mapped(region.results, mapping)
            inside = self.enclosing.pop()
            self.enclosing[-1].raising |= inside.raising
            self.ranges.close()
            regions.append(Region(block.arguments, tuple(block.operations), block.results))
        names = [value.name for value in operation.results]
        results = builder.emit(operation.row, operands, operation.attributes, regions, names, builder.span)
        record(builder, operation, results, mapping)

    def _loop(self, operation: Operation, operands: tuple[Value, ...], index: Value) -> Enclosing:
        start, stop = (self.forms.single(value) for value in operands[:2])
        return Enclosing(operation, self.forms.atom(index), start, stop, operation.attributes["step"])

    def _check(self, builder: ScopedBuilder, operation: Operation, mapping: Mapping) -> None:
        condition, *details = mapped(operation.operands, mapping)
        if builder.known(condition) is True or any(condition in frame.checked for frame in self.enclosing):
            return
        self.enclosing[-1].checked.add(condition)
        facts, exact = self.ranges.conjuncts(condition)
        parts: list[Form | Value] = [condition]
        if exact:
            parts = [fact for fact in facts if not self.ranges.proves(fact)]
        moved = [self._moved(builder, operation, part, details) for part in parts]
        if not any(moved) and parts:
            self._emit(builder, operation, condition, details)
        else:
            for part, plan in zip(parts, moved):
                if plan is not None:
                    self._emit_moved(builder, operation, plan)
                else:
                    value = self.forms.at_least_zero(builder, part) if isinstance(part, Form) else part
                    self._emit(builder, operation, value, details)
        for fact in facts:
            self.ranges.assume(fact)

    def _moved(
        self, builder: ScopedBuilder, operation: Operation, part: Form | Value, details: list[Value]
    ) -> Moving | None:
        if "trace" in operation.attributes:  # the first one that fails must stay the first
            return None
        shown = [self.forms.single(value) for value in details]
        moving = Moving(part, shown, limits(part, shown), len(builder.blocks))
        moving = move(builder, self.ranges, self.enclosing, moving, operation.attributes["exception"])
        return moving if moving.level < len(builder.blocks) else None

    def _emit(self, builder: Builder, operation: Operation, condition: Value, details: list[Value]) -> None:
        builder.emit(core.CHECK, (condition, *details), operation.attributes, span=builder.span)
        self.enclosing[-1].raising.add(operation.attributes["exception"])

    def _emit_moved(self, builder: ScopedBuilder, operation: Operation, moving: Moving) -> None:
        """Emit a check before the outermost loop that it leaves, unless it is known to hold there."""
        with builder.at(moving.level):
            condition, details = emit_moved(builder, self.ranges, moving)
            outer = self.enclosing[: moving.level]
            made = any(condition in frame.checked or _implied(self.ranges, moving, frame) for frame in outer)
            if builder.known(condition) is not True and not made:
                builder.emit(core.CHECK, (condition, *details), operation.attributes, span=builder.span)
                outer[-1].checked.add(condition)
                outer[-1].raising.add(operation.attributes["exception"])
                if isinstance(moving.part, Form):
                    outer[-1].tested.append((moving.part, moving.guards))
        if isinstance(moving.part, Form) and not moving.guards:
            self.ranges.assume(moving.part, moving.level)


def _implied(ranges: Ranges, moving: Moving, frame: Enclosing) -> bool:
    """True when the same form was tested before under guards that hold whenever those of the check do."""
    if not isinstance(moving.part, Form):
        return False
    for part, guards in frame.tested[-LATEST:]:
        if part.terms == moving.part.terms and all(
            any(ranges.proves(earlier - guard, moving.level) for guard in moving.guards) for earlier in guards
        ):
            return True
    return False
