"""Whether a derivative rule is linear in what moves, so that it has a transpose.

Comes in: a function and how many of its last parameters move.  Goes out: True, or False where that is not seen.
Guaranteed: True only for a function that is linear in them in exact arithmetic, whatever the others are.

Every value is zero, fixed (independent of what moves), linear in it, or neither; memory has one such state as a whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import IntEnum
from functools import reduce

from adgen import ops
from adgen.diagnostics import AdgenError, Span
from adgen.ir import core
from adgen.ir.nodes import Function, Operation, Region, Value
from adgen.ir.types import Buffer
from adgen.passes.activity import roots
from adgen.passes.surgery import free_values


class NotLinear(AdgenError):
    """A user's derivative rule has no transpose, and so no other mode."""


class State(IntEnum):
    """How a value depends on what moves."""

    ZERO = 0
    FIXED = 1
    LINEAR = 2
    NEITHER = 3


SUMS = (ops.ADD, ops.SUB, ops.TAPPED)
ALIKE = (ops.NEG, ops.STOP, ops.TO_F32, ops.TO_F64)


def require_linear(rule: Function, last: int, kind: str, span: Span | None) -> None:
    """Refuse a user's rule that has no transpose; those of adgen say that they have one."""
    if rule.notes.get("linear") or is_linear(rule, last):
        return
    moving, modes = ("cotangent", "forward") if kind == "vjp" else ("tangent", "reverse")
    raise NotLinear(
        "AD149",
        f"the {kind} rule of this function is not linear in the {moving}, or not seen to be, so it has no {modes} mode",
        span,
        f"use {'reverse' if kind == 'vjp' else 'forward'} mode, or give the function a rule for the other mode",
    )


def is_linear(function: Function, last: int) -> bool:
    """True when all results are linear in the last parameters."""
    first = len(function.parameters) - last
    states = _States(function, function.parameters[first:])
    return all(states.of(value) in (State.ZERO, State.LINEAR) for value in function.results)


def steps_linearly(loop: Operation, states: Sequence[Value]) -> bool:
    """True when all that a loop does to some buffers is linear in what they hold: its reverse needs none of that."""
    body = Region(tuple(free_values([loop])), (loop,), ())
    found = _States(Function("loop", body, (), loop.span), states)
    return all(found.of(value) is State.LINEAR for value in states)


class _States:
    def __init__(self, function: Function, moving: Sequence[Value]) -> None:
        self.root = roots(function)
        self.known = dict.fromkeys(function.parameters, State.FIXED) | dict.fromkeys(moving, State.LINEAR)
        self.decided = True  # no branch, loop or index depends on what moves
        before: dict[Value, State] | None = None
        while before != self.known:
            before = dict(self.known)
            self.region(function.body)

    def of(self, value: Value) -> State:
        """The state of a scalar, or of the memory of a buffer."""
        return self.known.get(self.root.get(value, value), State.ZERO) if self.decided else State.NEITHER

    def join(self, target: Value, *states: State) -> None:
        """The target may have any of these states, and those that it had."""
        target = self.root.get(target, target)
        self.known[target] = reduce(_either, states, self.known.get(target, State.ZERO))

    def decides(self, values: Iterable[Value]) -> None:
        """What happens depends on these."""
        self.decided = self.decided and all(self.of(value) <= State.FIXED for value in values)

    def region(self, region: Region) -> None:
        for operation in region.operations:
            self.operation(operation)

    def operation(self, operation: Operation) -> None:
        row, operands, results = operation.row, operation.operands, operation.results
        if row in (core.FOR, core.WHILE, core.IF, core.CUSTOM):
            self.control(operation)
        elif row is core.CONST:
            self.join(results[0], State.FIXED if operation.attributes["value"] else State.ZERO)
        elif row is core.LOAD:
            self.decides(operands[1:])
            self.join(results[0], self.of(operands[0]))
        elif row in (core.STORE, core.ACCUMULATE):
            self.decides(operands[2:])
            self.join(operands[0], self.of(operands[1]))
        elif row is core.CHECK:
            self.decides(operands)
        elif row is core.DIM:
            self.join(results[0], State.FIXED)
        elif not (results and isinstance(results[0].type, Buffer)) or row is core.TABLE:
            state = _applied(row, [self.of(value) for value in operands])
            for value in results:
                self.join(value, state)

    def control(self, operation: Operation) -> None:
        row, operands, results = operation.row, operation.operands, operation.results
        if row is core.FOR:
            self.decides(operands[:2])
            self.carried(operation.regions[0], operands[2:], results, 1, bool(operation.attributes.get("exit")))
        elif row is core.WHILE:
            condition, body = operation.regions
            for argument, start, inner in zip(condition.arguments, operands, body.arguments, strict=True):
                self.join(argument, self.of(start), self.of(inner))
            self.region(condition)
            self.decides(condition.results)
            self.carried(body, operands, results, 0, False)
        else:
            self.decides(operands[:1] if row is core.IF else ())
            for region in operation.regions:
                self.region(region)
                for value, given in zip(results, region.results, strict=True):
                    self.join(value, self.of(given))

    def carried(self, region: Region, start: Sequence[Value], results: Sequence[Value], skip: int, exit: bool) -> None:
        for index in region.arguments[:skip]:
            self.join(index, State.FIXED)
        self.region(region)
        self.decides(region.results[:exit])
        for argument, first, following, result in zip(
            region.arguments[skip:], start, region.results[exit:], results, strict=True
        ):
            self.join(argument, self.of(first), self.of(following))
            self.join(result, self.of(argument))


def _either(a: State, b: State) -> State:
    """What may be this or that; also what the sum of the two is."""
    if State.ZERO in (a, b) or a == b:
        return max(a, b)
    return State.NEITHER


def _applied(row: object, states: Sequence[State]) -> State:
    """The state of a result."""
    if row in SUMS:
        return _either(*states)
    if row in ALIKE:
        return states[0]
    if row is ops.MUL:
        return _product(*states)
    if row is ops.FMA:
        return _either(_product(*states[:2]), states[2])
    if row is ops.DIV:
        return states[0] if states[1] <= State.FIXED else State.NEITHER
    if row is ops.SELECT:
        return _either(*states[1:]) if states[0] <= State.FIXED else State.NEITHER
    return State.FIXED if all(state <= State.FIXED for state in states) else State.NEITHER


def _product(a: State, b: State) -> State:
    if State.ZERO in (a, b):
        return State.ZERO
    return State.NEITHER if min(a, b) >= State.LINEAR else max(a, b)
