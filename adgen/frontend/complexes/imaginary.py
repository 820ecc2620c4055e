"""Numbers that are imaginary by the way they were computed, as in `1j * w * t / n`.

Python multiplies complex numbers in full, so the real part of `1j * w` is `0.0 * w - 0.0`: zero for every finite `w`.
"""

from __future__ import annotations

from adgen import ops
from adgen.frontend.complexes.arithmetic import Pair
from adgen.ir.builder import Builder
from adgen.ir.nodes import Value

FACTOR, DIVISOR = "factor", "divisor"
Use = tuple[Value, str]


def imaginary(x: Pair) -> bool:
    """True when the real part is zero, or the imaginary part is not finite (nor is then what is computed from it).

    The real part is zero unless one of a few operands is not finite or divides by zero; then the same operands are
    factors and divisors of the imaginary part, which sums, products and quotients do not make finite again.
    """
    needs = _Needs(x[0].builder).of(x[0].value)
    return needs is not None and needs <= _uses(x[1].builder, x[1].value)


class _Needs:
    """What must be finite (factors), or neither zero nor NaN (divisors), for values to be zero; None: no zero."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self.found: dict[Value, frozenset[Use] | None] = {}

    def of(self, value: Value) -> frozenset[Use] | None:
        """The needs of a value."""
        if value not in self.found:
            self.found[value] = self._computed(value)
        return self.found[value]

    def _computed(self, value: Value) -> frozenset[Use] | None:
        known, operation = self.builder.known(value), self.builder.definitions.get(value)
        if known is not None:
            return frozenset() if known == 0 else None
        if operation is None:
            return None
        row, operands = operation.row, operation.operands
        if row in (ops.ADD, ops.SUB):
            first, second = self.of(operands[0]), self.of(operands[1])
            return None if first is None or second is None else first | second
        if row is ops.NEG:
            return self.of(operands[0])
        if row is ops.COPYSIGN:
            return frozenset() if self.builder.known(operands[0]) == 0 else None
        if row is ops.DIV:
            needs = self.of(operands[0])
            return None if needs is None else needs | {(operands[1], DIVISOR)}
        if row is ops.MUL:
            for zero, other in (operands, operands[::-1]):
                needs = self.of(zero)
                if needs is not None:
                    return needs if self.builder.known(other) is not None else needs | {(other, FACTOR)}
        return None


def _uses(builder: Builder, value: Value) -> set[Use]:
    """The values that a sum of products and quotients is made of: where one is not finite, nor is the result."""
    found: set[Use] = set()
    pending = [value]
    while pending:
        value = pending.pop()
        if (value, FACTOR) in found:
            continue
        found.add((value, FACTOR))
        operation = builder.definitions.get(value)
        if operation is not None and operation.row in (ops.ADD, ops.SUB, ops.NEG, ops.MUL):
            pending.extend(operation.operands)
        elif operation is not None and operation.row is ops.DIV:
            pending.append(operation.operands[0])
            found.add((operation.operands[1], DIVISOR))
    return found
