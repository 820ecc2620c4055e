"""NumPy arrays as arguments of code for a device: copied there for one call, and back.

Comes in: arrays as compiled code takes them, and those of them that it writes.  Goes out: `DeviceArray`s, and NumPy
arrays of the results.  Guaranteed: memory on the device is given back whatever happens; arrays that are written are
copied back when the call succeeds; a warning says how much was copied, and how not to.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np

from adgen.diagnostics import warn
from adgen.runtime.devices.arguments import Arguments
from adgen.runtime.devices.arrays import DeviceArray
from adgen.runtime.devices.memory import Allocator, DeviceMemory

Array = np.ndarray[Any, "np.dtype[Any]"]


class Copies:
    """NumPy arrays on the device while a call on the default stream lasts: `with Copies(...) as copies`.

    `there` and `back` are how many bytes went each way.
    """

    def __init__(
        self, named: Sequence[tuple[str, Array]], written: Collection[int], allocator: Allocator, function_name: str
    ) -> None:
        self.there = self.back = 0
        self._named, self._written, self._allocator, self._function = named, written, allocator, function_name
        self._memory: list[DeviceMemory] = []
        self._owned = ExitStack()

    def __enter__(self) -> Copies:
        self._memory = [self._put(array) for _, array in self._named]  # where one does not fit, nobody holds the others
        return self

    def __exit__(self, kind: type[BaseException] | None, *details: object) -> None:
        with self._owned:
            if kind is not None:
                return
            for position in self._written:
                self._named[position][1][...] = self.fetch(self._memory[position])
        warn(
            f"`{self._function}` has NumPy arguments: {_amount(self.there)} were copied to the device and "
            f"{_amount(self.back)} back; arrays of CuPy, PyTorch or Numba stay there"
        )

    @property
    def arguments(self) -> Arguments:
        """The copies."""
        arrays = [
            DeviceArray(name, memory.pointer, memory.shape, memory.dtype, None, False, 0, memory)
            for (name, _), memory in zip(self._named, self._memory, strict=True)
        ]
        return Arguments(tuple(arrays), None, 0)

    def make(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> DeviceMemory:
        """Memory for a result, until the end of the call."""
        memory = DeviceMemory(shape, dtype, self._allocator)
        self._owned.callback(memory.free)
        return memory

    def fetch(self, memory: DeviceMemory) -> Array:
        """A result, once the default stream is done."""
        array = memory.to_host()
        self.back += array.nbytes
        return array

    def _put(self, array: Array) -> DeviceMemory:
        memory = self.make(array.shape, array.dtype)
        if array.size:
            self._allocator.to_device(memory.pointer, array)
        self.there += array.nbytes
        return memory


def _amount(size: int) -> str:
    """Bytes as one reads them."""
    for unit, name in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if size >= unit:
            return f"{size / unit:.3g} {name}"
    return f"{size} bytes"
