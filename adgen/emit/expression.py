"""C expressions on their way into statements.

Comes in: operands as expressions, a row.  Goes out: the text of the operation, what must not change before the text is
evaluated, and, where that is exact, the same value written otherwise: negated, or as the opposite condition.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from adgen import ops
from adgen.diagnostics import Span
from adgen.ir.nodes import Row
from adgen.ir.types import BOOL, I64, Scalar
from adgen.ops.elementwise import Elementwise
from adgen.ops.spelling import ADDITIVE, MULTIPLICATIVE, PRIMARY, UNARY, enclosed

NOTHING: frozenset[Any] = frozenset()


@dataclass(frozen=True, eq=False)
class Expression:
    """A piece of C and its precedence.

    `reads` holds the variables and buffers that it depends on.  `row`, `parts` and `kind` (the type of the first
    operand) tell how it was made; `hint` is a name for the value in case it needs one.
    """

    text: str
    precedence: int = PRIMARY
    reads: frozenset[Any] = NOTHING
    span: Span | None = None
    row: Row | None = None
    parts: tuple[Expression, ...] = field(default=(), repr=False)
    kind: Scalar | None = None
    hint: str = ""

    @property
    def pair(self) -> tuple[str, int]:
        """Text and precedence, as spellings take them."""
        return self.text, self.precedence

    def inside(self, least: int) -> str:
        """The text, in parentheses where it binds less tightly than `least`."""
        return enclosed(self.pair, least)


def applied(row: Elementwise, parts: Sequence[Expression], kind: Scalar, span: Span | None) -> Expression:
    """An operation on expressions.  Sums of negated terms are written as differences, and the other way round."""
    parts = tuple(parts)
    if row in (ops.ADD, ops.SUB):
        opposite = negated(parts[1])
        if opposite is not None:
            row, parts = (ops.SUB if row is ops.ADD else ops.ADD), (parts[0], opposite)
        elif row is ops.ADD and (opposite := negated(parts[0])) is not None:
            row, parts = ops.SUB, (parts[1], opposite)
    elif row is ops.NOT:
        return denied(parts[0])
    if row in _MIRRORED and parts[0].row is None and parts[0].precedence == PRIMARY and parts[0].text[0].isdigit():
        row, parts = _MIRRORED[row], (parts[1], parts[0])
    if row in _MIRRORED and parts[0].text == parts[1].text and not kind.is_float:
        return Expression("true" if row in (ops.LE, ops.GE, ops.EQ) else "false", span=span)
    if kind == BOOL and row in _ORDER:
        logical, first, second = _ORDER[row]
        signed = [denied(part) if turned else part for part, turned in zip(parts, (first, second), strict=True)]
        return applied(logical, signed, BOOL, span)
    joined = row in (ops.AND, ops.OR)  # a chain of one kind needs no parentheses
    pairs = [(part.text, PRIMARY) if joined and part.row is row else part.pair for part in parts]
    text, precedence = row.c.render(pairs, kind)
    called = precedence == PRIMARY and len(parts) == 1 and parts[0].text.isidentifier()
    return Expression(
        text, precedence, reads_of(parts), span, row, parts, kind, f"{row.name}_{parts[0].text}" if called else ""
    )


def reads_of(parts: Sequence[Expression]) -> frozenset[Any]:
    """What several expressions depend on."""
    if len(parts) == 1:
        return parts[0].reads
    return NOTHING.union(*(part.reads for part in parts))


def negated(expression: Expression) -> Expression | None:
    """The negative of an expression that begins with a minus sign: exactly that, as IEEE signs are symmetric."""
    row, parts = expression.row, expression.parts
    if row is None:
        if expression.precedence == UNARY and expression.text.startswith("-"):
            return Expression(expression.text[1:], PRIMARY, expression.reads, expression.span)
        return None
    if row is ops.NEG:
        return parts[0]
    if row in (ops.MUL, ops.DIV) and expression.kind != I64:
        first = negated(parts[0])
        if first is not None and expression.kind is not None:
            return applied(row, (first, *parts[1:]), expression.kind, expression.span)
    return None


def denied(condition: Expression) -> Expression:
    """The opposite of a condition.  Comparisons of floats are not turned round: a nan fails both ways."""
    row, parts = condition.row, condition.parts
    if row is ops.NOT:
        return parts[0]
    if row in (ops.AND, ops.OR):
        other = ops.OR if row is ops.AND else ops.AND
        return applied(other, [denied(part) for part in parts], BOOL, condition.span)
    opposite = _OPPOSITE.get(row) if row is not None else None
    if opposite is not None and condition.kind is not None and (row in (ops.EQ, ops.NE) or not condition.kind.is_float):
        return applied(opposite, parts, condition.kind, condition.span)
    text, precedence = ops.NOT.c.render([condition.pair], BOOL)
    return Expression(text, precedence, condition.reads, condition.span, ops.NOT, (condition,), BOOL)


def assignment(target: Expression, value: Expression) -> str:
    """`target = value;`, or a compound assignment where the value begins with the target."""
    sign = _COMPOUND.get(value.row) if value.row is not None else None
    if sign and value.parts[0].text == target.text:
        return f"{target.text} {sign} {value.parts[1].text};"
    if sign and value.row in (ops.ADD, ops.MUL) and value.parts[1].text == target.text:
        return f"{target.text} {sign} {value.parts[0].text};"
    return f"{target.text} = {value.text};"


def increment(target: Expression, value: Expression) -> str:
    """`target += value;`, or `-=` of its negative."""
    opposite = negated(value)
    return f"{target.text} += {value.text};" if opposite is None else f"{target.text} -= {opposite.text};"


def element(name: str, root: Any, indices: Sequence[Expression], extents: Sequence[Expression]) -> Expression:
    """`A[i * n + j]`: an element of a buffer stored row by row."""
    total = indices[0] if indices else Expression("0")
    for index, extent in zip(indices[1:], extents[1:], strict=True):
        total = _sum(product(total, extent), index)
    return Expression(f"{name}[{total.text}]", PRIMARY, reads_of([*indices, *extents[1:]]) | {root})


def product(first: Expression, second: Expression) -> Expression:
    """The product of integers, numbers multiplied out."""
    if second.text.isdigit():
        rest, _, number = first.text.rpartition(" * ")
        if first.text.isdigit() or (number.isdigit() and first.precedence == MULTIPLICATIVE):
            whole = str(int(number) * int(second.text))
            return Expression(f"{rest} * {whole}" if rest else whole, first.precedence)
    if first.text == "0" or second.text == "1":
        return first
    if first.text == "1":
        return second
    text = f"{first.inside(MULTIPLICATIVE)} * {second.inside(MULTIPLICATIVE + 1)}"
    return Expression(text, MULTIPLICATIVE)


def _sum(first: Expression, second: Expression) -> Expression:
    if first.text.isdigit() and second.text.isdigit():
        return Expression(str(int(first.text) + int(second.text)))
    if first.text == "0":
        return second
    if second.text == "0":
        return first
    sign, second = ("-", opposite) if (opposite := negated(second)) is not None else ("+", second)
    # integers: a sum may be regrouped
    least = ADDITIVE if sign == "+" else ADDITIVE + 1
    return Expression(f"{first.inside(ADDITIVE)} {sign} {second.inside(least)}", ADDITIVE)


_OPPOSITE: dict[Row, Elementwise] = {
    ops.LT: ops.GE,
    ops.LE: ops.GT,
    ops.GT: ops.LE,
    ops.GE: ops.LT,
    ops.EQ: ops.NE,
    ops.NE: ops.EQ,
}
_MIRRORED: dict[Row, Elementwise] = {
    ops.LT: ops.GT,
    ops.LE: ops.GE,
    ops.GT: ops.LT,
    ops.GE: ops.LE,
    ops.EQ: ops.EQ,
    ops.NE: ops.NE,
}
_ORDER: dict[Row, tuple[Elementwise, bool, bool]] = {  # of truth values: which sides are denied
    ops.LT: (ops.AND, True, False),
    ops.LE: (ops.OR, True, False),
    ops.GT: (ops.AND, False, True),
    ops.GE: (ops.OR, False, True),
}
_COMPOUND: dict[Row, str] = {ops.ADD: "+=", ops.SUB: "-=", ops.MUL: "*=", ops.DIV: "/="}
