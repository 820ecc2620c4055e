"""Rows: conversions between the scalar types.

Comes in: nothing.  Goes out: `to_f64`, `to_f32`, `to_i64` (towards zero), `to_bool`.  Guaranteed: between
floating-point types the derivative passes, in the other type; through integers and booleans it does not.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

import numpy as np

from adgen.ir.types import BOOL, F32, F64, I64, Scalar
from adgen.ops import identities
from adgen.ops.elementwise import ANYTHING, Elementwise, callables, elementwise
from adgen.ops.integers import truncated
from adgen.ops.spelling import ByType, Cast, HelperCall, NotZero, Spelling

# a plain cast of nan or of what is out of range is undefined in C
TO_I64_C = """
static inline int64_t $name($real x) {
    return x >= -0x1p63$f && x < 0x1p63$f ? (int64_t)x : INT64_MIN;
}
"""


def _cast(
    target: Scalar, evaluate: Callable[[Any], Any], c: Spelling, python: tuple[Callable[..., Any], ...], **facts: Any
) -> Elementwise:
    name = f"to_{target}"
    return elementwise(
        name,
        "x",
        evaluate=lambda x: x.astype(_DTYPES[target]) if isinstance(x, np.ndarray) else evaluate(x),
        kinds=ANYTHING,
        result=target,
        python=python,
        c=c,
        simplify=identities.cast(target),
        **facts,
    )


_DTYPES: dict[Scalar, Any] = {F64: np.float64, F32: np.float32, I64: np.int64, BOOL: np.bool_}

TO_F64 = _cast(F64, np.float64, Cast(F64), (builtins.float, *callables("float64 double")), sympy="x")
TO_F32 = _cast(F32, np.float32, Cast(F32), callables("float32 single"), sympy="x")
_truncation = HelperCall("to_i64", TO_I64_C)
TO_I64 = _cast(
    I64,
    truncated,
    ByType(Cast(I64), {F64: _truncation, F32: _truncation}),
    (builtins.int, *callables("int64")),
    piecewise_constant=True,
)
TO_BOOL = _cast(BOOL, bool, NotZero(), (builtins.bool, *callables("bool_")), piecewise_constant=True)
