"""QR factors by Householder reflections (Golub & Van Loan, Matrix Computations, 5.2), with LAPACK's signs.

The rule is that of Walter & Lehmann, Algorithmic differentiation of linear algebra functions (2010); it needs columns
that are linearly independent.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adgen.frontend.library import triangular
from adgen.frontend.rules import Rules, with_rules

Array = Any


def _reflect(vectors: Array, scale: Array, k: Any, columns: Array, j: Any) -> None:
    """Apply the reflection whose vector is below entry `k` of column `k` to a column."""
    total = columns[k, j]
    for i in range(k + 1, len(vectors)):
        total += vectors[i, k] * columns[i, j]
    total *= scale[k]
    columns[k, j] -= total
    for i in range(k + 1, len(vectors)):
        columns[i, j] -= total * vectors[i, k]


def _factor(a: Array) -> Any:
    """`Q` with orthonormal columns and the triangular `R` of a matrix that has at least as many rows as columns."""
    m, n = a.shape
    work = a.copy()
    scale = np.zeros(n, dtype=a.dtype)
    for k in range(n):
        size = 0.0
        for i in range(k + 1, m):
            size += abs(work[i, k])
        if size != 0.0:
            first = work[k, k]
            size += abs(first)
            total = 0.0
            for i in range(k, m):
                total += (work[i, k] / size) ** 2
            diagonal = -np.copysign(size * np.sqrt(total), first)
            scale[k] = (diagonal - first) / diagonal
            for i in range(k + 1, m):
                work[i, k] /= first - diagonal
            work[k, k] = diagonal
            for j in range(k + 1, n):
                _reflect(work, scale, k, work, j)
    q = np.zeros((m, n), dtype=a.dtype)
    r = np.zeros((n, n), dtype=a.dtype)
    for k in range(n):
        q[k, k] = 1.0
        for j in range(k, n):
            r[k, j] = work[k, j]
    for k in range(n - 1, -1, -1):
        for j in range(k, n):
            _reflect(work, scale, k, q, j)
    return q, r


def _factor_vjp(a: Array, out: Any, cotangent: Any) -> Array:
    q, r = out
    q_bar, r_bar = cotangent
    n = len(r)
    product = q_bar.T @ q
    inner = np.zeros_like(r)
    for i in range(n):
        for j in range(i + 1):
            total = 0.0
            for k in range(i, n):
                total += r[i, k] * r_bar[j, k]
            total -= product[i, j]
            inner[i, j] = total
            inner[j, i] = total
    return triangular.substitute(r, (q_bar + q @ inner).T, False, False, False).T


factor = with_rules(_factor, Rules(_factor, _factor_vjp))


def qr(a: Array) -> Any:
    """`np.linalg.qr` with `mode="reduced"`: columns beyond a square come from its `Q`."""
    m, n = a.shape
    k = min(m, n)
    q, square = factor(a[:, :k])
    r = np.zeros((k, n), dtype=a.dtype)
    r[:, :k] = square
    r[:, k:] = q.T @ a[:, k:]
    return q, r
