"""Rows: the greater and the lesser of two numbers, as NumPy and as Python mean them.

Comes in: nothing.  Goes out: `maximum` and `minimum`, where nan wins over numbers, and `pymax` and `pymin`, where the
first operand stays unless the second is better.  Guaranteed: at a tie each operand has one half of the derivative.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from adgen.ir.types import INTEGERS, NARROW
from adgen.ops import affine
from adgen.ops.comparison import GE, GT, LE, LT, SELECT
from adgen.ops.elementwise import NUMBERS, Elementwise, Partials, callables, elementwise
from adgen.ops.kinks import HALVES, Kink, difference
from adgen.ops.spelling import HelperCall
from adgen.ops.terms import Term

FLOAT_C = """
static inline $real $name($real a, $real b) {
    return a SIGN= b || a != a ? a : b;
}
"""

PYTHON_C = """
static inline $real $name($real a, $real b) {
    return b SIGN a ? b : a;
}
"""

INTEGER_C = """
static inline $real $name($real a, $real b) {
    return a SIGN b ? a : b;
}
"""


def _chosen(vectorised: Callable[..., Any], better: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def evaluate(a: Any, b: Any) -> Any:
        if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
            return vectorised(a, b)
        return a if better(a, b) or a != a else b

    return evaluate


def _halves(beats: Elementwise, loses: Elementwise) -> Callable[[Term, Term, Term], Partials]:
    def partials(x: Term, y: Term, out: Term) -> Partials:
        return (
            SELECT(beats(x, y), 1, SELECT(loses(x, y), 0, 0.5)),
            SELECT(beats(x, y), 0, SELECT(loses(x, y), 1, 0.5)),
        )

    return partials


def _python_extremum(name: str, sign: str, beats: Elementwise, loses: Elementwise) -> Elementwise:
    def evaluate(a: Any, b: Any) -> Any:
        better = beats.reference(b, a)
        return np.where(better, b, a) if isinstance(better, np.ndarray) else b if better else a

    return elementwise(
        name,
        "x y",
        evaluate=evaluate,
        sympy="Max(x, y)" if beats is GT else "Min(x, y)",
        override=_halves(beats, loses),
        reason="sympy's Heaviside is a factor; a selection never multiplies by a mask",
        kinks=(Kink(difference, HALVES),),
        called=name.removeprefix("py"),
        c=HelperCall(name, PYTHON_C.replace("SIGN", sign)),
    )


def _extremum(name: str, sign: str, beats: Elementwise, loses: Elementwise) -> Elementwise:
    weakly = GE if beats is GT else LE
    return elementwise(
        name,
        "x y",
        evaluate=_chosen(getattr(np, name), weakly.reference),
        kinds=(*NUMBERS, *NARROW),
        sympy="Max(x, y)" if beats is GT else "Min(x, y)",
        override=_halves(beats, loses),
        reason="sympy's Heaviside is a factor; a selection never multiplies by a mask",
        kinks=(Kink(difference, HALVES),),
        python=callables(name),
        c=HelperCall(name, FLOAT_C.replace("SIGN", sign), dict.fromkeys(INTEGERS, INTEGER_C.replace("SIGN", sign))),
        simplify=affine.extremum(name),
    )


MAXIMUM = _extremum("maximum", ">", GT, LT)
MINIMUM = _extremum("minimum", "<", LT, GT)
PYMAX = _python_extremum("pymax", ">", GT, LT)
PYMIN = _python_extremum("pymin", "<", LT, GT)
