"""Rows: Bessel functions of integral order, in Python and in C, line for line the same.

Comes in: an order n and a real number.  Goes out: `besselj`, `bessely` by the C library, `besseli`, `besselk` here.
Guaranteed: relative error near 1e-15 (absolute near zeros of J and Y); the derivatives are sums of neighbouring orders,
so that nothing is divided by the argument, and are of every order within the table.

I is its power series, all of whose terms have one sign, and far out its asymptotic series.  K of order 0 and 1 is its
series with the logarithm for small arguments, else the trapezoidal rule for the integral of exp(-x cosh t) cosh(n t),
which converges geometrically; higher orders follow by the recurrence, which is stable upwards.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

from adgen.ir.types import F64, I64
from adgen.ops.elementwise import Elementwise, Partials, elementwise
from adgen.ops.exponential import EXP, LOG
from adgen.ops.hyperbolic import COSH, SINH
from adgen.ops.libm import library
from adgen.ops.powers import SQRT
from adgen.ops.spelling import HelperCall
from adgen.ops.terms import Term

LARGEST = 2**31 - 1  # the largest order that the C library takes
EULER = 0.57721566490153286061

OF_LIBM_C = """
extern double $NAME(int n, double x);
static inline double $name(int64_t n, double x) {
    if (isnan(x)) return x;
    if (fabs((double)n) > 10.0 * fabs(x) + 1000.0) return $FAR; /* too small, or too large, for a number */
    return n > INT32_MAX || n < -INT32_MAX ? (double)NAN : $NAME((int)n, x);
}
"""

BESSELI_C = """
static inline double $name(int64_t order, double argument) {
    const double n = fabs((double)order), x = fabs(argument);
    const double sign = argument < 0.0 && order % 2 != 0 ? -1.0 : 1.0;
    if (!isfinite(x)) return sign * x;
    if (x > 30.0 && x > n * n) {
        double sum = 1.0, term = 1.0;
        for (int k = 1; k <= 200 && fabs(term) > 1e-17 * fabs(sum); ++k) {
            term *= ((2.0 * k - 1.0) * (2.0 * k - 1.0) - 4.0 * n * n) / (8.0 * x * k);
            sum += term;
        }
        const double half = exp(0.5 * x);
        return sign * (half / sqrt(6.283185307179586477 * x) * sum * half);
    }
    double term = 1.0;
    for (int64_t k = 1; (double)k <= n && term > 0.0 && !isinf(term); ++k) term *= 0.5 * x / (double)k;
    double sum = term;
    for (int k = 1; term > 1e-17 * sum; ++k) {
        term *= 0.25 * x * x / ((double)k * (n + k));
        sum += term;
    }
    return sign * sum;
}
"""

BESSELK_C = """
/* K of order n = 0 or 1 for 0 < x < 2: the power series with the logarithm. */
static inline double ad_besselk_small(int n, double x) {
    const double q = 0.25 * x * x;
    double term = n == 0 ? 1.0 : 0.5 * x, first = term, harmonic = 0.0;
    double second = n == 0 ? 0.0 : 0.5 * term;
    for (int k = 1; k <= 25; ++k) {
        harmonic += 1.0 / k;
        term *= q / ((double)k * (k + n));
        first += term;
        second += term * (n == 0 ? harmonic : harmonic + 0.5 / (k + 1.0));
    }
    const double logarithm = log(0.5 * x) + 0.57721566490153286061;
    return n == 0 ? second - logarithm * first : 1.0 / x + logarithm * first - second;
}

/* K of order n = 0 or 1 for x >= 2: the trapezoidal rule. */
static inline double ad_besselk_large(int n, double x) {
    const double step = fmin(0.2, 0.6 / sqrt(x));
    double sum = 0.5;
    for (int k = 1; k <= 200; ++k) {
        const double s = sinh(0.5 * step * k);
        const double term = exp(-2.0 * x * s * s) * (n == 0 ? 1.0 : cosh(step * k));
        sum += term;
        if (term < 1e-18 * sum) break;
    }
    return exp(-x) * step * sum;
}

static inline double $name(int64_t order, double x) {
    const double n = fabs((double)order);
    if (isnan(x) || x < 0.0) return (double)NAN;
    if (x == 0.0 || isinf(x)) return x == 0.0 ? (double)INFINITY : 0.0;
    double below = x < 2.0 ? ad_besselk_small(0, x) : ad_besselk_large(0, x);
    if (n == 0.0) return below;
    double value = x < 2.0 ? ad_besselk_small(1, x) : ad_besselk_large(1, x);
    for (double k = 1.0; k < n && value > 0.0 && !isinf(value); ++k) {
        const double above = below + 2.0 * k / x * value;
        below = value;
        value = above;
    }
    return value;
}
"""


FAR_Y_C = "x < 0.0 ? (double)NAN : n < 0 && n % 2 != 0 ? (double)INFINITY : -(double)INFINITY"


def _far_y(n: int, x: float) -> float:
    """The value of Y at an order that is large beside the argument."""
    return np.nan if x < 0.0 else np.inf if n < 0 and n % 2 else -np.inf


class OfLibm:
    """A function of the C library of an order and a number; `far` is its value at orders that are large beside it."""

    def __init__(self, name: str, far: Callable[[int, float], float]) -> None:
        self.name = name
        self.far = far

    def __call__(self, n: Any, x: Any) -> Any:
        if isinstance(x, np.ndarray):
            return np.vectorize(self, otypes=[np.float64])(n, x)
        n = int(n)
        if np.isnan(x):
            return np.float64(x)
        if abs(n) > 10.0 * abs(x) + 1000.0:
            return np.float64(self.far(n, x))
        if abs(n) > LARGEST:
            return np.float64(np.nan)
        function = library()[self.name]
        function.restype, function.argtypes = ctypes.c_double, [ctypes.c_int, ctypes.c_double]
        return np.float64(function(n, x))


def _besseli(order: Any, argument: Any) -> Any:
    if isinstance(argument, np.ndarray):
        return np.vectorize(_besseli, otypes=[np.float64])(order, argument)
    n, x = float(abs(order)), np.float64(abs(argument))
    sign = -1.0 if argument < 0.0 and order % 2 != 0 else 1.0
    if not np.isfinite(x):
        return sign * x
    if x > 30.0 and x > n * n:
        total = term = np.float64(1.0)
        for k in range(1, 201):
            if not abs(term) > 1e-17 * abs(total):
                break
            term = term * (((2.0 * k - 1.0) * (2.0 * k - 1.0) - 4.0 * n * n) / (8.0 * x * k))
            total = total + term
        half = EXP.reference(0.5 * x)
        return sign * (half / SQRT.reference(6.283185307179586477 * x) * total * half)
    term = np.float64(1.0)
    k = 1
    while k <= n and 0.0 < term < np.inf:  # what has become 0 or infinite stays so
        term, k = term * (0.5 * x / float(k)), k + 1
    total, k = term, 1
    while term > 1e-17 * total:
        term = term * (0.25 * x * x / (float(k) * (n + k)))
        total, k = total + term, k + 1
    return sign * total


def _besselk_small(n: int, x: Any) -> Any:
    q = 0.25 * x * x
    term = np.float64(1.0) if n == 0 else 0.5 * x
    first, harmonic, second = term, 0.0, (0.0 if n == 0 else 0.5 * term)
    for k in range(1, 26):
        harmonic += 1.0 / k
        term = term * (q / (float(k) * (k + n)))
        first = first + term
        second = second + term * (harmonic if n == 0 else harmonic + 0.5 / (k + 1.0))
    logarithm = LOG.reference(0.5 * x) + EULER
    return second - logarithm * first if n == 0 else 1.0 / x + logarithm * first - second


def _besselk_large(n: int, x: Any) -> Any:
    step = min(0.2, 0.6 / SQRT.reference(x))
    total = np.float64(0.5)
    for k in range(1, 201):
        s = SINH.reference(0.5 * step * k)
        term = EXP.reference(-2.0 * x * s * s) * (1.0 if n == 0 else COSH.reference(step * k))
        total = total + term
        if term < 1e-18 * total:
            break
    return EXP.reference(-x) * step * total


def _besselk(order: Any, x: Any) -> Any:
    if isinstance(x, np.ndarray):
        return np.vectorize(_besselk, otypes=[np.float64])(order, x)
    n, x = abs(int(order)), np.float64(x)
    if np.isnan(x) or x < 0.0:
        return np.float64(np.nan)
    if x == 0.0 or np.isinf(x):
        return np.float64(np.inf if x == 0.0 else 0.0)
    of_order = _besselk_small if x < 2.0 else _besselk_large
    below = of_order(0, x)
    if n == 0:
        return below
    value = of_order(1, x)
    k = 1
    while k < n and 0.0 < value < np.inf:
        below, value, k = value, below + 2.0 * float(k) / x * value, k + 1
    return value


def _row(
    name: str,
    special: str,
    evaluate: Any,
    c: str,
    signs: tuple[float, float],
    domain: tuple[float, float],
    singular: bool = False,
) -> Elementwise:
    """The row of one function f, with f' = (first * f of the order below + second * f of the order above) / 2."""

    def partials(n: Term, x: Term, out: Term) -> Partials:
        below, above = row(n - 1, x), row(n + 1, x)
        first = below if signs[0] > 0 else -below
        return None, (first + above if signs[1] > 0 else first - above) * 0.5

    row = elementwise(
        name,
        "n x",
        evaluate=evaluate,
        kinds=(F64,),
        fixed={0: I64},
        sympy=f"{name}(n, x)",
        special=special,
        override=partials,
        reason="sympy is right, but its order must stay an integer",
        domain=((0.0, 4.0), domain),
        cost=40,
        singular=singular,
        c=HelperCall(name, sources={I64: c}),
    )
    return row


BESSELJ = _row(
    "besselj",
    "jv",
    OfLibm("jn", lambda n, x: 0.0),
    OF_LIBM_C.replace("$NAME", "jn").replace("$FAR", "0.0"),
    (1, -1),
    (-9.0, 9.0),
)
BESSELY = _row(
    "bessely",
    "yv",
    OfLibm("yn", _far_y),
    OF_LIBM_C.replace("$NAME", "yn").replace("$FAR", FAR_Y_C),
    (1, -1),
    (0.3, 9.0),
    singular=True,
)
BESSELI = _row("besseli", "iv", _besseli, BESSELI_C, (1, 1), (-9.0, 9.0))
BESSELK = _row("besselk", "kv", _besselk, BESSELK_C, (-1, -1), (0.3, 9.0), singular=True)
