"""Rows: bits and number theory on i64, and the bits of a float.

Comes in: nothing.  Goes out: `& | ^ ~ << >>`, gcd, factorial, and `float_bits`, by which a failed check tells floats.
Guaranteed: Python's results where they fit 64 bits; total, so that no operand makes C's behaviour undefined.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from adgen.ir.types import F64, I64
from adgen.ops import affine
from adgen.ops.elementwise import INTEGERS, Elementwise, callables, elementwise
from adgen.ops.integers import factorial, shift_left, shift_right, wrapped
from adgen.ops.spelling import BITWISE, UNARY, HelperCall, Infix, Prefix, Spelling

SHIFT_LEFT_C = """
static inline int64_t $name(int64_t a, int64_t n) {
    return n >= 0 && n < 64 ? (int64_t)((uint64_t)a << n) : 0;
}
"""

SHIFT_RIGHT_C = """
static inline int64_t $name(int64_t a, int64_t n) {
    return a >> (n >= 0 && n < 64 ? n : 63);
}
"""

GCD_C = """
static inline int64_t $name(int64_t a, int64_t b) {
    uint64_t x = a < 0 ? 0u - (uint64_t)a : (uint64_t)a;
    uint64_t y = b < 0 ? 0u - (uint64_t)b : (uint64_t)b;
    while (y != 0) {
        const uint64_t rest = x % y;
        x = y;
        y = rest;
    }
    return (int64_t)x;
}
"""

FLOAT_BITS_C = """
#include <string.h>

static inline int64_t $name(double x) {
    int64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
"""

FACTORIAL_C = """
static inline int64_t $name(int64_t n) {
    int64_t product = n >= 0 && n <= 20 ? 1 : 0;
    for (int64_t k = 2; k <= n && k <= 20; ++k) product *= k;
    return product;
}
"""

Range = tuple[float, float]


def _integer(
    name: str,
    operands: str,
    evaluate: Callable[..., Any],
    c: Spelling,
    python: tuple[Callable[..., Any], ...],
    domain: tuple[Range, ...] = (),
    **facts: Any,
) -> Elementwise:
    return elementwise(
        name,
        operands,
        evaluate=evaluate,
        kinds=INTEGERS,
        differentiable=False,
        python=python,
        domain=domain or ((-99.0, 99.0),) * len(operands.split()),
        c=c,
        **facts,
    )


def _float_bits(x: Any) -> Any:
    bits = np.asarray(x).view(np.int64)
    return bits if bits.ndim else int(bits)


BIT_AND = _integer(
    "bit_and",
    "x y",
    operator.and_,
    Infix("&", BITWISE["&"], operands=UNARY),
    (operator.and_, operator.iand, *callables("bitwise_and")),
    simplify=affine.commuting("bit_and"),
)
BIT_OR = _integer(
    "bit_or",
    "x y",
    operator.or_,
    Infix("|", BITWISE["|"], operands=UNARY),
    (operator.or_, operator.ior, *callables("bitwise_or")),
    simplify=affine.commuting("bit_or"),
)
BIT_XOR = _integer(
    "bit_xor",
    "x y",
    operator.xor,
    Infix("^", BITWISE["^"], operands=UNARY),
    (operator.xor, operator.ixor, *callables("bitwise_xor")),
    simplify=affine.commuting("bit_xor"),
)
BIT_NOT = _integer(
    "bit_not", "x", operator.invert, Prefix("~"), (operator.invert, *callables("bitwise_not invert bitwise_invert"))
)
SHIFT_LEFT = _integer(
    "shift_left",
    "x n",
    shift_left,
    HelperCall("shift_left", SHIFT_LEFT_C),
    (operator.lshift, operator.ilshift, *callables("left_shift bitwise_left_shift")),
    ((-99.0, 99.0), (-2.0, 66.0)),
)
SHIFT_RIGHT = _integer(
    "shift_right",
    "x n",
    shift_right,
    HelperCall("shift_right", SHIFT_RIGHT_C),
    (operator.rshift, operator.irshift, *callables("right_shift bitwise_right_shift")),
    ((-99.0, 99.0), (-2.0, 66.0)),
)
GCD = _integer(
    "gcd",
    "x y",
    lambda x, y: wrapped(math.gcd(x, y)),
    HelperCall("gcd", GCD_C),
    callables("gcd", "gcd"),
    simplify=affine.commuting("gcd"),
)
FACTORIAL = _integer(
    "factorial",
    "n",
    factorial,
    HelperCall("factorial", FACTORIAL_C),
    callables("", "factorial"),
    ((-2.0, 22.0),),
)
FLOAT_BITS = elementwise(
    "float_bits",
    "x",
    evaluate=_float_bits,
    kinds=(F64,),
    result=I64,
    piecewise_constant=True,
    c=HelperCall("float_bits", FLOAT_BITS_C),
)
