"""What the tests of a device run on: a CUDA device where there is one, and in any case the emulator's, on little."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator

import pytest

from adgen.runtime.devices.cuda import Cuda
from adgen.runtime.devices.workspaces import forget_workspaces
from benchmarks.gpu.device import CudaDevice, Device, EmulatedDevice


@pytest.fixture(scope="session")
def devices() -> Callable[[str], Device]:
    """The device of a target."""
    found: dict[str, Device] = {}

    def device(target: str) -> Device:
        if target not in found:
            found[target] = CudaDevice() if target == "cuda" else EmulatedDevice()
        return found[target]

    return device


@pytest.fixture
def taken(devices: Callable[[str], Device], monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], int]]:
    """How many bytes of a device are in use, but for a constant; the emulator's are those that calls asked for."""
    forget_workspaces()
    held: dict[int, int] = {}
    allocate, free = Cuda.allocate, Cuda.free

    def noted(self: Cuda, size: int) -> int:
        pointer = allocate(self, size)
        held[pointer] = size
        return pointer

    def given_back(self: Cuda, pointer: int) -> None:
        held.pop(pointer, None)
        free(self, pointer)

    monkeypatch.setattr(Cuda, "allocate", noted)
    monkeypatch.setattr(Cuda, "free", given_back)

    def bytes_in_use(target: str) -> int:
        gc.collect()
        device = devices(target)
        return -device.driver.free_memory() if isinstance(device, CudaDevice) else sum(held.values())

    yield bytes_in_use
    forget_workspaces()
