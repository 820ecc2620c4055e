"""Rows: conversions between the scalar types.

Comes in: nothing.  Goes out: `to_f64`, `to_f32`, `to_bool`, and for each integer type such as `to_i64`: towards zero,
wrapping.  Guaranteed: between floating-point types the derivative passes, in the other type; through integers and
booleans it does not.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from adgen.ir.translate import DTYPES
from adgen.ir.types import BOOL, F32, F64, I64, NARROW, WIDTHS, Scalar
from adgen.ops import identities
from adgen.ops.elementwise import ANYTHING, Elementwise, callables, elementwise
from adgen.ops.integers import conversion_type, converted
from adgen.ops.kinks import BRANCH, Kink, itself, whole_but_zero
from adgen.ops.spelling import C_TYPES, ByType, Cast, HelperCall, NotZero, Spelling

# a plain cast of nan or of what is out of range is undefined in C
TRUNCATION_C = """
static inline {result} $name($real x) {{
    return {cast}x >= -0x1p{bits}$f && x < 0x1p{bits}$f ? ({wide})x : {least}{end};
}}
"""


def _truncation(target: Scalar) -> HelperCall:
    wide = conversion_type(target)
    width = WIDTHS[wide.name]
    cast, end = ("", "") if wide == target else (f"({C_TYPES[target]})(", ")")
    text = TRUNCATION_C.format(
        result=C_TYPES[target], cast=cast, bits=width - 1, wide=C_TYPES[wide], least=f"INT{width}_MIN", end=end
    )
    return HelperCall(f"to_{target}", text)


def _cast(
    target: Scalar, evaluate: Callable[[Any], Any], c: Spelling, python: tuple[Callable[..., Any], ...], **facts: Any
) -> Elementwise:
    name = f"to_{target}"
    return elementwise(
        name,
        "x",
        evaluate=lambda x: x.astype(DTYPES[target]) if isinstance(x, np.ndarray) else evaluate(x),
        kinds=ANYTHING,
        result=target,
        python=python,
        c=c,
        simplify=identities.cast(target),
        **facts,
    )


def _to_integer(target: Scalar, python: tuple[Callable[..., Any], ...]) -> Elementwise:
    truncation = _truncation(target)
    spelling = ByType(Cast(target), {F64: truncation, F32: truncation})
    kinks = (Kink(whole_but_zero),)
    return _cast(target, partial(converted, kind=target), spelling, python, piecewise_constant=True, kinks=kinks)


TO_F64 = _cast(F64, np.float64, Cast(F64), (builtins.float, *callables("float64 double")), sympy="x")
TO_F32 = _cast(F32, np.float32, Cast(F32), callables("float32 single"), sympy="x")
TO_BOOL = _cast(
    BOOL,
    bool,
    NotZero(),
    (builtins.bool, *callables("bool_")),
    piecewise_constant=True,
    kinks=(Kink(itself, BRANCH),),
)
TO_I64 = _to_integer(I64, (builtins.int, np.int64))
TO_NARROW = {kind: _to_integer(kind, (DTYPES[kind],)) for kind in NARROW}
CASTS = {F64: TO_F64, F32: TO_F32, BOOL: TO_BOOL, I64: TO_I64, **TO_NARROW}
