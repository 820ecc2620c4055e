"""Polynomials as vectors of coefficients, highest power first, and windows."""

from __future__ import annotations

from typing import Any

import numpy as np


def vander(x: Any, N: Any = None, increasing: Any = False) -> Any:
    """`np.vander`."""
    x = np.asarray(x)
    columns = len(x) if N is None else N
    result = np.zeros((len(x), columns), dtype=x.dtype)
    for i in range(len(x)):
        power = x[i] * 0 + 1
        for k in range(columns):
            result[i, k if increasing else columns - 1 - k] = power
            power = power * x[i]
    return result


def polyfit(x: Any, y: Any, deg: Any, w: Any = None) -> Any:
    """`np.polyfit`: the coefficients alone."""
    x, y = np.asarray(x) + 0.0, np.asarray(y) + 0.0
    if len(x) != len(y):
        raise TypeError("expected x and y to have same length")
    left = vander(x, deg + 1)
    if w is not None:
        w = np.asarray(w) + 0.0
        left = left * w[:, None]
        y = y * w if y.ndim == 1 else y * w[:, None]
    scale = np.sqrt(np.sum(left * left, axis=0))
    found = np.linalg.lstsq(left / scale, y, rcond=None)[0]
    return found / scale if y.ndim == 1 else found / scale[:, None]


def polyder(p: Any, m: Any = 1) -> Any:
    """`np.polyder`."""
    p = np.asarray(p)
    if m < 0:
        raise ValueError("Order of derivative must be positive (see polyint)")
    for _ in tuple(range(m)):
        p = p[:-1] * np.arange(len(p) - 1, 0, -1)
    return p


def polyint(p: Any, m: Any = 1, k: Any = 0) -> Any:
    """`np.polyint` with one constant for all integrations."""
    p = np.asarray(p) * 1.0
    if m < 0:
        raise ValueError("Order of integral must be positive (see polyder)")
    for _ in tuple(range(m)):
        p = np.concatenate((p / np.arange(len(p), 0, -1), np.atleast_1d(np.asarray(k * 1.0))))
    return p


def _aligned(a1: Any, a2: Any) -> Any:
    a1, a2 = np.atleast_1d(np.asarray(a1)), np.atleast_1d(np.asarray(a2))
    length = max(len(a1), len(a2))
    first, second = np.zeros(length, dtype=a1.dtype), np.zeros(length, dtype=a2.dtype)
    first[length - len(a1) :] = a1
    second[length - len(a2) :] = a2
    return first, second


def polyadd(a1: Any, a2: Any) -> Any:
    """`np.polyadd`."""
    first, second = _aligned(a1, a2)
    return first + second


def polysub(a1: Any, a2: Any) -> Any:
    """`np.polysub`."""
    first, second = _aligned(a1, a2)
    return first - second


def polymul(a1: Any, a2: Any) -> Any:
    """`np.polymul`."""
    return np.convolve(np.atleast_1d(np.asarray(a1)), np.atleast_1d(np.asarray(a2)))


def poly(seq_of_zeros: Any) -> Any:
    """`np.poly` of a vector of roots."""
    zeros = np.asarray(seq_of_zeros)
    result = np.zeros(len(zeros) + 1)
    result[0] = 1.0
    for i in range(len(zeros)):
        for k in range(i + 1, 0, -1):
            result[k] -= zeros[i] * result[k - 1]
    return result


def geomspace(start: Any, stop: Any, num: Any = 50, endpoint: Any = True) -> Any:
    """`np.geomspace` between two numbers of one sign."""
    if start == 0 or stop == 0:
        raise ValueError("Geometric sequence cannot include zero")
    sign = np.sign(start)
    exponents = np.linspace(np.log10(sign * start), np.log10(sign * stop), num, endpoint=endpoint)
    result = sign * np.power(10.0, exponents)
    if num > 0:
        result[0] = start
        if num > 1 and endpoint:
            result[-1] = stop
    return result


def _angles(M: Any) -> Any:
    return np.pi * np.arange(1 - M, M, 2) / (M - 1)


def hanning(M: Any) -> Any:
    """`np.hanning`."""
    return np.ones(M) if M == 1 else 0.5 + 0.5 * np.cos(_angles(M))


def hamming(M: Any) -> Any:
    """`np.hamming`."""
    return np.ones(M) if M == 1 else 0.54 + 0.46 * np.cos(_angles(M))


def blackman(M: Any) -> Any:
    """`np.blackman`."""
    return np.ones(M) if M == 1 else 0.42 + 0.5 * np.cos(_angles(M)) + 0.08 * np.cos(2.0 * _angles(M))


def bartlett(M: Any) -> Any:
    """`np.bartlett`."""
    n = np.arange(1 - M, M, 2)
    return np.ones(M) if M == 1 else np.where(n <= 0, 1.0 + n / (M - 1), 1.0 - n / (M - 1))


def kaiser(M: Any, beta: Any) -> Any:
    """`np.kaiser`."""
    if M == 1:
        return np.ones(M)
    n = np.arange(0, M)
    alpha = (M - 1) / 2.0
    return np.i0(beta * np.sqrt(1 - ((n - alpha) / alpha) ** 2.0)) / np.i0(beta)


def sinc(x: Any) -> Any:
    """`np.sinc`; its derivative at zero is that of the series."""
    y = np.pi * np.asarray(x)
    small = np.abs(y) < 1e-3
    z = np.where(small, 1.0, y)
    square = np.where(small, y, 0.0) ** 2
    return np.where(small, 1.0 - square / 6.0 * (1.0 - square / 20.0 * (1.0 - square / 42.0)), np.sin(z) / z)


def unwrap(p: Any, discont: Any = None, axis: Any = -1, period: Any = 2.0 * np.pi) -> Any:
    """`np.unwrap` of floats."""
    p = np.asarray(p) * 1.0
    rows = np.moveaxis(p, axis, 0)
    limit = period / 2.0 if discont is None else max(discont, period / 2.0)
    steps = rows[1:] - rows[:-1]
    low = -period / 2.0
    wrapped = (steps - low) % period + low
    wrapped = np.where((wrapped == low) & (steps > 0.0), period / 2.0, wrapped)
    change = np.where(np.abs(steps) < limit, 0.0, wrapped - steps)
    result = rows.copy()
    result[1:] = rows[1:] + np.cumsum(change, axis=0)
    return np.moveaxis(result, 0, axis)
