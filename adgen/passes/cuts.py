"""Why no derivative gets from a value to the results.

Comes in: a function as the front end made it, its parameters or taps.  Goes out: from `cut` the first operation that
ends the derivative whatever the numbers are; from `watched` a tangent function that stops where a tangent that is not
zero ends at the numbers that it is given.  Guaranteed: `cut` gives None exactly when both modes have code for the
derivative.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import reduce

from adgen import ops
from adgen.ir import core
from adgen.ir.nodes import Function, Operation, Value, walk
from adgen.ir.types import BOOL, Buffer, is_float
from adgen.passes.activity import roots, varied
from adgen.passes.forward import Forward, forward
from adgen.passes.unknowns import Unknowns

CUT = "Cut"  # the exception of a check that `watched` puts in; its message is the number of the operation
MOVING, OVERWRITING, DECIDING = range(3)  # ways in which an operation ends a derivative, the most telling first


@dataclass(frozen=True)
class Cut:
    """Where a derivative ends; `operation` is None when nothing that depends on the value reaches a result."""

    operation: Operation | None

    @property
    def decides(self) -> bool:
        """True when the results depend on the value, through decisions alone."""
        return self.operation is not None and decides(self.operation)


def cut(function: Function, source: Value) -> Cut | None:
    """The first operation that ends the derivative for a parameter or tap; None when one gets through.

    Of several ways from the value to the results those through numbers come before those through decisions.
    """
    moving, root = varied(function, [source]), roots(function)
    if any(root.get(value, value) in moving for value in function.results):
        return None
    ends = [operation for operation in walk(function.body) if _ends(operation, moving, root)]
    return Cut(next((op for op in sorted(ends, key=decides) if matters(function, op)), None))


def decides(operation: Operation) -> bool:
    """True for an operation that is true or false."""
    return any(value.type == BOOL for value in operation.results)


def matters(function: Function, operation: Operation) -> bool:
    """True when a floating-point result depends on what an operation gives."""
    return Unknowns(function, targets(operation)).any(value for value in function.results if is_float(value.type))


def targets(operation: Operation) -> tuple[Value, ...]:
    """What an operation gives: its results, and the memory that it writes."""
    if operation.row in core.WRITES or operation.row is core.PUSH:
        return operation.operands[:1]
    if operation.row is core.CUSTOM:
        return (*operation.results, *core.outputs_of(operation))
    return operation.results


def _ends(operation: Operation, moving: Collection[Value], root: dict[Value, Value]) -> bool:
    if operation.regions or operation.row in (core.CHECK, core.DIM):
        return False
    into = any(root.get(value, value) in moving for value in operation.operands)
    return into and not any(root.get(value, value) in moving for value in targets(operation))


def watched(function: Function, wrt: Sequence[int], places: Sequence[Operation]) -> Function:
    """The tangent function, which fails at the first of the operations `places` that ends a tangent."""
    numbers = {id(operation): k for k, operation in enumerate(places)}

    class Watched(_Watched):
        watched = numbers

    return forward(function, wrt, Watched)


def endings(function: Function) -> list[list[Operation]]:
    """The operations that may end a tangent, for each way of doing it."""
    found: list[list[Operation]] = [[], [], []]
    for operation in walk(function.body):
        if operation.row is core.STORE:
            found[OVERWRITING].append(operation)
        elif operation.row in (core.CUSTOM, core.CALL) or (operation.row.pure and operation.row is not core.DIM):
            found[DECIDING if decides(operation) else MOVING].append(operation)
    return found


class _Watched(Forward):
    """A sweep that checks operations."""

    watched: dict[int, int]

    def region(self, operations: Sequence[Operation]) -> None:
        for operation in operations:
            number = self.watched.get(id(operation))
            if number is not None and operation.row is core.STORE:
                self.check(number, [self.overwritten(operation)], [self.tangent.get(operation.operands[1])])
            super().region([operation])
            if number is not None and operation.row is not core.STORE:
                incoming = core.inputs_of(operation) if operation.row is core.CUSTOM else operation.operands
                outgoing = [self.tangent.get(value) for value in targets(operation)]
                self.check(number, [self.tangent.get(value) for value in incoming], outgoing)

    def overwritten(self, store: Operation) -> Value | None:
        """The tangent that a store replaces."""
        buffer, _, *index = store.operands
        known = self.tangent.get(buffer)
        return None if known is None else self.builder.load(known, [self.primal[value] for value in index])

    def check(self, number: int, incoming: Sequence[Value | None], outgoing: Sequence[Value | None]) -> None:
        """Fail when some incoming tangent is not zero and all outgoing ones are."""
        moved = [self.moves(value) for value in incoming if value is not None]
        if moved:
            still = self.builder.op(ops.NOT, self.either(moved))
            moves = [self.moves(value) for value in outgoing if value is not None]
            self.builder.check(self.either([still, *moves]), CUT, str(number))

    def either(self, conditions: Sequence[Value]) -> Value:
        """True when one of the conditions is."""
        return reduce(lambda a, b: self.builder.op(ops.OR, a, b), conditions)

    def moves(self, tangent: Value) -> Value:
        """True when a tangent, or an element of one, is not zero."""
        builder, kind = self.builder, tangent.type
        if not isinstance(kind, Buffer):
            return builder.op(ops.NE, tangent, builder.const(0.0, kind))
        extents = builder.dims(tangent)

        def level(axis: int, index: tuple[Value, ...], found: Value) -> Value:
            if axis == kind.rank:
                element = builder.load(tangent, index)
                return builder.op(ops.OR, found, builder.op(ops.NE, element, builder.const(0.0, kind.element)))

            def step(i: Value, some: Value) -> tuple[Value, ...]:
                return (level(axis + 1, (*index, i), some),)

            return builder.loop(builder.index(0), extents[axis], (found,), step, name="ijklmnop"[axis])[0]

        return level(0, (), builder.const(False, BOOL))


__all__ = ["CUT", "Cut", "cut", "decides", "endings", "matters", "watched"]
