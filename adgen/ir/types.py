"""The types of the IR: scalars, buffers of scalars, and stacks of scalars.

Integers are computed with as `i64`.  The narrow ones hold numbers: they are loaded, stored, carried, compared, chosen
and converted, and converting to one wraps.

Text forms: `f64`, `f64[:,:]` (a buffer of rank 2; rank 0 is `f64[]`), `stack<f64>`.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Scalar:
    """A number type: `f64`, `f32`, `bool`, `i64` or a narrower integer, with a sign (`i32`) or without one (`u8`)."""

    name: str

    @property
    def is_float(self) -> bool:
        """True for the types that can carry a derivative."""
        return self.name in ("f64", "f32")

    @property
    def is_integer(self) -> bool:
        """True for integers of any width."""
        return self.name in WIDTHS

    @property
    def is_narrow(self) -> bool:
        """True for integers that no arithmetic is done with."""
        return WIDTHS.get(self.name, 64) < 64

    @property
    def full_name(self) -> str:
        """The name of an integer type in NumPy, and in C but for a `_t`: `int32`, `uint8`."""
        return self.name.replace("i", "int").replace("u", "uint")

    @property
    def numbers(self) -> range:
        """The numbers of an integer type."""
        return NUMBERS[self.name]

    def __str__(self) -> str:
        return self.name


F64 = Scalar("f64")
F32 = Scalar("f32")
I64 = Scalar("i64")
BOOL = Scalar("bool")
WIDTHS = {"i64": 64, "i32": 32, "i16": 16, "i8": 8, "u32": 32, "u16": 16, "u8": 8}
NUMBERS = {
    name: range(2**width) if name.startswith("u") else range(-(2 ** (width - 1)), 2 ** (width - 1))
    for name, width in WIDTHS.items()
}
NARROW = I32, I16, I8, U32, U16, U8 = tuple(Scalar(name) for name in WIDTHS if name != I64.name)
INTEGERS = (I64, *NARROW)
SCALARS = {scalar.name: scalar for scalar in (F64, F32, I64, *NARROW, BOOL)}


@dataclass(frozen=True)
class Buffer:
    """Named memory: C-contiguous, of a fixed rank, with extents known at run time only."""

    element: Scalar
    rank: int

    def __str__(self) -> str:
        return f"{self.element}[{','.join(':' * self.rank)}]"


@dataclass(frozen=True)
class Stack:
    """Last-in first-out memory for values whose number is not known before they are made."""

    element: Scalar

    def __str__(self) -> str:
        return f"stack<{self.element}>"


Type = Scalar | Buffer | Stack


def is_float(kind: Type) -> bool:
    """True for scalars, buffers and stacks of floating-point numbers."""
    return kind.is_float if isinstance(kind, Scalar) else kind.element.is_float


def is_natural(kind: Type) -> bool:
    """True for booleans and integers without a sign: as integers they are never negative."""
    return isinstance(kind, Scalar) and (kind == BOOL or kind.name.startswith("u"))


def parse_type(text: str) -> Type:
    """The type that `str` of a type printed.

    Raises ValueError on any other text.
    """
    if text.startswith("stack<") and text.endswith(">"):
        return Stack(_scalar(text[6:-1]))
    if text.endswith("]"):
        name, _, extents = text[:-1].partition("[")
        if set(extents) - set(":,"):
            raise ValueError(f"not a type: {text}")
        return Buffer(_scalar(name), extents.count(":"))
    return _scalar(text)


def _scalar(name: str) -> Scalar:
    if name not in SCALARS:
        raise ValueError(f"not a scalar type: {name}")
    return SCALARS[name]
