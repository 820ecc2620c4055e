"""Triangular systems and Cholesky factors (Golub & Van Loan, Matrix Computations, 3.1 and 4.2)."""

from __future__ import annotations

from typing import Any

import numpy as np

from adgen.frontend.library.matrices import product, square, to_lower
from adgen.frontend.rules import Rules, with_rules

Array = Any


def _substitute(a: Array, b: Array, lower: bool, transposed: bool, unit: bool) -> Array:
    """The solution of `a @ x = b`, or of `a.T @ x = b`, where nothing but a triangle of the matrix is read."""
    n = len(a)
    x = b.copy()
    if not transposed:
        for step in range(n):
            i = step if lower else n - 1 - step
            for j in range(0 if lower else i + 1, i if lower else n):
                x[i] -= a[i, j] * x[j]
            if not unit:
                x[i] /= a[i, i]
    else:
        for step in range(n):
            i = n - 1 - step if lower else step
            if not unit:
                x[i] /= a[i, i]
            for j in range(0 if lower else i + 1, i if lower else n):
                x[j] -= a[i, j] * x[i]
    return x


def _substitute_vjp(a: Array, b: Array, lower: bool, transposed: bool, unit: bool, out: Array, cotangent: Array) -> Any:
    n = len(a)
    b_bar = substitute(a, cotangent, lower, not transposed, unit)
    full = product(out, b_bar) if transposed else product(b_bar, out)
    a_bar = np.zeros_like(a)
    for i in range(n):
        for j in range(0 if lower else i + 1, i if lower else n):
            a_bar[i, j] = -full[i, j]
        if not unit:
            a_bar[i, i] = -full[i, i]
    return a_bar, b_bar, None, None, None


substitute = with_rules(_substitute, Rules(_substitute, _substitute_vjp))


def solve_triangular(a: Array, b: Array, lower: bool, transposed: bool, unit: bool) -> Array:
    """`scipy.linalg.solve_triangular`."""
    if a.shape[0] != a.shape[1]:
        raise ValueError("expected square matrix")
    if len(b) != len(a):
        raise ValueError("shapes of a and b are incompatible")
    if not unit:
        for k in range(len(a)):
            if a[k, k] == 0.0:
                raise np.linalg.LinAlgError(f"singular matrix: resolution failed at diagonal {k}")
    return substitute(a, b, lower, transposed, unit)


def _factor(a: Array) -> Array:
    n = len(a)
    l = np.zeros_like(a)  # noqa: E741 - as in the books
    for j in range(n):
        for i in range(j, n):
            total = a[i, j]
            for k in range(j):
                total -= l[i, k] * l[j, k]
            if i == j:
                if not total > 0.0:
                    raise np.linalg.LinAlgError("Matrix is not positive definite")
                l[j, j] = np.sqrt(total)
            else:
                l[i, j] = total / l[j, j]
    return l


def _factor_vjp(a: Array, out: Array, cotangent: Array) -> Array:
    n = len(a)
    inner = np.zeros_like(a)
    for i in range(n):
        for j in range(i + 1):
            total = 0.0
            for k in range(i, n):
                total += out[k, i] * cotangent[k, j]
            inner[i, j] = 0.5 * total if i == j else total
    half = substitute(out, inner, True, True, False)
    return to_lower(substitute(out, half.T, True, True, False))


factor = with_rules(_factor, Rules(_factor, _factor_vjp))


def cholesky(a: Array) -> Array:
    """`np.linalg.cholesky`, which reads the lower triangle."""
    if a.ndim == 2:
        square(a)
        return factor(a)
    l = np.zeros_like(a)  # noqa: E741
    for k in range(len(a)):
        square(a[k])
        l[k] = factor(a[k])
    return l


def factor_in_place(a: Array, lower: bool) -> Array:
    """The first result of `scipy.linalg.cho_factor`."""
    square(a)
    l = factor(a) if lower else factor(a.T)  # noqa: E741
    c = a.copy()
    for i in range(len(a)):
        for j in range(i + 1):
            if lower:
                c[i, j] = l[i, j]
            else:
                c[j, i] = l[i, j]
    return c


def cholesky_solve(c: Array, b: Array, lower: bool) -> Array:
    """`scipy.linalg.cho_solve`."""
    if c.shape[0] != c.shape[1]:
        raise ValueError("The factored matrix c is not square.")
    if len(b) != len(c):
        raise ValueError("incompatible dimensions")
    return substitute(c, substitute(c, b, lower, not lower, False), lower, lower, False)
