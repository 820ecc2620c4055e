"""Determinants, with derivatives that are right for singular matrices too.

The gradient of a determinant is the matrix of cofactors.  It is computed from factors `L D R` found with complete
pivoting: that of `D` consists of products, so nothing is divided by a pivot that may be zero.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adgen.frontend.library import lu as systems
from adgen.frontend.library.matrices import square, swap
from adgen.frontend.rules import Rules, with_rules

Array = Any


def _determinant(a: Array) -> Any:
    lu, _, value = systems._factor(a)
    for k in range(len(a)):
        value *= lu[k, k]
    return value


def _determinant_vjp(a: Array, out: Any, cotangent: Any) -> Array:
    return cotangent * cofactors(a)


def _factor(a: Array) -> Any:
    """`L`, `D` and `R` with `L @ D @ R = a[rows][:, columns]` in one array, and the sign of the permutations."""
    n = len(a)
    ldr = a.copy()
    rows, columns = np.arange(n), np.arange(n)
    sign = 1.0
    for k in range(n):
        largest = abs(ldr[k, k])
        row, column = k, k
        for i in range(k, n):
            for j in range(k, n):
                size = abs(ldr[i, j])
                if size > largest:
                    largest = size
                    row, column = i, j
        if row != k:
            sign = -sign
            swap(ldr, k, row)
            rows[k], rows[row] = rows[row], rows[k]
        if column != k:
            sign = -sign
            for i in range(n):
                ldr[i, k], ldr[i, column] = ldr[i, column], ldr[i, k]
            columns[k], columns[column] = columns[column], columns[k]
        if largest != 0.0:
            for i in range(k + 1, n):
                ldr[i, k] /= ldr[k, k]
                for j in range(k + 1, n):
                    ldr[i, j] -= ldr[i, k] * ldr[k, j]
            for j in range(k + 1, n):
                ldr[k, j] /= ldr[k, k]
    return ldr, rows, columns, sign


def _back(ldr: Array, rows: Array, columns: Array, sign: Any, middle: Array) -> Array:
    """The cofactors of a matrix from those of its `D`: `inv(L).T @ middle @ inv(R).T`, in the order of the matrix."""
    n = len(ldr)
    x = middle.copy()
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            for k in range(n):
                x[i, k] -= ldr[j, i] * x[j, k]
    for k in range(n):
        for i in range(n - 1, -1, -1):
            for j in range(i + 1, n):
                x[k, i] -= ldr[i, j] * x[k, j]
    result = np.zeros_like(x)
    for i in range(n):
        for j in range(n):
            result[rows[i], columns[j]] = sign * x[i, j]
    return result


def _cofactors(a: Array) -> Array:
    n = len(a)
    ldr, rows, columns, sign = _factor(a)
    middle = np.zeros_like(a)
    for i in range(n):
        others = 1.0
        for k in range(n):
            if k != i:
                others *= ldr[k, k]
        middle[i, i] = others
    return _back(ldr, rows, columns, sign, middle)


def _cofactors_rule(a: Array, out: Array, moved: Array) -> Array:
    return second(a, moved)


def _second(a: Array, moved: Array) -> Array:
    """The derivative of the cofactors in a direction; as that of a gradient it is its own transpose."""
    n = len(a)
    ldr, rows, columns, sign = _factor(a)
    x = np.zeros_like(a)
    for i in range(n):
        for j in range(n):
            x[i, j] = moved[rows[i], columns[j]]
    for i in range(n):
        for j in range(i):
            for k in range(n):
                x[i, k] -= ldr[i, j] * x[j, k]
    for k in range(n):
        for j in range(n):
            for i in range(j):
                x[k, j] -= x[k, i] * ldr[i, j]
    middle = np.zeros_like(a)
    for i in range(n):
        for j in range(n):
            if i != j:
                others = 1.0
                for k in range(n):
                    if k != i and k != j:
                        others *= ldr[k, k]
                middle[i, i] += others * x[j, j]
                middle[i, j] = -others * x[j, i]
    return _back(ldr, rows, columns, sign, middle)


def _second_vjp(a: Array, moved: Array, out: Array, cotangent: Array) -> Any:
    """For regular matrices only: it raises for singular ones."""
    w = systems.inv(a).T
    m, c = w @ moved.T @ w, w @ cotangent.T @ w
    along, across = np.sum(w * moved), np.sum(w * cotangent)
    both = along * across - np.sum(cotangent * m)
    mixed = w @ (moved.T @ c + cotangent.T @ m)
    return determinant(a) * (both * w - across * m - along * c + mixed), second(a, cotangent)


determinant = with_rules(_determinant, Rules(_determinant, _determinant_vjp))
cofactors = with_rules(_cofactors, Rules(_cofactors, _cofactors_rule, _cofactors_rule))
second = with_rules(_second, Rules(_second, _second_vjp))


def det(a: Array) -> Any:
    """`np.linalg.det`."""
    if a.ndim == 2:
        square(a)
        return determinant(a)
    values = np.zeros(len(a), dtype=a.dtype)
    for k in range(len(a)):
        square(a[k])
        values[k] = determinant(a[k])
    return values
