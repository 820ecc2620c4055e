"""Formulas of real numbers that emit operations: `a * c - b * d` with the operators of Python."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from adgen import ops
from adgen.ir.builder import Builder
from adgen.ir.nodes import Row, Value


@dataclass(frozen=True, eq=False)
class Real:
    """A real number, or a truth value, of a formula; Python numbers in a formula take its type."""

    builder: Builder
    value: Value

    def __add__(self, other: Any) -> Real:
        return self.row(ops.ADD, other)

    def __radd__(self, other: Any) -> Real:
        return self.like(other) + self

    def __sub__(self, other: Any) -> Real:
        return self.row(ops.SUB, other)

    def __rsub__(self, other: Any) -> Real:
        return self.like(other) - self

    def __mul__(self, other: Any) -> Real:
        return self.row(ops.MUL, other)

    def __rmul__(self, other: Any) -> Real:
        return self.like(other) * self

    def __truediv__(self, other: Any) -> Real:
        return self.row(ops.DIV, other)

    def __rtruediv__(self, other: Any) -> Real:
        return self.like(other) / self

    def __neg__(self) -> Real:
        return self.row(ops.NEG)

    def __and__(self, other: Real) -> Real:
        return self.row(ops.AND, other)

    def __or__(self, other: Real) -> Real:
        return self.row(ops.OR, other)

    def __invert__(self) -> Real:
        return self.row(ops.NOT)

    def __lt__(self, other: Any) -> Real:
        return self.row(ops.LT, other)

    def __le__(self, other: Any) -> Real:
        return self.row(ops.LE, other)

    def __gt__(self, other: Any) -> Real:
        return self.row(ops.GT, other)

    def __ge__(self, other: Any) -> Real:
        return self.row(ops.GE, other)

    def equals(self, other: Any) -> Real:
        """`self == other`, which Python's own `==` cannot be: it compares formulas."""
        return self.row(ops.EQ, other)

    def differs(self, other: Any) -> Real:
        """`self != other`."""
        return self.row(ops.NE, other)

    def like(self, number: Any) -> Real:
        """A Python number as a constant of this one's type."""
        return number if isinstance(number, Real) else Real(self.builder, self.builder.const(number, self.value.type))

    def row(self, row: Row, *others: Any) -> Real:
        """Any row of the table with this number as its first operand."""
        return Real(self.builder, self.builder.op(row, self.value, *(self.like(other).value for other in others)))

    def choose(self, a: Any, b: Any) -> Real:
        """`a` where this truth value holds, else `b`; at least one of them is a formula."""
        first, second = (a.like(a), a.like(b)) if isinstance(a, Real) else (b.like(a), b.like(b))
        return Real(self.builder, self.builder.op(ops.SELECT, self.value, first.value, second.value))

    @property
    def known(self) -> Any | None:
        """The Python number of a constant, else None."""
        return self.builder.known(self.value)
