"""What of CUDA's driver is needed to place arrays on a device and to tell how long work on it takes.

Comes in: a machine with a driver.  Goes out: memory, copies and events, in the context that CUDA's runtime uses too.
Guaranteed: an error is a RuntimeError that names it, or a MemoryError; all work is put on the default stream.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from ctypes import CDLL, byref, c_char_p, c_float, c_int, c_size_t, c_uint, c_uint64, c_void_p, create_string_buffer
from typing import Any

LIBRARY = "libcuda.so.1"
NO_MEMORY = 2
ADDRESS, SIZE, STREAM = c_uint64, c_size_t, c_void_p
ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "cuInit": (c_uint,),
    "cuDeviceGet": (c_void_p, c_int),
    "cuDeviceGetName": (c_void_p, c_int, c_int),
    "cuDevicePrimaryCtxRetain": (c_void_p, c_int),
    "cuCtxSetCurrent": (c_void_p,),
    "cuMemAlloc_v2": (c_void_p, SIZE),
    "cuMemFree_v2": (ADDRESS,),
    "cuMemGetInfo_v2": (c_void_p, c_void_p),
    "cuMemcpyHtoD_v2": (ADDRESS, c_void_p, SIZE),
    "cuMemcpyDtoH_v2": (c_void_p, ADDRESS, SIZE),
    "cuMemcpyDtoDAsync_v2": (ADDRESS, ADDRESS, SIZE, STREAM),
    "cuStreamSynchronize": (STREAM,),
    "cuEventCreate": (c_void_p, c_uint),
    "cuEventRecord": (c_void_p, STREAM),
    "cuEventSynchronize": (c_void_p,),
    "cuEventElapsedTime": (c_void_p, c_void_p, c_void_p),
    "cuEventDestroy_v2": (c_void_p,),
    "cuGetErrorName": (c_int, c_void_p),
}


class Driver:
    """The driver, with the context of the first device current.

    Raises RuntimeError where there is none.
    """

    def __init__(self, library: Any = None) -> None:
        try:
            self.library = library or CDLL(LIBRARY)
        except OSError as error:
            raise RuntimeError(f"the driver cannot be loaded: {error}") from error
        for name, kinds in ARGUMENTS.items():
            getattr(self.library, name).argtypes = kinds
        device, context = c_int(), c_void_p()
        self.call("cuInit", 0)
        self.call("cuDeviceGet", byref(device), 0)
        text = create_string_buffer(256)
        self.call("cuDeviceGetName", text, len(text), device)
        self.name = text.value.decode()
        self.call("cuDevicePrimaryCtxRetain", byref(context), device)
        self.call("cuCtxSetCurrent", context)

    def call(self, name: str, *arguments: Any) -> None:
        """One function of the driver.

        Raises MemoryError and RuntimeError.
        """
        error = getattr(self.library, name)(*arguments)
        if error == NO_MEMORY:
            raise MemoryError(f"{name}: the device has no memory left")
        if error:
            text = c_char_p()
            self.library.cuGetErrorName(error, byref(text))
            raise RuntimeError(f"{name}: {(text.value or b'').decode() or error}")

    def free_memory(self) -> int:
        """The bytes of the device that nobody has."""
        free, total = c_size_t(), c_size_t()
        self.call("cuMemGetInfo_v2", byref(free), byref(total))
        return free.value

    @contextmanager
    def timed(self) -> Iterator[list[float]]:
        """The seconds between what is put on the default stream before and after the body, in a list of one."""
        begin, end, milliseconds = c_void_p(), c_void_p(), c_float()
        self.call("cuEventCreate", byref(begin), 0)
        self.call("cuEventCreate", byref(end), 0)
        found: list[float] = []
        try:
            self.call("cuEventRecord", begin, None)
            yield found
            self.call("cuEventRecord", end, None)
            self.call("cuEventSynchronize", end)
            self.call("cuEventElapsedTime", byref(milliseconds), begin, end)
            found.append(milliseconds.value * 1e-3)
        finally:
            self.call("cuEventDestroy_v2", begin)
            self.call("cuEventDestroy_v2", end)
