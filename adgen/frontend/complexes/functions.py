"""The elementary functions of a complex number as formulas of its real and imaginary part.

Branch cuts are those of C99 and NumPy, signs of zeros included.  The square root and what is made of it follow
W. Kahan, "Branch cuts for complex elementary functions, or much ado about nothing's sign bit" (1987).  Where one part
of a formula would have a singular derivative at a point that it does not serve, its operand is replaced there, so that
nothing times infinity never arises.
"""

from __future__ import annotations

import math

from adgen import ops
from adgen.frontend.complexes.arithmetic import Pair, Rule, absolute
from adgen.frontend.complexes.imaginary import imaginary
from adgen.frontend.complexes.reals import Real
from adgen.ir.nodes import Row

LARGE = 20.0  # from here on tanh is 1 to all digits


def times_i(x: Pair) -> Pair:
    """`1j * x`."""
    return -x[1], x[0]


def over_i(x: Pair) -> Pair:
    """`x / 1j`."""
    return x[1], -x[0]


def _sign(x: Real) -> Real:
    """1 or -1, as the sign bit says; it counts as a constant."""
    return x.like(1.0).row(ops.COPYSIGN, x)


def exponential(x: Pair) -> Pair:
    """`exp(x)`; of `1j * w` the cosine and the sine alone."""
    if imaginary(x):
        return x[1].row(ops.COS), x[1].row(ops.SIN)
    length = x[0].row(ops.EXP)
    return length * x[1].row(ops.COS), length * x[1].row(ops.SIN)


def exponential_of_two(x: Pair) -> Pair:
    """`2 ** x`."""
    return exponential((x[0] * math.log(2.0), x[1] * math.log(2.0)))


def exponential_minus_one(x: Pair) -> Pair:
    """`exp(x) - 1` without cancellation near 0."""
    half = (x[1] * 0.5).row(ops.SIN)
    real = x[0].row(ops.EXPM1) * x[1].row(ops.COS) - 2.0 * half * half
    return real, x[0].row(ops.EXP) * x[1].row(ops.SIN)


def logarithm(x: Pair) -> Pair:
    """`log(x)`; near the unit circle the real part comes from `abs(x)**2 - 1`, which does not lose digits."""
    size = absolute(x)
    a, b = x[0].row(ops.ABS), x[1].row(ops.ABS)
    larger, smaller = (a >= b).choose(x[0] * _sign(x[0]), x[1] * _sign(x[1])), (a >= b).choose(x[1], x[0])
    near = (size > 0.5) & (size < 2.0)
    excess = near.choose((larger - 1.0) * (larger + 1.0) + smaller * smaller, 0.0)
    real = near.choose(0.5 * excess.row(ops.LOG1P), near.choose(1.0, size).row(ops.LOG))
    return real, x[1].row(ops.ATAN2, x[0])


def logarithm_to(base: float) -> Rule:
    """The logarithm to another base."""

    def rule(x: Pair) -> Pair:
        real, imag = logarithm(x)
        return real * (1.0 / math.log(base)), imag * (1.0 / math.log(base))

    return rule


def logarithm_of_one_plus(x: Pair) -> Pair:
    """`log(1 + x)`; the real part near 0 from `2 a + a**2 + b**2`."""
    a, b = x
    excess = a * (2.0 + a) + b * b
    near = excess.row(ops.ABS) < 0.5
    size = near.choose(1.0, (1.0 + a).row(ops.HYPOT, b))
    real = near.choose(0.5 * near.choose(excess, 0.0).row(ops.LOG1P), size.row(ops.LOG))
    return real, b.row(ops.ATAN2, 1.0 + a)


def square_root(x: Pair) -> Pair:
    """`sqrt(x)`: the larger part of the root first, the other one from it, so that nothing cancels."""
    a, b = x
    right = a >= 0.0
    larger = (0.5 * right.choose(a, -a) + 0.5 * absolute(x)).row(ops.SQRT)
    smaller = b / (2.0 * larger.equals(0.0).choose(1.0, larger))
    turn = _sign(b)
    return right.choose(larger, smaller * turn), right.choose(smaller, larger * turn)


# -- trigonometric and hyperbolic ----------------------------------------------------------------------------------


def sine(x: Pair) -> Pair:
    """`sin(x)`."""
    a, b = x
    return a.row(ops.SIN) * b.row(ops.COSH), a.row(ops.COS) * b.row(ops.SINH)


def cosine(x: Pair) -> Pair:
    """`cos(x)`."""
    a, b = x
    return a.row(ops.COS) * b.row(ops.COSH), -(a.row(ops.SIN) * b.row(ops.SINH))


def hyperbolic_sine(x: Pair) -> Pair:
    """`sinh(x)`."""
    a, b = x
    return a.row(ops.SINH) * b.row(ops.COS), a.row(ops.COSH) * b.row(ops.SIN)


def hyperbolic_cosine(x: Pair) -> Pair:
    """`cosh(x)`."""
    a, b = x
    return a.row(ops.COSH) * b.row(ops.COS), a.row(ops.SINH) * b.row(ops.SIN)


def hyperbolic_tangent(x: Pair) -> Pair:
    """`tanh(x)` by Kahan's formula, in terms of `tan(b)` and `sinh(a)`; the limit where `sinh(a)**2` would overflow."""
    a, b = x
    far = a.row(ops.ABS) > LARGE
    inner = far.choose(0.0, a)
    slope, p, q = b.row(ops.TAN), inner.row(ops.SINH), inner.row(ops.COSH)
    secant = 1.0 + slope * slope
    below = 1.0 + secant * p * p
    tail = 4.0 * b.row(ops.SIN) * b.row(ops.COS) * (-2.0 * a.row(ops.ABS)).row(ops.EXP)
    return far.choose(_sign(a), secant * q * p / below), far.choose(tail, slope / below)


def tangent(x: Pair) -> Pair:
    """`tan(x)`."""
    return over_i(hyperbolic_tangent(times_i(x)))


# -- inverse functions ---------------------------------------------------------------------------------------------


def _roots(x: Pair) -> tuple[Pair, Pair]:
    """The square roots of `1 - x` and `1 + x`."""
    return square_root((1.0 - x[0], -x[1])), square_root((1.0 + x[0], x[1]))


def inverse_sine(x: Pair) -> Pair:
    """`arcsin(x)`."""
    (c, d), (p, q) = _roots(x)
    return x[0].row(ops.ATAN2, c * p - d * q), (c * q - d * p).row(ops.ASINH)


def inverse_cosine(x: Pair) -> Pair:
    """`arccos(x)`."""
    (c, d), (p, q) = _roots(x)
    return 2.0 * c.row(ops.ATAN2, p), (p * d - q * c).row(ops.ASINH)


def inverse_hyperbolic_sine(x: Pair) -> Pair:
    """`arcsinh(x)`."""
    return over_i(inverse_sine(times_i(x)))


def inverse_hyperbolic_cosine(x: Pair) -> Pair:
    """`arccosh(x)`."""
    c, d = square_root((x[0] - 1.0, x[1]))
    p, q = square_root((x[0] + 1.0, x[1]))
    return (c * p + d * q).row(ops.ASINH), 2.0 * d.row(ops.ATAN2, p)


def inverse_hyperbolic_tangent(x: Pair) -> Pair:
    """`arctanh(x)`; the real part from its size, as it is odd."""
    a, b = x
    turn = _sign(a)
    size = a * turn
    rest = 1.0 - size
    real = 0.25 * (4.0 * size / (rest * rest + b * b)).row(ops.LOG1P) * turn
    return real, 0.5 * (2.0 * b).row(ops.ATAN2, (1.0 - a) * (1.0 + a) - b * b)


def inverse_tangent(x: Pair) -> Pair:
    """`arctan(x)`."""
    return over_i(inverse_hyperbolic_tangent(times_i(x)))


RULES: dict[Row, Rule] = {
    ops.EXP: exponential,
    ops.EXP2: exponential_of_two,
    ops.EXPM1: exponential_minus_one,
    ops.LOG: logarithm,
    ops.LOG2: logarithm_to(2.0),
    ops.LOG10: logarithm_to(10.0),
    ops.LOG1P: logarithm_of_one_plus,
    ops.SQRT: square_root,
    ops.SIN: sine,
    ops.COS: cosine,
    ops.TAN: tangent,
    ops.SINH: hyperbolic_sine,
    ops.COSH: hyperbolic_cosine,
    ops.TANH: hyperbolic_tangent,
    ops.ASIN: inverse_sine,
    ops.ACOS: inverse_cosine,
    ops.ATAN: inverse_tangent,
    ops.ASINH: inverse_hyperbolic_sine,
    ops.ACOSH: inverse_hyperbolic_cosine,
    ops.ATANH: inverse_hyperbolic_tangent,
}
