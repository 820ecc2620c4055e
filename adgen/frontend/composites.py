"""Scalar functions that are a few operations of the table: `np.square`, `math.radians`, `np.where`, `round` ...

Comes in: numbers.  Goes out: numbers.  One entry per Python function object; `scalars.apply` looks them up.
"""

from __future__ import annotations

import cmath
import math
import operator
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from adgen import ops
from adgen.frontend import scalars
from adgen.frontend.complexes import library
from adgen.frontend.library import special
from adgen.frontend.values import Number, is_number
from adgen.ir.types import BOOL, F32, F64, I8, I64

if TYPE_CHECKING:
    from adgen.frontend.context import Context

Rule = Callable[..., Any]


def _op(ctx: Context, operator_: Any, a: Any, b: Any) -> Any:
    return scalars.binary(ctx, operator_, a, b)


def _floating(ctx: Context, x: Any) -> Any:
    """A number as a float, as NumPy's functions take it."""
    element, weak = scalars.kind(ctx, x)
    return x if element.is_float else scalars.cast(ctx, x, scalars.float_type(ctx, element), weak)


def in_python(function: Rule) -> Rule:
    """A function of `math`: its operands are Python floats."""
    return lambda ctx, *operands: function(ctx, *(python_float(ctx, x) for x in operands))


def square(ctx: Context, x: Any) -> Any:
    """`x * x`; of booleans an int8."""
    if scalars.kind(ctx, x) == (BOOL, False):
        x = scalars.cast(ctx, x, I8)
    return _op(ctx, operator.mul, x, x)


def reciprocal(ctx: Context, x: Any) -> Any:
    """`1 / x` of a float."""
    if library.is_complex(ctx, x):
        return library.reciprocal(ctx, x)
    if not scalars.kind(ctx, x)[0].is_float:
        ctx.fail("AD203", "`np.reciprocal` of integers is not supported", "write `1.0 / x`, which is not rounded")
    return _op(ctx, operator.truediv, 1.0, x)


def radians(ctx: Context, x: Any) -> Any:
    """Degrees to radians."""
    return _op(ctx, operator.mul, _floating(ctx, x), math.pi / 180.0)


def degrees(ctx: Context, x: Any) -> Any:
    """Radians to degrees."""
    return _op(ctx, operator.mul, _floating(ctx, x), 180.0 / math.pi)


def integer_part(row: Any) -> Rule:
    """A `math` function that rounds to a Python int."""

    def rule(ctx: Context, x: Any) -> Any:
        if not scalars.kind(ctx, x)[0].is_float:
            return scalars.cast(ctx, x, I64, True)
        rounded = scalars.row(ctx, row, x, numpy=True)
        return Number(scalars.to(ctx, rounded, I64), True)

    return rule


def keep_integers(row: Any) -> Rule:
    """A NumPy rounding function: integers pass through."""

    def rule(ctx: Context, x: Any) -> Any:
        element, _ = scalars.kind(ctx, x)
        return x if element.is_integer else scalars.row(ctx, row, x, numpy=True)

    return rule


def python_round(ctx: Context, x: Any, digits: Any = None) -> Any:
    """Python's `round`: half to even; an int without `digits`."""
    element, weak = scalars.kind(ctx, x)
    if not element.is_float:
        if digits is not None and not (isinstance(digits, int) and digits >= 0):
            ctx.fail("AD203", "`round` of an int to negative digits is not supported")
        return scalars.cast(ctx, x, I64, True) if digits is None or element == BOOL else x
    if digits is None:
        rounded = scalars.row(ctx, ops.RINT, x, numpy=True)
        return Number(scalars.to(ctx, rounded, I64), True)
    return _decimals(ctx, x, digits, weak)


def numpy_round(ctx: Context, x: Any, decimals: Any = 0) -> Any:
    """`np.round`: half to even, a float stays a float."""
    element, _ = scalars.kind(ctx, x)
    if not element.is_float:
        if not isinstance(decimals, int) or decimals < 0:
            ctx.fail("AD203", "`np.round` of integers to negative digits is not supported", "convert them to floats")
        return x
    return _decimals(ctx, x, decimals, False)


def _decimals(ctx: Context, x: Any, digits: Any, weak: bool) -> Any:
    if not isinstance(digits, int):
        ctx.fail_dynamic("AD203", "the number of digits of `round` must be a constant")
    scale = 10.0 ** abs(digits)
    forward, backward = (operator.mul, operator.truediv) if digits >= 0 else (operator.truediv, operator.mul)
    scaled = x if digits == 0 else _op(ctx, forward, x, scale)
    rounded = Number(scalars.row(ctx, ops.RINT, scaled, numpy=True).value, weak)
    return rounded if digits == 0 else _op(ctx, backward, rounded, scale)


def where(ctx: Context, condition: Any, a: Any, b: Any) -> Any:
    """`np.where` of scalars: both values are at hand, one is chosen."""
    if not isinstance(condition, Number):
        chosen = a if condition else b
        element = scalars.promote((scalars.kind(ctx, a), scalars.kind(ctx, b)))
        return scalars.cast(ctx, chosen, element, False)
    return scalars.row(ctx, ops.SELECT, condition, a, b)


def clip(ctx: Context, x: Any, low: Any = None, high: Any = None) -> Any:
    """`np.clip`: the bounds count as inside, so the derivative at a bound is one."""
    if low is not None:
        x = scalars.select(ctx, _op(ctx, operator.lt, x, low), low, x)
    if high is not None:
        x = scalars.select(ctx, _op(ctx, operator.gt, x, high), high, x)
    return x


def logical(row: Any) -> Rule:
    """`np.logical_and` and its kin: truth values in, a bool out."""

    def rule(ctx: Context, *operands: Any) -> Any:
        return Number(ctx.builder.op(row, *(scalars.truth(ctx, x) for x in operands)), False)

    return rule


def heaviside(ctx: Context, x: Any, at_zero: Any) -> Any:
    """0 below zero, 1 above, `at_zero` at zero."""
    positive = scalars.select(ctx, _op(ctx, operator.gt, x, 0.0), 1.0, at_zero)
    return scalars.select(ctx, _op(ctx, operator.lt, x, 0.0), 0.0, positive)


def nan_to_num(ctx: Context, x: Any, copy: Any = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    """NaN and infinities replaced by numbers."""
    element, _ = scalars.kind(ctx, x)
    if not element.is_float:
        return x
    largest = float(np.finfo(np.float64 if element == F64 else np.float32).max)
    x = scalars.select(ctx, scalars.row(ctx, ops.ISNAN, x), nan, x)
    x = scalars.select(ctx, _op(ctx, operator.eq, x, math.inf), largest if posinf is None else posinf, x)
    return scalars.select(ctx, _op(ctx, operator.eq, x, -math.inf), -largest if neginf is None else neginf, x)


def isclose(ctx: Context, a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08) -> Any:
    """`|a - b| <= atol + rtol * |b|` for finite numbers, equality for infinite ones."""
    a, b = (x if scalars.kind(ctx, x)[0].is_float else scalars.cast(ctx, x, F64) for x in (a, b))
    distance = scalars.unary(ctx, abs, _op(ctx, operator.sub, a, b))
    bound = _op(ctx, operator.add, atol, _op(ctx, operator.mul, rtol, scalars.unary(ctx, abs, b)))
    near = _op(ctx, operator.le, distance, bound)
    finite = scalars.row(ctx, ops.ISFINITE, b)
    return scalars.select(ctx, finite, near, _op(ctx, operator.eq, a, b))


def math_isclose(ctx: Context, a: Any, b: Any, rel_tol: Any = 1e-09, abs_tol: Any = 0.0) -> Any:
    """`|a - b| <= max(rel_tol * max(|a|, |b|), abs_tol)`, or equal."""
    size = scalars.row(ctx, ops.MAXIMUM, scalars.unary(ctx, abs, a), scalars.unary(ctx, abs, b))
    bound = scalars.row(ctx, ops.MAXIMUM, _op(ctx, operator.mul, rel_tol, size), abs_tol)
    near = _op(ctx, operator.le, scalars.unary(ctx, abs, _op(ctx, operator.sub, a, b)), bound)
    finite = scalars.row(ctx, ops.ISFINITE, size)
    return scalars.select(ctx, finite, near, _op(ctx, operator.eq, a, b))


def ldexp(ctx: Context, x: Any, exponent: Any) -> Any:
    """`x * 2**exponent`."""
    return _op(ctx, operator.mul, _floating(ctx, x), _op(ctx, operator.pow, 2.0, exponent))


def math_log(ctx: Context, x: Any, base: Any = None) -> Any:
    """`math.log` with its optional base."""
    value = scalars.row(ctx, ops.LOG, x, numpy=False)
    if base is None:
        return value
    divisor = scalars.row(ctx, ops.LOG, base, numpy=False) if isinstance(base, Number) else math.log(base)
    return _op(ctx, operator.truediv, value, divisor)


def hypot(ctx: Context, *coordinates: Any) -> Any:
    """`math.hypot` of any number of coordinates."""
    total = coordinates[0]
    for coordinate in coordinates[1:]:
        total = scalars.row(ctx, ops.HYPOT, total, coordinate, numpy=False)
    return total if len(coordinates) > 1 else scalars.unary(ctx, abs, total)


def math_pow(ctx: Context, x: Any, y: Any) -> Any:
    """`math.pow`: both operands as floats."""
    return scalars.row(ctx, ops.POW, x, y, numpy=False)


def float_power(ctx: Context, x: Any, y: Any) -> Any:
    """`np.float_power`: at least float64."""
    return Number(ctx.builder.op(ops.POW, scalars.to(ctx, x, F64), scalars.to(ctx, y, F64)), False)


def fabs(ctx: Context, x: Any) -> Any:
    """The absolute value as a float."""
    return scalars.unary(ctx, abs, _floating(ctx, x))


def fmod(ctx: Context, x: Any, y: Any) -> Any:
    """`np.fmod`: the remainder of a division that is rounded towards zero."""
    if not any(scalars.kind(ctx, operand)[0].is_float for operand in (x, y)):
        ctx.fail("AD203", "`np.fmod` of integers is not supported", "use `%`, or convert one of them to a float")
    return scalars.row(ctx, ops.FMOD, x, y)


def python_abs(ctx: Context, x: Any) -> Any:
    """`abs`."""
    return scalars.unary(ctx, abs, x)


def fmax(ctx: Context, a: Any, b: Any) -> Any:
    """The larger one; a NaN loses."""
    larger = scalars.row(ctx, ops.MAXIMUM, a, b)
    return _unless_nan(ctx, a, b, larger)


def fmin(ctx: Context, a: Any, b: Any) -> Any:
    """The smaller one; a NaN loses."""
    smaller = scalars.row(ctx, ops.MINIMUM, a, b)
    return _unless_nan(ctx, a, b, smaller)


def _unless_nan(ctx: Context, a: Any, b: Any, chosen: Any) -> Any:
    if not chosen.element.is_float:
        return chosen
    chosen = scalars.select(ctx, scalars.row(ctx, ops.ISNAN, b), a, chosen)
    return scalars.select(ctx, scalars.row(ctx, ops.ISNAN, a), b, chosen)


def python_float(ctx: Context, x: Any = 0.0) -> Any:
    """`float(x)`."""
    return scalars.cast(ctx, x, F64, True)


def python_int(ctx: Context, x: Any = 0) -> Any:
    """`int(x)`: truncation."""
    return scalars.cast(ctx, x, I64, True)


def python_bool(ctx: Context, x: Any = False) -> Any:
    """`bool(x)`."""
    return scalars.cast(ctx, x, BOOL, True)


def of_whole_order(ctx: Context, n: Any, x: Any) -> Any:
    """SciPy's derivative of the digamma function: of a whole order, and not a number otherwise."""
    if not isinstance(n, Number) and not float(n).is_integer():
        return Number(ctx.builder.const(math.nan), False)
    return in_double(ops.POLYGAMMA)(ctx, n, x)


def signbit(ctx: Context, x: Any) -> Any:
    """True for a negative number and for -0.0."""
    return _op(ctx, operator.lt, scalars.row(ctx, ops.COPYSIGN, 1.0, x), 0.0)


def in_double(row: Any, fixed: int | None = None) -> Rule:
    """A function of SciPy whose row computes in double precision; a row with an order takes it first.

    `fixed` is the order where the function has it in its name.
    """

    def rule(ctx: Context, *operands: Any) -> Any:
        *order, x = operands if fixed is None else (fixed, *operands)
        leading = [_order(ctx, n) for n in order]
        result = Number(ctx.builder.op(row, *leading, scalars.to(ctx, x, F64)), False)
        return scalars.cast(ctx, result, F32, False) if scalars.kind(ctx, x) == (F32, False) else result

    return rule


def _order(ctx: Context, n: Any) -> Any:
    whole = isinstance(n, Number) or float(n).is_integer()
    if not whole or (isinstance(n, Number) and n.element.is_float):
        ctx.fail("AD302", "the order of this function must be an integer", "make the order an int")
    return scalars.to(ctx, n if isinstance(n, Number) else int(n), I64)


def betaln(ctx: Context, a: Any, b: Any) -> Any:
    """The logarithm of the beta function."""
    logarithms = [scalars.row(ctx, ops.LGAMMA, x) for x in (a, b, _op(ctx, operator.add, _floating(ctx, a), b))]
    return _op(ctx, operator.sub, _op(ctx, operator.add, *logarithms[:2]), logarithms[2])


def beta(ctx: Context, a: Any, b: Any) -> Any:
    """The beta function: gamma functions where they do not overflow, else their logarithms."""
    from adgen.frontend.arrays.loops import when

    total = _op(ctx, operator.add, _floating(ctx, a), b)
    element = total.element

    def product() -> tuple[Any]:
        x, y, z = (scalars.row(ctx, ops.GAMMA, v) for v in (a, b, total))
        return (scalars.to(ctx, _op(ctx, operator.mul, x, _op(ctx, operator.truediv, y, z)), element),)

    def logarithm() -> tuple[Any]:
        return (scalars.to(ctx, scalars.row(ctx, ops.EXP, betaln(ctx, a, b)), element),)

    small = scalars.truth(ctx, _op(ctx, operator.lt, total, 150.0 if element == F64 else 30.0))
    return Number(when(ctx, small, product, logarithm)[0], False)


def entr(ctx: Context, x: Any) -> Any:
    """`-x * log(x)`; minus infinity for negative numbers."""
    value = scalars.unary(ctx, operator.neg, scalars.row(ctx, ops.XLOGY, x, x))
    return scalars.select(ctx, _op(ctx, operator.lt, x, 0.0), -math.inf, value)


def of_library(function: Any, degree: bool = False) -> Rule:
    """A function of the library, which computes in double precision; one of a degree takes that first."""

    def rule(ctx: Context, *operands: Any) -> Any:
        from adgen.frontend import calls

        leading, numbers = (operands[:1], operands[1:]) if degree else ((), operands)
        if any(isinstance(n, Number) or not float(n).is_integer() or n < 0 for n in leading):
            ctx.fail("AD222", f"`{function.__name__}`: the degree must be an integer that is known when compiling")
        given = [Number(scalars.to(ctx, number, F64), False) for number in numbers]
        result = ctx.number(calls.call(ctx, function, [*map(int, leading), *given], {}), F64)
        single = all(scalars.kind(ctx, number) == (F32, False) for number in numbers)
        return scalars.cast(ctx, result, F32, False) if single else result

    return rule


SCIPY: dict[str, Rule] = {
    "j0": in_double(ops.BESSELJ, 0),
    "j1": in_double(ops.BESSELJ, 1),
    "jv": in_double(ops.BESSELJ),
    "y0": in_double(ops.BESSELY, 0),
    "y1": in_double(ops.BESSELY, 1),
    "yn": in_double(ops.BESSELY),
    "yv": in_double(ops.BESSELY),
    "i0": in_double(ops.BESSELI, 0),
    "i1": in_double(ops.BESSELI, 1),
    "iv": in_double(ops.BESSELI),
    "k0": in_double(ops.BESSELK, 0),
    "k1": in_double(ops.BESSELK, 1),
    "kn": in_double(ops.BESSELK),
    "kv": in_double(ops.BESSELK),
    "ellipk": in_double(ops.ELLIPTIC_K),
    "ellipe": in_double(ops.ELLIPTIC_E),
    "erfinv": in_double(ops.ERFINV),
    "erfcinv": in_double(ops.ERFCINV),
    "ndtri": in_double(ops.NDTRI),
    "beta": beta,
    "betaln": betaln,
    "entr": entr,
    ops.POLYGAMMA.name: of_whole_order,
    "loggamma": lambda ctx, x: scalars.row(ctx, ops.LGAMMA, x),
    ops.CBRT.name: lambda ctx, x: scalars.row(ctx, ops.CBRT, x),
    **{function.__name__.lstrip("_"): of_library(function) for function in special.FUNCTIONS},
    **{function.__name__: of_library(function, True) for function in special.OF_DEGREE},
}


def find(function: Any) -> Rule | None:
    """The rule of a function, by identity; of `scipy.special`'s by name."""
    return TABLE.get(function) or SCIPY.get(ops.scipy_name(function))


TABLE: dict[Any, Rule] = {
    np.i0: in_double(ops.BESSELI, 0),
    np.square: square,
    np.reciprocal: reciprocal,
    math.radians: in_python(radians),
    np.radians: radians,
    np.deg2rad: radians,
    math.degrees: in_python(degrees),
    np.degrees: degrees,
    np.rad2deg: degrees,
    math.floor: integer_part(ops.FLOOR),
    math.ceil: integer_part(ops.CEIL),
    math.trunc: integer_part(ops.TRUNC),
    np.floor: keep_integers(ops.FLOOR),
    np.ceil: keep_integers(ops.CEIL),
    np.trunc: keep_integers(ops.TRUNC),
    np.fix: keep_integers(ops.TRUNC),
    round: python_round,
    np.round: numpy_round,
    np.around: numpy_round,
    np.where: where,
    np.clip: clip,
    np.logical_and: logical(ops.AND),
    np.logical_or: logical(ops.OR),
    np.logical_xor: logical(ops.XOR),
    np.logical_not: logical(ops.NOT),
    np.heaviside: heaviside,
    np.nan_to_num: nan_to_num,
    np.isclose: isclose,
    math.isclose: math_isclose,
    cmath.isclose: math_isclose,
    math.ldexp: lambda ctx, x, exponent: ldexp(ctx, python_float(ctx, x), exponent),
    np.ldexp: ldexp,
    math.log: math_log,
    math.hypot: hypot,
    math.pow: math_pow,
    np.float_power: float_power,
    math.fabs: in_python(fabs),
    np.fabs: fabs,
    abs: python_abs,
    np.fmax: fmax,
    np.fmin: fmin,
    float: python_float,
    int: python_int,
    bool: python_bool,
    np.signbit: signbit,
    np.fmod: fmod,
    **library.TABLE,
}
# What has a meaning for complex numbers too; NumPy and Python refuse the others, or order complex numbers.
COMPLEX = {
    cmath.isclose, np.square, np.reciprocal, np.rint, np.round, np.around, np.where, np.isclose, abs, bool,
    np.logical_and, np.logical_or, np.logical_xor, np.logical_not, *library.TABLE,
}  # fmt: skip


def rule(ctx: Context, function: Any, operands: Iterable[Any]) -> Rule | None:
    """The rule of a function for these operands, if `find` finds one."""
    found = find(function)
    if (
        found is not None
        and function not in COMPLEX
        and any(is_number(x) and library.is_complex(ctx, x) for x in operands)
    ):
        ctx.fail("AD301", f"`{function.__name__}` is not defined for complex numbers", "use `z.real` and `z.imag`")
    return found
