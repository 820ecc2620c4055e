"""Identities of logic and selection.

Comes in: the operands of a logical operation.  Goes out: an equal value that is simpler, or None.  Guaranteed:
exact, nan included: only `==` and `!=` are each other's negation for floats.
"""

from __future__ import annotations

from adgen.ir.builder import Builder
from adgen.ir.nodes import Value
from adgen.ir.types import BOOL, I64
from adgen.ops.matching import Operands, made, make, swapped

NEGATION = {"lt": "ge", "ge": "lt", "gt": "le", "le": "gt", "eq": "ne", "ne": "eq"}


def comparison(builder: Builder, name: str, operands: Operands) -> Value | None:
    """`==` and `!=` of booleans and floats commute; a boolean compared with a constant is itself or its negation.

    What is zero is zero without its sign too.
    """
    if name not in ("eq", "ne"):
        return None
    for known, other in (operands, operands[::-1]):
        negated = made(builder, other, "neg")
        if negated is not None and builder.known(known) == 0:
            return make(builder, name, negated[0], known)
    if operands[0].type == BOOL:
        for known, other in (operands, operands[::-1]):
            number = builder.known(known)
            if number is not None:
                return other if number == (name == "eq") else make(builder, "not", other)
    return swapped(builder, name, operands)


def opposite(builder: Builder, a: Value, b: Value) -> bool:
    """True when one is the `not` of the other."""
    return made(builder, a, "not") == (b,) or made(builder, b, "not") == (a,)


def conjunction(builder: Builder, operands: Operands) -> Value | None:
    return _junction(builder, "and", operands, neutral=True)


def disjunction(builder: Builder, operands: Operands) -> Value | None:
    return _junction(builder, "or", operands, neutral=False)


def _junction(builder: Builder, name: str, operands: Operands, neutral: bool) -> Value | None:
    a, b = operands
    for one, other in ((a, b), (b, a)):
        known = builder.known(one)
        if known is not None:
            return other if known == neutral else one
    if a is b:
        return a
    if opposite(builder, a, b):
        return builder.const(not neutral)
    return swapped(builder, name, operands)


def exclusive(builder: Builder, operands: Operands) -> Value | None:
    a, b = operands
    for one, other in ((a, b), (b, a)):
        known = builder.known(one)
        if known is not None:
            return make(builder, "not", other) if known else other
    if a is b or opposite(builder, a, b):
        return builder.const(a is not b)
    return swapped(builder, "xor", operands)


def negation(builder: Builder, operands: Operands) -> Value | None:
    (a,) = operands
    operation = builder.definitions.get(a)
    if operation is None:
        return None
    name = operation.row.name
    if name == "not":
        return operation.operands[0]
    if name in NEGATION and (name in ("eq", "ne") or operation.operands[0].type in (I64, BOOL)):
        return make(builder, NEGATION[name], *operation.operands)
    return None


def selection(builder: Builder, operands: Operands) -> Value | None:
    """Known conditions, equal arms, negated conditions, arms that select by the same condition."""
    condition, a, b = operands
    known = builder.known(condition)
    if known is not None:
        return a if known else b
    if a is b:
        return a
    negated = made(builder, condition, "not")
    if negated is not None:
        return make(builder, "select", negated[0], b, a)
    if a.type == BOOL:
        arms = builder.known(a), builder.known(b)
        if arms == (True, False):
            return condition
        if arms == (False, True):
            return make(builder, "not", condition)
    first, second = made(builder, a, "select"), made(builder, b, "select")
    if first is not None and first[0] is condition:
        return make(builder, "select", condition, first[1], b)
    if second is not None and second[0] is condition:
        return make(builder, "select", condition, a, second[2])
    return None
