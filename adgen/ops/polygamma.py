"""The polygamma functions, in Python and in C, line for line the same.

Comes in: an order n >= 0 and a real number.  Goes out: the n-th derivative of the digamma function.  Guaranteed:
relative error near 1e-15 (absolute near digamma's zeros); nan where undefined; no loop longer than a few dozen steps.

Positive arguments are shifted up by the recurrence and finished by an asymptotic series: Stirling's for the digamma
function, Euler and Maclaurin's for the Hurwitz zeta function, of which the higher orders are multiples.  Negative
arguments are reflected; the derivatives of the cotangent are polynomials in it, all of whose terms have one sign.
"""

from __future__ import annotations

import math
import operator
from functools import reduce
from typing import Any

import numpy as np

from adgen.ops.exponential import LOG
from adgen.ops.powers import POW
from adgen.ops.trigonometric import TAN

PI = math.pi
GREATEST_ORDER = 60
"""Beyond it, nan: factorials overflow not far off."""

BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798, -174611 / 330)
"""The Bernoulli numbers B2, B4, ..., B20."""

POLYGAMMA_C = """
/* B(2k) for k = 1 to 10. */
static const double ad_bernoulli[10] = {
    1.0 / 6, -1.0 / 30, 1.0 / 42, -1.0 / 30, 5.0 / 66,
    -691.0 / 2730, 7.0 / 6, -3617.0 / 510, 43867.0 / 798, -174611.0 / 330
};

/* The digamma function of x > 0: up by the recurrence, then Stirling's series. */
static inline double ad_digamma_positive(double x) {
    double sum = 0.0;
    for (; x < 10.0; x += 1.0) sum -= 1.0 / x;
    double tail = 0.0, power = 1.0;
    for (int k = 1; k <= 8; ++k) {
        power /= x * x;
        tail += ad_bernoulli[k - 1] / (2.0 * k) * power;
    }
    return sum + log(x) - 0.5 / x - tail;
}

/* sum of (x + k)**-s over k >= 0, for x > 0 and integral s > 1: some terms, then Euler and Maclaurin's formula. */
static inline double ad_hurwitz_zeta(double s, double x) {
    double sum = 0.0;
    for (; x < s + 10.0; x += 1.0) sum += pow(x, -s);
    double term = pow(x, -s), tail = 0.0;
    sum += term * x / (s - 1.0) + 0.5 * term;
    double factor = s * term / x / 2.0;
    for (int k = 1; k <= 10; ++k) {
        tail += ad_bernoulli[k - 1] * factor;
        factor *= (s + 2.0 * k - 1.0) * (s + 2.0 * k) / ((2.0 * k + 1.0) * (2.0 * k + 2.0)) / (x * x);
    }
    return sum + tail;
}

/* The n-th derivative of pi * cot(pi * x). */
static inline double ad_cotangent_derivative(int64_t n, double x) {
    const double cotangent = 1.0 / tan(3.14159265358979323846 * (x - floor(x)));
    double polynomial[64] = {0.0, 1.0}, scale = 3.14159265358979323846;
    for (int64_t order = 0; order < n; ++order) {
        double next[64] = {0.0};
        for (int64_t power = 1; power <= order + 1; ++power) {
            next[power - 1] -= (double)power * polynomial[power];
            next[power + 1] -= (double)power * polynomial[power];
        }
        for (int64_t power = 0; power <= order + 2; ++power) polynomial[power] = next[power];
        scale *= 3.14159265358979323846;
    }
    double sum = 0.0;
    for (int64_t power = n + 1; power >= 0; --power) sum = sum * cotangent + polynomial[power];
    return scale * sum;
}

/* The n-th derivative of the digamma function. */
static inline double $name(int64_t n, double x) {
    if (n < 0 || n > 60 || isnan(x) || (x < 0.0 && x == floor(x))) return (double)NAN;
    if (x == 0.0 && n == 0) return -1.0 / x;
    const double sign = n % 2 == 0 ? -1.0 : 1.0;
    const double y = x < 0.0 ? 1.0 - x : x;
    double value;
    if (n == 0) {
        value = ad_digamma_positive(y);
    } else {
        double factorial = 1.0;
        for (int64_t k = 2; k <= n; ++k) factorial *= (double)k;
        value = sign * factorial * ad_hurwitz_zeta((double)n + 1.0, y);
    }
    return x < 0.0 ? -sign * value - ad_cotangent_derivative(n, x) : value;
}
"""


def digamma_derivative(n: Any, x: Any) -> Any:
    """The n-th derivative of the digamma function."""
    if isinstance(x, np.ndarray):
        return np.vectorize(digamma_derivative, otypes=[np.float64])(n, x)
    x = np.float64(x)
    with np.errstate(all="ignore"):
        if n < 0 or n > GREATEST_ORDER or np.isnan(x) or (x < 0.0 and x == np.floor(x)):
            return np.float64(np.nan)
        if x == 0.0 and n == 0:
            return -1.0 / x
        sign = -1.0 if n % 2 == 0 else 1.0
        y = 1.0 - x if x < 0.0 else x
        factorial = reduce(operator.mul, range(2, n + 1), 1.0)
        value = _digamma_positive(y) if n == 0 else sign * factorial * _hurwitz_zeta(n + 1.0, y)
        return -sign * value - _cotangent_derivative(n, x) if x < 0.0 else value


def _digamma_positive(x: Any) -> Any:
    total = np.float64(0.0)
    while x < 10.0:
        total -= 1.0 / x
        x = x + 1.0
    tail, power = 0.0, np.float64(1.0)
    for k in range(1, 9):
        power /= x * x
        tail += BERNOULLI[k - 1] / (2.0 * k) * power
    return total + LOG.reference(x) - 0.5 / x - tail


def _hurwitz_zeta(s: float, x: Any) -> Any:
    total = np.float64(0.0)
    while x < s + 10.0:
        total += POW.reference(x, -s)
        x = x + 1.0
    term, tail = POW.reference(x, -s), np.float64(0.0)
    total += term * x / (s - 1.0) + 0.5 * term
    factor = s * term / x / 2.0
    for k in range(1, 11):
        tail += BERNOULLI[k - 1] * factor
        factor *= (s + 2.0 * k - 1.0) * (s + 2.0 * k) / ((2.0 * k + 1.0) * (2.0 * k + 2.0)) / (x * x)
    return total + tail


def _cotangent_derivative(n: int, x: Any) -> Any:
    cotangent = 1.0 / TAN.reference(PI * (x - np.floor(x)))
    polynomial, scale = [0.0, 1.0], PI
    for _ in range(n):
        following = [0.0] * (len(polynomial) + 1)
        for power in range(1, len(polynomial)):
            following[power - 1] -= power * polynomial[power]
            following[power + 1] -= power * polynomial[power]
        polynomial = following
        scale *= PI
    total = np.float64(0.0)
    for coefficient in reversed(polynomial):
        total = total * cotangent + coefficient
    return scale * total
