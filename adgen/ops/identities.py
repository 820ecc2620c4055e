"""Identities of floating-point arithmetic and of conversions that hold bit for bit.

Comes in: the operands of an operation.  Goes out: an equal value that is simpler, or None.  Guaranteed: IEEE results
are kept, signed zeros, infinities and nan included; so `x + 0.0` stays (it turns -0.0 into 0.0) and `0.0 * x` stays.

Negations move outward, where sums absorb them: they are exact, and so is `x + x = 2 x`.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from adgen.ir.builder import Builder
from adgen.ir.nodes import Value
from adgen.ir.types import BOOL, F32, F64, I64, Scalar, is_float
from adgen.ops.matching import Operands, constant, made, make, swapped

Simplify = Callable[[Builder, Operands], Value | None]


def by_type(real: Simplify, integer: Simplify) -> Simplify:
    """One identity for floats, another for i64."""
    return lambda builder, operands: (integer if operands[0].type == I64 else real)(builder, operands)


def is_number(builder: Builder, value: Value, number: float) -> bool:
    """True for that very constant: 0.0 is not -0.0."""
    known = builder.known(value)
    return known is not None and known == number and math.copysign(1.0, known) == math.copysign(1.0, number)


def add(builder: Builder, operands: Operands) -> Value | None:
    a, b = operands
    for one, other in ((a, b), (b, a)):
        if is_number(builder, one, -0.0):
            return other
        negated = made(builder, one, "neg")
        if negated is not None:
            return make(builder, "sub", other, negated[0])
    if a is b:
        return make(builder, "mul", constant(builder, 2.0, a), a)
    return swapped(builder, "add", operands)


def sub(builder: Builder, operands: Operands) -> Value | None:
    a, b = operands
    if is_number(builder, b, 0.0):
        return a
    if is_number(builder, a, -0.0):
        return make(builder, "neg", b)
    negated = made(builder, b, "neg")
    return None if negated is None else make(builder, "add", a, negated[0])


def mul(builder: Builder, operands: Operands) -> Value | None:
    a, b = operands
    for one, other in ((a, b), (b, a)):
        if is_number(builder, one, 1.0):
            return other
        if is_number(builder, one, -1.0):
            return make(builder, "neg", other)
    outward = _negated_outward(builder, "mul", a, b)
    return swapped(builder, "mul", operands) if outward is None else outward


def div(builder: Builder, operands: Operands) -> Value | None:
    a, b = operands
    if is_number(builder, b, 1.0):
        return a
    if is_number(builder, b, -1.0):
        return make(builder, "neg", a)
    return _negated_outward(builder, "div", a, b)


def _negated_outward(builder: Builder, name: str, a: Value, b: Value) -> Value | None:
    """`-x op y`, `x op -y` and `-x op -y`."""
    first, second = made(builder, a, "neg"), made(builder, b, "neg")
    if first is None and second is None:
        return None
    x, y = a if first is None else first[0], b if second is None else second[0]
    positive = make(builder, name, x, y)
    return positive if first is not None and second is not None else make(builder, "neg", positive)


def neg(builder: Builder, operands: Operands) -> Value | None:
    inner = made(builder, operands[0], "neg")
    return None if inner is None else inner[0]


def absolute(builder: Builder, operands: Operands) -> Value | None:
    (a,) = operands
    if made(builder, a, "abs") is not None and a.type != I64:
        return a
    negated = made(builder, a, "neg")
    return None if negated is None else make(builder, "abs", negated[0])


def power(builder: Builder, operands: Operands) -> Value | None:
    """What NumPy computes for the exponents 0, 1, 2, 1/2 and -1 (and C compilers for most of them)."""
    x, exponent = operands
    known = builder.known(exponent)
    if known == 0:
        return constant(builder, 1.0, x)
    if known == 1:
        return x
    if known == 2:
        return make(builder, "mul", x, x)
    if known == 0.5:
        return make(builder, "sqrt", x)
    return make(builder, "div", constant(builder, 1.0, x), x) if known == -1 else None


def powi(builder: Builder, operands: Operands) -> Value | None:
    """As the product by repeated squaring that it is."""
    x, exponent = operands
    known = builder.known(exponent)
    if known in (0, 1):
        return x if known else constant(builder, 1.0, x)
    if known == 2:
        return make(builder, "mul", x, x)
    return make(builder, "div", constant(builder, 1.0, x), x) if known == -1 else None


def rounding(builder: Builder, operands: Operands) -> Value | None:
    """A number that was rounded, or was an integer, stays."""
    operation = builder.definitions.get(operands[0])
    if operation is None:
        return None
    if operation.row.name in ("floor", "ceil", "trunc", "rint"):
        return operands[0]
    from_integer = operation.row.name in ("to_f64", "to_f32") and not is_float(operation.operands[0].type)
    return operands[0] if from_integer else None


def holds(kind: Scalar, other: Scalar) -> bool:
    """True when a type holds every number of another one."""
    if other == BOOL or kind == other:
        return True
    if other.is_float:
        return kind == F64
    digits = {F64: 53, F32: 24}.get(kind)
    if digits is not None:
        return other.numbers.stop <= 1 << digits
    return kind != BOOL and other.numbers[0] in kind.numbers and other.numbers[-1] in kind.numbers


def cast(target: Scalar) -> Simplify:
    """A conversion to the same type, or one after another that lost nothing."""

    def simplify(builder: Builder, operands: Operands) -> Value | None:
        (a,) = operands
        if a.type == target:
            return a
        inner = made(builder, a, f"to_{a.type}")
        if inner is None:
            return None
        source = inner[0].type
        assert isinstance(source, Scalar) and isinstance(a.type, Scalar)
        return make(builder, f"to_{target}", inner[0]) if holds(a.type, source) else None

    return simplify
