"""Distributions of `scipy.stats` for a standard variable: logarithm of the density, distribution function, its rest."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from adgen.frontend.library.special import betainc, gammainc, gammaincc

LOG_TWO_PI = math.log(2.0 * math.pi)


def _power(exponent: Any, y: Any) -> Any:
    """`exponent * log(y)`, zero where the exponent is."""
    return 0.0 if exponent == 0.0 else exponent * np.log(y)


def _normal(z: Any) -> Any:
    return 0.5 * math.erfc(-z / math.sqrt(2.0))


def uniform_logpdf(y: Any) -> Any:
    return 0.0 * y


def uniform_cdf(y: Any) -> Any:
    return 1.0 * y


def uniform_sf(y: Any) -> Any:
    return 1.0 - y


def expon_logpdf(y: Any) -> Any:
    return -y


def expon_cdf(y: Any) -> Any:
    return -np.expm1(-y)


def expon_sf(y: Any) -> Any:
    return np.exp(-y)


def lognorm_logpdf(y: Any, s: Any) -> Any:
    if y == 0.0:
        return -np.inf
    return -np.log(s * y) - 0.5 * LOG_TWO_PI - 0.5 * (np.log(y) / s) ** 2


def lognorm_cdf(y: Any, s: Any) -> Any:
    return 0.0 if y == 0.0 else _normal(np.log(y) / s)


def lognorm_sf(y: Any, s: Any) -> Any:
    return 1.0 if y == 0.0 else _normal(-np.log(y) / s)


def t_logpdf(y: Any, df: Any) -> Any:
    front = math.lgamma(0.5 * (df + 1.0)) - math.lgamma(0.5 * df) - 0.5 * np.log(df * math.pi)
    return front - 0.5 * (df + 1.0) * np.log1p(y * y / df)


def t_cdf(y: Any, df: Any) -> Any:
    return 1.0 - _t_tail(y, df) if y > 0.0 else _t_tail(-y, df)


def t_sf(y: Any, df: Any) -> Any:
    return t_cdf(-y, df)


def _t_tail(y: Any, df: Any) -> Any:
    """The probability of more than a number that is not negative, without the singular derivative of `y**2` at zero."""
    if y * y < df:
        return 0.5 - 0.5 * y * _t_middle(y, df)
    return 0.5 * betainc(0.5 * df, 0.5, df / (df + y * y))


def _t_middle(y: Any, df: Any) -> Any:
    """The incomplete beta function of `(1/2, df/2)` over `y`, by its series in `w = y**2 / (df + y**2)`."""
    w = y * y / (df + y * y)
    term = 1.0
    total = 1.0
    n = 1.0
    while term > 1e-17 * total and n < 2000.0:
        term *= w * (0.5 * df + 0.5 + n - 1.0) / (0.5 + n)
        total += term
        n += 1.0
    front = math.lgamma(0.5 * df + 0.5) - math.lgamma(0.5 * df) - 0.5 * np.log(math.pi)
    return 2.0 * np.exp(front - 0.5 * df * np.log1p(y * y / df)) / np.sqrt(df + y * y) * total


def chi2_logpdf(y: Any, df: Any) -> Any:
    return _power(0.5 * df - 1.0, y) - 0.5 * y - math.lgamma(0.5 * df) - 0.5 * df * math.log(2.0)


def chi2_cdf(y: Any, df: Any) -> Any:
    return gammainc(0.5 * df, 0.5 * y)


def chi2_sf(y: Any, df: Any) -> Any:
    return gammaincc(0.5 * df, 0.5 * y)


def gamma_logpdf(y: Any, a: Any) -> Any:
    return _power(a - 1.0, y) - y - math.lgamma(a)


def gamma_cdf(y: Any, a: Any) -> Any:
    return gammainc(a, y)


def gamma_sf(y: Any, a: Any) -> Any:
    return gammaincc(a, y)


def beta_logpdf(y: Any, a: Any, b: Any) -> Any:
    front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    return front + _power(a - 1.0, y) + _power(b - 1.0, 1.0 - y)


def beta_cdf(y: Any, a: Any, b: Any) -> Any:
    return betainc(a, b, y)


def beta_sf(y: Any, a: Any, b: Any) -> Any:
    return betainc(b, a, 1.0 - y)


def placed(function: Any, kind: str, low: Any, high: Any, x: Any, loc: Any, scale: Any, *shapes: Any) -> Any:
    """A function of a distribution that is shifted and stretched, on its support from `low` to `high` and outside."""
    y = (x - loc) / scale
    if np.isnan(y) or not scale > 0.0:
        return np.nan
    for shape in shapes:
        if not shape > 0.0:
            return np.nan
    if y < low or y > high:
        if kind == "logpdf":
            return -np.inf
        return 1.0 if (kind == "cdf" and y > high) or (kind == "sf" and y < low) else 0.0
    value = function(y, *shapes)
    if kind == "logpdf":
        return value - np.log(scale)
    return np.exp(value) / scale if kind == "pdf" else value
