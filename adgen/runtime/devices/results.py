"""Arrays for the results of a call.

Comes in: the arguments.  Goes out: what makes arrays of the caller's kind.  Guaranteed: they are made on the device of
the first argument, by its library; where that makes none that can be written, they are `DeviceMemory`.
"""

from __future__ import annotations

from adgen.runtime.devices.arguments import Arguments
from adgen.runtime.devices.libraries import Make, library_of
from adgen.runtime.devices.memory import Allocator, DeviceMemory


def maker(arguments: Arguments, allocator: Allocator) -> Make:
    """How to make an array of a shape and a dtype."""
    for array in arguments.arrays[:1]:
        empty = library_of(array.value).empty
        if empty is not None:
            return empty(array.value)
    return lambda shape, dtype: DeviceMemory(shape, dtype, allocator, arguments.stream)
