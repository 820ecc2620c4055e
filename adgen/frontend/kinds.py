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
from adgen.ir.builder import INT64_RANGE
from adgen.ir.nodes import Value
from adgen.ir.types import BOOL, F32, F64, I64, Scalar

if TYPE_CHECKING:
    from adgen.frontend.context import Context

Kind = tuple[Scalar, bool]
CASTS = {F64: ops.TO_F64, F32: ops.TO_F32, I64: ops.TO_I64, BOOL: ops.TO_BOOL}


def kind(ctx: Context, x: Any) -> Kind:
    """The scalar type of a number and whether it yields to NumPy's types."""
    if isinstance(x, Number):
        return x.element, x.weak
    if isinstance(x, bool):
        return BOOL, True
    if isinstance(x, np.bool_):
        return BOOL, False
    if isinstance(x, np.integer):
        return I64, False
    if isinstance(x, int):
        return I64, True
    if isinstance(x, np.float32):
        return F32, False
    if isinstance(x, np.float64):
        return F64, False
    if isinstance(x, float):
        return F64, True
    if isinstance(x, np.ndarray) and x.ndim == 0:
        return kind(ctx, x[()])
    if isinstance(x, np.complex64):
        return C64, False
    if isinstance(x, complex | np.complexfloating):
        return C128, type(x) is complex
    ctx.fail(
        "AD302", f"{type(x).__name__} is not a number", "only bool, int, float and complex take part in arithmetic"
    )


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
    parts = [element.part if isinstance(element, Complex) else element for element in elements]
    if parts != elements:
        return C64 if _widest(parts) == F32 else C128
    if F64 in elements or (F32 in elements and I64 in elements):
        return F64
    return next(element for element in (F32, I64, BOOL) if element in elements)


def to(ctx: Context, x: Any, element: Scalar) -> Value:
    """A number as an IR value of a type."""
    if isinstance(x, Number):
        return convert(ctx, x.value, element)
    if isinstance(x, np.ndarray):
        x = x[()]
    if isinstance(x, complex | np.complexfloating) and not isinstance(element, Complex) and element != BOOL:
        refuse_real(ctx, element)
    if element == I64 and not isinstance(x, float | np.floating) and int(x) not in INT64_RANGE:
        ctx.fail("AD303", f"the integer {x} does not fit into 64 bits", "write it as a float")
    if element.is_float and isinstance(x, int) and not isinstance(x, bool):
        try:
            x = float(x)
        except OverflowError:
            ctx.fail("AD303", "the integer is too large to convert to float")
    return ctx.builder.const(x, element)


def convert(ctx: Context, value: Value, element: Scalar) -> Value:
    """An IR scalar cast to another type; no operation when it already has it."""
    if value.type == element:
        return value
    if isinstance(element, Complex):
        return ctx.builder.whole(*(convert(ctx, part, element.part) for part in ctx.builder.parts(value)))
    if isinstance(value.type, Complex) and element != BOOL:
        refuse_real(ctx, element)
    return ctx.builder.op(CASTS[element], value)


def refuse_real(ctx: Context, element: Scalar) -> NoReturn:
    """Refuse to make a complex number a real one: NumPy throws the imaginary part away, with a warning at most."""
    what = "an integer" if element == I64 else "a real number"
    ctx.fail(
        "AD308", f"a complex number becomes {what} here, which loses its imaginary part", "take `.real` or `abs(z)`"
    )


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
