"""Triangular systems and Cholesky factors (Golub & Van Loan, Matrix Computations, 3.1 and 4.2)."""

from __future__ import annotations

from typing import Any

import numpy as np

from adgen.frontend.library.matrices import BLOCK, product, square, to_lower
from adgen.frontend.rules import Rules, with_rules

Array = Any


def in_triangle(a: Array, b: Array, lower: bool, transposed: bool, unit: bool) -> Array:
    """The solution of `a @ x = b`, or of `a.T @ x = b`, where nothing but a triangle of the matrix is read."""
    n = len(a)
    x = b.copy()
    blocks = (n + BLOCK - 1) // BLOCK
    forward = lower != transposed
    for block in range(blocks):
        first = BLOCK * (block if forward else blocks - 1 - block)
        last = min(first + BLOCK, n)
        if forward:
            x[first:last] -= (a[:first, first:last].T if transposed else a[first:last, :first]) @ x[:first]
        else:
            x[first:last] -= (a[last:, first:last].T if transposed else a[first:last, last:]) @ x[last:]
        for step in range(last - first):
            i = first + step if forward else last - 1 - step
            if not transposed:
                for j in range(first if lower else i + 1, i if lower else last):
                    x[i] -= a[i, j] * x[j]
            if not unit:
                x[i] /= a[i, i]
            if transposed:
                for j in range(first if lower else i + 1, i if lower else last):
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


substitute = with_rules(in_triangle, Rules(in_triangle, _substitute_vjp))


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
    for first in range(0, n, BLOCK):
        last = min(first + BLOCK, n)
        rest = a[first:, first:last] - l[first:, :first] @ l[first:last, :first].T
        for j in range(first, last):
            for i in range(j, n):
                total = rest[i - first, j - first]
                for k in range(first, j):
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
    full = out.T @ cotangent
    for i in range(n):
        for j in range(i):
            inner[i, j] = full[i, j]
        inner[i, i] = 0.5 * full[i, i]
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
