"""One argument on a device.

Comes in: an array of some library, through `__cuda_array_interface__` or DLPack.  Goes out: a `DeviceArray`.
Guaranteed: it is C-contiguous and aligned, and on a CUDA device as far as it says where it is; what is not so is an
`AdgenError` that says what to write.  No copy is made.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from adgen.diagnostics import AdgenError
from adgen.runtime.devices import dlpack
from adgen.runtime.devices.libraries import library_of
from adgen.runtime.signatures import ArgumentError


@dataclass(frozen=True)
class DeviceArray:
    """An array that lies in C order at an address of a device.

    `device` is None where its library does not tell.  What was put on `stream` makes its contents; None: they are there
    already.  `owner` keeps the memory; one that is `borrowed` may be used anew by its library, which knows nothing of
    our stream, as soon as nobody holds it.
    """

    name: str
    pointer: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    device: int | None
    read_only: bool
    stream: int | None
    value: Any
    capsule: object = None

    @property
    def size(self) -> int:
        """Its bytes."""
        return prod(self.shape) * self.dtype.itemsize


def device_array(value: Any, name: str, stream: int = 0) -> DeviceArray:
    """An argument as compiled code takes it; `stream` is where a DLPack array is asked to be ready.

    Raises AdgenError when it is no such array, is on the CPU, or does not lie in C order.
    """
    return of_interface(value, name) or of_capsule(value, name, stream)


def of_interface(value: Any, name: str) -> DeviceArray | None:
    """An array that says by itself on which stream it was made; None for others."""
    library = library_of(value)
    if library.immutable:
        return None
    with _reading(name):
        plain = library.plain(value, name)
        interface = getattr(plain, "__cuda_array_interface__", None)
        if interface is None:
            return None
        return _aligned(_of_interface(plain, interface, name, library.stream(plain)))


def of_capsule(value: Any, name: str, stream: int) -> DeviceArray:
    """An array that DLPack makes ready for a stream."""
    with _reading(name):
        return _aligned(_of_capsule(value, name, stream, library_of(value).immutable))


@contextmanager
def _reading(name: str) -> Iterator[None]:
    """What a library raises while it is asked for an array's memory is an error that names the argument."""
    try:
        yield
    except (BufferError, KeyError, RuntimeError, TypeError, ValueError) as error:
        if isinstance(error, AdgenError):
            raise
        raise ArgumentError(
            "AD133", f"argument `{name}` cannot be read as an array on a device: {error}", help="pass a plain copy"
        ) from error


def _aligned(array: DeviceArray) -> DeviceArray:
    """The array, unless reading a number of it would be an error on the device."""
    if array.pointer % array.dtype.alignment:
        raise ArgumentError(
            "AD134",
            f"argument `{array.name}` begins at an address that is no multiple of {array.dtype.alignment}",
            help="pass a copy of it",
        )
    return array


def _of_interface(value: Any, interface: dict[str, Any], name: str, current: int | None) -> DeviceArray:
    if interface.get("mask") is not None:
        raise ArgumentError(
            "AD134", f"argument `{name}` has a mask, which compiled code does not see", help="pass an array without"
        )
    shape, dtype = tuple(interface["shape"]), np.dtype(interface["typestr"])
    pointer, read_only = interface["data"]
    _check_order(value, name, shape, interface.get("strides"), dtype.itemsize)
    stream = interface.get("stream") if current is None else current
    return DeviceArray(name, pointer or 0, shape, dtype, _place(value), read_only, plain_stream(stream), value)


def plain_stream(stream: int | None) -> int | None:
    """A stream as kernels are launched on it: the default one has two names."""
    return 0 if stream == 1 else stream


def _place(value: Any) -> int | None:
    """The number of the device, of an array that tells it."""
    ask = getattr(value, "__dlpack_device__", None)
    return int(ask()[1]) if ask is not None else None


def _of_capsule(value: Any, name: str, stream: int, immutable: bool) -> DeviceArray:
    ask = getattr(value, "__dlpack_device__", None)
    if ask is None:
        raise ArgumentError(
            "AD133",
            f"argument `{name}` is of type {type(value).__name__}, and not an array on a device",
            help="pass an array of CuPy, PyTorch, Numba or JAX, or a NumPy array",
        )
    kind = int(ask()[0])
    if kind not in (dlpack.CUDA, dlpack.MANAGED):
        where = "on the CPU" if kind in (dlpack.CPU, dlpack.PINNED) else f"on a device of another kind ({kind})"
        raise ArgumentError(
            "AD133",
            f"argument `{name}` is {where}, and compiled code for CUDA reads the memory of a device",
            help=library_of(value).moved.format(name=name),
        )
    found = dlpack.read(dlpack.export(value, stream))
    strides = found.strides and tuple(stride * found.dtype.itemsize for stride in found.strides)
    _check_order(value, name, found.shape, strides, found.dtype.itemsize)
    read_only = immutable or found.read_only
    return DeviceArray(
        name, found.pointer, found.shape, found.dtype, found.device, read_only, stream, value, found.capsule
    )


def _check_order(value: Any, name: str, shape: Sequence[int], strides: Sequence[int] | None, itemsize: int) -> None:
    if strides is not None and not in_order(shape, strides, itemsize):
        raise ArgumentError(
            "AD134",
            f"argument `{name}` is not C-contiguous: its shape is {tuple(shape)}, its strides {tuple(strides)} bytes",
            help=library_of(value).contiguous.format(name=name),
        )


def in_order(shape: Sequence[int], strides: Sequence[int], itemsize: int) -> bool:
    """True when elements lie one after the other; strides count bytes, and those along one element do not matter."""
    expected = itemsize
    for extent, stride in zip(reversed(shape), reversed(strides), strict=True):
        if extent > 1 and stride != expected:
            return 0 in shape
        expected *= extent
    return True
