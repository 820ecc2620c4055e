"""What a caller must know about an emitted function."""

from __future__ import annotations

from dataclasses import dataclass

from adgen.ir.types import Buffer, Scalar, Type


@dataclass(frozen=True)
class Parameter:
    """A parameter or result: its name in Python and in C, its type, and for a buffer whether the function writes it.

    A buffer parameter is a pointer followed by one extent for each axis; a result is a pointer.
    """

    name: str
    c_name: str
    type: Type
    written: bool = False

    @property
    def is_buffer(self) -> bool:
        """True for an array."""
        return isinstance(self.type, Buffer)

    @property
    def element(self) -> Scalar:
        """The type of the number, or of the array's elements."""
        assert isinstance(self.type, Scalar | Buffer)
        return self.type.element if isinstance(self.type, Buffer) else self.type

    @property
    def rank(self) -> int:
        """The number of axes; 0 for a number."""
        return self.type.rank if isinstance(self.type, Buffer) else 0


@dataclass(frozen=True)
class Interface:
    """How an entry point is called: `int c_name(parameters, results, work, detail)`.

    `workspace` is the number of bytes as a formula ("0" for none), and `room` exactly where it is a number; `grows`
    tells that the function also uses the heap.  `extents` are those of the array results, as text.  `checks` are the
    numbers that a status may be besides 0.  Of a function for arrays of the host that computes on a device, `device` is
    the function for arrays of the device, and `noting` tells that checks may fail in its kernels.
    """

    name: str
    c_name: str
    parameters: tuple[Parameter, ...]
    results: tuple[Parameter, ...]
    workspace: str
    grows: bool = False
    room: int | None = None
    extents: tuple[tuple[str, ...], ...] = ()
    prototype: str = ""
    checks: range = range(0)
    device: str = ""
    noting: bool = False
