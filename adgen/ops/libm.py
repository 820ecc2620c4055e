"""The C library's own functions, for the interpreter.

Comes in: scalars or arrays of float64 or float32.  Goes out: what compiled code computes, to the last bit, because it
is the same function; NumPy's vectorised forms differ from it by an ulp or two.  Guaranteed: IEEE results, never an
exception (`log(-1)` is nan).
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np


@cache
def library() -> ctypes.CDLL:
    """The C library of this process, which holds libm's functions when Python itself is linked to them."""
    process = ctypes.CDLL(None)
    if hasattr(process, "nearbyint"):
        return process
    from ctypes.util import find_library

    return ctypes.CDLL(find_library("m"))


@cache
def _function(name: str, arity: int, kind: Any) -> Callable[..., float]:
    function = library()[name]
    function.restype = kind
    function.argtypes = [kind] * arity
    return function


class Libm:
    """A function of `<math.h>` on NumPy scalars and arrays: the `f` form for float32, the plain one for the rest."""

    def __init__(self, name: str, arity: int = 1) -> None:
        self.name = name
        self.arity = arity

    def __call__(self, *numbers: Any) -> Any:
        if any(isinstance(number, np.ndarray) for number in numbers):
            single = all(getattr(number, "dtype", None) == np.float32 for number in numbers)
            kind = np.float32 if single else np.float64
            return np.vectorize(self, otypes=[kind])(*(np.asarray(number, kind) for number in numbers))
        if isinstance(numbers[0], np.float32):
            return np.float32(_function(self.name + "f", self.arity, ctypes.c_float)(*numbers))
        return np.float64(_function(self.name, self.arity, ctypes.c_double)(*numbers))

    def __repr__(self) -> str:
        return f"<libm {self.name}>"
