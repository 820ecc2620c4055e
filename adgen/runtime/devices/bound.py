"""Calls with fixed arrays on a device, which can be captured in a graph.

Comes in: the calls of a program, arrays.  Goes out: a function of no arguments.  Guaranteed: it owns its workspace and
allocates nothing; while its stream is captured it waits for nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adgen.diagnostics import AdgenError
from adgen.frontend.specs import OutputTree
from adgen.runtime.devices.arguments import current_stream
from adgen.runtime.devices.calls import DeviceCalls, Target
from adgen.runtime.devices.memory import DeviceMemory
from adgen.runtime.devices.workspaces import BYTE


class BoundDeviceCall:
    """A call with these leaves; results go to `targets` where there are some, and are given as `tree`.

    It is put on the stream that is current when it is called.
    """

    def __init__(self, calls: DeviceCalls, leaves: Sequence[Any], targets: Sequence[Target], tree: OutputTree) -> None:
        self.leaves, self.targets, self.tree = leaves, targets, tree
        self.take(calls)

    def take(self, calls: DeviceCalls) -> None:
        """Use this code from now on."""
        self.calls = calls
        self.prepared = calls.prepare(self.leaves, self.targets)
        with self.prepared.cuda.current():
            self.memory = DeviceMemory((self.prepared.needed,), BYTE, self.prepared.cuda)
        self.results = calls.assembled(self.prepared, self.tree)

    def __call__(self) -> Any:
        """The results for what the arrays hold now, in the same arrays each time.

        Raises AdgenError for a check that failed, but not in a capture: see `check`.
        """
        try:
            cuda, stream = self.prepared.cuda, current_stream(self.prepared.arguments)
            with cuda.current():
                status, details = self.calls.launch(self.prepared, stream, self.memory.pointer)
                if status == 0 and self.calls.entry.noting and not cuda.capturing(stream):
                    status, details = cuda.outcome(self.memory.pointer, stream)
            other = self.calls.other(self.prepared.shapes) if status in self.calls.others else None
            if other is not None:  # from the first call on, as these arrays keep their shapes
                self.take(other)
                return self()
            if status:
                raise self.calls.failed(status, details)
        except AdgenError as error:
            raise error.with_traceback(None) from None
        return self.results

    def check(self, stream: int | None = None) -> None:
        """Wait for a stream, by default the current one, and raise the exception of a check that failed there.

        That is how to find out after a graph was launched on it.
        """
        if not self.calls.entry.noting:
            return
        cuda = self.prepared.cuda
        if stream is None:
            stream = current_stream(self.prepared.arguments)
        with cuda.current():
            status, details = cuda.outcome(self.memory.pointer, stream)
        if status:
            raise self.calls.failed(status, details)
