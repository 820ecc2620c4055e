"""Arguments as compiled code takes them.

Comes in: a Python value and the spec that was made for it.  Goes out: a Python number or a C-contiguous, aligned array
of the right dtype.  Guaranteed: an array that is so already is passed as it is, without a copy.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from adgen.diagnostics import AdgenError
from adgen.frontend.complexes.types import C64, C128, Complex
from adgen.frontend.specs import ArraySpec, ScalarSpec
from adgen.ir.types import BOOL, F32, F64, INTEGERS, Scalar
from adgen.runtime.signatures import ArgumentError

DTYPES: dict[Scalar, np.dtype[Any]] = {
    F64: np.dtype(np.float64),
    F32: np.dtype(np.float32),
    BOOL: np.dtype(np.bool_),
    C128: np.dtype(np.complex128),
    C64: np.dtype(np.complex64),
    **{element: np.dtype(element.full_name) for element in INTEGERS},
}
NUMBERS: dict[Scalar, type] = {F64: float, F32: float, BOOL: bool, **dict.fromkeys(INTEGERS, int)}
OVERLAP_WORK = 10_000


def leaf_value(arguments: Any, path: Sequence[str | int]) -> Any:
    """The part of the arguments at a path."""
    value = arguments
    for key in path:
        if isinstance(value, dict):
            value = value[key]
        elif isinstance(value, tuple | list) and not hasattr(value, "_fields"):
            value = value[int(key)]
        else:
            value = value[key] if isinstance(key, int) else getattr(value, key)
    return value


def path_text(path: Sequence[str | int]) -> str:
    """How messages name a part of an argument."""
    return str(path[0]) + "".join(f"[{key!r}]" if isinstance(key, int) else f".{key}" for key in path[1:])


def canonical(value: Any, spec: ScalarSpec | ArraySpec) -> Any:
    """The value as compiled code takes it."""
    if isinstance(spec, ScalarSpec):
        return NUMBERS[spec.element](value)
    return canonical_array(value, spec.element)


def canonical_array(value: Any, element: Scalar) -> np.ndarray[Any, Any]:
    """An array of the native dtype, C-contiguous and aligned: the same one if it is so.

    Of complex numbers it is their parts, along one more axis of the same memory.
    """
    dtype = DTYPES[element]
    array = np.require(value, dtype, ["C", "A"])
    if array.dtype is not dtype or type(array) is not np.ndarray:
        array = np.array(array, dtype, copy=True, order="C")
    return array.view(DTYPES[element.part]).reshape(*array.shape, 2) if isinstance(element, Complex) else array


def restore(given: np.ndarray[Any, Any], value: np.ndarray[Any, Any], spec: ScalarSpec | ArraySpec) -> None:
    """Give an argument the contents of what was passed in its place."""
    if not np.may_share_memory(given, value):
        given[...] = value.view(DTYPES[spec.element])[..., 0] if isinstance(spec.element, Complex) else value


def check_written(value: np.ndarray[Any, Any], spec: ArraySpec, name: str, function_name: str) -> None:
    """Refuse an array that the function writes when it cannot be written as the function does."""
    if not value.flags.writeable:
        raise read_only(name, function_name)
    if value.dtype != DTYPES[spec.element]:
        raise ArgumentError(
            "AD130",
            f"`{function_name}` writes argument `{name}`, which has dtype {value.dtype}",
            help=f"pass an array of dtype {DTYPES[spec.element]}",
        )


def read_only(name: str, function_name: str) -> AdgenError:
    """The exception, a ValueError too, for a read-only array that the function writes."""
    kind = type("ValueError", (AdgenError, ValueError), {})
    error: AdgenError = kind(
        "AD130", f"`{function_name}` writes argument `{name}`, which is read-only", help="pass a copy"
    )
    return error


def overlapping(written: Sequence[Any], arrays: Sequence[Any]) -> bool:
    """True when one of the written arrays shares memory with another of the arrays."""
    return any(shares(one, other) for one in written for other in arrays if one is not other) or any(
        sum(one is other for other in arrays) > 1 for one in written
    )


def shares(one: Any, other: Any) -> bool:
    """True when two arrays share memory, or when finding out would take long."""
    if not np.may_share_memory(one, other):
        return False
    try:
        return bool(np.shares_memory(one, other, OVERLAP_WORK))  # type: ignore[arg-type]  # the stubs know two values
    except Exception as error:  # np.exceptions.TooHardError, whose home differs between NumPy versions
        if type(error).__name__ != "TooHardError":
            raise
        return True


def refuse_overlap(arrays: Sequence[tuple[str, Any]], written: Sequence[int], function_name: str) -> None:
    """Raise AdgenError when an array that the function writes shares memory with another argument."""
    for position in written:
        name, one = arrays[position]
        for other_position, (other_name, other) in enumerate(arrays):
            if other_position != position and shares(one, other):
                raise AdgenError(
                    "AD131",
                    f"arguments `{name}` and `{other_name}` overlap in memory, and `{function_name}` writes `{name}`",
                    help=f"pass a copy of one of them: {other_name}.copy()",
                )
