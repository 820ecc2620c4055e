"""Memory and time of a device: of a CUDA device through its driver, or of the emulator's, which is the host's.

Comes in: NumPy arrays and calls.  Goes out: arrays that adgen takes as those of a device, and seconds.  Guaranteed:
both kinds of device have one interface, so that what runs on one runs on the other.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from ctypes import byref, c_uint64, memmove
from time import perf_counter
from typing import Any

import numpy as np

from adgen.runtime.devices import DeviceMemory
from benchmarks.gpu.driver import Driver
from benchmarks.workload import Array

Call = Callable[[], Any]


class Device(ABC):
    """An allocator for arrays on a device, and its clock."""

    target: str  # of adgen
    name: str

    @abstractmethod
    def allocate(self, size: int, /) -> int:
        """The address of so many bytes."""

    @abstractmethod
    def free(self, pointer: int, /) -> None:
        """Give memory back."""

    @abstractmethod
    def to_device(self, pointer: int, array: Array, /) -> None:
        """Copy a C-contiguous array to an address of the device."""

    @abstractmethod
    def to_host(self, array: Array, pointer: int, /) -> None:
        """Copy from an address of the device into a C-contiguous array."""

    @abstractmethod
    def synchronise(self, stream: int, /) -> None:
        """Wait until everything on a stream is done."""

    @abstractmethod
    def seconds(self, call: Call, repeats: int) -> float:
        """What one call takes on the default stream, of so many that are put there one after the other."""

    def place(self, value: Any) -> Any:
        """An array on the device; anything else as it is."""
        if not isinstance(value, np.ndarray):
            return value
        made = DeviceMemory(value.shape, value.dtype, self)
        if value.size:
            self.to_device(made.pointer, np.ascontiguousarray(value))
        return made


class CudaDevice(Device):
    """The first CUDA device."""

    target = "cuda"

    def __init__(self, driver: Driver | None = None) -> None:
        self.driver = driver or Driver()
        self.name = self.driver.name

    def allocate(self, size: int) -> int:
        pointer = c_uint64()
        self.driver.call("cuMemAlloc_v2", byref(pointer), size)
        return pointer.value

    def free(self, pointer: int) -> None:
        self.driver.call("cuMemFree_v2", pointer)

    def to_device(self, pointer: int, array: Array) -> None:
        self.driver.call("cuMemcpyHtoD_v2", pointer, array.ctypes.data, array.nbytes)

    def to_host(self, array: Array, pointer: int) -> None:
        self.driver.call("cuMemcpyDtoH_v2", array.ctypes.data, pointer, array.nbytes)

    def synchronise(self, stream: int) -> None:
        self.driver.call("cuStreamSynchronize", stream)

    def seconds(self, call: Call, repeats: int) -> float:
        with self.driver.timed() as found:
            for _ in range(repeats):
                call()
        return found[0] / repeats

    def copy_rate(self, size: int = 1 << 28, repeats: int = 10) -> float:
        """Bytes read and written in a second by copies on the device."""
        source, target = self.allocate(size), self.allocate(size)

        def copy() -> None:
            self.driver.call("cuMemcpyDtoDAsync_v2", target, source, size, None)

        try:
            copy()
            return 2 * size / self.seconds(copy, repeats)
        finally:
            self.free(source)
            self.free(target)


class EmulatedDevice(Device):
    """The emulator's: memory of the host, and a clock on the wall."""

    target = name = "cuda-emulated"

    def __init__(self) -> None:
        self.held: dict[int, Array] = {}

    def allocate(self, size: int) -> int:
        buffer: Array = np.empty(size // 8 + 1)
        self.held[buffer.ctypes.data] = buffer
        return buffer.ctypes.data

    def free(self, pointer: int) -> None:
        del self.held[pointer]

    def to_device(self, pointer: int, array: Array) -> None:
        memmove(pointer, array.ctypes.data, array.nbytes)

    def to_host(self, array: Array, pointer: int) -> None:
        memmove(array.ctypes.data, pointer, array.nbytes)

    def synchronise(self, stream: int) -> None:
        """Nothing is left to do, ever."""

    def seconds(self, call: Call, repeats: int) -> float:
        return wall_seconds(call, repeats)


def wall_seconds(call: Call, repeats: int) -> float:
    """What one of so many calls takes, which wait for their results."""
    start = perf_counter()
    for _ in range(repeats):
        call()
    return (perf_counter() - start) / repeats


def device_of(target: str) -> Device:
    """The device of a target of adgen."""
    return CudaDevice() if target == "cuda" else EmulatedDevice()
