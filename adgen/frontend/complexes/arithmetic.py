"""Arithmetic, comparison and powers of complex numbers as formulas of their real and imaginary parts.

Comes in: pairs of reals.  Goes out: a pair, or one real or truth value.  Guaranteed: as NumPy's loops, signs of zeros
included, so that what lies on a branch cut stays on its side; formulas are such that their real derivatives are those
of the complex function wherever it has one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adgen import ops
from adgen.frontend.complexes.reals import Real
from adgen.ir.nodes import Row

Pair = tuple[Real, Real]
Rule = Callable[..., Pair | Real]
REPEATED = 100  # integer powers up to this one are products, as in NumPy and Python


def add(x: Pair, y: Pair) -> Pair:
    """`x + y`."""
    return x[0] + y[0], x[1] + y[1]


def subtract(x: Pair, y: Pair) -> Pair:
    """`x - y`."""
    return x[0] - y[0], x[1] - y[1]


def multiply(x: Pair, y: Pair) -> Pair:
    """`x * y`."""
    (a, b), (c, d) = x, y
    return a * c - b * d, a * d + b * c


def divide(x: Pair, y: Pair) -> Pair:
    """`x / y` by Smith's method (R. L. Smith, Algorithm 116, CACM 1962), as in NumPy: nothing overflows early."""
    (a, b), (c, d) = x, y
    if d.known is not None and d.known == 0:
        zero = d.like(0.0).row(ops.COPYSIGN, c)  # the ratio d / c, whose sign decides those of zeros
        return (a + b * zero) / c, (b - a * zero) / c
    real = c.row(ops.ABS) >= d.row(ops.ABS)
    p, q = real.choose(c, d), real.choose(d, c)
    nothing = p.equals(0.0) & q.equals(0.0)
    ratio = q / nothing.choose(1.0, p)
    scale = 1.0 / nothing.choose(0.0, p + q * ratio)
    m, n = real.choose(a, b), real.choose(b, a)
    first, second = n, m * ratio
    return (m + n * ratio) * scale, real.choose(first - second, second - first) * scale


def reciprocal(x: Pair) -> Pair:
    """`np.reciprocal(x)`, which differs from `1 / x` in the signs of zeros."""
    a, b = x
    real = a.row(ops.ABS) >= b.row(ops.ABS)
    p, q = real.choose(a, b), real.choose(b, a)
    ratio = q / p
    below = p + q * ratio
    return real.choose(1.0, ratio) / below, -(real.choose(ratio, 1.0) / below)


def negative(x: Pair) -> Pair:
    """`-x`."""
    return -x[0], -x[1]


def absolute(x: Pair) -> Real:
    """`abs(x)`, whose derivative at 0 is 0."""
    return x[0].row(ops.HYPOT, x[1])


def sign(x: Pair) -> Pair:
    """`x / abs(x)`, 0 at 0."""
    size = absolute(x)
    nothing = size.equals(0.0)
    size = nothing.choose(1.0, size)
    return nothing.choose(0.0, x[0] / size), nothing.choose(0.0, x[1] / size)


def rounded(x: Pair) -> Pair:
    """Both parts rounded, half to even."""
    return x[0].row(ops.RINT), x[1].row(ops.RINT)


# -- comparison and choice -----------------------------------------------------------------------------------------


def equal(x: Pair, y: Pair) -> Real:
    """`x == y`."""
    return x[0].equals(y[0]) & x[1].equals(y[1])


def not_equal(x: Pair, y: Pair) -> Real:
    """`x != y`."""
    return x[0].differs(y[0]) | x[1].differs(y[1])


def ordered(row: Row, strict: Row) -> Rule:
    """NumPy's order: by the real parts, then by the imaginary ones."""

    def rule(x: Pair, y: Pair) -> Real:
        numbers = ~(x[1].row(ops.ISNAN) | y[1].row(ops.ISNAN))
        return (x[0].row(strict, y[0]) & numbers) | (x[0].equals(y[0]) & x[1].row(row, y[1]))

    return rule


def select(condition: Real, x: Pair, y: Pair) -> Pair:
    """`x` where the condition holds, else `y`."""
    return condition.choose(x[0], y[0]), condition.choose(x[1], y[1])


def either(row: Row) -> Rule:
    """True when the row holds of one of the parts."""
    return lambda x: x[0].row(row) | x[1].row(row)


def both(row: Row) -> Rule:
    """True when the row holds of both parts."""
    return lambda x: x[0].row(row) & x[1].row(row)


# -- powers --------------------------------------------------------------------------------------------------------


def power(x: Pair, y: Pair) -> Pair:
    """`x ** y`; constants that are integers as products."""
    exponent = y[0].known
    if y[1].known == 0 and exponent is not None and exponent == int_or_zero(exponent) and abs(exponent) < REPEATED:
        return repeated(x, int(exponent))
    return polar_power(x, y)


def int_or_zero(number: float) -> int:
    """The integer part of a finite number, else 0."""
    return int(number) if abs(number) < 2**53 else 0


def repeated(x: Pair, n: int) -> Pair:
    """`x ** n` by squaring, as in NumPy."""
    if n < 0:
        return divide(_one(x), repeated(x, -n))
    result: Pair | None = None
    while n:
        if n % 2:
            result = x if result is None else multiply(result, x)
        n //= 2
        x = multiply(x, x) if n else x
    return _one(x) if result is None else result


def _one(x: Pair) -> Pair:
    return x[0].like(1.0), x[0].like(0.0)


def integer_power(x: Pair, n: Real) -> Pair:
    """`x ** n` for an integer that is known at run time only: a loop of products, unless there would be many."""
    if n.known is not None:
        small = abs(n.known) < REPEATED
        return repeated(x, int(n.known)) if small else polar_power(x, (x[0].like(float(n.known)), x[0].like(0.0)))
    b = n.builder
    size = n.row(ops.ABS)

    def many(*parts: Any) -> Any:
        return tuple(part.value for part in multiply((Real(b, parts[0]), Real(b, parts[1])), x))

    def inverse(product: Pair) -> Any:
        return tuple(part.value for part in divide(_one(x), product))

    def products() -> Any:
        start = [part.value for part in _one(x)]
        real, imag = b.loop(b.index(0), size.value, start, lambda _, *parts: many(*parts), name="k")
        return b.branch((n < 0).value, lambda: inverse((Real(b, real), Real(b, imag))), lambda: (real, imag))

    def general() -> Any:
        exponent = b.op(ops.TO_F64, n.value)
        exponent = exponent if exponent.type == x[0].value.type else b.op(ops.TO_F32, n.value)
        return tuple(part.value for part in polar_power(x, (Real(b, exponent), x[0].like(0.0))))

    real, imag = b.branch((size < REPEATED).value, products, general)
    return Real(b, real), Real(b, imag)


def polar_power(x: Pair, y: Pair) -> Pair:
    """`x ** y` from absolute value and angle, as in Python; at 0 as in NumPy: 1 for `y = 0`, else 0 or not a number."""
    (a, b), (c, d) = x, y
    zero = a.equals(0.0) & b.equals(0.0)
    a = zero.choose(1.0, a)
    size, angle = a.row(ops.HYPOT, b), b.row(ops.ATAN2, a)
    length, turn = size.row(ops.POW, c), angle * c
    if d.known is None or d.known != 0:
        length = length * (-(d * angle)).row(ops.EXP)
        turn = turn + d * size.row(ops.LOG)
    nan = float("nan")
    nothing = (c > 0.0).choose(c.like(0.0), nan)
    trivial = c.equals(0.0) & d.equals(0.0)
    real = zero.choose(trivial.choose(1.0, nothing), length * turn.row(ops.COS))
    imag = zero.choose(trivial.choose(0.0, nothing), length * turn.row(ops.SIN))
    return real, imag


RULES: dict[Row, Rule] = {
    ops.ADD: add,
    ops.SUB: subtract,
    ops.MUL: multiply,
    ops.DIV: divide,
    ops.NEG: negative,
    ops.ABS: absolute,
    ops.SIGN: sign,
    ops.RINT: rounded,
    ops.EQ: equal,
    ops.NE: not_equal,
    ops.LT: ordered(ops.LT, ops.LT),
    ops.LE: ordered(ops.LE, ops.LT),
    ops.GT: ordered(ops.GT, ops.GT),
    ops.GE: ordered(ops.GE, ops.GT),
    ops.SELECT: select,
    ops.ISNAN: either(ops.ISNAN),
    ops.ISINF: either(ops.ISINF),
    ops.ISFINITE: both(ops.ISFINITE),
    ops.TO_BOOL: lambda x: x[0].differs(0.0) | x[1].differs(0.0),
    ops.POW: power,
    ops.POWI: integer_power,
}
