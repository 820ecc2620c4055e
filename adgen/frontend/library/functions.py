"""Functions of square matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from adgen.frontend.library import lu
from adgen.frontend.library.matrices import largest, square
from adgen.frontend.rules import Rules, with_rules

Array = Any

PADE = (
    64764752532480000.0, 32382376266240000.0, 7771770303897600.0, 1187353796428800.0, 129060195264000.0,
    10559470521600.0, 670442572800.0, 33522128640.0, 1323241920.0, 40840800.0, 960960.0, 16380.0, 182.0, 1.0,
)  # fmt: skip


def _exponential(a: Array) -> Array:
    """Scaling and squaring with a Pade approximant (Higham, The scaling and squaring method revisited, 2005)."""
    norm = largest(np.sum(abs(a), axis=0))
    squarings = 0
    while norm > 5.371920351148152 and squarings < 1100:
        norm *= 0.5
        squarings += 1
    x = a / 2.0**squarings
    identity = np.eye(len(a), dtype=a.dtype)
    x2 = x @ x
    x4 = x2 @ x2
    x6 = x2 @ x4
    b = PADE
    inner = x6 @ (b[13] * x6 + b[11] * x4 + b[9] * x2)
    odd = x @ (inner + b[7] * x6 + b[5] * x4 + b[3] * x2 + b[1] * identity)
    even = x6 @ (b[12] * x6 + b[10] * x4 + b[8] * x2) + b[6] * x6 + b[4] * x4 + b[2] * x2 + b[0] * identity
    result = lu.solve(even - odd, even + odd)
    for _ in range(squarings):
        result = result @ result
    return result


def _along(a: Array, direction: Array) -> Array:
    """The derivative of the exponential in a direction: a block of the exponential of a matrix twice as large."""
    n = len(a)
    block = np.zeros((2 * n, 2 * n), dtype=a.dtype)
    block[:n, :n] = a
    block[:n, n:] = direction
    block[n:, n:] = a
    return exponential(block)[:n, n:]


def _exponential_vjp(a: Array, out: Array, cotangent: Array) -> Array:
    return _along(a.T, cotangent)


def _exponential_jvp(a: Array, out: Array, tangent: Array) -> Array:
    return _along(a, tangent)


exponential = with_rules(_exponential, Rules(_exponential, _exponential_vjp, _exponential_jvp))


def expm(a: Array) -> Array:
    """`scipy.linalg.expm`."""
    square(a)
    return exponential(a)


def matrix_power(a: Array, n: int) -> Array:
    """`np.linalg.matrix_power`."""
    square(a)
    if n == 0:
        return np.eye(len(a), dtype=a.dtype)
    base = lu.inv(a) if n < 0 else a
    n = abs(n)
    result = None
    while n > 0:
        if n % 2 == 1:
            result = base if result is None else result @ base
        n = n // 2
        if n > 0:
            base = base @ base
    return result.copy() if result is a else result
