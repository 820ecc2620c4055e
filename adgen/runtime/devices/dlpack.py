"""What a DLPack capsule holds.

Comes in: an object with `__dlpack__`, or its capsule.  Goes out: a `Tensor`.  Guaranteed: a capsule keeps its name, so
it stays its own owner: the memory is let go once, when the capsule that a `Tensor` holds is collected.

The layouts are those of `DLManagedTensor` and, from version 1 on, `DLManagedTensorVersioned`.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

import numpy as np

from adgen.runtime.placement import CPU as CPU
from adgen.runtime.placement import CUDA as CUDA
from adgen.runtime.placement import MANAGED as MANAGED
from adgen.runtime.placement import PINNED as PINNED

PLAIN, VERSIONED = b"dltensor", b"dltensor_versioned"
READ_ONLY = 1
KINDS = {0: "i", 1: "u", 2: "f", 5: "c", 6: "b"}


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device", ctypes.c_int32),
        ("rank", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("offset", ctypes.c_uint64),
    )


class _Plain(ctypes.Structure):
    _fields_ = (("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p))


class _Versioned(ctypes.Structure):
    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    )


_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_IsValid", ctypes.pythonapi))
_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


@dataclass(frozen=True)
class Tensor:
    """Memory of a device; `strides` count elements, and None stands for C order."""

    pointer: int
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None
    dtype: np.dtype[Any]
    device_type: int
    device: int
    read_only: bool
    capsule: object


def export(value: Any, stream: int) -> object:
    """The capsule of an array, whose contents are there for what is put on the stream from now on."""
    wanted = stream or 1  # 0 is not allowed there, 1 is the default stream
    try:
        return value.__dlpack__(stream=wanted, max_version=(1, 0))
    except TypeError:  # from before version 1
        return value.__dlpack__(stream=wanted)


def read(capsule: object) -> Tensor:
    """What a capsule holds.

    Raises ValueError when it is no capsule of DLPack, has been taken by someone, or holds numbers unknown to NumPy.
    """
    tensor, flags = _tensor(capsule)
    kind = KINDS.get(tensor.code)
    if kind is None or tensor.lanes != 1:
        raise ValueError(f"its numbers are of DLPack's type {tensor.code} with {tensor.lanes} x {tensor.bits} bits")
    rank = range(tensor.rank)
    return Tensor(
        (tensor.data or 0) + tensor.offset,
        tuple(tensor.shape[axis] for axis in rank),
        tuple(tensor.strides[axis] for axis in rank) if tensor.strides else None,
        np.dtype(f"{kind}{tensor.bits // 8}"),
        tensor.device_type,
        tensor.device,
        bool(flags & READ_ONLY),
        capsule,
    )


def _tensor(capsule: object) -> tuple[_Tensor, int]:
    if _is_valid(capsule, VERSIONED):
        versioned = _Versioned.from_address(_pointer(capsule, VERSIONED))
        if versioned.major != 1:  # another major version may have another layout
            raise ValueError(f"its capsule is of version {versioned.major} of DLPack")
        return versioned.tensor, versioned.flags
    if _is_valid(capsule, PLAIN):
        return _Plain.from_address(_pointer(capsule, PLAIN)).tensor, 0
    raise ValueError("`__dlpack__` gives no capsule that is still to be taken")
