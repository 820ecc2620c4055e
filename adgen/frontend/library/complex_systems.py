"""A square system of complex numbers, as a system of their real and imaginary parts.

`(A + iB)(x + iy) = c + id` is the system `[[A, -B], [B, A]] [x, y] = [c, d]`: its derivative is the derivative of that.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adgen.frontend.library.lu import of_reals
from adgen.frontend.library.matrices import square

Array = Any


def of_complex_numbers(a: Array, b: Array) -> Array:
    """The solution for one matrix."""
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
    x = of_reals(matrix, side)
    return x[:n] + 1j * x[n:]
