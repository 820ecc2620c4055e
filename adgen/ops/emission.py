"""Partials become IR: a tangent or cotangent times a term.

Comes in: terms, the operands and the result of an operation, the values to multiply.  Goes out: operations.
Guaranteed: a zero costs nothing, a one nothing, a minus one a negation; a quotient divides; a selection selects and
never multiplies by a mask.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from adgen.ir.builder import Builder
from adgen.ir.nodes import Value
from adgen.ir.types import F32, F64, I64, Scalar, Type
from adgen.ops.registry import TABLE
from adgen.ops.terms import Apply, AsFloat, Number, Operand, Out, Term


@dataclass(frozen=True)
class Emission:
    """Emits terms about one operation."""

    builder: Builder
    operands: Sequence[Value]
    result: Value

    @property
    def kind(self) -> Scalar:
        """The type of the operation's real numbers."""
        assert isinstance(self.result.type, Scalar)
        return self.result.type

    def op(self, name: str, *operands: Value) -> Value:
        return self.builder.op(TABLE[name], *operands)

    def converted(self, value: Value, kind: Type) -> Value:
        """The value as another scalar type."""
        return value if value.type == kind else self.op(f"to_{kind}", value)

    def zero(self) -> Value:
        return self.builder.const(0.0, self.kind)

    def value(self, term: Term) -> Value:
        """The operations that compute a term."""
        if isinstance(term, Operand):
            return self.operands[term.position]
        if isinstance(term, Out):
            return self.result
        if isinstance(term, Number):
            return self.builder.const(term.value, I64 if term.integer else self.kind)
        if isinstance(term, AsFloat):
            return self.converted(self.value(term.term), self.kind)
        assert isinstance(term, Apply)
        operands = [self.value(argument) for argument in term.arguments]
        if self.kind == F32 and term.row.kinds == (F64,):
            wide = [self.converted(operand, F64) if operand.type == F32 else operand for operand in operands]
            return self.converted(self.builder.op(term.row, *wide), F32)
        return self.builder.op(term.row, *operands)

    def scaled(self, value: Value, term: Term) -> Value | None:
        """`term * value`; None when the term is zero."""
        if isinstance(term, Number) and term.value in (0, 1, -1):
            return None if term.value == 0 else value if term.value == 1 else self.op("neg", value)
        if isinstance(term, Apply):
            name, arguments = term.row.name, term.arguments
            if name == "neg":
                inner = self.scaled(value, arguments[0])
                return None if inner is None else self.op("neg", inner)
            if name == "div" and arguments[1] == Operand(1) and self.is_reciprocal:
                return self.scaled(self.op("mul", value, self.result), arguments[0])
            if name == "div":
                return self.scaled(self.op("div", value, self.value(arguments[1])), arguments[0])
            if name == "select":
                return self.combined([(value, term)])
        return self.op("mul", self.value(term), value)

    @property
    def is_reciprocal(self) -> bool:
        """True for `1 / y`: a division by y is then a multiplication by the result, which is much cheaper."""
        definition = self.builder.definitions.get(self.result)
        return definition is not None and definition.row.name == "div" and self.builder.known(self.operands[0]) == 1.0

    def combined(self, pairs: Sequence[tuple[Value, Term]]) -> Value | None:
        """The sum of `term * value`; selections by the same condition become one."""
        if not pairs:
            return None
        chosen = [(value, term) for value, term in pairs if isinstance(term, Apply) and term.row.name == "select"]
        conditions = [term.arguments[0] for _, term in chosen if isinstance(term, Apply)]
        if len(chosen) == len(pairs) and all(condition == conditions[0] for condition in conditions):
            arms = [
                self.combined([(value, term.arguments[k]) for value, term in chosen if isinstance(term, Apply)])
                for k in (1, 2)
            ]
            if arms == [None, None]:
                return None
            first, second = (self.zero() if arm is None else arm for arm in arms)
            return self.op("select", self.value(conditions[0]), first, second)
        total: Value | None = None
        for value, term in pairs:
            part = self.scaled(value, term)
            if part is not None:
                total = part if total is None else self.op("add", total, part)
        return total
