"""CUDA's runtime, as every extension that is compiled for a device offers it.

Comes in: an extension.  Goes out: memory, copies and waiting, on one device.  Guaranteed: the caller's current device
stays so; an error of CUDA is an `AdgenError` that says what to do.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from adgen.diagnostics import AdgenError
from adgen.runtime.devices.errors import NO_MEMORY, cuda_error
from adgen.runtime.failures import out_of_memory

DETAILS = 4
MOST = 2**63 - 1  # bytes that C can count


class Cuda:
    """An `Allocator` for a device, None for the current one; `name` is what it works for, for messages.

    What is part of a call (`allocate`, `copy`, `clear`, `capturing`, `outcome`) is for inside of `current`.
    """

    def __init__(self, library: Any, name: str, device: int | None = None) -> None:
        self.name = name
        self.ffi, self.lib = library.ffi, library.lib
        self.device = device
        self.emulated = hasattr(self.lib, "adgen_emulated_races")

    @contextmanager
    def current(self) -> Iterator[None]:
        """Makes the device the current one for a while."""
        before = self._number("adgen_cuda_device")
        if self.device in (None, before):
            yield
            return
        self._done(self.lib.adgen_cuda_use(self.device))
        try:
            yield
        finally:
            self.lib.adgen_cuda_use(before)

    def of(self, pointer: int) -> int | None:
        """The number of the device that memory is on, None for memory of the host."""
        place = self._number("adgen_cuda_place", self.address(pointer))
        return None if place < 0 else place

    def allocate(self, size: int) -> int:
        """The address of so many bytes.

        Raises AdgenError, which is a MemoryError too, when there are none.
        """
        made = self.ffi.new("void **")
        error = self.lib.adgen_cuda_allocate(made, size) if size <= MOST else NO_MEMORY
        if error == NO_MEMORY:
            raise out_of_memory(self.name, size)
        self._done(error)
        return int(self.ffi.cast("intptr_t", made[0]))

    def free(self, pointer: int) -> None:
        """Give memory back."""
        self.lib.adgen_cuda_free(self.address(pointer))

    def to_device(self, pointer: int, array: np.ndarray[Any, Any]) -> None:
        """Copy a C-contiguous array to an address of the device."""
        with self.current():
            self._done(self.lib.adgen_cuda_to_device(self.address(pointer), self.ffi.from_buffer(array), array.nbytes))

    def to_host(self, array: np.ndarray[Any, Any], pointer: int) -> None:
        """Copy from an address of the device into a C-contiguous array."""
        with self.current():
            self._done(self.lib.adgen_cuda_to_host(self.ffi.from_buffer(array), self.address(pointer), array.nbytes))

    def copy(self, target: int, source: int, size: int, stream: int) -> None:
        """Copy on the device, in the order of a stream."""
        self._done(self.lib.adgen_cuda_copy(self.address(target), self.address(source), size, self.address(stream)))

    def clear(self, target: int, size: int, stream: int) -> None:
        """Fill memory with zeros, in the order of a stream."""
        self._done(self.lib.adgen_cuda_clear(self.address(target), size, self.address(stream)))

    def synchronise(self, stream: int) -> None:
        """Wait until everything on a stream is done."""
        with self.current():
            self._done(self.lib.adgen_cuda_synchronise(self.address(stream)))

    def capturing(self, stream: int) -> bool:
        """True when what is put on a stream is recorded in a graph, and not done."""
        return bool(self._number("adgen_cuda_capturing", self.address(stream)))

    def outcome(self, failure: int, stream: int) -> tuple[int, list[int]]:
        """The status of a call that has noted its failure there, and details, once the stream is done."""
        detail = self.ffi.new("int64_t[]", DETAILS)
        noted = self.ffi.cast("int64_t *", failure)
        status = self.lib.adgen_cuda_outcome(noted, self.address(stream), detail)
        return status, list(detail)

    def error(self, number: int) -> AdgenError:
        """The exception for an error of CUDA."""
        texts = (self.lib.adgen_cuda_name(number), self.lib.adgen_cuda_text(number))
        version = self.ffi.new("int *")
        self.lib.adgen_cuda_driver(version)
        known, said = (self.ffi.string(text).decode() for text in texts)
        return cuda_error(number, known, said, version[0], self.name)

    def address(self, number: int) -> Any:
        """An address, or a stream, for C."""
        return self.ffi.cast("void *", number)

    def _number(self, name: str, *arguments: Any) -> int:
        found = self.ffi.new("int *")
        self._done(getattr(self.lib, name)(*arguments, found))
        return int(found[0])

    def _done(self, error: int) -> None:
        if error:
            raise self.error(error)
