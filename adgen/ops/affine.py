"""Identities of i64 arithmetic: equal extents and indices become one value.

Comes in: the operands of an integer operation.  Goes out: an equal value that is simpler, or None.  Guaranteed:
exact modulo 2**64; comparisons and extrema assume, as C does, that sums do not overflow.

The normal form of a sum is `x + c` with the constant last and outermost; a difference with a constant is such a sum.
So `(n - 1) + 1` is `n`, `(i + 1) - i` is 1, `2 * (i + 1)` is `2 * i + 2`, and two extents are equal when they are
the same value.
"""

from __future__ import annotations

import operator
from collections.abc import Callable

from adgen.ir.builder import Builder
from adgen.ir.nodes import Value
from adgen.ir.types import I64, is_float
from adgen.ops import logic
from adgen.ops.bounds import bounds, compared
from adgen.ops.matching import Operands, constant, least, made, make, swapped

Simplify = Callable[[Builder, Operands], Value | None]


def split(builder: Builder, value: Value) -> tuple[Value | None, int]:
    """A value as `base + constant`; a constant has no base."""
    known = builder.known(value)
    if known is not None:
        return None, known
    sum_ = made(builder, value, "add")
    if sum_ is not None:
        offset = builder.known(sum_[1])
        if offset is not None:
            return sum_[0], offset
    return value, 0


def plus(builder: Builder, base: Value, number: int) -> Value:
    """`base + number`."""
    return make(builder, "add", base, constant(builder, number, base)) if number else base


def commuting(name: str) -> Simplify:
    """Shares `b op a` with `a op b`."""
    return lambda builder, operands: swapped(builder, name, operands)


def add(builder: Builder, operands: Operands) -> Value | None:
    a, b = operands
    (x, c), (y, d) = split(builder, a), split(builder, b)
    if x is None or y is None:
        base = y if x is None else x
        assert base is not None
        reflected = made(builder, base, "sub")
        number = None if reflected is None else builder.known(reflected[0])
        if reflected is not None and number is not None:
            return make(builder, "sub", constant(builder, number + c + d, base), reflected[1])
        unchanged = y is None and x is a
        return None if unchanged and d != 0 else plus(builder, base, c + d)
    if c or d:
        return plus(builder, make(builder, "add", x, y), c + d)
    if a is b:
        return make(builder, "mul", builder.const(2, I64), a)
    for one, other in ((a, b), (b, a)):
        difference = made(builder, one, "sub")
        if difference is not None and difference[1] is other:
            return difference[0]
        negated = made(builder, other, "neg")
        if negated is not None:
            return make(builder, "sub", one, negated[0])
    return swapped(builder, "add", operands)


def sub(builder: Builder, operands: Operands) -> Value | None:
    a, b = operands
    (x, c), (y, d) = split(builder, a), split(builder, b)
    if y is None:
        return plus(builder, a, -d)
    if x is y:
        return constant(builder, c - d, a)
    if x is None:
        reflected = made(builder, y, "sub")
        number = None if reflected is None else builder.known(reflected[0])
        if reflected is not None and number is not None:
            return plus(builder, reflected[1], c - number - d)
        if d:
            return make(builder, "sub", constant(builder, c - d, a), y)
        return make(builder, "neg", y) if c == 0 else None
    simpler = _difference(builder, x, y)
    if simpler is None and not c and not d:
        return None
    return plus(builder, make(builder, "sub", x, y) if simpler is None else simpler, c - d)


def _difference(builder: Builder, x: Value, y: Value) -> Value | None:
    """`x - y` where a summand cancels."""
    for p, q in _summands(builder, x):
        if p is y:
            return q
        for r, s in _summands(builder, y):
            if p is r:
                return make(builder, "sub", q, s)
    for r, s in _summands(builder, y):
        if r is x:
            return make(builder, "neg", s)
    difference = made(builder, x, "sub")
    if difference is not None and difference[0] is y:
        return make(builder, "neg", difference[1])
    difference = made(builder, y, "sub")
    if difference is not None and difference[0] is x:
        return difference[1]
    negated = made(builder, y, "neg")
    return make(builder, "add", x, negated[0]) if negated is not None else None


def _summands(builder: Builder, value: Value) -> tuple[Operands, ...]:
    """The ways in which a value is one thing plus another."""
    sum_ = made(builder, value, "add")
    return () if sum_ is None else ((sum_[0], sum_[1]), (sum_[1], sum_[0]))


def mul(builder: Builder, operands: Operands) -> Value | None:
    a, b = operands
    factor, other = builder.known(a), b
    if factor is None:
        factor, other = builder.known(b), a
    if factor is None:
        return swapped(builder, "mul", operands)
    if factor == 0:
        return constant(builder, 0, a)
    if factor in (1, -1):
        return other if factor == 1 else make(builder, "neg", other)
    base, offset = split(builder, other)
    if base is not None and offset:
        return plus(builder, make(builder, "mul", constant(builder, factor, a), base), offset * factor)
    inner = _multiple(builder, other)
    if inner is not None:
        return make(builder, "mul", constant(builder, factor * inner[0], a), inner[1])
    return make(builder, "mul", b, a) if other is a else None


def _multiple(builder: Builder, value: Value) -> tuple[int, Value] | None:
    """A value as constant times something."""
    product = made(builder, value, "mul")
    factor = None if product is None else builder.known(product[0])
    return None if product is None or factor is None else (factor, product[1])


def neg(builder: Builder, operands: Operands) -> Value | None:
    (a,) = operands
    inner = made(builder, a, "neg")
    if inner is not None:
        return inner[0]
    difference = made(builder, a, "sub")
    return None if difference is None else make(builder, "sub", difference[1], difference[0])


def floordiv(builder: Builder, operands: Operands) -> Value | None:
    """`(k*c*x + d) // c` is `k*x + d // c`; floats have no identities here."""
    a, b = operands
    divisor = builder.known(b)
    if a.type != I64 or not divisor:
        return None
    if divisor in (1, -1):
        return a if divisor == 1 else make(builder, "neg", a)
    base, offset = split(builder, a)
    multiple = None if base is None else _multiple(builder, base)
    if multiple is None or multiple[0] % divisor:
        return None
    quotient = make(builder, "mul", constant(builder, multiple[0] // divisor, a), multiple[1])
    return plus(builder, quotient, offset // divisor)


def mod(builder: Builder, operands: Operands) -> Value | None:
    """`(k*c*x + d) % c` is `d % c`."""
    a, b = operands
    divisor = builder.known(b)
    if a.type != I64 or not divisor:
        return None
    if divisor in (1, -1):
        return constant(builder, 0, a)
    base, offset = split(builder, a)
    multiple = None if base is None else _multiple(builder, base)
    if multiple is not None and multiple[0] % divisor == 0:
        return constant(builder, offset % divisor, a)
    inner = made(builder, a, "mod")
    return a if inner is not None and inner[1] is b else None


_COMPARE = {"lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge, "eq": operator.eq}
_COMPARE["ne"] = operator.ne
_NEVER_EQUAL_SELF = ("lt", "gt")


def comparison(name: str) -> Simplify:
    """Comparisons of values that differ by a constant, or whose bounds decide."""
    compare = _COMPARE[name]

    def simplify(builder: Builder, operands: Operands) -> Value | None:
        a, b = operands
        if not is_float(a.type):
            settled = compared(name, bounds(builder, a), bounds(builder, b))
            if settled is not None:
                return builder.const(settled)
        if a.type != I64:
            return (
                builder.const(False)
                if a is b and name in _NEVER_EQUAL_SELF
                else logic.comparison(builder, name, operands)
            )
        (x, c), (y, d) = split(builder, a), split(builder, b)
        if x is y:
            return builder.const(compare(c, d))
        if name in ("eq", "ne"):
            return swapped(builder, name, operands)
        if y is None:
            return _decided(builder, name, least(builder, a), d)
        if x is None:
            mirrored = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}[name]
            return _decided(builder, mirrored, least(builder, b), c)
        return None

    return simplify


def _decided(builder: Builder, name: str, bound: int | None, number: int) -> Value | None:
    """`x name number` where `x >= bound` settles it."""
    if bound is None:
        return None
    if bound >= number if name in ("ge", "lt") else bound > number:
        return builder.const(name in ("ge", "gt"))
    return None


def extremum(name: str) -> Simplify:
    """`maximum` and `minimum`: equal operands, operands a constant apart, bounds, repetition."""
    choose = max if name == "maximum" else min

    def simplify(builder: Builder, operands: Operands) -> Value | None:
        a, b = operands
        if a is b:
            return a
        if a.type != I64:
            return None
        (x, c), (y, d) = split(builder, a), split(builder, b)
        if x is y:
            return a if choose(c, d) == c else b
        for value, other, base, number in ((a, b, y, d), (b, a, x, c)):
            inner = made(builder, value, name)
            if inner is not None and other in inner:
                return value
            if base is None:
                bound = least(builder, value)
                if bound is not None and bound >= number:
                    return value if name == "maximum" else other
                known = None if inner is None else builder.known(inner[1])
                if inner is not None and known is not None:
                    return make(builder, name, inner[0], constant(builder, choose(known, number), a))
        return make(builder, name, b, a) if x is None else swapped(builder, name, operands)

    return simplify
