"""Rows: powers and roots.

Comes in: nothing.  Goes out: `x**y` for real and for integer exponents, integer powers, square and cube roots.
Guaranteed: right at `x = 0` for the exponents 0, 1 and 2, and for negative bases with integral exponents.

A real number to an i64 power is, by definition here, a product by repeated squaring while the exponent is small (and
libm's `pow` beyond).  The helper has no loop, so that C compilers can vectorise around a constant exponent.
"""

from __future__ import annotations

import builtins
import math
import operator
from typing import Any

import numpy as np

from adgen.ir.types import I64
from adgen.ops import identities
from adgen.ops.comparison import AND, EQ, SELECT
from adgen.ops.elementwise import INTEGERS, Partials, callables, elementwise
from adgen.ops.exponential import LOG
from adgen.ops.integers import power
from adgen.ops.kinks import INFINITE, Kink, itself
from adgen.ops.libm import Libm
from adgen.ops.refusals import NOT_NEGATIVE
from adgen.ops.spelling import HelperCall, LibmCall
from adgen.ops.terms import AsFloat, Term

GREATEST_PRODUCT = 63
"""Exponents up to this size are products."""

POWI_C = """
static inline $real $name($real x, int64_t n) {
    if (n < -63 || n > 63) return pow$f(x, ($real)n);
    const int64_t bits = n < 0 ? -n : n;
    const $real x2 = x * x, x4 = x2 * x2, x8 = x4 * x4, x16 = x8 * x8, x32 = x16 * x16;
    $real product = bits & 1 ? x : ($real)1;
    if (bits & 2) product *= x2;
    if (bits & 4) product *= x4;
    if (bits & 8) product *= x8;
    if (bits & 16) product *= x16;
    if (bits & 32) product *= x32;
    return n < 0 ? ($real)1 / product : product;
}
"""

IPOW_C = """
static inline int64_t $name(int64_t base, int64_t exponent) {
    uint64_t product = 1, square = (uint64_t)base;
    for (; exponent > 0; exponent /= 2) {
        if (exponent % 2 == 1) product *= square;
        square *= square;
    }
    return (int64_t)product;
}
"""

_pow = Libm("pow", 2)


def _powi(x: Any, n: Any) -> Any:
    """The same multiplications in the same order as the C helper."""
    if isinstance(x, np.ndarray) or isinstance(n, np.ndarray):
        return np.vectorize(_powi, otypes=[np.asarray(x).dtype])(x, n)
    kind = type(x)
    if abs(n) > GREATEST_PRODUCT:
        return _pow(x, kind(n))
    product, square, rest = kind(1), x, abs(n)
    while rest > 0:
        if rest % 2 == 1:
            product = product * square
        square = square * square
        rest //= 2
    return kind(1) / product if n < 0 else product


def _pow_partials(x: Term, y: Term, out: Term) -> Partials:
    exponent = SELECT(AND(EQ(x, 0), EQ(y, 0)), 1, y - 1)
    return y * POW(x, exponent), out * LOG(SELECT(EQ(x, 0), 1, x))


def _powi_partials(x: Term, n: Term, out: Term) -> Partials:
    return AsFloat(n) * POWI(x, SELECT(EQ(n, 0), 0, n - 1)), None


def _cbrt_partials(x: Term, out: Term) -> Partials:
    return (1 / (3 * (out * out)),)


def _base_at_zero(x: Term, y: Term, out: Term) -> Term:
    from adgen.ops.comparison import GE
    from adgen.ops.rounding import RINT

    return SELECT(AND(GE(y, 1), EQ(y, RINT(y))), math.inf, x)


POW = elementwise(
    "pow",
    "x y",
    evaluate=_pow,
    sympy="x ** y",
    override=_pow_partials,
    reason="sympy's out*y/x and out*log(x) are 0/0 and 0*inf at x = 0; y * x**(y-1) is not (0**0 is 1), and the "
    "guards inside the functions keep second derivatives free of nan too",
    python=(builtins.pow, operator.pow, operator.ipow, *callables("power pow float_power", "pow")),
    domain=((0.2, 4.0), (-3.0, 3.0)),
    cost=20,
    c=LibmCall("pow"),
    simplify=identities.power,
    singular=True,
    kinks=(Kink(_base_at_zero, "it is y * x**(y - 1) for x, and 0 for y"),),
)
POWI = elementwise(
    "powi",
    "x n",
    evaluate=_powi,
    fixed={1: I64},
    sympy="x ** n",
    called="power",
    override=_powi_partials,
    reason="sympy's out*n/x is 0/0 at x = 0",
    domain=((-3.0, 3.0), (-5.0, 9.0)),
    cost=2,
    c=HelperCall("powi", POWI_C),
    simplify=identities.powi,
    singular=True,
)
IPOW = elementwise(
    "ipow",
    "x n",
    evaluate=power,
    kinds=INTEGERS,
    differentiable=False,
    formula="x ** n",
    domain=((-9.0, 9.0), (0.0, 12.0)),
    c=HelperCall("ipow", IPOW_C),
)
SQRT = elementwise(
    "sqrt",
    "x",
    evaluate=np.sqrt,
    sympy="sqrt(x)",
    python=callables("sqrt", "sqrt"),
    domain=((0.1, 9.0),),
    cost=4,
    c=LibmCall("sqrt"),
    singular=True,
    kinks=(Kink(itself, INFINITE),),
    refuses=NOT_NEGATIVE,
)
CBRT = elementwise(
    "cbrt",
    "x",
    evaluate=Libm("cbrt"),
    sympy="cbrt(x)",
    override=_cbrt_partials,
    reason="sympy's cube root of a negative number is not real",
    python=callables("cbrt", "cbrt"),
    domain=((0.1, 9.0),),
    cost=10,
    c=LibmCall("cbrt"),
    singular=True,
    kinks=(Kink(itself, INFINITE),),
)
