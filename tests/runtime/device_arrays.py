"""Arrays of libraries for devices, as far as they are asked for something; memory of the host stands in for a device's.

Fake modules `cupy`, `torch` and `numba.cuda` offer what the real ones are asked for, and no more.
"""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from adgen.runtime.devices import dlpack


class Interface:
    """An array of a library that nobody knows."""

    def __init__(self, array: np.ndarray, **changes: object) -> None:
        self.array = array
        found = array.__array_interface__
        self.__cuda_array_interface__ = {key: found[key] for key in ("shape", "typestr", "data", "strides")}
        self.__cuda_array_interface__ |= {"version": 2, **changes}


class Device:
    """A context manager, as CuPy's is; remembers which one is current."""

    current = 0

    def __init__(self, number: int) -> None:
        self.number = number

    def __enter__(self) -> None:
        self.before, Device.current = Device.current, self.number

    def __exit__(self, *details: object) -> None:
        Device.current = self.before


class CupyArray(Interface):
    """`cupy.ndarray`"""

    def __init__(self, array: np.ndarray, device: int = 0, **changes: object) -> None:
        super().__init__(array, **changes)
        self.device = Device(device)

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, self.device.number


class Tensor:
    """`torch.Tensor`"""

    def __init__(self, array: np.ndarray, device: int | None = 0, requires_grad: bool = False, conj: bool = False):
        self.array, self.device, self.requires_grad, self.conj = array, device, requires_grad, conj
        self.is_cuda = device is not None

    def is_conj(self) -> bool:
        return self.conj

    def is_neg(self) -> bool:
        return False

    def detach(self) -> Tensor:
        return Tensor(self.array, self.device, conj=self.conj)

    @property
    def __cuda_array_interface__(self) -> dict:
        if not self.is_cuda:
            raise AttributeError("not a CUDA tensor")
        if self.requires_grad:
            raise RuntimeError("use var.detach()")
        return Interface(self.array).__cuda_array_interface__

    def __dlpack_device__(self) -> tuple[int, int]:
        return (2, self.device) if self.is_cuda else (1, 0)


class NumbaArray(Interface):
    """`numba.cuda.cudadrv.devicearray.DeviceNDArray`"""


class JaxArray:
    """`jax.Array`: a capsule of NumPy's that says it is on a device; `versions` as before and from DLPack 1 on."""

    def __init__(self, array: np.ndarray, kind: int = 2, device: int = 0, old: bool = True) -> None:
        self.array, self.kind, self.device, self.old, self.asked = array, kind, device, old, []
        self.shape, self.dtype = array.shape, array.dtype

    @property
    def __cuda_array_interface__(self) -> dict:
        raise AssertionError("does not say when the array is there")

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.kind, self.device

    def __dlpack__(self, *, stream: int, **options: object) -> object:
        if self.old and options:
            raise TypeError("unexpected keyword argument 'max_version'")
        self.asked.append(stream)
        capsule = self.array.__dlpack__(**options)
        tensor, _ = dlpack._tensor(capsule)
        tensor.device_type, tensor.device = self.kind, self.device
        return capsule


for each, module in ((CupyArray, "cupy"), (Tensor, "torch"), (NumbaArray, "numba.cuda"), (JaxArray, "jaxlib._jax")):
    each.__module__ = module


def install(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """The modules; `cupy` and `torch` are the numbers of their current streams."""
    current = SimpleNamespace(cupy=0, torch=0)
    cupy, torch, numba, cuda = (ModuleType(name) for name in ("cupy", "torch", "numba", "numba.cuda"))
    cupy.cuda = SimpleNamespace(get_current_stream=lambda: SimpleNamespace(ptr=current.cupy))
    cupy.empty = lambda shape, dtype: CupyArray(np.empty(shape, dtype), Device.current)
    torch.cuda = SimpleNamespace(current_stream=lambda device: SimpleNamespace(cuda_stream=current.torch))
    torch.float64, torch.float32, torch.int64 = (np.dtype(name) for name in ("float64", "float32", "int64"))
    torch.empty = lambda shape, dtype, device: Tensor(np.empty(shape, dtype), device)
    cuda.device_array = lambda shape, dtype: NumbaArray(np.empty(shape, dtype))
    for module in (cupy, torch, numba, cuda):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    return current
