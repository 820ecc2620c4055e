"""A zero tangent or cotangent stays zero where a partial is infinite.

`np.where(x > 0, r, 0)` with `r = sqrt(x)` gives `r` a cotangent of zero at `x = 0`, where the partial of the square
root is infinite: what was not taken must contribute nothing, not `0 * inf`.  Comes in: a function.  Goes out: at which
operands of which operations a zero has to be looked at, and what does that.  Guaranteed: a (co)tangent that is not zero
passes unchanged.  What looks is a `select` with the attribute `guard`; `vanishing` takes those out that do nothing.
"""

from __future__ import annotations

from adgen import ops
from adgen.ir import core
from adgen.ir.builder import Builder
from adgen.ir.nodes import Function, Operation, Region, Value, walk
from adgen.ir.types import is_float
from adgen.passes.activity import roots

POSITIVE, NOT_NEGATIVE, UNKNOWN = 2, 1, 0
DEEPEST = 6  # operations that the sign of an operand is followed through
LINEAR = (ops.ADD, ops.SUB, ops.NEG, ops.SELECT, ops.TO_F64, ops.TO_F32, ops.ABS, ops.MAXIMUM, ops.MINIMUM)


class Fragile:
    """Where partials may be infinite: those of `singular` rows, and those that are values of such rows.

    A value is followed inside its region and through memory.  What a loop divides by and does not change is taken to be
    no zero: it would spoil every iteration, and no mask hides that.
    """

    def __init__(self, function: Function) -> None:
        self.made = {value: operation for operation in walk(function.body) for value in operation.results}
        self.root = roots(function)
        self.memory: set[Value] = set()  # buffers that may hold infinite values
        self.places: set[tuple[int, int]] = set()
        size = -1
        while size != len(self.memory):
            size = len(self.memory)
            self._region(function.body)

    def at(self, operation: Operation, position: int) -> bool:
        """True when the partial for this operand may be infinite."""
        return (id(operation), position) in self.places

    def _region(self, region: Region) -> None:
        found: set[Value] = set()
        inside = {*region.arguments, *(value for operation in region.operations for value in operation.results)}
        for operation in region.operations:
            row, operands = operation.row, operation.operands
            for inner in operation.regions:
                self._region(inner)
            if row is core.LOAD and self.root[operands[0]] in self.memory:
                found.add(operation.result)
            elif row in (core.STORE, core.ACCUMULATE) and operands[1] in found:
                self.memory.add(self.root[operands[0]])
            elif row.evaluate is not None and is_float(operation.result.type):
                self._elementwise(operation, inside, found)

    def _elementwise(self, operation: Operation, inside: set[Value], found: set[Value]) -> None:
        singular = getattr(operation.row, "singular", False) and not self._tame(operation, inside)
        weak = [k for k, value in enumerate(operation.operands) if value in found]
        if not singular and not weak:
            return
        found.add(operation.result)
        if operation.row is ops.MUL:
            self.places.update((id(operation), 1 - k) for k in weak)
        elif operation.row not in LINEAR:
            self.places.update((id(operation), k) for k in range(len(operation.operands)))

    def _tame(self, operation: Operation, inside: set[Value]) -> bool:
        """True when the operand that could make a partial infinite is known not to."""
        row, operands = operation.row, operation.operands
        if row is ops.DIV:
            below = operands[1]
            return below not in inside or self._sign(below, DEEPEST) == POSITIVE or bool(self._constant(below))
        if row in (ops.SQRT, ops.CBRT, ops.LOG, ops.LOG2, ops.LOG10):
            return self._sign(operands[0], DEEPEST) == POSITIVE
        if row is ops.LOG1P:
            return self._sign(operands[0], DEEPEST) >= NOT_NEGATIVE
        if row in (ops.POW, ops.POWI):
            least = 1 if row is ops.POW else 0
            exponent = self._constant(operands[1])
            return (exponent is not None and exponent >= least) or self._sign(operands[0], DEEPEST) == POSITIVE
        return False

    def _constant(self, value: Value) -> float | None:
        operation = self.made.get(value)
        return operation.attributes["value"] if operation is not None and operation.row is core.CONST else None

    def _sign(self, value: Value, depth: int) -> int:
        """What is known of the sign of a value from how it was made."""
        operation = self.made.get(value)
        if operation is None or depth == 0:
            return UNKNOWN
        row, operands = operation.row, operation.operands
        if row is core.CONST:
            number = operation.attributes["value"]
            return POSITIVE if number > 0 else NOT_NEGATIVE if number == 0 else UNKNOWN
        if row in (ops.EXP, ops.EXP2, ops.ABS, ops.SQRT, ops.HYPOT) or (row is ops.MUL and operands[0] is operands[1]):
            return NOT_NEGATIVE
        if row is ops.POWI:
            exponent = self._constant(operands[1])
            return NOT_NEGATIVE if exponent is not None and exponent % 2 == 0 and exponent >= 0 else UNKNOWN
        if row not in (ops.ADD, ops.MUL, ops.DIV, ops.MAXIMUM):
            return UNKNOWN
        first, second = (self._sign(operand, depth - 1) for operand in operands)
        if row is ops.MAXIMUM:
            return max(first, second)
        if row is ops.ADD:
            return max(first, second) if UNKNOWN not in (first, second) else UNKNOWN
        return min(first, second, NOT_NEGATIVE)  # a product may underflow


def guarded(builder: Builder, moving: Value, part: Value) -> Value:
    """What a zero (co)tangent contributes is zero; any other contributes `part`."""
    zero = builder.const(0.0, moving.type)
    condition = builder.op(ops.EQ, moving, zero)
    return builder.op(ops.SELECT, condition, builder.const(0.0, part.type), part, guard=True)
