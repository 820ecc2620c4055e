"""Square systems of complex numbers, as systems of their real and imaginary parts.

`(A + iB)(x + iy) = c + id` is the system `[[A, -B], [B, A]] [x, y] = [c, d]`: its derivative is the derivative of that.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adgen.frontend.library import lu
from adgen.frontend.library.matrices import square

Array = Any


def solve(a: Array, b: Array) -> Array:
    """`np.linalg.solve` of a complex matrix or right-hand side."""
    if a.ndim == 2:
        return _solve(a, b)
    if b.ndim == 3:
        if len(b) != len(a):
            raise ValueError(f"solve: there are {len(a)} matrices and {len(b)} right-hand sides")
        x = np.zeros_like(b)
        for k in range(len(a)):
            x[k] = _solve(a[k], b[k])
        return x
    x = np.zeros((len(a), *b.shape), dtype=b.dtype)
    for k in range(len(a)):
        x[k] = _solve(a[k], b)
    return x


def inv(a: Array) -> Array:
    """`np.linalg.inv` of a complex matrix."""
    if a.ndim == 2:
        return _solve(a, np.eye(len(a), dtype=a.dtype))
    x = np.zeros_like(a)
    for k in range(len(a)):
        x[k] = _solve(a[k], np.eye(len(a[k]), dtype=a.dtype))
    return x


def _solve(a: Array, b: Array) -> Array:
    square(a)
    n = len(a)
    if len(b) != n:
        raise ValueError(f"solve: the matrix has {n} rows and the right-hand side {len(b)}")
    real, imag = a.real, a.imag
    matrix = np.zeros((2 * n, 2 * n), dtype=real.dtype)
    matrix[:n, :n] = real
    matrix[n:, n:] = real
    matrix[:n, n:] = -imag
    matrix[n:, :n] = imag
    side = np.zeros((2 * n, *b.shape[1:]), dtype=real.dtype)
    side[:n] = b.real
    side[n:] = b.imag
    x = lu.solve(matrix, side)
    return x[:n] + 1j * x[n:]
