"""Special functions of numbers: series and continued fractions (Abramowitz and Stegun, Handbook of functions, 1964).

Where a derivative in closed form is at hand the function carries it as a rule; the others are differentiated through,
for all their arguments.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from adgen.frontend.rules import Rules, with_rules

EULER = 0.5772156649015329
ROOT_PI = math.sqrt(math.pi)
SMALL = 1e-17
LARGEST = 1e4  # parameter of incomplete functions, whose accuracy falls with its size


# -- incomplete gamma and beta functions -------------------------------------------------------------------------------


def _usual(a: Any) -> None:
    if a > LARGEST:
        raise ValueError("incomplete gamma and beta functions are supported for parameters up to ten thousand")


def _lower_series(a: Any, x: Any) -> Any:
    term = 1.0
    total = 1.0
    n = 1.0
    while term > SMALL * total and n < 3000.0:
        term *= x / (a + n)
        total += term
        n += 1.0
    return total * np.exp(a * np.log(x) - x - math.lgamma(a + 1.0))


def _upper_fraction(a: Any, x: Any) -> Any:
    b = x + 1.0 - a
    c = 1e300
    d = 1.0 / b
    h = d
    change = 0.0
    i = 1.0
    while abs(change - 1.0) > 1e-16 and i < 3000.0:
        scale = -i * (i - a)
        b += 2.0
        d = scale * d + b
        c = b + scale / c
        d = 1.0 / d
        change = c * d
        h *= change
        i += 1.0
    return h * np.exp(a * np.log(x) - x - math.lgamma(a))


def _incomplete_gamma(a: Any, x: Any) -> Any:
    """The parts of the gamma function below and above x; each is computed itself where it is the smaller."""
    if not (a > 0.0 and x >= 0.0):
        return (np.nan, np.nan) if not (a == 0.0 and x > 0.0) else (1.0, 0.0)
    if x == 0.0:
        return 0.0, 1.0
    if np.isinf(x):
        return 1.0, 0.0
    _usual(a)
    if x < a + 1.0:
        lower = _lower_series(a, x)
        return lower, 1.0 - lower
    upper = _upper_fraction(a, x)
    return 1.0 - upper, upper


def gammainc(a: Any, x: Any) -> Any:
    """`scipy.special.gammainc`."""
    return _incomplete_gamma(a, x)[0]


def gammaincc(a: Any, x: Any) -> Any:
    """`scipy.special.gammaincc`."""
    return _incomplete_gamma(a, x)[1]


def _beta_fraction(a: Any, b: Any, x: Any) -> Any:
    c = 1.0
    d = 1.0 / (1.0 - (a + b) * x / (a + 1.0))
    h = d
    change = 0.0
    m = 1.0
    while abs(change - 1.0) > 1e-16 and m < 3000.0:
        even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m))
        d = 1.0 / (1.0 + even * d)
        c = 1.0 + even / c
        h *= d * c
        odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0))
        d = 1.0 / (1.0 + odd * d)
        c = 1.0 + odd / c
        change = d * c
        h *= change
        m += 1.0
    return h


def betainc(a: Any, b: Any, x: Any) -> Any:
    """`scipy.special.betainc`."""
    if not (a > 0.0 and b > 0.0 and x >= 0.0 and x <= 1.0):
        return np.nan
    if x == 0.0 or x == 1.0:
        return 1.0 * x
    _usual(a)
    _usual(b)
    front = np.exp(a * np.log(x) + b * np.log1p(-x) + math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b))
    if x < (a + 1.0) / (a + b + 2.0):
        return front * _beta_fraction(a, b, x) / a
    return 1.0 - front * _beta_fraction(b, a, 1.0 - x) / b


# -- exponential integrals ---------------------------------------------------------------------------------------------


def _exp1(x: Any) -> Any:
    if np.isnan(x) or x < 0.0:
        return np.nan
    if x == 0.0:
        return np.inf
    if x <= 1.0:
        total = -EULER - np.log(x)
        term = 1.0
        for k in range(1, 30):
            term *= -x / k
            total -= term / k
        return total
    return np.exp(-x) * _expn_fraction(1.0, x)


def _expn_fraction(n: Any, x: Any) -> Any:
    b = x + n
    c = 1e300
    d = 1.0 / b
    h = d
    change = 0.0
    i = 1.0
    while abs(change - 1.0) > 1e-16 and i < 500.0:
        scale = -i * (n - 1.0 + i)
        b += 2.0
        d = 1.0 / (scale * d + b)
        c = b + scale / c
        change = c * d
        h *= change
        i += 1.0
    return h


def _exp1_jvp(x: Any, out: Any, tangent: Any) -> Any:
    return -np.exp(-x) / x * tangent


exp1 = with_rules(_exp1, Rules(_exp1, _exp1_jvp, _exp1_jvp))
"""`scipy.special.exp1`."""


def _expi(x: Any) -> Any:
    if np.isnan(x):
        return np.nan
    if x == 0.0:
        return -np.inf
    if x < 0.0:
        return -_exp1(-x)
    if x > 700.0 and np.isinf(x):
        return np.inf
    term = 1.0
    if x < 40.0:
        total = EULER + np.log(x)
        k = 1.0
        while term / k > SMALL * abs(total) or k < x:
            term *= x / k
            total += term / k
            k += 1.0
        return total
    total = 1.0
    for k in range(1, 40):
        term *= k / x
        total += term
    return np.exp(x) / x * total


def _expi_jvp(x: Any, out: Any, tangent: Any) -> Any:
    return np.exp(x) / x * tangent


expi = with_rules(_expi, Rules(_expi, _expi_jvp, _expi_jvp))
"""`scipy.special.expi`."""


# -- relatives of the error function -----------------------------------------------------------------------------------


def _erfcx(x: Any) -> Any:
    if x < 10.0:
        return np.exp(x * x) * math.erfc(x)
    total = 1.0
    term = 1.0
    for k in range(1, 20):
        term *= -(2.0 * k - 1.0) / (2.0 * x * x)
        total += term
    return total / (x * ROOT_PI)


def _erfcx_jvp(x: Any, out: Any, tangent: Any) -> Any:
    return (2.0 * x * out - 2.0 / ROOT_PI) * tangent


erfcx = with_rules(_erfcx, Rules(_erfcx, _erfcx_jvp, _erfcx_jvp))
"""`scipy.special.erfcx`."""


def _dawsn(x: Any) -> Any:
    if abs(x) < 0.3:
        total = 0.0
        term = 1.0 * x
        for k in range(1, 14):
            total += term
            term *= -2.0 * x * x / (2.0 * k + 1.0)
        return total
    if abs(x) > 1e8:
        return 0.5 / x
    middle = 2.0 * np.rint(abs(x) / 0.4)
    rest = abs(x) - 0.2 * middle
    total = 0.0
    for k in range(-33, 35, 2):
        total += np.exp(-((rest - 0.2 * k) ** 2)) / (middle + k)
    return np.copysign(total / ROOT_PI, x)


def _dawsn_jvp(x: Any, out: Any, tangent: Any) -> Any:
    return (1.0 - 2.0 * x * out) * tangent


dawsn = with_rules(_dawsn, Rules(_dawsn, _dawsn_jvp, _dawsn_jvp))
"""`scipy.special.dawsn`, by Rybicki's sum (Computers in Physics 3, 1989)."""


def _log_ndtr(x: Any) -> Any:
    if x > 0.0:
        return np.log1p(-0.5 * math.erfc(x / math.sqrt(2.0)))
    if x > -1.0:
        return np.log(0.5 * math.erfc(-x / math.sqrt(2.0)))
    return np.log(0.5 * _erfcx(-x / math.sqrt(2.0))) - 0.5 * x * x


def _log_ndtr_jvp(x: Any, out: Any, tangent: Any) -> Any:
    return np.exp(-0.5 * x * x - out) / math.sqrt(2.0 * math.pi) * tangent


log_ndtr = with_rules(_log_ndtr, Rules(_log_ndtr, _log_ndtr_jvp, _log_ndtr_jvp))
"""`scipy.special.log_ndtr`."""


# -- of a few operations -----------------------------------------------------------------------------------------------


def xlog1py(x: Any, y: Any) -> Any:
    """`scipy.special.xlog1py`."""
    if x == 0.0 and not np.isnan(y):
        return 0.0
    return x * np.log1p(y)


def rel_entr(x: Any, y: Any) -> Any:
    """`scipy.special.rel_entr`."""
    if np.isnan(x) or np.isnan(y):
        return np.nan
    if x > 0.0 and y > 0.0:
        return x * np.log(x / y)
    return 0.0 if x == 0.0 and y >= 0.0 else np.inf


def kl_div(x: Any, y: Any) -> Any:
    """`scipy.special.kl_div`."""
    if np.isnan(x) or np.isnan(y):
        return np.nan
    if x > 0.0 and y > 0.0:
        return x * np.log(x / y) - x + y
    return 1.0 * y if x == 0.0 and y >= 0.0 else np.inf


def huber(delta: Any, r: Any) -> Any:
    """`scipy.special.huber`."""
    if delta < 0.0:
        return np.inf
    return 0.5 * r * r if abs(r) <= delta else delta * (abs(r) - 0.5 * delta)


def pseudo_huber(delta: Any, r: Any) -> Any:
    """`scipy.special.pseudo_huber`."""
    if delta < 0.0:
        return np.inf
    if delta == 0.0 or r == 0.0:
        return 0.0
    ratio = r / delta
    return delta * delta * (ratio * ratio / (np.sqrt(1.0 + ratio * ratio) + 1.0))


def boxcox(x: Any, lmbda: Any) -> Any:
    """`scipy.special.boxcox`."""
    if x < 0.0:
        return np.nan
    return np.log(x) if lmbda == 0.0 else np.expm1(lmbda * np.log(x)) / lmbda


def exprel(x: Any) -> Any:
    """`scipy.special.exprel`."""
    if abs(x) < 1e-3:
        return 1.0 + x / 2.0 * (1.0 + x / 3.0 * (1.0 + x / 4.0 * (1.0 + x / 5.0)))
    return np.expm1(x) / x


def log_expit(x: Any) -> Any:
    """`scipy.special.log_expit`."""
    return -np.logaddexp(0.0, -x)


def softplus(x: Any) -> Any:
    """`scipy.special.softplus`."""
    return np.logaddexp(0.0, x)


def exp10(x: Any) -> Any:
    """`scipy.special.exp10`."""
    return np.power(10.0, x)


def cosm1(x: Any) -> Any:
    """`scipy.special.cosm1`."""
    half = np.sin(0.5 * x)
    return -2.0 * half * half


def poch(z: Any, m: Any) -> Any:
    """`scipy.special.poch` of positive numbers."""
    if not (z > 0.0 and z + m > 0.0 and z < 1e3 and z + m < 1e3):
        raise ValueError("`poch` is supported for gamma functions of positive numbers up to a thousand")
    return np.exp(math.lgamma(z + m) - math.lgamma(z))


def rgamma(z: Any) -> Any:
    """`scipy.special.rgamma` of positive numbers."""
    if not z > 0.0:
        raise ValueError("`rgamma` is supported for positive numbers")
    return 1.0 / math.gamma(z) if z < 170.0 else np.exp(-math.lgamma(z))


def zeta(x: Any, q: Any = 1.0) -> Any:
    """`scipy.special.zeta` for `x > 1` and positive `q`, by the sum of Euler and Maclaurin."""
    if x == 1.0:
        return np.inf
    if not (x > 1.0 and q > 0.0):
        raise ValueError("`zeta` is supported for x > 1 and q > 0")
    total = 0.0
    for k in range(12):
        total += (q + k) ** -x
    n = q + 12.0
    total += n ** (1.0 - x) / (x - 1.0) + 0.5 * n**-x
    factor = x * n ** (-x - 1.0)
    for level, weight in enumerate(ZETA):
        total += factor * weight
        factor *= (x + 2.0 * level + 1.0) * (x + 2.0 * level + 2.0) / (n * n)
    return total


ZETA = (
    1 / 12, -1 / 720, 1 / 30240, -1 / 1209600, 1 / 47900160, -691 / 1307674368000, 1 / 74724249600,
    -3617 / 10670622842880000,
)  # fmt: skip


# -- orthogonal polynomials and spherical Bessel functions, of a degree that is known when compiling -------------------


def eval_legendre(n: Any, x: Any) -> Any:
    """`scipy.special.eval_legendre`."""
    before, now = 0.0 * x, 1.0 + 0.0 * x
    for k in tuple(range(n)):
        before, now = now, ((2 * k + 1) * x * now - k * before) / (k + 1)
    return now


def eval_chebyt(n: Any, x: Any) -> Any:
    """`scipy.special.eval_chebyt`."""
    before, now = 1.0 * x, 1.0 + 0.0 * x
    for _ in tuple(range(n)):
        before, now = now, 2.0 * x * now - before
    return now


def eval_chebyu(n: Any, x: Any) -> Any:
    """`scipy.special.eval_chebyu`."""
    before, now = 0.0 * x, 1.0 + 0.0 * x
    for _ in tuple(range(n)):
        before, now = now, 2.0 * x * now - before
    return now


def eval_hermite(n: Any, x: Any) -> Any:
    """`scipy.special.eval_hermite`."""
    before, now = 0.0 * x, 1.0 + 0.0 * x
    for k in tuple(range(n)):
        before, now = now, 2.0 * x * now - 2.0 * k * before
    return now


def eval_hermitenorm(n: Any, x: Any) -> Any:
    """`scipy.special.eval_hermitenorm`."""
    before, now = 0.0 * x, 1.0 + 0.0 * x
    for k in tuple(range(n)):
        before, now = now, x * now - k * before
    return now


def eval_laguerre(n: Any, x: Any) -> Any:
    """`scipy.special.eval_laguerre`."""
    before, now = 0.0 * x, 1.0 + 0.0 * x
    for k in tuple(range(n)):
        before, now = now, ((2 * k + 1 - x) * now - k * before) / (k + 1)
    return now


def spherical_jn(n: Any, z: Any) -> Any:
    """`scipy.special.spherical_jn`."""
    if abs(z) > n + 1.0:
        before, now = np.cos(z) / z, np.sin(z) / z
        for k in tuple(range(n)):
            before, now = now, (2 * k + 1) / z * now - before
        return now
    front = 1.0 + 0.0 * z
    for k in tuple(range(1, n + 1)):
        front = front * z / (2 * k + 1)
    term = 1.0
    total = 1.0
    for k in range(1, 40):
        term *= -0.5 * z * z / (k * (2.0 * (n + k) + 1.0))
        total += term
    return front * total


def spherical_yn(n: Any, z: Any) -> Any:
    """`scipy.special.spherical_yn`."""
    before, now = np.sin(z) / z, -np.cos(z) / z
    for k in tuple(range(n)):
        before, now = now, (2 * k + 1) / z * now - before
    return now


FUNCTIONS = (
    gammainc, gammaincc, betainc, exp1, expi, erfcx, dawsn, log_ndtr, xlog1py, rel_entr, kl_div, huber, pseudo_huber,
    boxcox, exprel, log_expit, softplus, exp10, cosm1, poch, rgamma, zeta,
)  # fmt: skip
OF_DEGREE = (
    eval_legendre, eval_chebyt, eval_chebyu, eval_hermite, eval_hermitenorm, eval_laguerre, spherical_jn, spherical_yn,
)  # fmt: skip
