"""Rows: sums, differences, products, quotients, signs.

Comes in: nothing.  Goes out: the rows of Python's arithmetic operators whose meaning needs no explanation.
Guaranteed: IEEE arithmetic for floats; i64 arithmetic is that of `integers`.
"""

from __future__ import annotations

import builtins
import operator
from typing import Any

import numpy as np

from adgen.ir.types import I64
from adgen.ops import affine, identities
from adgen.ops.elementwise import FLOATS, NUMBERS, Partials, callables, elementwise
from adgen.ops.integers import wrapped
from adgen.ops.kinks import Kink, itself
from adgen.ops.libm import Libm
from adgen.ops.spelling import ADDITIVE, MULTIPLICATIVE, ByType, HelperCall, Infix, LibmCall, Prefix
from adgen.ops.terms import Term

SIGN_C = """
static inline $real $name($real x) {
    return x > ($real)0 ? ($real)1 : x < ($real)0 ? ($real)-1 : x == x ? ($real)0 : x;
}
"""

ABS_I64_C = """
static inline int64_t $name(int64_t x) {
    return x < 0 ? (int64_t)(0u - (uint64_t)x) : x;
}
"""


def _by_sign(x: Term, positive: Term | float, negative: Term | float) -> Term:
    """A selection by the sign of x, zero at zero: a factor that selects, so that `0 * inf` cannot arise."""
    from adgen.ops.comparison import GT, LT, SELECT

    return SELECT(GT(x, 0), positive, SELECT(LT(x, 0), negative, 0))


def _abs(x: Term, out: Term) -> Partials:
    return (_by_sign(x, 1, -1),)


def _copysign(x: Term, y: Term, out: Term) -> Partials:
    sign = COPYSIGN(1, y)
    return _by_sign(x, sign, -sign), None


ADD = elementwise(
    "add",
    "x y",
    evaluate=lambda x, y: wrapped(x + y),
    kinds=NUMBERS,
    sympy="x + y",
    python=(operator.add, operator.iadd, *callables("add")),
    c=Infix("+", ADDITIVE),
    simplify=identities.by_type(identities.add, affine.add),
)
SUB = elementwise(
    "sub",
    "x y",
    evaluate=lambda x, y: wrapped(x - y),
    kinds=NUMBERS,
    sympy="x - y",
    python=(operator.sub, operator.isub, *callables("subtract")),
    c=Infix("-", ADDITIVE),
    simplify=identities.by_type(identities.sub, affine.sub),
)
MUL = elementwise(
    "mul",
    "x y",
    evaluate=lambda x, y: wrapped(x * y),
    kinds=NUMBERS,
    sympy="x * y",
    python=(operator.mul, operator.imul, *callables("multiply")),
    c=Infix("*", MULTIPLICATIVE),
    simplify=identities.by_type(identities.mul, affine.mul),
)
DIV = elementwise(
    "div",
    "x y",
    evaluate=lambda x, y: x / y,
    sympy="x / y",
    python=(operator.truediv, operator.itruediv, *callables("true_divide divide")),
    domain=((-3.0, 3.0), (0.2, 3.0)),
    c=Infix("/", MULTIPLICATIVE),
    simplify=identities.div,
    singular=True,
)
NEG = elementwise(
    "neg",
    "x",
    evaluate=lambda x: wrapped(-x),
    kinds=NUMBERS,
    sympy="-x",
    python=(operator.neg, *callables("negative")),
    c=Prefix("-"),
    simplify=identities.by_type(identities.neg, affine.neg),
)
ABS = elementwise(
    "abs",
    "x",
    evaluate=lambda x: wrapped(abs(x)),
    kinds=NUMBERS,
    sympy="Abs(x)",
    override=_abs,
    reason="sign(x) as a factor would make 0 * inf of an infinite cotangent at 0, where the derivative is 0",
    python=(builtins.abs, operator.abs, *callables("abs absolute fabs", "fabs")),
    c=ByType(LibmCall("fabs"), {I64: HelperCall("abs", ABS_I64_C)}),
    simplify=identities.absolute,
    kinks=(Kink(itself),),
)


def _sign(x: Any) -> Any:
    return np.sign(x) if isinstance(x, np.ndarray | np.generic) else (x > 0) - (x < 0)


SIGN = elementwise(
    "sign",
    "x",
    evaluate=_sign,
    kinds=NUMBERS,
    piecewise_constant=True,
    kinks=(Kink(itself),),
    formula="sign(x)",
    python=callables("sign"),
    c=HelperCall("sign", SIGN_C, {I64: "static inline int64_t $name(int64_t x) {\n    return (x > 0) - (x < 0);\n}"}),
)
COPYSIGN = elementwise(
    "copysign",
    "x y",
    evaluate=np.copysign,
    kinds=FLOATS,
    sympy="Abs(x) * sign(y)",
    override=_copysign,
    reason="sign(y) is 0 at 0, where copysign still sees the sign; as for abs, 0 at x = 0",
    kinks=(Kink(lambda x, y, out: x), Kink(lambda x, y, out: y, "it is that of the side whose sign zero has")),
    python=callables("copysign", "copysign"),
    c=LibmCall("copysign"),
)
FMA = elementwise(
    "fma",
    "x y z",
    evaluate=Libm("fma", 3),
    sympy="x * y + z",
    python=callables("", "fma"),
    c=LibmCall("fma"),
)
