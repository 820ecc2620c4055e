"""The types of the IR: scalars, buffers of scalars, and stacks of scalars.

Text forms: `f64`, `f64[:,:]` (a buffer of rank 2; rank 0 is `f64[]`), `stack<f64>`.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Scalar:
    """A number type: `f64`, `f32`, `i64` or `bool`."""

    name: str

    @property
    def is_float(self) -> bool:
        """True for the types that can carry a derivative."""
        return self.name in ("f64", "f32")

    def __str__(self) -> str:
        return self.name


F64 = Scalar("f64")
F32 = Scalar("f32")
I64 = Scalar("i64")
BOOL = Scalar("bool")
SCALARS = {scalar.name: scalar for scalar in (F64, F32, I64, BOOL)}


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
