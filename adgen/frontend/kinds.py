"""The types of scalars: promotion by NEP 50, casts, numbers as indices.

Comes in: `Number`s and static numbers.  Goes out: scalar types and IR values.  Guaranteed: what is not a number, or an
integer that does not fit into 64 bits, is a diagnostic.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from adgen import ops
from adgen.diagnostics import AdgenError
from adgen.frontend.complexes.types import C64, C128, Complex
from adgen.frontend.values import Number, is_static
from adgen.ir.nodes import Value
from adgen.ir.types import BOOL, F32, F64, I8, I16, I64, INTEGERS, U8, U16, Scalar
from adgen.ops.bounds import bounds, within

if TYPE_CHECKING:
    from adgen.frontend.context import Context

Kind = tuple[Scalar, bool]
DTYPES: dict[np.dtype[Any], Scalar] = {
    np.dtype(np.float64): F64,
    np.dtype(np.float32): F32,
    np.dtype(np.bool_): BOOL,
    np.dtype(np.complex128): C128,
    np.dtype(np.complex64): C64,
    **{np.dtype(element.full_name): element for element in INTEGERS},
}
USABLE = "use float64, float32, complex128, complex64, bool, or integers of at most 64 bits other than uint64"
NUMPY: dict[Scalar, np.dtype[Any]] = {element: dtype for dtype, element in DTYPES.items()}
TO_FLOAT = "convert it first: `x.astype(float)`, or `float(x)` of a number"
PYTHON: dict[type, Scalar] = {bool: BOOL, int: I64, float: F64, complex: C128}


def kind(ctx: Context, x: Any) -> Kind:
    """The scalar type of a number and whether it yields to NumPy's types."""
    if isinstance(x, Number):
        return x.element, x.weak
    if type(x) in PYTHON:
        return PYTHON[type(x)], True
    if isinstance(x, np.generic) or (isinstance(x, np.ndarray) and x.ndim == 0):
        found = DTYPES.get(x.dtype)
        if found is not None:
            return found, False
        if x.dtype.kind in "iufc":
            ctx.fail("AD334", f"numbers of type {x.dtype} are not supported", USABLE)
    for python, element in PYTHON.items():
        if isinstance(x, python):
            return element, True
    ctx.fail(
        "AD302", f"{type(x).__name__} is not a number", "only bool, int, float and complex take part in arithmetic"
    )


def float_type(ctx: Context, element: Scalar) -> Scalar:
    """The type in which NumPy's functions of real numbers compute for integers of a type."""
    if element in (I8, U8):
        ctx.fail("AD334", f"NumPy computes this for {element.full_name} in float16, which is not supported", TO_FLOAT)
    return F32 if element in (I16, U16) else F64


def promote(kinds: Iterable[Kind]) -> Scalar:
    """The type in which operands of these kinds meet (NEP 50)."""
    kinds = list(kinds)
    strong = [element for element, weak in kinds if not weak]
    weaker = [element for element, weak in kinds if weak]
    if not strong:
        return _widest(weaker)
    meeting = _widest(strong)
    if any(isinstance(element, Complex) for element in weaker):
        return meeting if isinstance(meeting, Complex) else C64 if meeting == F32 else C128
    if F64 in weaker or F32 in weaker:
        return meeting if meeting.is_float else F64
    if I64 in weaker and meeting == BOOL:
        return I64
    return meeting


def _widest(elements: list[Scalar]) -> Scalar:
    meeting = elements[0]
    for element in elements[1:]:
        if element != meeting:
            meeting = DTYPES[np.promote_types(NUMPY[meeting], NUMPY[element])]
    return meeting


def to(ctx: Context, x: Any, element: Scalar) -> Value:
    """A number as an IR value of a type; a Python int that does not fit is an OverflowError."""
    if isinstance(x, Number):
        if element.is_narrow and x.weak and x.element.is_integer:
            _check_range(ctx, convert(ctx, x.value, I64), element)
        return convert(ctx, x.value, element)
    if isinstance(x, np.ndarray):
        x = x[()]
    if isinstance(x, complex | np.complexfloating) and not isinstance(element, Complex) and element != BOOL:
        refuse_real(ctx, element)
    if element.is_integer and isinstance(x, float | np.floating | np.integer) and not isinstance(x, int):
        return convert(ctx, ctx.builder.const(x, kind(ctx, x)[0]), element)
    if element.is_integer and int(x) not in element.numbers:
        _refuse_int(ctx, x, element)
    if element.is_float and isinstance(x, int) and not isinstance(x, bool):
        try:
            x = float(x)
        except OverflowError:
            ctx.fail("AD303", "the integer is too large to convert to float")
    return ctx.builder.const(x, element)


def fitted(ctx: Context, x: Any, element: Scalar) -> Number:
    """A number that becomes an item of an array, cast to the array's type.

    NumPy makes a Python int of it first, which must fit.
    """
    if element.is_narrow and kind(ctx, x)[0] != element:
        x = cast(ctx, x, I64, True)
    return cast(ctx, x, element, False)


def _check_range(ctx: Context, value: Value, element: Scalar) -> None:
    b, numbers = ctx.builder, element.numbers
    known = b.known(value)
    if known is not None and known not in numbers:
        _refuse_int(ctx, known, element)
    if within(bounds(b, value), numbers):
        return
    least, greatest = b.index(numbers[0]), b.index(numbers[-1])
    fits = b.op(ops.AND, b.op(ops.GE, value, least), b.op(ops.LE, value, greatest))
    b.check(fits, "OverflowError", f"Python integer {{0}} out of bounds for {element.full_name}", (value,))


def _refuse_int(ctx: Context, x: Any, element: Scalar) -> NoReturn:
    if element == I64:
        ctx.fail("AD303", f"the integer {x} does not fit into 64 bits", "write it as a float")
    ctx.fail(
        "AD303",
        f"OverflowError: Python integer {x} out of bounds for {element.full_name}",
        f"convert the other operand to a wider type first, or this one with `np.int64({x})`",
        raises=OverflowError,
    )


def convert(ctx: Context, value: Value, element: Scalar) -> Value:
    """An IR scalar cast to another type; no operation when it already has it."""
    if value.type == element:
        return value
    if isinstance(element, Complex):
        return ctx.builder.whole(*(convert(ctx, part, element.part) for part in ctx.builder.parts(value)))
    if isinstance(value.type, Complex) and element != BOOL:
        refuse_real(ctx, element)
    return ctx.builder.op(ops.CASTS[element], value)


def refuse_real(ctx: Context, element: Scalar) -> NoReturn:
    """Refuse to make a complex number a real one: NumPy throws the imaginary part away, with a warning at most."""
    what = "an integer" if element.is_integer else "a real number"
    ctx.fail(
        "AD308", f"a complex number becomes {what} here, which loses its imaginary part", "take `.real` or `abs(z)`"
    )


def unboxed(ctx: Context, number: Number) -> Number:
    """The Python number that `.item()` of a NumPy one gives."""
    return cast(ctx, number, I64 if number.element.is_narrow else number.element, True)


def cast(ctx: Context, x: Any, element: Scalar, weak: bool | None = None) -> Number:
    """A number cast to a type."""
    return Number(to(ctx, x, element), kind(ctx, x)[1] if weak is None else weak)


def as_index(ctx: Context, x: Any, what: str = "an index") -> Value:
    """A number used as an index, an extent or a bound, as an i64 value."""
    if isinstance(x, Number) and x.element.is_float and ctx.inference is not None:
        ctx.inference.integer(ctx, x)
    element, _ = kind(ctx, x)
    if element.is_float:
        kind_ = "a complex number" if isinstance(element, Complex) else "a float"
        ctx.fail("AD304", f"{what} must be an integer, not {kind_}", "convert it with `int(...)`")
    return to(ctx, x, I64)


def static(ctx: Context, function: Callable[..., Any], *operands: Any, **keywords: Any) -> Any:
    """Python computes now what it would compute at run time; what it raises is a diagnostic."""
    try:
        with np.errstate(all="ignore"):
            return function(*operands, **keywords)
    except Exception as error:
        exact = isinstance(error, LookupError) or is_static([*operands, *keywords.values(), _owner(function)])
        certain = error if exact and not isinstance(error, AdgenError) else None
        text = str(error) or type(error).__name__
        ctx.fail("AD305", f"{type(error).__name__}: {text}", raises=certain)


def _owner(function: Any) -> Any:
    """What a bound method belongs to."""
    return getattr(function, "__self__", None)
