"""The complex number types, and buffers of complex numbers as the memory that holds them.

A complex number is a value of one of these types that no operation of the IR ever sees: `complexes.builder` knows its
two real parts.  A complex buffer of rank r is a real one of rank r + 1 whose last axis has two elements, the real part
and the imaginary part: the layout of NumPy and C99.
"""

from __future__ import annotations

from dataclasses import dataclass

from adgen.ir.nodes import Value
from adgen.ir.types import F32, F64, SCALARS, Buffer, Scalar, Type


@dataclass(frozen=True)
class Complex(Scalar):
    """A complex number type: `c128` or `c64`."""

    @property
    def is_float(self) -> bool:
        """True: its parts are floats."""
        return True

    @property
    def part(self) -> Scalar:
        """The type of the real and the imaginary part."""
        return F64 if self.name == "c128" else F32


C128 = Complex("c128")
C64 = Complex("c64")
COMPLEX = {kind.name: kind for kind in (C128, C64)}
ELEMENTS: dict[str, Scalar] = {**SCALARS, **COMPLEX}


class Pairs(Value):
    """A handle of a complex buffer; `memory` is the real buffer."""

    __slots__ = ("memory",)

    def __init__(self, element: Complex, memory: Value) -> None:
        assert isinstance(memory.type, Buffer)
        super().__init__(Buffer(element, memory.type.rank - 1), memory.name)
        self.memory = memory


def memory_of(handle: Value) -> Value:
    """The buffer of the IR behind a handle."""
    return handle.memory if isinstance(handle, Pairs) else handle


def complex_kind(kind: Type) -> Complex | None:
    """The complex type of a number or of the elements of a buffer; None when it is real."""
    element = kind.element if isinstance(kind, Buffer) else kind
    return element if isinstance(element, Complex) else None


def complex_of(part: Type) -> Complex:
    """The complex type whose parts are of a type."""
    return C64 if part == F32 else C128
