"""Square systems by LU factorisation with partial pivoting (Golub & Van Loan, Matrix Computations, 3.4).

Rules after Giles, Collected matrix derivative results for forward and reverse mode AD (2008).  The factors are kept
for the rules and carry no derivative themselves: whatever is computed with them is taken for a function of the matrix.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adgen.frontend.library.matrices import BLOCK, product, square, swap
from adgen.frontend.library.triangular import in_triangle
from adgen.frontend.rules import Rules, with_rules

Array = Any


def _factor(a: Array) -> Any:
    """The factors of a matrix in one array, which row of the matrix each of their rows is, and the sign of that."""
    n = len(a)
    lu = a.copy()
    order = np.arange(n)
    sign = 1.0
    for first in range(0, n, BLOCK):
        last = min(first + BLOCK, n)
        for k in range(first, last):
            pivot = k
            largest = abs(lu[k, k])
            for i in range(k + 1, n):
                size = abs(lu[i, k])
                if size > largest:
                    largest = size
                    pivot = i
            if pivot != k:
                sign = -sign
                swap(lu, k, pivot)
                row = order[k]
                order[k] = order[pivot]
                order[pivot] = row
            if largest != 0.0:
                for i in range(k + 1, n):
                    factor = lu[i, k] / lu[k, k]
                    lu[i, k] = factor
                    for j in range(k + 1, last):
                        lu[i, j] -= factor * lu[k, j]
        for k in range(first, last):
            for i in range(k + 1, last):
                for j in range(last, n):
                    lu[i, j] -= lu[i, k] * lu[k, j]
        lu[last:, last:] -= lu[last:, first:last] @ lu[first:last, last:]
    return lu, order, sign


def _no_derivative(a: Array, out: Any, cotangent: Any) -> Any:
    return None


def _substitute(a: Array, lu: Array, order: Array, b: Array) -> Array:
    """The solution of `a @ x = b`."""
    x = np.zeros_like(b)
    for i in range(len(lu)):
        x[i] = b[order[i]]
    return in_triangle(lu, in_triangle(lu, x, True, False, True), False, False, False)


def _substitute_vjp(a: Array, lu: Array, order: Array, b: Array, out: Array, cotangent: Array) -> Any:
    b_bar = substitute_transposed(a, lu, order, cotangent)
    return -product(b_bar, out), None, None, b_bar


def _substitute_transposed(a: Array, lu: Array, order: Array, b: Array) -> Array:
    """The solution of `a.T @ x = b`."""
    y = in_triangle(lu, in_triangle(lu, b, False, True, False), True, True, True)
    x = np.zeros_like(b)
    for i in range(len(lu)):
        x[order[i]] = y[i]
    return x


def _substitute_transposed_vjp(a: Array, lu: Array, order: Array, b: Array, out: Array, cotangent: Array) -> Any:
    b_bar = substitute(a, lu, order, cotangent)
    return -product(out, b_bar), None, None, b_bar


factor = with_rules(_factor, Rules(_factor, _no_derivative))
substitute = with_rules(_substitute, Rules(_substitute, _substitute_vjp))
substitute_transposed = with_rules(_substitute_transposed, Rules(_substitute_transposed, _substitute_transposed_vjp))


def _log_determinant(a: Array, lu: Array, order: Array, sign: Any) -> Any:
    total = 0.0
    for k in range(len(lu)):
        sign *= np.sign(lu[k, k])
        total += np.log(abs(lu[k, k]))
    return sign, total


def _log_determinant_vjp(a: Array, lu: Array, order: Array, sign: Any, out: Any, cotangent: Any) -> Any:
    return cotangent[1] * substitute_transposed(a, lu, order, np.eye(len(a), dtype=a.dtype)), None, None, None


log_determinant = with_rules(_log_determinant, Rules(_log_determinant, _log_determinant_vjp))


def of_reals(a: Array, b: Array) -> Array:
    """The solution for one matrix."""
    square(a)
    if len(b) != len(a):
        raise ValueError(f"solve: the matrix has {len(a)} rows and the right-hand side {len(b)}")
    lu, order = _regular(a)
    return substitute(a, lu, order, b)


def _regular(a: Array) -> Any:
    lu, order, _ = factor(a)
    for k in range(len(a)):
        if lu[k, k] == 0.0:
            raise np.linalg.LinAlgError("Singular matrix")
    return lu, order


def solve(a: Array, b: Array, system: Any = of_reals) -> Array:
    """`np.linalg.solve`; `system` solves for one matrix."""
    if a.ndim == 2:
        return system(a, b)
    if b.ndim == 3:
        if len(b) != len(a):
            raise ValueError(f"solve: there are {len(a)} matrices and {len(b)} right-hand sides")
        x = np.zeros_like(b)
        for k in range(len(a)):
            x[k] = system(a[k], b[k])
        return x
    x = np.zeros((len(a), *b.shape), dtype=b.dtype)
    for k in range(len(a)):
        x[k] = system(a[k], b)
    return x


def inv(a: Array, system: Any = of_reals) -> Array:
    """`np.linalg.inv`; `system` solves for one matrix."""
    if a.ndim == 2:
        return _inv(a, system)
    x = np.zeros_like(a)
    for k in range(len(a)):
        x[k] = _inv(a[k], system)
    return x


def _inv(a: Array, system: Any) -> Array:
    square(a)
    return system(a, np.eye(len(a), dtype=a.dtype))


def slogdet(a: Array) -> Any:
    """`np.linalg.slogdet` as a plain pair."""
    if a.ndim == 2:
        return _slogdet(a)
    signs = np.zeros(len(a), dtype=a.dtype)
    logarithms = np.zeros(len(a), dtype=a.dtype)
    for k in range(len(a)):
        signs[k], logarithms[k] = _slogdet(a[k])
    return signs, logarithms


def _slogdet(a: Array) -> Any:
    square(a)
    lu, order, sign = factor(a)
    return log_determinant(a, lu, order, sign)
