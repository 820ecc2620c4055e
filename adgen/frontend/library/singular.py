"""Singular values by one-sided Jacobi rotations (Golub & Van Loan, Matrix Computations, 8.6), and what they give.

Rules: Townsend, Differentiating the singular value decomposition (2016); Golub & Pereyra, The differentiation of
pseudo-inverses and nonlinear least squares problems whose variables separate (1973), which holds where the rank stays.
Singular vectors of equal singular values have no derivative: what depends on one is not a number.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adgen.frontend.library.matrices import largest, rotate, rotation, swap, undefined
from adgen.frontend.rules import Rules, with_rules

Array = Any


def _rotated(a: Array) -> Any:
    """`scale`, `W` with orthogonal rows and an orthogonal `V`: the matrix, or its transpose if it is wide, is
    `scale * W.T @ V`.
    """
    m, n = a.shape
    k = min(m, n)
    if not np.all(np.isfinite(a)):
        raise np.linalg.LinAlgError("SVD did not converge")
    scale = largest(a)
    if scale == 0.0:
        scale = 1.0
    w = np.zeros((k, max(m, n)), dtype=a.dtype)
    for i in range(m):
        for j in range(n):
            if m >= n:
                w[j, i] = a[i, j] / scale
            else:
                w[i, j] = a[i, j] / scale
    v = np.eye(k, dtype=a.dtype)
    small = np.finfo(a.dtype).eps
    sweep = 0
    rotated = True
    while rotated:
        if sweep == 60:
            raise np.linalg.LinAlgError("SVD did not converge")
        sweep += 1
        rotated = False
        for p in range(k):
            for q in range(p + 1, k):
                first = w[p] @ w[p]
                second = w[q] @ w[q]
                mixed = w[p] @ w[q]
                if not abs(mixed) <= small * np.sqrt(first) * np.sqrt(second):
                    rotated = True
                    cosine, sine = rotation((second - first) / (2.0 * mixed))
                    rotate(w, p, q, cosine, sine)
                    rotate(v, p, q, cosine, sine)
    return scale, w, v


def _sorted(w: Array, v: Array) -> Array:
    """The lengths of rows, after these have been put in descending order of it."""
    k = len(v)
    s = np.zeros(k, dtype=w.dtype)
    for j in range(k):
        s[j] = np.sqrt(w[j] @ w[j])
    for p in range(k):
        for j in range(k - 1, p, -1):
            if s[j] > s[j - 1]:
                x = s[j]
                s[j] = s[j - 1]
                s[j - 1] = x
                swap(w, j, j - 1)
                swap(v, j, j - 1)
    return s


def _orthonormal(w: Array, s: Array) -> None:
    """Make rows of length one of rows of length `s`; rows of zeros become some that are orthogonal to all."""
    n = w.shape[1]
    for j in range(len(s)):
        if s[j] > 0.0:
            w[j] /= s[j]
        else:
            length = 0.0
            for start in range(n):
                if length < 0.5 / n:
                    w[j] = 0.0
                    w[j, start] = 1.0
                    for _ in range(2):
                        for p in range(j):
                            part = w[p] @ w[j]
                            w[j] -= part * w[p]
                    length = w[j] @ w[j]
            w[j] /= np.sqrt(length)


def _factor(a: Array) -> Any:
    m, n = a.shape
    scale, w, v = _rotated(a)
    s = _sorted(w, v)
    _orthonormal(w, s)
    u = np.zeros((m, min(m, n)), dtype=a.dtype)
    vt = np.zeros((min(m, n), n), dtype=a.dtype)
    for j in range(min(m, n)):
        for i in range(m):
            u[i, j] = w[j, i] if m >= n else v[j, i]
        for i in range(n):
            vt[j, i] = v[j, i] if m >= n else w[j, i]
    return u, scale * s, vt


def _quotient(x: Any, divisor: Any, small: Any) -> Any:
    return x / divisor if abs(divisor) > small else undefined(x)


def _small(s: Array) -> Any:
    return len(s) * np.finfo(s.dtype).eps * largest(s)


def _factor_vjp(a: Array, out: Any, cotangent: Any) -> Array:
    u, s, vt = out
    u_bar, s_bar, vt_bar = cotangent
    k = len(s)
    small = _small(s)
    left, right = u.T @ u_bar, vt @ vt_bar.T
    inner = np.zeros((k, k), dtype=s.dtype)
    for i in range(k):
        inner[i, i] = s_bar[i]
        for j in range(k):
            if j != i:
                x, y = left[i, j], left[j, i]
                z, t = right[i, j], right[j, i]
                if abs(s[j] - s[i]) > small:
                    inner[i, j] = 0.5 * (x - y + z - t) / (s[j] - s[i]) + 0.5 * _quotient(
                        x - y - z + t, s[i] + s[j], small
                    )
                else:
                    both = undefined(x) + undefined(y) + undefined(z) + undefined(t)
                    inner[i, j] = both + 0.5 * _quotient(x - y - z + t, s[i] + s[j], small)
    a_bar = u @ inner @ vt
    if len(u) > k:
        a_bar = a_bar + _columns_over(u_bar - u @ left, s, small) @ vt
    if vt.shape[1] > k:
        a_bar = a_bar + u @ _columns_over((vt_bar.T - vt.T @ right), s, small).T
    return a_bar


def _columns_over(x: Array, s: Array, small: Any) -> Array:
    result = np.zeros_like(x)
    for i in range(len(x)):
        for j in range(len(s)):
            result[i, j] = _quotient(x[i, j], s[j], small)
    return result


factor = with_rules(_factor, Rules(_factor, _factor_vjp))


def _values(a: Array) -> Array:
    scale, w, v = _rotated(a)
    return scale * _sorted(w, v)


def _values_vjp(a: Array, out: Array, cotangent: Array) -> Array:
    u, _, vt = factor(a)
    return (u * cotangent) @ vt


values = with_rules(_values, Rules(_values, _values_vjp))


def _pinv(a: Array, relative: Any) -> Array:
    """Singular values up to `relative` times the largest one count as zero."""
    u, s, vt = _factor(a)
    small = relative * largest(s)
    for k in range(len(s)):
        if s[k] > small:
            vt[k] /= s[k]
        else:
            vt[k] = 0.0
    return vt.T @ u.T


def _pinv_vjp(a: Array, relative: Any, out: Array, cotangent: Array) -> Any:
    p, g = out, cotangent
    outside = g.T - a @ (p @ g.T)
    inside = g.T - (g.T @ p) @ a
    return outside @ (p @ p.T) + (p.T @ p) @ inside - p.T @ g @ p.T, None


pinv = with_rules(_pinv, Rules(_pinv, _pinv_vjp))


def svd(a: Array, full: bool) -> Any:
    """`np.linalg.svd`: the signs of the singular vectors may be others than LAPACK's."""
    if full and a.shape[0] != a.shape[1]:
        raise NotImplementedError("svd: pass full_matrices=False for a matrix that is not square")
    return factor(a)


def singular_values(a: Array) -> Array:
    """`np.linalg.svd` with `compute_uv=False`."""
    return values(a)


def pseudo_inverse(a: Array, relative: Any) -> Array:
    """`np.linalg.pinv`."""
    return pinv(a, relative)


def matrix_rank(a: Array) -> Any:
    """`np.linalg.matrix_rank`."""
    return rank_of(a, values(a))


def rank_of(a: Array, s: Array) -> Any:
    """The rank of a matrix with these singular values."""
    return np.sum(s > max(a.shape) * np.finfo(a.dtype).eps * largest(s))


def least_squares(a: Array, b: Array) -> Any:
    """The solution of `np.linalg.lstsq`, the shortest one where there are several."""
    if len(b) != len(a):
        raise np.linalg.LinAlgError("Incompatible dimensions")
    return pinv(a, max(a.shape) * np.finfo(a.dtype).eps) @ b


def condition(a: Array, p: Any) -> Any:
    """`np.linalg.cond`."""
    if p is None or p == 2 or p == -2:
        s = values(a)
        return s[-1] / s[0] if p == -2 else s[0] / s[-1]
    return np.linalg.norm(a, p) * np.linalg.norm(np.linalg.inv(a), p)


def spectral(a: Array, smallest: bool) -> Any:
    """`np.linalg.norm` of a matrix with `ord=2` or `ord=-2`."""
    s = values(a)
    return np.min(s) if smallest else np.max(s)


def nuclear(a: Array) -> Any:
    """`np.linalg.norm` of a matrix with `ord="nuc"`."""
    return np.sum(values(a))
