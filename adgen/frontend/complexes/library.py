"""What Python and NumPy offer for complex numbers in particular: `complex`, their parts, the module `cmath`.

Comes in: numbers.  Goes out: numbers.  One entry per Python function object, beside those of `frontend.composites`.
"""

from __future__ import annotations

import cmath
import math
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from adgen import ops
from adgen.frontend import scalars
from adgen.frontend.complexes import arithmetic
from adgen.frontend.complexes.builder import RULES
from adgen.frontend.complexes.reals import Real
from adgen.frontend.complexes.types import C128, Complex
from adgen.frontend.specs import is_complex_kind, rebuild
from adgen.frontend.values import Number
from adgen.ir.nodes import Row
from adgen.ir.types import F64

if TYPE_CHECKING:
    from adgen.frontend.context import Context

Rule = Callable[..., Any]


def is_complex(ctx: Context, x: Any) -> bool:
    """True for a complex number, known when compiling or not."""
    return isinstance(scalars.kind(ctx, x)[0], Complex)


def parts(ctx: Context, x: Any) -> tuple[Number, Number]:
    """The real and the imaginary part of a number, with its weakness."""
    number = ctx.number(x)
    real, imag = ctx.builder.parts(number.value)
    return Number(real, number.weak), Number(imag, number.weak)


def joined(ctx: Context, real: Any, imag: Any, weak: bool) -> Number:
    """The complex number with these parts, in double precision unless both are single."""
    kinds = [scalars.kind(ctx, x) for x in (real, imag)]
    element = scalars.promote([*kinds, (F64, True)])
    return Number(ctx.builder.whole(*(scalars.to(ctx, x, element) for x in (real, imag))), weak)


def real(ctx: Context, x: Any) -> Any:
    """The real part; a real number is its own.  That of an array without axes shares its memory."""
    if isinstance(x, Number) and x.array:
        ctx.exposed[id(x)] = x
    return parts(ctx, x)[0] if is_complex(ctx, x) else x


def imag(ctx: Context, x: Any) -> Any:
    """The imaginary part.  That of an array without axes shares its memory."""
    if isinstance(x, Number) and x.array:
        ctx.exposed[id(x)] = x
    if is_complex(ctx, x):
        return parts(ctx, x)[1]
    element, weak = scalars.kind(ctx, x)
    return Number(ctx.builder.const(0, element), weak)


def conjugate(ctx: Context, x: Any) -> Any:
    """The number with its imaginary part negated."""
    if not is_complex(ctx, x):
        return x
    first, second = parts(ctx, x)
    return joined(ctx, first, scalars.unary(ctx, operator.neg, second), first.weak)


def reciprocal(ctx: Context, x: Any) -> Number:
    """`np.reciprocal` of a complex number."""
    a, b = (Real(ctx.builder, part.value) for part in parts(ctx, x))
    first, second = arithmetic.reciprocal((a, b))
    return Number(ctx.builder.whole(first.value, second.value), False)


def angle(ctx: Context, z: Any, deg: Any = False) -> Any:
    """`np.angle`: of a real number 0 or pi."""
    if isinstance(deg, Number):
        ctx.fail_dynamic("AD222", "`angle`: the argument `deg` must be known when compiling")
    first, second = parts(ctx, z)
    turn = scalars.row(ctx, ops.ATAN2, second, first)
    return scalars.binary(ctx, operator.mul, turn, 180.0 / math.pi) if deg else turn


def rebuilt(ctx: Context, kind: type, items: list[tuple[Any, Any]]) -> Any:
    """A container of values of the domain: a complex number from its parts."""
    if is_complex_kind(kind):
        (_, first), (_, second) = items
        return joined(ctx, first, second, kind is complex)
    return rebuild(kind, items)


def make(ctx: Context, real: Any = 0, imag: Any = 0) -> Any:
    """`complex(real, imag)`, where either may be complex: `real + 1j * imag`."""
    if not isinstance(real, Number) and not isinstance(imag, Number):
        return scalars.static(ctx, complex, real) if type(real) is str else scalars.static(ctx, complex, real, imag)
    (a, b), (c, d) = parts(ctx, real), parts(ctx, imag)
    if is_complex(ctx, imag):
        a = scalars.binary(ctx, operator.sub, a, d)
    if is_complex(ctx, real):
        c = scalars.binary(ctx, operator.add, b, c)
    return Number(ctx.builder.whole(scalars.to(ctx, a, F64), scalars.to(ctx, c, F64)), True)


# -- cmath ---------------------------------------------------------------------------------------------------------


def of_cmath(row: Row) -> Rule:
    """A function of `cmath`: whatever it is given counts as complex."""

    def rule(ctx: Context, z: Any) -> Number:
        return Number(ctx.builder.op(row, scalars.to(ctx, z, C128)), True)

    return rule


def cmath_log(ctx: Context, z: Any, base: Any = None) -> Any:
    """`cmath.log` with its optional base."""
    value = of_cmath(ops.LOG)(ctx, z)
    if base is None:
        return value
    divisor = of_cmath(ops.LOG)(ctx, base)
    return scalars.binary(ctx, operator.truediv, value, divisor)


def phase(ctx: Context, z: Any) -> Number:
    """`cmath.phase`."""
    first, second = ctx.builder.parts(scalars.to(ctx, z, C128))
    return Number(ctx.builder.op(ops.ATAN2, second, first), True)


def polar(ctx: Context, z: Any) -> tuple[Number, Number]:
    """`cmath.polar`: absolute value and angle."""
    return of_cmath(ops.ABS)(ctx, z), phase(ctx, z)


def rect(ctx: Context, r: Any, phi: Any) -> Number:
    """`cmath.rect`: the number with this absolute value and angle."""
    b = ctx.builder
    length, turn = scalars.to(ctx, r, F64), scalars.to(ctx, phi, F64)
    real, imag = (b.op(ops.MUL, length, b.op(row, turn)) for row in (ops.COS, ops.SIN))
    return Number(b.whole(real, imag), True)


# What `cmath` has under the name that `math` gives to a row with a formula.
CMATH: dict[Any, Rule] = {
    getattr(cmath, function.__name__): of_cmath(row)
    for row in RULES
    if isinstance(row, ops.Elementwise)
    for function in row.python
    if function.__module__ == "math" and hasattr(cmath, function.__name__)
}
TABLE: dict[Any, Rule] = {
    np.real: real,
    np.imag: imag,
    np.conjugate: conjugate,
    np.angle: angle,
    **CMATH,
    cmath.log: cmath_log,
    cmath.phase: phase,
    cmath.polar: polar,
    cmath.rect: rect,
}
