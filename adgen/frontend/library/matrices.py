"""Small parts that several algorithms share."""

from __future__ import annotations

from typing import Any

import numpy as np

from adgen.frontend.rules import Rules, with_rules

Array = Any


BLOCK = 64  # columns that are worked on one by one; what they do to the others is one product of matrices


def square(a: Array) -> None:
    """Raise for what is not square."""
    if a.shape[0] != a.shape[1]:
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")


def product(a: Array, b: Array) -> Array:
    """`a @ b.T` of two matrices or two columns."""
    return np.outer(a, b) if a.ndim == 1 else a @ b.T


def largest(x: Array) -> Any:
    """The size of the largest element, zero where there is none."""
    found = 0.0
    for item in x:
        found = max(found, largest(item) if x.ndim > 1 else abs(item))
    return found


def rotation(ratio: Any) -> Any:
    """The cosine and sine of the smaller of Jacobi's angles, whose double has this cotangent."""
    tangent = np.copysign(1.0, ratio) / (abs(ratio) + np.hypot(ratio, 1.0))
    cosine = 1.0 / np.sqrt(1.0 + tangent * tangent)
    return cosine, tangent * cosine


def rotate(rows: Array, p: Any, q: Any, cosine: Any, sine: Any) -> None:
    """Rotate two rows into each other."""
    for k in range(rows.shape[1]):
        x = rows[p, k]
        y = rows[q, k]
        rows[p, k] = cosine * x - sine * y
        rows[q, k] = sine * x + cosine * y


def swap(rows: Array, p: Any, q: Any) -> None:
    """Exchange two rows."""
    for k in range(rows.shape[1]):
        x = rows[p, k]
        rows[p, k] = rows[q, k]
        rows[q, k] = x


def to_lower(a: Array) -> Array:
    """The cotangent of a lower triangle that is read as both, from that of the symmetric matrix."""
    n = len(a)
    lower = np.zeros_like(a)
    for i in range(n):
        for j in range(i):
            lower[i, j] = a[i, j] + a[j, i]
        lower[i, i] = a[i, i]
    return lower


def from_lower(a: Array) -> Array:
    """The symmetric matrix that a lower triangle stands for."""
    n = len(a)
    full = np.zeros_like(a)
    for i in range(n):
        for j in range(i):
            full[i, j] = a[i, j]
            full[j, i] = a[i, j]
        full[i, i] = a[i, i]
    return full


def _undefined(x: Any) -> Any:
    return 0.0 if x == 0.0 else np.nan


def _undefined_vjp(x: Any, out: Any, cotangent: Any) -> Any:
    return undefined(cotangent)


undefined = with_rules(_undefined, Rules(_undefined, _undefined_vjp, _undefined_vjp))
"""`x / 0` where the derivative does not exist: zero for zero, else not-a-number; its derivatives are the same."""
