"""Memory of our own on a device: results where the caller's library makes no arrays.

Comes in: an allocator, a shape and a dtype.  Goes out: an object that other libraries read through
`__cuda_array_interface__`.  Guaranteed: its memory is given back once, when nobody holds the object any more.
"""

from __future__ import annotations

import weakref
from math import prod
from typing import Any, Protocol

import numpy as np


class Allocator(Protocol):
    """What arrays need of a device; `synchronise` waits for a stream, `free` for whatever still uses the memory."""

    def allocate(self, size: int, /) -> int:
        """The address of so many bytes."""

    def free(self, pointer: int, /) -> None:
        """Give memory back."""

    def to_device(self, pointer: int, array: np.ndarray[Any, Any], /) -> None:
        """Copy a C-contiguous array to an address of the device."""

    def to_host(self, array: np.ndarray[Any, Any], pointer: int, /) -> None:
        """Copy from an address of the device into a C-contiguous array."""

    def synchronise(self, stream: int, /) -> None:
        """Wait until everything on a stream is done."""


class DeviceMemory:
    """An array on a device, C-contiguous, made on a stream: CuPy, PyTorch and Numba take it as one of theirs.

    `cupy.asarray(a)`, `torch.as_tensor(a, device="cuda")` and `numba.cuda.as_cuda_array(a)` share its memory.
    """

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype[Any], allocator: Allocator, stream: int = 0) -> None:
        self.shape, self.dtype, self.stream = tuple(shape), np.dtype(dtype), stream
        self._allocator = allocator
        size = prod(self.shape) * self.dtype.itemsize
        self.pointer = allocator.allocate(size) if size else 0
        self.free = weakref.finalize(self, _give_back, allocator, self.pointer)
        self.free.atexit = False  # the driver gives everything back, and may be gone by then

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {
            "shape": self.shape,
            "typestr": self.dtype.str,
            "data": (self.pointer, False),
            "strides": None,
            "stream": self.stream or 1,  # 0 is not allowed there, 1 is the default stream
            "version": 3,
        }

    def to_host(self) -> np.ndarray[Any, Any]:
        """A copy as a NumPy array, once the stream is done."""
        array: np.ndarray[Any, Any] = np.empty(self.shape, self.dtype)
        self._allocator.synchronise(self.stream)
        if array.size:
            self._allocator.to_host(array, self.pointer)
        return array

    def item(self) -> Any:
        """The number that an array of one holds."""
        return self.to_host().item()

    def __repr__(self) -> str:
        return f"<DeviceMemory: {self.dtype}, shape {self.shape}>"


def _give_back(allocator: Allocator, pointer: int) -> None:
    if pointer:
        allocator.free(pointer)
