"""Rows: rounding to integers, as floats.

Comes in: nothing.  Goes out: `floor`, `ceil`, `trunc`, `rint` (halves to even, as Python's `round`).  Guaranteed:
derivatives are zero.  `math.floor` and its like, which give integers, are in `composites`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from adgen.ir.types import I64
from adgen.ops import identities
from adgen.ops.elementwise import Elementwise, callables, elementwise
from adgen.ops.kinks import Kink, halfway, whole, whole_but_zero
from adgen.ops.spelling import HelperCall, LibmCall
from adgen.ops.terms import Number, Term

ROUND_C = """
#include <stdio.h>
#include <stdlib.h>

static inline $real $name($real x, int64_t digits) {
    if (!isfinite(x) || digits > 340) return x;
    if (digits < -308) return copysign$f(($real)0, x);
    if (digits <= 0) return copysign$f(($real)((double)x - remainder((double)x, pow(10.0, (double)-digits))), x);
    char text[720];
    (void)snprintf(text, sizeof text, "%.*f", (int)digits, (double)x);
    return ($real)strtod(text, NULL);
}
"""


def _round(x: Any, digits: Any) -> Any:
    if isinstance(x, np.ndarray):
        return np.vectorize(_round, otypes=[x.dtype])(x, digits)
    return type(x)(round(float(x), digits)) if np.isfinite(x) else x


def _digits_halfway(x: Term, digits: Term, out: Term) -> Term:
    from adgen.ops.powers import POWI

    unit = POWI(Number(10), digits)
    return halfway(x * unit, out) / unit


def _rounding(
    name: str, evaluate: Callable[[Any], Any], numpy: str, distance: Callable[..., Term], formula: str = ""
) -> Elementwise:
    return elementwise(
        name,
        "x",
        evaluate=evaluate,
        piecewise_constant=True,
        kinks=(Kink(distance),),
        formula=formula,
        python=callables(numpy),
        c=LibmCall(name),
        simplify=identities.rounding,
    )


FLOOR = _rounding("floor", np.floor, "floor", whole, "floor(x)")
CEIL = _rounding("ceil", np.ceil, "ceil", whole, "ceiling(x)")
TRUNC = _rounding("trunc", np.trunc, "trunc fix", whole_but_zero, "sign(x) * floor(Abs(x))")
RINT = _rounding("rint", np.rint, "rint", halfway)
ROUND = elementwise(
    "round",
    "x digits",
    evaluate=_round,
    fixed={1: I64},
    piecewise_constant=True,
    kinks=(Kink(_digits_halfway),),
    domain=((-9.0, 9.0), (-2.0, 5.0)),
    cost=100,
    c=HelperCall("round", ROUND_C),
)
