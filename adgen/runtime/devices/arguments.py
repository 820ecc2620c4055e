"""All arrays of one call.

Comes in: the arrays by name.  Goes out: `Arguments`: the arrays, their device, the stream to compute on.  Guaranteed:
they are on one device and made on one stream, so a call waits for nothing; `check` and `refuse_overlap` say what does
not fit what the code was compiled for, before anything is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from adgen.diagnostics import AdgenError
from adgen.runtime.convert import read_only
from adgen.runtime.devices.arrays import DeviceArray, of_capsule, of_interface, plain_stream
from adgen.runtime.devices.libraries import library_of
from adgen.runtime.signatures import ArgumentError


@dataclass(frozen=True)
class Arguments:
    """The arrays of a call in their order; `device` is None where none of them tells.

    Where one is borrowed, the stream has to be done before they are let go.
    """

    arrays: tuple[DeviceArray, ...]
    device: int | None
    stream: int

    @property
    def borrowed(self) -> bool:
        """True when a library does not know on which stream its memory is used."""
        return any(array.capsule is not None for array in self.arrays)


def device_arrays(named: Sequence[tuple[str, Any]], stream: int | None = None) -> Arguments:
    """The arrays of a call, to compute on the current stream of their library, or on the one that is given.

    Who gives a stream has made sure that their contents are there on it.
    Raises AdgenError for what is no array on a device, and for several devices or streams.
    """
    ready = [of_interface(value, name) for name, value in named]
    chosen = _stream([array for array in ready if array]) if stream is None else stream
    arrays = tuple(array or of_capsule(value, name, chosen) for array, (name, value) in zip(ready, named, strict=True))
    return Arguments(arrays, _device(arrays), chosen)


def current_stream(arguments: Arguments) -> int:
    """The stream that is current now in the libraries of the arrays of an earlier call."""
    now = [(array, library_of(array.value).stream(array.value)) for array in arguments.arrays if array.capsule is None]
    told = [array if stream is None else replace(array, stream=plain_stream(stream)) for array, stream in now]
    return _stream(told) if any(array.stream is not None for array in told) else arguments.stream


def _stream(arrays: Sequence[DeviceArray]) -> int:
    told = [array for array in arrays if array.stream is not None]
    for array in told:
        if array.stream != told[0].stream:
            raise AdgenError(
                "AD136",
                f"arguments `{told[0].name}` and `{array.name}` are made on different streams, and none is waited for",
                help="let their libraries use one stream, as in "
                "`with cupy.cuda.ExternalStream(torch.cuda.current_stream().cuda_stream):`",
            )
    return (told[0].stream or 0) if told else 0


def _device(arrays: Sequence[DeviceArray]) -> int | None:
    told = [array for array in arrays if array.device is not None]
    for array in told:
        if array.device != told[0].device:
            raise AdgenError(
                "AD135",
                f"argument `{told[0].name}` is on device {told[0].device}, and `{array.name}` on device {array.device}",
                help="move them to one device",
            )
    return told[0].device if told else None


def check(array: DeviceArray, dtype: np.dtype[Any], rank: int, written: bool, function_name: str) -> None:
    """Refuse an array that is not what the function was compiled for, or that it writes and must not."""
    if array.dtype != dtype:
        converted = library_of(array.value).converted.format(name=array.name, dtype=dtype)
        raise ArgumentError(
            "AD137",
            f"argument `{array.name}` has dtype {array.dtype}, and `{function_name}` takes {dtype}",
            help=f"convert it: {converted}",
        )
    if len(array.shape) != rank:
        raise ArgumentError(
            "AD137",
            f"argument `{array.name}` has {len(array.shape)} axes, and `{function_name}` takes {rank}",
            help="reshape it" if rank else "pass a number, which does not have to be fetched from a device",
        )
    if written and array.read_only:
        raise read_only(array.name, function_name)


def refuse_overlap(arrays: Sequence[DeviceArray], written: Sequence[int], function_name: str) -> None:
    """Raise AdgenError when an array that the function writes shares memory with another argument."""
    for position in written:
        one = arrays[position]
        for other_position, other in enumerate(arrays):
            if other_position != position and _meet(one, other):
                raise AdgenError(
                    "AD131",
                    f"arguments `{one.name}` and `{other.name}` overlap in memory, and `{function_name}` writes "
                    f"`{one.name}`",
                    help=f"pass a copy of one of them, as of `{other.name}`",
                )


def _meet(one: DeviceArray, other: DeviceArray) -> bool:
    """True when two arrays share bytes; addresses of a machine's devices never coincide."""
    apart = one.pointer >= other.pointer + other.size or other.pointer >= one.pointer + one.size
    return bool(one.size and other.size and not apart)
