"""Rows: complete elliptic integrals of the parameter m.

Comes in: nothing.  Goes out: `elliptic_k`, `elliptic_e`, and `elliptic_d` = (K - E) / m, in which their derivatives
have no difference of nearly equal numbers at m = 0.  Guaranteed: relative error near 1e-15; nan for m > 1.

All three come from one run of the arithmetic-geometric mean: K is pi / 2 over the mean, and (K - E) / K the sum of
2**(k - 1) c_k**2, of which m is a factor.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from adgen.ir.types import F64
from adgen.ops.comparison import EQ, SELECT
from adgen.ops.elementwise import Partials, elementwise
from adgen.ops.kinks import INFINITE, Kink
from adgen.ops.powers import SQRT
from adgen.ops.spelling import HelperCall
from adgen.ops.terms import Term

MEAN_C = """
/* pi / 2 over the arithmetic-geometric mean of 1 and sqrt(1 - m); the sum of 2**(k - 1) c_k**2 / m over k >= 0. */
static inline double ad_agm_$name(double m, double *sum) {
    double a = 1.0, b = sqrt(1.0 - m), c = 1.0 / (2.0 * (1.0 + b)), weight = 1.0;
    *sum = 0.5;
    for (int k = 1; k <= 12; ++k) {
        *sum += weight * m * c * c;
        const double mean = 0.5 * (a + b);
        b = sqrt(a * b);
        a = mean;
        c = m * c * c / (2.0 * (a + b));
        weight *= 2.0;
    }
    return 1.57079632679489661923 / a;
}
"""
K_C = """
static inline double $name(double m) {
    double sum;
    if (m == 1.0 || m == -(double)INFINITY) return m == 1.0 ? (double)INFINITY : 0.0;
    return ad_agm_$name(m, &sum);
}
"""
E_C = """
static inline double $name(double m) {
    double sum;
    if (m == 1.0 || m == -(double)INFINITY) return m == 1.0 ? 1.0 : (double)INFINITY;
    const double k = ad_agm_$name(m, &sum);
    return k - k * m * sum;
}
"""
D_C = """
static inline double $name(double m) {
    double sum;
    if (m == 1.0 || m == -(double)INFINITY) return m == 1.0 ? (double)INFINITY : 0.0;
    const double k = ad_agm_$name(m, &sum);
    return k * sum;
}
"""


def _mean(m: Any) -> tuple[Any, Any]:
    a, b = np.float64(1.0), SQRT.reference(1.0 - m)
    c, weight, total = 1.0 / (2.0 * (1.0 + b)), 1.0, np.float64(0.5)
    for _ in range(12):
        total = total + weight * m * c * c
        a, b = 0.5 * (a + b), SQRT.reference(a * b)
        c, weight = m * c * c / (2.0 * (a + b)), weight * 2.0
    return 1.57079632679489661923 / a, total


def _evaluated(at_one: float, far_out: float, finish: Callable[[Any, Any, Any], Any]) -> Callable[[Any], Any]:
    def evaluate(m: Any) -> Any:
        if isinstance(m, np.ndarray):
            return np.vectorize(evaluate, otypes=[np.float64])(m)
        if m in (1.0, -math.inf):
            return np.float64(at_one if m == 1.0 else far_out)
        with np.errstate(all="ignore"):
            return finish(np.float64(m), *_mean(np.float64(m)))

    return evaluate


def _k_partials(m: Term, out: Term) -> Partials:
    return ((out - ELLIPTIC_D(m)) / (2 * (1 - m)),)


def _e_partials(m: Term, out: Term) -> Partials:
    return (ELLIPTIC_D(m) * -0.5,)


def _d_partials(m: Term, out: Term) -> Partials:
    at_zero = EQ(m, 0)
    slope = ((ELLIPTIC_K(m) - out) / (1 - m) - out) / (2 * SELECT(at_zero, 1, m))
    return (SELECT(at_zero, 3 * math.pi / 32, slope),)


DOMAIN = ((-3.0, 0.95),)
ELLIPTIC_K = elementwise(
    "elliptic_k",
    "m",
    evaluate=_evaluated(math.inf, 0.0, lambda m, k, total: k),
    kinds=(F64,),
    sympy="elliptic_k(m)",
    special="ellipk",
    override=_k_partials,
    reason="sympy's is a difference of nearly equal numbers over m",
    domain=DOMAIN,
    cost=60,
    singular=True,
    c=HelperCall("elliptic_k", MEAN_C + K_C),
)
ELLIPTIC_E = elementwise(
    "elliptic_e",
    "m",
    evaluate=_evaluated(1.0, math.inf, lambda m, k, total: k - k * m * total),
    kinds=(F64,),
    sympy="elliptic_e(m)",
    special="ellipe",
    override=_e_partials,
    reason="sympy's is a difference of nearly equal numbers over m",
    domain=DOMAIN,
    cost=60,
    singular=True,
    kinks=(Kink(lambda m, out: 1 - m, INFINITE),),
    c=HelperCall("elliptic_e", MEAN_C + E_C),
)
ELLIPTIC_D = elementwise(
    "elliptic_d",
    "m",
    evaluate=_evaluated(math.inf, 0.0, lambda m, k, total: k * total),
    kinds=(F64,),
    sympy="(elliptic_k(m) - elliptic_e(m)) / m",
    override=_d_partials,
    reason="sympy's has the second power of m below; at m = 0 the value is the limit",
    domain=((0.2, 0.95),),
    cost=60,
    singular=True,
    c=HelperCall("elliptic_d", MEAN_C + D_C),
)
