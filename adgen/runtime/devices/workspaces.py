"""Scratch memory on devices that calls reuse.

Comes in: a device, a stream, how many bytes a call needs.  Goes out: memory of the device.  Guaranteed: what is put on
one stream is done in order, so all calls on it share one workspace, under a lock while a call puts its work there;
what a workspace has outgrown is given back before there is more.
"""

from __future__ import annotations

import threading
from collections import OrderedDict

import numpy as np

from adgen.runtime.devices.cuda import Cuda
from adgen.runtime.devices.memory import DeviceMemory

PER_THREAD = 2  # the name of a stream that is another one in each thread
STREAMS = 16  # so many streams have a workspace; the one that was not used for longest loses its
BYTE = np.dtype(np.uint8)


class Workspace:
    """Growing memory; whoever uses it holds the `lock`."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.memory: DeviceMemory | None = None

    def room(self, size: int, cuda: Cuda) -> int:
        """The address of at least so many bytes; 0 for none.

        Raises AdgenError when there are none.
        """
        if size == 0:
            return 0
        if self.memory is None or self.memory.shape[0] < size:
            self.forget()
            self.memory = DeviceMemory((size,), BYTE, cuda)
        return self.memory.pointer

    def forget(self) -> None:
        """Give the memory back, which waits for what uses it."""
        if self.memory is not None:
            self.memory.free()
            self.memory = None


_known: OrderedDict[tuple[bool, int | None, int, int], Workspace] = OrderedDict()
_lock = threading.Lock()


def workspace(cuda: Cuda, stream: int) -> Workspace:
    """The workspace of a stream."""
    key = (cuda.emulated, cuda.device, stream, threading.get_ident() if stream == PER_THREAD else 0)
    with _lock:
        found = _known.setdefault(key, Workspace())
        _known.move_to_end(key)
        dropped = _known.popitem(last=False)[1] if len(_known) > STREAMS else None
    if dropped is not None:
        with dropped.lock:
            dropped.forget()
    return found


def forget_workspaces() -> None:
    """Give all workspaces back."""
    with _lock:
        found = [*_known.values()]
        _known.clear()
    for each in found:
        with each.lock:
            each.forget()
