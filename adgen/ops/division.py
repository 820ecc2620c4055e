"""Rows: quotients rounded to integers, and remainders.

Comes in: nothing.  Goes out: Python's flooring `//` and `%` for floats and integers, C's truncating `fmod`, IEEE's
`remainder`.  Guaranteed: exactly Python's results, signed zeros included; by zero floats give what NumPy gives.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from adgen.ir.types import I64
from adgen.ops import affine
from adgen.ops.elementwise import NUMBERS, Partials, callables, elementwise
from adgen.ops.integers import floor_quotient, floor_remainder
from adgen.ops.kinks import Kink
from adgen.ops.libm import Libm
from adgen.ops.spelling import HelperCall, LibmCall
from adgen.ops.terms import Number, Term

FLOORDIV_C = """
static inline $real $name($real a, $real b) {
    $real remainder, quotient;
    if (b == ($real)0) return a / b;
    remainder = fmod$f(a, b);
    quotient = (a - remainder) / b;
    if (remainder != ($real)0 && (b < ($real)0) != (remainder < ($real)0)) quotient -= ($real)1;
    if (quotient == ($real)0) return copysign$f(($real)0, a / b);
    remainder = floor$f(quotient);
    return quotient - remainder > ($real)0.5 ? remainder + ($real)1 : remainder;
}
"""

FLOORDIV_I64_C = """
static inline int64_t $name(int64_t a, int64_t b) {
    if (b == 0) return 0;
    if (b == -1) return (int64_t)(0u - (uint64_t)a);
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
"""

MOD_C = """
static inline $real $name($real a, $real b) {
    const $real remainder = fmod$f(a, b);
    if (b == ($real)0) return remainder;
    if (remainder == ($real)0) return copysign$f(($real)0, b);
    return (b < ($real)0) != (remainder < ($real)0) ? remainder + b : remainder;
}
"""

MOD_I64_C = """
static inline int64_t $name(int64_t a, int64_t b) {
    if (b == 0 || b == -1) return 0;
    const int64_t remainder = a % b;
    return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b : remainder;
}
"""


def _floordiv(a: Any, b: Any) -> Any:
    return floor_quotient(a, b) if isinstance(a, int) else np.floor_divide(a, b)


def _mod(a: Any, b: Any) -> Any:
    return floor_remainder(a, b) if isinstance(a, int) else np.mod(a, b)


def _mod_partials(x: Term, y: Term, out: Term) -> Partials:
    return (Number(1), -FLOORDIV(x, y))


def _truncating_partials(x: Term, y: Term, out: Term) -> Partials:
    from adgen.ops.rounding import TRUNC

    return (Number(1), -TRUNC(x / y))


def _nearest_partials(x: Term, y: Term, out: Term) -> Partials:
    from adgen.ops.rounding import RINT

    return (Number(1), -RINT(x / y))


def _multiple(x: Term, y: Term, out: Term) -> Term:
    return REMAINDER(x, y)


def _multiple_but_zero(x: Term, y: Term, out: Term) -> Term:
    from adgen.ops.arithmetic import ABS
    from adgen.ops.comparison import LT, SELECT

    return SELECT(LT(ABS(x), ABS(y)), ABS(y) - ABS(x), REMAINDER(x, y))


def _half_multiple(x: Term, y: Term, out: Term) -> Term:
    from adgen.ops.arithmetic import ABS

    return ABS(y) * 0.5 - ABS(out)


QUOTIENT = "it is 1 for the first, and minus the whole quotient for the second"
FLOORDIV = elementwise(
    "floordiv",
    "x y",
    evaluate=_floordiv,
    kinds=NUMBERS,
    piecewise_constant=True,
    kinks=(Kink(_multiple),),
    formula="floor(x / y)",
    python=(operator.floordiv, operator.ifloordiv, *callables("floor_divide")),
    domain=((-9.0, 9.0), (0.3, 4.0)),
    cost=4,
    c=HelperCall("floordiv", FLOORDIV_C, {I64: FLOORDIV_I64_C}),
    simplify=affine.floordiv,
)
MOD = elementwise(
    "mod",
    "x y",
    evaluate=_mod,
    kinds=NUMBERS,
    sympy="x - y * floor(x / y)",
    formula="Mod(x, y)",
    override=_mod_partials,
    kinks=(Kink(_multiple, QUOTIENT),),
    reason="sympy keeps derivatives of floor, which are zero",
    python=(operator.mod, operator.imod, *callables("mod remainder")),
    domain=((-9.0, 9.0), (0.3, 4.0)),
    cost=4,
    c=HelperCall("mod", MOD_C, {I64: MOD_I64_C}),
    simplify=affine.mod,
)
FMOD = elementwise(
    "fmod",
    "x y",
    evaluate=Libm("fmod", 2),
    sympy="x - y * sign(x / y) * floor(Abs(x / y))",
    override=_truncating_partials,
    kinks=(Kink(_multiple_but_zero, QUOTIENT),),
    reason="sympy keeps derivatives of floor, which are zero",
    python=callables("fmod", "fmod"),
    domain=((-9.0, 9.0), (0.3, 4.0)),
    cost=4,
    c=LibmCall("fmod"),
)
REMAINDER = elementwise(
    "remainder",
    "x y",
    evaluate=Libm("remainder", 2),
    sympy="x - y * floor(x / y + 1/2)",
    override=_nearest_partials,
    kinks=(Kink(_half_multiple, QUOTIENT),),
    reason="sympy keeps derivatives of floor, which are zero",
    python=callables("", "remainder"),
    domain=((-9.0, 9.0), (0.3, 4.0)),
    cost=4,
    c=LibmCall("remainder"),
)
