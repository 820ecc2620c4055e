"""Where an argument is: in the memory of the host, or in that of a device.

Comes in: any value.  Goes out: whether it is an array on a CUDA device, and of what dtype and shape it is.  Guaranteed:
nothing is copied, waited for or imported to find out.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from adgen.runtime.faults import ArgumentError

CPU, CUDA, PINNED, MANAGED = 1, 2, 3, 13  # the numbers of DLPack
HOST = (np.ndarray, np.generic, int, float, complex, str, tuple, list, dict, type(None))
UNREADABLE = (AttributeError, BufferError, KeyError, RuntimeError, TypeError, ValueError)


class Form(NamedTuple):
    """What an array is made of."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]


class Zeros(NamedTuple):
    """Stands for an array on a device that holds zeros; a call makes it."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]


def is_device_array(value: Any) -> bool:
    """True for an array that says that it is on a CUDA device."""
    if isinstance(value, HOST):
        return False
    place = place_of(value)
    if place is not None:
        return place in (CUDA, MANAGED)
    with suppress(*UNREADABLE):
        return getattr(value, "__cuda_array_interface__", None) is not None
    return False


def place_of(value: Any) -> int | None:
    """The kind of device that an array is on, of one that tells."""
    ask = getattr(value, "__dlpack_device__", None)
    with suppress(*UNREADABLE):  # as of an array that has no memory, or that is on several devices
        return None if ask is None else int(ask()[0])
    return None


def form_of(value: Any, name: str) -> Form:
    """The form of an array on a device; `name` is what messages call it.

    Raises AdgenError when it does not tell.
    """
    try:
        return _form(value)
    except UNREADABLE as error:
        raise ArgumentError(
            "AD133", f"argument `{name}` cannot be read as an array on a device: {error}", help="pass a plain array"
        ) from error


def _form(value: Any) -> Form:
    shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
    if shape is not None and dtype is not None:
        text = str(dtype).rpartition(".")[2]  # as in torch.float64
        try:
            return Form(np.dtype(text), tuple(shape))
        except TypeError:
            raise ValueError(f"its dtype is {text}, which adgen does not compute with") from None
    interface = getattr(value, "__cuda_array_interface__", None)
    if interface is not None:
        return Form(np.dtype(interface["typestr"]), tuple(interface["shape"]))
    from adgen.runtime.devices import dlpack

    found = dlpack.read(value.__dlpack__(stream=-1))  # for no stream: only its form is read
    return Form(found.dtype, found.shape)


def shape_of(value: Any) -> tuple[int, ...]:
    """The shape of an argument or result, wherever it is; that of a number is empty."""
    return form_of(value, "the array").shape if is_device_array(value) else np.shape(value)
