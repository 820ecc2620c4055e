"""Rows: exponentials and logarithms.

Comes in: nothing.  Goes out: `exp`, `log` and their relatives.  Guaranteed: libm's values; IEEE results outside the
domain.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adgen.ops.comparison import EQ, SELECT
from adgen.ops.elementwise import Elementwise, Partials, callables, elementwise
from adgen.ops.libm import Libm
from adgen.ops.refusals import above, overflow
from adgen.ops.spelling import HelperCall, LibmCall
from adgen.ops.terms import Term

POSITIVE = ((0.1, 9.0),)

LOGADDEXP_C = """
static inline $real $name($real x, $real y) {
    const $real difference = x - y;
    if (x == y) return x + ($real)0.693147180559945309417232121458;
    if (difference > ($real)0) return x + log1p$f(exp$f(-difference));
    if (difference <= ($real)0) return y + log1p$f(exp$f(difference));
    return difference;
}
"""


def function(name: str, sympy: str, **facts: Any) -> Elementwise:
    """A row that is a function of libm of one operand; NumPy and `math` have it by the same name."""
    python = facts.pop("python", callables(name, name))
    return elementwise(
        name, "x", evaluate=Libm(name), c=LibmCall(name), sympy=sympy, python=python, cost=facts.pop("cost", 8), **facts
    )


EXP = function("exp", "exp(x)", refuses=overflow("exp"))
EXP2 = function("exp2", "2**x", scipy=("exp2",))
EXPM1 = function("expm1", "exp(x) - 1", scipy=("expm1",), refuses=overflow("expm1"))
LOG = function("log", "log(x)", domain=POSITIVE, singular=True, refuses=above(0.0))
LOG2 = function("log2", "log(x) / log(2)", domain=POSITIVE, singular=True, refuses=above(0.0))
LOG10 = function("log10", "log(x) / log(10)", domain=POSITIVE, singular=True, refuses=above(0.0))
LOG1P = function("log1p", "log(1 + x)", domain=((-0.9, 9.0),), scipy=("log1p",), singular=True, refuses=above(-1.0))


def _logaddexp(x: Any, y: Any) -> Any:
    if isinstance(x, np.ndarray) or isinstance(y, np.ndarray):
        return np.logaddexp(x, y)
    difference = x - y
    if x == y:
        return x + type(x)(0.693147180559945309417232121458)
    if difference > 0:
        return x + LOG1P.reference(EXP.reference(-difference))
    return y + LOG1P.reference(EXP.reference(difference)) if difference <= 0 else difference


def _logaddexp_partials(x: Term, y: Term, out: Term) -> Partials:
    finite = SELECT(EQ(out, -np.inf), 0, out)
    return EXP(x - finite), EXP(y - finite)


LOGADDEXP = elementwise(
    "logaddexp",
    "x y",
    evaluate=_logaddexp,
    sympy="log(exp(x) + exp(y))",
    override=_logaddexp_partials,
    reason="exp(x) overflows; x - out does not, and where both operands are -inf the derivatives are 0, not nan",
    python=callables("logaddexp"),
    cost=16,
    c=HelperCall("logaddexp", LOGADDEXP_C),
)
