"""Eigenvalues of symmetric matrices by Jacobi rotations (Golub & Van Loan, Matrix Computations, 8.5).

Rules after Giles, Collected matrix derivative results for forward and reverse mode AD (2008).  A matrix is what its
lower triangle says.  Eigenvectors of equal eigenvalues have no derivative: what depends on one is not a number.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adgen.frontend.library.matrices import from_lower, largest, rotate, rotation, square, swap, to_lower, undefined
from adgen.frontend.rules import Rules, with_rules

Array = Any


def _factor(a: Array) -> Any:
    """The eigenvalues in ascending order, and eigenvectors in columns."""
    n = len(a)
    s = from_lower(a)
    vt = np.eye(n, dtype=a.dtype)
    if not np.all(np.isfinite(s)):
        raise np.linalg.LinAlgError("Eigenvalues did not converge")
    small = 0.1 * np.finfo(a.dtype).eps * largest(s)
    sweep = 0
    rotated = True
    while rotated:
        if sweep == 60:
            raise np.linalg.LinAlgError("Eigenvalues did not converge")
        sweep += 1
        rotated = False
        for p in range(n):
            for q in range(p + 1, n):
                if not abs(s[p, q]) <= small:
                    rotated = True
                    cosine, sine = rotation((s[q, q] - s[p, p]) / (2.0 * s[p, q]))
                    for k in range(n):
                        x = s[k, p]
                        y = s[k, q]
                        s[k, p] = cosine * x - sine * y
                        s[k, q] = sine * x + cosine * y
                    rotate(s, p, q, cosine, sine)
                    rotate(vt, p, q, cosine, sine)
                    s[p, q] = 0.0
                    s[q, p] = 0.0
    w = np.zeros(n, dtype=a.dtype)
    for k in range(n):
        w[k] = s[k, k]
    for k in range(n):
        for j in range(n - 1, k, -1):
            if w[j] < w[j - 1]:
                x = w[j]
                w[j] = w[j - 1]
                w[j - 1] = x
                swap(vt, j, j - 1)
    return w, vt.T.copy()


def _over_gaps(w: Array, x: Array) -> Array:
    """`x[i, j] / (w[j] - w[i])` off the diagonal."""
    n = len(w)
    result = np.zeros_like(x)
    small = n * np.finfo(w.dtype).eps * largest(w)
    for i in range(n):
        for j in range(n):
            gap = w[j] - w[i]
            if abs(gap) > small:
                result[i, j] = x[i, j] / gap
            elif i != j:
                result[i, j] = undefined(x[i, j])
    return result


def _factor_vjp(a: Array, out: Any, cotangent: Any) -> Array:
    w, v = out
    inner = _over_gaps(w, v.T @ cotangent[1])
    for k in range(len(w)):
        inner[k, k] = cotangent[0][k]
    return to_lower(v @ inner @ v.T)


factor = with_rules(_factor, Rules(_factor, _factor_vjp))


def _values(a: Array) -> Array:
    return _factor(a)[0]


def _values_vjp(a: Array, out: Array, cotangent: Array) -> Array:
    _, v = factor(a)
    return to_lower((v * cotangent) @ v.T)


values = with_rules(_values, Rules(_values, _values_vjp))


def eigh(a: Array) -> Any:
    """`np.linalg.eigh`: the signs of the eigenvectors may be others than LAPACK's."""
    square(a)
    return factor(a)


def eigvalsh(a: Array) -> Any:
    """`np.linalg.eigvalsh`."""
    square(a)
    return values(a)
