"""Rows: the functions of SciPy that likelihoods use.

Comes in: nothing.  Goes out: `expit`, `logit`, `ndtr`, `xlogy`.  Guaranteed: no overflow on the way to a finite result.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from adgen.ops.comparison import AND, EQ, SELECT
from adgen.ops.elementwise import Partials, elementwise
from adgen.ops.exponential import EXP, LOG, LOG1P
from adgen.ops.special import ERFC
from adgen.ops.spelling import HelperCall
from adgen.ops.terms import Term

EXPIT_C = """
static inline $real $name($real x) {
    const $real small = exp$f(-fabs$f(x));
    return (x < ($real)0 ? small : ($real)1) / (($real)1 + small);
}
"""

LOGIT_C = """
static inline $real $name($real x) {
    return log$f(x) - log1p$f(-x);
}
"""

NDTR_C = """
static inline $real $name($real x) {
    return ($real)0.5 * erfc$f(x * ($real)-0.70710678118654752440);
}
"""

XLOGY_C = """
static inline $real $name($real x, $real y) {
    return x == ($real)0 && !isnan(y) ? ($real)0 : x * log$f(y);
}
"""


def _expit(x: Any) -> Any:
    small = EXP.reference(-abs(x))
    one = small.dtype.type(1)
    return np.where(x < 0, small, one)[()] / (one + small)


def _ndtr(x: Any) -> Any:
    kind = x.dtype.type
    return kind(0.5) * ERFC.reference(x * kind(-math.sqrt(0.5)))


def _xlogy(x: Any, y: Any) -> Any:
    return np.where((x == 0) & ~np.isnan(y), x.dtype.type(0), x * LOG.reference(y))[()]


def _expit_partials(x: Term, out: Term) -> Partials:
    return (out * (1 - out),)


def _logit_partials(x: Term, out: Term) -> Partials:
    return (1 / (x * (1 - x)),)


def _xlogy_partials(x: Term, y: Term, out: Term) -> Partials:
    return LOG(y), x / SELECT(AND(EQ(x, 0), EQ(y, 0)), 1, y)


EXPIT = elementwise(
    "expit",
    "x",
    evaluate=_expit,
    sympy="1 / (1 + exp(-x))",
    override=_expit_partials,
    reason="sympy's exp(-x) / (1 + exp(-x))**2 is inf/inf far out on the left",
    scipy=("expit",),
    cost=12,
    c=HelperCall("expit", EXPIT_C),
)
LOGIT = elementwise(
    "logit",
    "x",
    evaluate=lambda x: LOG.reference(x) - LOG1P.reference(-x),
    sympy="log(x / (1 - x))",
    override=_logit_partials,
    reason="sympy's has the quotient of the logarithm's argument in it",
    scipy=("logit",),
    domain=((0.05, 0.95),),
    cost=16,
    c=HelperCall("logit", LOGIT_C),
    singular=True,
)
NDTR = elementwise(
    "ndtr",
    "x",
    evaluate=_ndtr,
    sympy="erfc(-x / sqrt(2)) / 2",
    scipy=("ndtr",),
    cost=12,
    c=HelperCall("ndtr", NDTR_C),
)
XLOGY = elementwise(
    "xlogy",
    "x y",
    evaluate=_xlogy,
    sympy="x * log(y)",
    override=_xlogy_partials,
    reason="0 rather than 0/0 where both are zero",
    scipy=("xlogy",),
    domain=((-3.0, 3.0), (0.1, 9.0)),
    cost=10,
    c=HelperCall("xlogy", XLOGY_C),
    singular=True,
)
