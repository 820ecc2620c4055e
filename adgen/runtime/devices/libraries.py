"""What differs between the libraries that have arrays on devices.

Comes in: an array.  Goes out: its library's current stream, how to make another such array, and what a user of it
writes to get past an error.  Guaranteed: only the library that an array is of is asked, and it is imported already.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from adgen.runtime.signatures import ArgumentError

Make = Callable[[tuple[int, ...], "np.dtype[Any]"], Any]


def _same(array: Any, name: str) -> Any:
    return array


def _no_stream(array: Any) -> int | None:
    return None


@dataclass(frozen=True)
class Library:
    """One library: `plain` gives the array to read, `stream` the current one, `empty` makes arrays beside one.

    Immutable arrays are read through DLPack: their `__cuda_array_interface__` does not say when they are there.
    """

    plain: Callable[[Any, str], Any] = _same
    stream: Callable[[Any], int | None] = _no_stream
    empty: Callable[[Any], Make] | None = None
    immutable: bool = False
    contiguous: str = "pass a C-contiguous copy of it"
    moved: str = "move it to a device: cupy.asarray({name})"
    converted: str = "{name}.astype('{dtype}')"


def _cupy_stream(array: Any) -> int:
    with array.device:
        return int(import_module("cupy").cuda.get_current_stream().ptr)


def _cupy_empty(array: Any) -> Make:
    def make(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
        with array.device:
            return import_module("cupy").empty(shape, dtype)

    return make


def _torch_plain(array: Any, name: str) -> Any:
    """The tensor without its graph; lazy conjugates and negatives are refused, whose memory holds other numbers."""
    if array.is_conj() or array.is_neg():
        which = "conj" if array.is_conj() else "neg"
        raise ArgumentError(
            "AD134", f"argument `{name}` is a lazy {which} of another tensor", help=f"{name}.resolve_{which}()"
        )
    return array.detach()


def _torch_stream(array: Any) -> int | None:
    return int(import_module("torch").cuda.current_stream(array.device).cuda_stream) if array.is_cuda else None


def _torch_empty(array: Any) -> Make:
    torch = import_module("torch")
    return lambda shape, dtype: torch.empty(shape, dtype=getattr(torch, np.dtype(dtype).name), device=array.device)


def _numba_empty(array: Any) -> Make:
    return lambda shape, dtype: import_module("numba.cuda").device_array(shape, dtype)


OTHER = Library()
CUPY = Library(
    stream=_cupy_stream, empty=_cupy_empty, contiguous="pass a C-contiguous copy of it: cupy.ascontiguousarray({name})"
)
TORCH = Library(
    plain=_torch_plain,
    stream=_torch_stream,
    empty=_torch_empty,
    contiguous="pass a C-contiguous copy of it: {name}.contiguous()",
    moved="move it to a device: {name}.cuda()",
    converted="{name}.to(torch.{dtype})",
)
NUMBA = Library(
    empty=_numba_empty,
    contiguous="pass a C-contiguous copy of it: numba.cuda.to_device(np.ascontiguousarray({name}.copy_to_host()))",
    converted="numba.cuda.to_device({name}.copy_to_host().astype('{dtype}'))",
)
JAX = Library(
    immutable=True,
    moved="move it to a device: jax.device_put({name}, jax.devices('cuda')[0])",
)
LIBRARIES = {"cupy": CUPY, "torch": TORCH, "numba": NUMBA, "jax": JAX, "jaxlib": JAX}


def library_of(value: Any) -> Library:
    """The library whose class, or whose class's base, an array is of."""
    for base in type(value).__mro__:
        found = LIBRARIES.get(base.__module__.partition(".")[0])
        if found is not None:
            return found
    return OTHER
