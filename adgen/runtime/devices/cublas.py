"""Handles of cuBLAS, for code that leaves products of matrices to it.

Comes in: an extension, while a call puts its work into a stream.  Goes out: nothing; the extension has a handle for
that time.  Guaranteed: a handle belongs to one thread and one device, is made at the first call that may need it, and
goes with its thread; where the library is not linked, or gives no handle, products are the extension's own.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from adgen.runtime.devices.cuda import Cuda


class _Handles(threading.local):
    """The handles of one thread, by device; each with what made it."""

    def __init__(self) -> None:
        self.made: dict[tuple[bool, int | None], tuple[Cuda, int]] = {}

    def __del__(self) -> None:
        for cuda, handle in self.made.values():
            cuda.lib.adgen_cublas_destroy(cuda.address(handle))


_handles = _Handles()


@contextmanager
def cublas(cuda: Cuda) -> Iterator[None]:
    """Lets an extension that computes products use cuBLAS for a while; for inside of `cuda.current`."""
    cuda.lib.adgen_cublas_use(_handle(cuda))
    try:
        yield
    finally:
        cuda.lib.adgen_cublas_use(cuda.ffi.NULL)


def _handle(cuda: Cuda) -> Any:
    """The handle of this thread for a device; null where there is none."""
    key = (cuda.emulated, cuda.device)
    if key not in _handles.made:
        made = cuda.ffi.new("void **")
        if cuda.lib.adgen_cublas_create(made) != 0 or not made[0]:
            return cuda.ffi.NULL
        _handles.made[key] = cuda, int(cuda.ffi.cast("intptr_t", made[0]))
    return cuda.address(_handles.made[key][1])
