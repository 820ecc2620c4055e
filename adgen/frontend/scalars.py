"""Arithmetic on scalars with Python's and NumPy's rules for types.

Comes in: `Number`s and static numbers, and the Python operator or function object that is applied.  Goes out: a
`Number`, or a static number when all operands are static.  Guaranteed: types follow NEP 50 (Python scalars yield to
NumPy's); integer division by zero becomes a `check`; integers stay exact.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from adgen import ops
from adgen.frontend.complexes.types import Complex
from adgen.frontend.either import is_either, on_either
from adgen.frontend.kinds import (
    Kind,
    as_index,
    cast,
    convert,
    fitted,
    float_type,
    kind,
    promote,
    refuse_real,
    static,
    to,
    unboxed,
)
from adgen.frontend.values import NUMERIC_TYPES, Number, python_type
from adgen.ir.builder import INT64_RANGE
from adgen.ir.nodes import Row, Value
from adgen.ir.types import BOOL, F32, F64, I8, I64, Scalar, is_float
from adgen.ops.refusals import Refusal

if TYPE_CHECKING:
    from adgen.frontend.context import Context


ARITHMETIC: dict[Any, Row] = {operator.add: ops.ADD, operator.sub: ops.SUB, operator.mul: ops.MUL}
COMPARISONS: dict[Any, Row] = {
    operator.lt: ops.LT,
    operator.le: ops.LE,
    operator.gt: ops.GT,
    operator.ge: ops.GE,
    operator.eq: ops.EQ,
    operator.ne: ops.NE,
}
ORDERINGS: dict[Any, str] = {operator.lt: "<", operator.le: "<=", operator.gt: ">", operator.ge: ">="}
BITWISE: dict[Any, tuple[Row, Row]] = {
    operator.and_: (ops.AND, ops.BIT_AND),
    operator.or_: (ops.OR, ops.BIT_OR),
    operator.xor: (ops.XOR, ops.BIT_XOR),
}
SHIFTS: dict[Any, Row] = {operator.lshift: ops.SHIFT_LEFT, operator.rshift: ops.SHIFT_RIGHT}
DIVISIONS: dict[Any, Row] = {operator.floordiv: ops.FLOORDIV, operator.mod: ops.MOD}
BINARY = {*ARITHMETIC, *COMPARISONS, *BITWISE, *SHIFTS, *DIVISIONS, operator.truediv, operator.pow}

# NumPy's ufuncs that are operators: they give NumPy scalars whatever they are given.
UFUNCS: dict[Any, Any] = {
    np.add: operator.add,
    np.subtract: operator.sub,
    np.multiply: operator.mul,
    np.divide: operator.truediv,
    np.floor_divide: operator.floordiv,
    np.remainder: operator.mod,
    np.power: operator.pow,
    np.less: operator.lt,
    np.less_equal: operator.le,
    np.greater: operator.gt,
    np.greater_equal: operator.ge,
    np.equal: operator.eq,
    np.not_equal: operator.ne,
    np.bitwise_and: operator.and_,
    np.bitwise_or: operator.or_,
    np.bitwise_xor: operator.xor,
    np.left_shift: operator.lshift,
    np.right_shift: operator.rshift,
}

# Rows that keep integers as they are; every other function turns them into floats first.
INTEGER_ROWS = (ops.ABS, ops.NEG, ops.SIGN, ops.MINIMUM, ops.MAXIMUM, ops.FLOORDIV, ops.MOD)


# -- operators ---------------------------------------------------------------------------------------------------


def binary(ctx: Context, operator_: Callable[..., Any], a: Any, b: Any, numpy: bool = False) -> Any:
    """`a <operator> b` for scalars.  `numpy` asks for the rules of NumPy scalars whatever the operands are."""
    if not isinstance(a, Number) and not isinstance(b, Number) and not numpy:
        return static(ctx, operator_, a, b)
    if is_either(a) or is_either(b):
        return on_either(ctx, lambda x, y: binary(ctx, operator_, x, y, numpy), a, b)
    left, right = kind(ctx, a), kind(ctx, b)
    weak = left[1] and right[1] and not numpy
    if operator_ in COMPARISONS:
        if weak and operator_ in ORDERINGS and Complex in (type(left[0]), type(right[0])):
            sign, first, second = ORDERINGS[operator_], python_type(a).__name__, python_type(b).__name__
            ctx.fail(
                "AD309",
                f"TypeError: '{sign}' not supported between instances of '{first}' and '{second}'",
                "compare `abs(z)`, `z.real` or `z.imag`",
            )
        return Number(_compared(ctx, COMPARISONS[operator_], a, b), weak)
    element = promote((left, right))
    if operator_ in BITWISE:
        return Number(_bitwise(ctx, operator_, a, b, element), weak)
    if element == BOOL:
        if not weak and operator_ in (operator.add, operator.mul):
            row = ops.OR if operator_ is operator.add else ops.AND
            return Number(ctx.builder.op(row, to(ctx, a, BOOL), to(ctx, b, BOOL)), weak)
        if not weak and operator_ is operator.sub:
            ctx.fail("AD302", "NumPy does not subtract booleans", "use `!=` or convert them with `int(...)`")
        element = I64 if weak else I8
    if operator_ is operator.pow:
        return _power(ctx, a, b, element, weak)
    if operator_ is operator.truediv:
        return Number(_quotient(ctx, a, b, element, weak), weak)
    x, y = to(ctx, a, element), to(ctx, b, element)
    if operator_ in DIVISIONS:
        if element.is_integer:
            divisor_check(ctx, y, "integer modulo by zero" if operator_ is operator.mod else "integer division by zero")
        elif weak:
            _zero_hazard(ctx, y)
        return Number(ctx.builder.op(DIVISIONS[operator_], x, y), weak)
    if operator_ in SHIFTS:
        return Number(_shifted(ctx, operator_, x, y, weak), weak)
    if operator_ not in ARITHMETIC:
        ctx.fail("AD306", f"the operator `{operator_.__name__}` is not defined for numbers")
    return Number(ctx.builder.op(ARITHMETIC[operator_], x, y), weak)


def _compared(ctx: Context, row: Row, a: Any, b: Any) -> Value:
    element = promote((kind(ctx, a), kind(ctx, b)))
    if element == BOOL:
        element = I64
    if element.is_narrow and any(isinstance(x, Number) and x.weak for x in (a, b)):  # which may be beyond that type
        element = I64
    if element.is_integer:
        for x, larger in ((a, True), (b, False)):
            if isinstance(x, int) and x not in element.numbers:  # beyond every number of the type
                above = larger == (x > 0)
                truth = {"lt": not above, "le": not above, "gt": above, "ge": above, "eq": False, "ne": True}
                return ctx.builder.const(truth[row.name])
    return ctx.builder.op(row, to(ctx, a, element), to(ctx, b, element))


def _bitwise(ctx: Context, operator_: Any, a: Any, b: Any, element: Scalar) -> Value:
    if element.is_float:
        ctx.fail("AD302", f"`{operator_.__name__.strip('_')}` needs integers or booleans, not floats")
    logical, bits = BITWISE[operator_]
    return ctx.builder.op(logical if element == BOOL else bits, to(ctx, a, element), to(ctx, b, element))


def _shifted(ctx: Context, operator_: Any, x: Value, y: Value, weak: bool) -> Value:
    if is_float(x.type):
        ctx.fail("AD302", "a shift needs integers, not floats")
    b = ctx.builder
    if weak:  # NumPy shifts everything out
        in_range = b.op(ops.AND, b.op(ops.GE, y, b.index(0)), b.op(ops.LT, y, b.index(64)))
        b.check(in_range, "ValueError", "shift count {0} is not between 0 and 63", (y,))
    return b.op(SHIFTS[operator_], x, y)


def _quotient(ctx: Context, a: Any, b: Any, element: Scalar, weak: bool) -> Value:
    if not element.is_float:
        if weak and ctx.catching(ZeroDivisionError):
            _zero_hazard(ctx, to(ctx, b, I64))
        elif weak:
            divisor_check(ctx, to(ctx, b, I64), "division by zero")
        element = F64
    elif weak:
        _zero_hazard(ctx, to(ctx, b, element))
    return ctx.builder.op(ops.DIV, to(ctx, a, element), to(ctx, b, element))


def _zero_hazard(ctx: Context, divisor: Value) -> None:
    """Python does not divide by zero."""
    if ctx.catching(ZeroDivisionError):
        ctx.hazard(ZeroDivisionError, ctx.builder.op(ops.EQ, divisor, ctx.builder.const(0, divisor.type)))


def _power_hazards(ctx: Context, base: Value, exponent: Value, result: Value) -> None:
    """Python does not raise zero to a negative power, nor finite numbers to infinity."""
    b, zero = ctx.builder, ctx.builder.const(0.0)
    singular = b.op(ops.AND, b.op(ops.EQ, base, zero), b.op(ops.LT, exponent, zero))
    ctx.hazard(ZeroDivisionError, singular)
    finite = b.op(ops.AND, b.op(ops.ISFINITE, base), b.op(ops.ISFINITE, exponent))
    over = b.op(ops.AND, b.op(ops.AND, b.op(ops.ISINF, result), finite), b.op(ops.NOT, singular))
    ctx.hazard(OverflowError, over)


def divisor_check(ctx: Context, divisor: Value, message: str) -> None:
    """Raise `ZeroDivisionError` at run time when an integer divisor is zero."""
    b, divisor = ctx.builder, convert(ctx, divisor, I64)
    known = b.known(divisor)
    if known is not None and known == 0:
        ctx.fail("AD307", f"ZeroDivisionError: {message}", raises=ZeroDivisionError)
    if known is None and not ctx.ranges.below(b.index(0), divisor):
        b.check(b.op(ops.NE, divisor, b.index(0)), "ZeroDivisionError", message)


def _power(ctx: Context, a: Any, b: Any, element: Scalar, weak: bool) -> Number:
    if weak and not element.is_float:
        ctx.may_raise(OverflowError, ZeroDivisionError)
    if element.is_float:
        result = _float_power(ctx, a, b, element, weak)
        if weak and (ctx.catching(OverflowError) or ctx.catching(ZeroDivisionError)):
            _power_hazards(ctx, to(ctx, a, F64), to(ctx, b, F64), to(ctx, result, F64))
        return result
    return _integer_power(ctx, a, b, element, weak)


def _float_power(ctx: Context, a: Any, b: Any, element: Scalar, weak: bool) -> Number:
    if kind(ctx, b)[0].is_float or (isinstance(b, int) and b not in INT64_RANGE):
        exponent = float(b) if isinstance(b, int) else b
        return Number(ctx.builder.op(ops.POW, to(ctx, a, element), to(ctx, exponent, element)), weak)
    return Number(ctx.builder.op(ops.POWI, to(ctx, a, element), to(ctx, b, I64)), weak)


def _integer_power(ctx: Context, a: Any, b: Any, element: Scalar, weak: bool) -> Number:
    builder = ctx.builder
    base, exponent = to(ctx, a, element), to(ctx, b, element)
    power = convert(ctx, exponent, I64)
    known = builder.known(power)
    if known is not None and known < 0:
        if not weak:
            ctx.fail("AD302", "NumPy does not raise integers to negative powers", "convert the base to a float")
        divisor_check(ctx, base, "0.0 cannot be raised to a negative power")
        return Number(builder.op(ops.POWI, convert(ctx, base, F64), power), weak)
    if known is None:
        message = "an int to the negative power {0} is a float in Python: convert the base with float(...)"
        builder.check(builder.op(ops.GE, power, builder.index(0)), "ValueError", message, (power,))
    return Number(builder.op(ops.IPOW, base, exponent), weak)


def unary(ctx: Context, operator_: Callable[..., Any], a: Any) -> Any:
    """`-a`, `+a`, `~a`, `not a` for a scalar."""
    if not isinstance(a, Number):
        return static(ctx, operator_, a)
    if is_either(a):
        return on_either(ctx, lambda x: unary(ctx, operator_, x), a)
    if operator_ is operator.not_:
        return Number(ctx.builder.op(ops.NOT, truth(ctx, a)), True)
    if operator_ is operator.invert:
        if a.element.is_float:
            ctx.fail("AD302", "`~` needs an integer or a boolean, not a float")
        if a.element == BOOL and not a.weak:
            return Number(ctx.builder.op(ops.NOT, a.value), False)
        return Number(ctx.builder.op(ops.BIT_NOT, to(ctx, a, I64) if a.element == BOOL else a.value), a.weak)
    if a.element == BOOL and not a.weak and operator_ in (abs, operator.abs):
        return a
    if a.element == BOOL and not a.weak:
        ctx.fail("AD302", f"NumPy has no unary `{'-' if operator_ is operator.neg else '+'}` for booleans")
    value = to(ctx, a, I64) if a.element == BOOL else a.value
    if operator_ is operator.pos:
        return Number(value, a.weak)
    row = ops.ABS if operator_ in (abs, operator.abs) else ops.NEG
    return Number(ctx.builder.op(row, value), a.weak)


def truth(ctx: Context, x: Any) -> Value:
    """`bool(x)` of a number, as an IR value."""
    return to(ctx, x, BOOL)


# -- functions ---------------------------------------------------------------------------------------------------


def apply(ctx: Context, function: Any, *operands: Any) -> Any:
    """Any scalar function: an operator, a `math` function, a NumPy ufunc or a row of the table, applied to scalars.

    Fails with a diagnostic when the function is not known.
    """

    if function in UFUNCS:
        if not any(isinstance(x, Number) for x in operands):
            return static(ctx, function, *operands)
        a, b = operands
        return binary(ctx, UFUNCS[function], a, b, numpy=True)
    if isinstance(function, Row):
        return row(ctx, function, *operands, numpy=True)
    if not any(isinstance(x, Number) for x in operands) and all(isinstance(x, NUMERIC_TYPES) for x in operands):
        return static(ctx, function, *operands)
    if function in BINARY:
        return binary(ctx, function, *operands)
    if not from_numpy(function) and function not in TOTAL:
        refusals = getattr(ops.meaning(function), "refuses", None)
        if refusals and len(operands) == 1:
            return _with_hazards(ctx, function, operands[0], refusals)
        if refusals != ():
            ctx.may_raise(ValueError, OverflowError)
    return _applied(ctx, function, *operands)


def _with_hazards(ctx: Context, function: Any, x: Any, refusals: Iterable[Refusal]) -> Any:
    """A function of `math`: arguments that Python refuses, or whose result is too large."""
    result, builder = _applied(ctx, function, x), ctx.builder
    if not (ctx.catching(ValueError) or ctx.catching(OverflowError)) or not isinstance(result, Number):
        return result
    argument = to(ctx, x, F64)
    for refusal in refusals:
        tested = builder.op(ops.ABS, argument) if refusal.magnitude else argument
        beyond = builder.op(refusal.comparison, tested, builder.const(refusal.limit))
        if refusal.exception is OverflowError:
            beyond = builder.op(ops.AND, beyond, builder.op(ops.ISFINITE, argument))
        ctx.hazard(refusal.exception, beyond)
    return result


def _applied(ctx: Context, function: Any, *operands: Any) -> Any:
    from adgen.frontend import composites

    if function in UNARY:
        return unary(ctx, UNARY[function], *operands)
    rule = composites.rule(ctx, function, operands)
    if rule is not None:
        result = rule(ctx, *operands)
        return strong(ctx, result) if from_numpy(function) else result
    meaning = ops.meaning(function)
    if meaning is None:
        ctx.fail("AD202", f"`{getattr(function, '__name__', function)}` is not supported for numbers")
    return row(ctx, meaning, *operands, numpy=from_numpy(function))


UNARY: dict[Any, Any] = {
    operator.neg: operator.neg,
    operator.pos: operator.pos,
    operator.invert: operator.invert,
    operator.not_: operator.not_,
    operator.abs: abs,
    abs: abs,
    np.negative: operator.neg,
    np.positive: operator.pos,
    np.invert: operator.invert,
    np.absolute: abs,
}


# Functions of Python that take every float, besides rows that say so.
TOTAL = (
    *UNARY, math.fabs, math.copysign, math.degrees, math.radians, math.isnan, math.isinf, math.isfinite, math.isclose,
)  # fmt: skip


def supported(function: Any) -> bool:
    """True when `apply` knows the function."""
    from adgen.frontend import composites

    try:
        if function in UFUNCS or function in BINARY or function in UNARY or composites.find(function):
            return True
    except TypeError:  # not hashable, so not a function of the table
        return False
    return isinstance(function, Row) or ops.meaning(function) is not None


def from_numpy(function: Any) -> bool:
    """True when a function is NumPy's, whose results are NumPy scalars."""
    return isinstance(function, np.ufunc) or str(getattr(function, "__module__", "")).startswith(("numpy", "scipy"))


def strong(ctx: Context, x: Any) -> Any:
    """A number as the NumPy scalar that a NumPy function gives."""
    return Number(x.value, False) if isinstance(x, Number) else x


def row(ctx: Context, row_: Row, *operands: Any, numpy: bool = True) -> Number:
    """A row of the table applied to numbers, which are promoted as its function does."""
    if any(is_either(x) for x in operands):
        return on_either(ctx, lambda *numbers: row(ctx, row_, *numbers, numpy=numpy), *operands)
    kinds = [kind(ctx, x) for x in operands]
    weak = not numpy and row_ not in INTEGER_ROWS
    if row_ is ops.SELECT:
        element = promote(kinds[1:])
        values = (truth(ctx, operands[0]), to(ctx, operands[1], element), to(ctx, operands[2], element))
        return Number(ctx.builder.op(row_, *values), all(w for _, w in kinds[1:]))
    if row_ is ops.POLYGAMMA:
        return Number(ctx.builder.op(row_, to(ctx, operands[0], I64), to(ctx, operands[1], F64)), weak)
    element = promote(kinds)
    if row_ not in INTEGER_ROWS:
        element = _computing(ctx, row_, element, numpy)
    elif element == BOOL and numpy and row_ in (ops.MAXIMUM, ops.MINIMUM):
        row_ = ops.OR if row_ is ops.MAXIMUM else ops.AND
    elif element == BOOL:
        element = I64
    if not numpy and isinstance(element, Complex):
        ctx.fail("AD302", "TypeError: must be real number, not complex", "use the function of `cmath` or NumPy")
    if not numpy and element == F32:  # the functions of `math` compute in double precision
        element = F64
    if row_ is ops.POWI:
        return Number(ctx.builder.op(row_, to(ctx, operands[0], element), to(ctx, operands[1], I64)), weak)
    return Number(ctx.builder.op(row_, *(to(ctx, x, element) for x in operands)), weak)


def _computing(ctx: Context, row_: Row, element: Scalar, numpy: bool) -> Scalar:
    """The type in which a row that is not for all integers is computed, for operands that meet in a type."""
    if row_ in (ops.AND, ops.OR, ops.XOR, ops.NOT):
        return BOOL
    assert isinstance(row_, ops.Elementwise)
    if row_.kinds == (I64,):
        return element if element.is_narrow and numpy else I64
    if element.is_float:
        return element
    return float_type(ctx, element) if numpy and row_.result != BOOL else F64


def select(ctx: Context, condition: Any, a: Any, b: Any) -> Any:
    """`a` where the condition holds, else `b`; both are values at hand, so nothing of the other one leaks."""
    if not isinstance(condition, Number):
        return a if condition else b
    return row(ctx, ops.SELECT, condition, a, b)


__all__ = [
    "Kind",
    "apply",
    "as_index",
    "binary",
    "cast",
    "convert",
    "fitted",
    "float_type",
    "kind",
    "promote",
    "refuse_real",
    "row",
    "select",
    "static",
    "supported",
    "to",
    "truth",
    "unary",
    "unboxed",
]
