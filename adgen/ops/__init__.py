"""The table of elementwise operations.

Comes in: nothing.  Goes out: one row for each operation, `ROWS` by name (the rows of the IR included), and
`meaning`, which finds the row that a Python callable means.  Guaranteed: callables are found by identity, so aliases
and `from numpy import sin` work; importing this imports neither sympy nor SciPy.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from adgen.ir.core import CORE_ROWS
from adgen.ir.nodes import Row
from adgen.ops.arithmetic import ABS, ADD, COPYSIGN, DIV, FMA, MUL, NEG, SIGN, SUB
from adgen.ops.bessel import BESSELI, BESSELJ, BESSELK, BESSELY
from adgen.ops.bits import BIT_AND, BIT_NOT, BIT_OR, BIT_XOR, FACTORIAL, FLOAT_BITS, GCD, SHIFT_LEFT, SHIFT_RIGHT
from adgen.ops.casts import CASTS, TO_BOOL, TO_F32, TO_F64, TO_I64, TO_NARROW
from adgen.ops.comparison import (
    AND,
    EQ,
    GE,
    GT,
    ISFINITE,
    ISINF,
    ISNAN,
    LE,
    LT,
    NE,
    NOT,
    OR,
    SELECT,
    XOR,
)
from adgen.ops.division import FLOORDIV, FMOD, MOD, REMAINDER
from adgen.ops.elementwise import Elementwise
from adgen.ops.elliptic import ELLIPTIC_D, ELLIPTIC_E, ELLIPTIC_K
from adgen.ops.exponential import EXP, EXP2, EXPM1, LOG, LOG1P, LOG2, LOG10, LOGADDEXP
from adgen.ops.extrema import MAXIMUM, MINIMUM, PYMAX, PYMIN
from adgen.ops.flow import STOP, TAPPED
from adgen.ops.hyperbolic import ACOSH, ASINH, ATANH, COSH, SINH, TANH
from adgen.ops.inverses import ERFCINV, ERFINV, NDTRI
from adgen.ops.powers import CBRT, IPOW, POW, POWI, SQRT
from adgen.ops.probability import EXPIT, LOGIT, NDTR, XLOGY
from adgen.ops.registry import TABLE
from adgen.ops.rounding import CEIL, FLOOR, RINT, ROUND, TRUNC
from adgen.ops.special import DIGAMMA, ERF, ERFC, GAMMA, LGAMMA, POLYGAMMA
from adgen.ops.trigonometric import ACOS, ASIN, ATAN, ATAN2, COS, HYPOT, SIN, TAN

ROWS: dict[str, Row] = {row.name: row for row in (*CORE_ROWS, *TABLE.values())}

_BY_IDENTITY = {id(function): (function, row) for row in TABLE.values() for function in row.python}
_SCIPY = {name: row for row in TABLE.values() for name in row.scipy}


def meaning(function: Callable[..., Any]) -> Elementwise | None:
    """The row that a Python callable means, or None."""
    found = _BY_IDENTITY.get(id(function))
    if found is not None:
        return found[1]
    return _SCIPY.get(scipy_name(function))


def title(row: Row) -> str:
    """What a row is called in NumPy, or else in Python."""
    if called := getattr(row, "called", ""):
        return str(called)
    known = getattr(row, "python", ())
    names = [f.__name__ for f in sorted(known, key=lambda f: not isinstance(f, np.ufunc))]
    return names[0] if names else row.name


def scipy_name(function: Any) -> str:
    """The function's name in `scipy.special`; empty when it is not from there."""
    special = sys.modules.get("scipy.special")
    name = getattr(function, "__name__", None)
    return name if special is not None and isinstance(name, str) and getattr(special, name, None) is function else ""


__all__ = [
    "ABS",
    "ACOS",
    "ACOSH",
    "ADD",
    "AND",
    "ASIN",
    "ASINH",
    "ATAN",
    "ATAN2",
    "ATANH",
    "BESSELI",
    "BESSELJ",
    "BESSELK",
    "BESSELY",
    "BIT_AND",
    "BIT_NOT",
    "BIT_OR",
    "BIT_XOR",
    "CASTS",
    "CBRT",
    "CEIL",
    "COPYSIGN",
    "COS",
    "COSH",
    "DIGAMMA",
    "DIV",
    "ELLIPTIC_D",
    "ELLIPTIC_E",
    "ELLIPTIC_K",
    "EQ",
    "ERF",
    "ERFC",
    "ERFCINV",
    "ERFINV",
    "EXP",
    "EXP2",
    "EXPIT",
    "EXPM1",
    "FACTORIAL",
    "FLOAT_BITS",
    "FLOOR",
    "FLOORDIV",
    "FMA",
    "FMOD",
    "GAMMA",
    "GCD",
    "GE",
    "GT",
    "HYPOT",
    "IPOW",
    "ISFINITE",
    "ISINF",
    "ISNAN",
    "LE",
    "LGAMMA",
    "LOG",
    "LOG1P",
    "LOG2",
    "LOG10",
    "LOGADDEXP",
    "LOGIT",
    "LT",
    "MAXIMUM",
    "MINIMUM",
    "MOD",
    "MUL",
    "NDTR",
    "NDTRI",
    "NE",
    "NEG",
    "NOT",
    "OR",
    "POLYGAMMA",
    "POW",
    "POWI",
    "PYMAX",
    "PYMIN",
    "REMAINDER",
    "RINT",
    "ROUND",
    "ROWS",
    "SELECT",
    "SHIFT_LEFT",
    "SHIFT_RIGHT",
    "SIGN",
    "SIN",
    "SINH",
    "SQRT",
    "STOP",
    "SUB",
    "TABLE",
    "TAN",
    "TANH",
    "TAPPED",
    "TO_BOOL",
    "TO_F32",
    "TO_F64",
    "TO_I64",
    "TO_NARROW",
    "TRUNC",
    "XLOGY",
    "XOR",
    "Elementwise",
    "meaning",
    "scipy_name",
    "title",
]
