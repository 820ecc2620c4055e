"""Rows: inverses of the error function, in Python and in C, line for line the same.

Comes in: nothing.  Goes out: `erfinv`, `erfcinv`, `ndtri`.  Guaranteed: relative error near 1e-15.

A rough start (Winitzki's) and Halley's iteration, on the error function near zero, on the logarithm of its complement
in the tail, so that a small probability is as good as any.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from adgen.ir.types import F64
from adgen.ops.elementwise import Partials, elementwise
from adgen.ops.exponential import EXP, LOG
from adgen.ops.powers import SQRT
from adgen.ops.special import ERF, ERFC
from adgen.ops.spelling import HelperCall
from adgen.ops.terms import Term

SLOPE = 1.12837916709551257390  # 2 / sqrt(pi)

INVERSE_C = """
/* x > 0 with erf(x) = y and erfc(x) = q, where q = 1 - y; the smaller one of them is used. */
static inline double ad_inverse_$name(double y, double q) {
    const double l = log(q * (1.0 + y)), s = 4.3307467 + 0.5 * l;
    double x = sqrt(sqrt(s * s - l / 0.147) - s);
    for (int k = 0; k < 4; ++k) {
        if (q > 0.5) {
            const double step = (erf(x) - y) / (1.12837916709551257390 * exp(-x * x));
            x -= step / (1.0 + x * step);
        } else {
            const double value = erfc(x), rate = -1.12837916709551257390 * exp(-x * x) / value;
            x -= (log(value) - log(q)) / rate;
        }
    }
    return x;
}
"""
ERFINV_C = """
static inline double $name(double y) {
    const double a = fabs(y);
    if (!(a <= 1.0)) return (double)NAN;
    if (a == 0.0) return y;
    if (a == 1.0) return copysign((double)INFINITY, y);
    return copysign(ad_inverse_$name(a, 1.0 - a), y);
}
"""
ERFCINV_C = """
static inline double $name(double q) {
    if (!(q >= 0.0 && q <= 2.0)) return (double)NAN;
    if (q == 1.0) return 0.0;
    if (q == 0.0 || q == 2.0) return q == 0.0 ? (double)INFINITY : -(double)INFINITY;
    return q < 1.0 ? ad_inverse_$name(1.0 - q, q) : -ad_inverse_$name(q - 1.0, 2.0 - q);
}
"""
NDTRI_C = """
static inline double $name(double p) {
    if (!(p >= 0.0 && p <= 1.0)) return (double)NAN;
    if (p == 0.5) return 0.0;
    if (p == 0.0 || p == 1.0) return p == 1.0 ? (double)INFINITY : -(double)INFINITY;
    if (p < 0.5) return -1.41421356237309504880 * ad_inverse_$name(1.0 - 2.0 * p, 2.0 * p);
    return 1.41421356237309504880 * ad_inverse_$name(2.0 * p - 1.0, 2.0 * (1.0 - p));
}
"""


def _inverse(y: Any, q: Any) -> Any:
    y, q = np.float64(y), np.float64(q)
    length = LOG.reference(q * (1.0 + y))
    s = 4.3307467 + 0.5 * length
    x = SQRT.reference(SQRT.reference(s * s - length / 0.147) - s)
    for _ in range(4):
        if q > 0.5:
            step = (ERF.reference(x) - y) / (SLOPE * EXP.reference(-x * x))
            x = x - step / (1.0 + x * step)
        else:
            value = ERFC.reference(x)
            rate = -SLOPE * EXP.reference(-x * x) / value
            x = x - (LOG.reference(value) - LOG.reference(q)) / rate
    return x


def _erfinv(y: Any) -> Any:
    if isinstance(y, np.ndarray):
        return np.vectorize(_erfinv, otypes=[np.float64])(y)
    a = abs(y)
    if not a <= 1.0:
        return np.float64(np.nan)
    if a == 0.0:
        return y
    return np.copysign(np.float64(np.inf) if a == 1.0 else _inverse(a, 1.0 - a), y)


def _erfcinv(q: Any) -> Any:
    if isinstance(q, np.ndarray):
        return np.vectorize(_erfcinv, otypes=[np.float64])(q)
    if not 0.0 <= q <= 2.0:
        return np.float64(np.nan)
    if q in (0.0, 1.0, 2.0):
        return np.float64({0.0: np.inf, 1.0: 0.0, 2.0: -np.inf}[float(q)])
    return _inverse(1.0 - q, q) if q < 1.0 else -_inverse(q - 1.0, 2.0 - q)


def _ndtri(p: Any) -> Any:
    if isinstance(p, np.ndarray):
        return np.vectorize(_ndtri, otypes=[np.float64])(p)
    if not 0.0 <= p <= 1.0:
        return np.float64(np.nan)
    if p in (0.0, 0.5, 1.0):
        return np.float64({0.0: -np.inf, 0.5: 0.0, 1.0: np.inf}[float(p)])
    root = 1.41421356237309504880
    return -root * _inverse(1.0 - 2.0 * p, 2.0 * p) if p < 0.5 else root * _inverse(2.0 * p - 1.0, 2.0 * (1.0 - p))


def _ndtri_partials(p: Term, out: Term) -> Partials:
    return (EXP(out * out * 0.5) * math.sqrt(2 * math.pi),)


ERFINV = elementwise(
    "erfinv",
    "y",
    evaluate=_erfinv,
    kinds=(F64,),
    sympy="erfinv(y)",
    special="erfinv",
    domain=((-0.98, 0.98),),
    cost=60,
    singular=True,
    c=HelperCall("erfinv", INVERSE_C + ERFINV_C),
)
ERFCINV = elementwise(
    "erfcinv",
    "q",
    evaluate=_erfcinv,
    kinds=(F64,),
    sympy="erfinv(1 - q)",
    domain=((0.02, 1.98),),
    cost=60,
    singular=True,
    c=HelperCall("erfcinv", INVERSE_C + ERFCINV_C),
)
NDTRI = elementwise(
    "ndtri",
    "p",
    evaluate=_ndtri,
    kinds=(F64,),
    sympy="sqrt(2) * erfinv(2 * p - 1)",
    override=_ndtri_partials,
    reason="sympy's writes the result anew instead of using it",
    domain=((0.01, 0.99),),
    cost=60,
    singular=True,
    c=HelperCall("ndtri", INVERSE_C + NDTRI_C),
)
