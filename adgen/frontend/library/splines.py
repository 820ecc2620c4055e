"""Piecewise polynomials: B-splines by de Boor's recurrence (de Boor, A practical guide to splines, 1978), and grids.

What is given (knots, coefficients, the degree, how to go on outside) is that of the objects of `scipy.interpolate`.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def _interval(x: Any, t: Any, k: Any) -> Any:
    """The index of the last knot that is not beyond x, among those of the spline's own interval."""
    return np.searchsorted(t[k + 1 : len(t) - k - 1], x, side="right") + k


def _de_boor(x: Any, t: Any, at: Any, points: Any, nu: Any) -> Any:
    """The value, or a derivative, of a polynomial from its control points on an interval between knots."""
    degree = len(points) - 1
    for _ in range(nu):
        first = at - degree + 1
        points = [degree * (points[j + 1] - points[j]) / (t[first + j + degree] - t[first + j]) for j in range(degree)]
        degree -= 1
    for level in range(1, degree + 1):
        first = at - degree + level
        weights = [
            (x - t[first + j]) / (t[first + j + degree - level + 1] - t[first + j]) for j in range(degree - level + 1)
        ]
        points = [(1.0 - w) * points[j] + w * points[j + 1] for j, w in enumerate(weights)]
    return points[0]


def spline(x: Any, t: Any, c: Any, k: Any, nu: Any, ext: Any) -> Any:
    """A B-spline at a number; outside: the last polynomial (0), 0 (1), ValueError (2), the last value (3), nan (4)."""
    if nu > k:
        return 0.0 * x
    low, high = t[k], t[len(t) - k - 1]
    outside = x < low or x > high
    if ext == 2 and outside:
        raise ValueError("the point is outside of the interval of the spline")
    if ext == 3:
        x = low if x < low else high if x > high else x
    at = _interval(x, t, k)
    value = _de_boor(x, t, at, [c[at - k + j] for j in range(k + 1)], nu)
    if ext == 1:
        return 0.0 if outside else value
    return np.nan if ext == 4 and outside else value


def surface(x: Any, y: Any, tck: Any, dx: Any, dy: Any) -> Any:
    """`scipy.interpolate.bisplev` at a point; outside of the grid its border is meant."""
    tx, ty, c, kx, ky = tck
    x, y = _within(x, tx, kx), _within(y, ty, ky)
    if dx > kx or dy > ky:
        return 0.0 * x
    row, column = _interval(x, tx, kx), _interval(y, ty, ky)
    width = len(ty) - ky - 1
    first = (row - kx) * width + column - ky
    points = [_de_boor(y, ty, column, [c[first + i * width + j] for j in range(ky + 1)], dy) for i in range(kx + 1)]
    return _de_boor(x, tx, row, points, dx)


def _within(x: Any, t: Any, k: Any) -> Any:
    low, high = t[k], t[len(t) - k - 1]
    return low if x < low else high if x > high else x * 1.0


def bisplev(x: Any, y: Any, tck: Any, dx: Any, dy: Any) -> Any:
    """`scipy.interpolate.bisplev`: numbers give a number, vectors of more than one element a grid."""
    if np.ndim(x) == 0 and np.ndim(y) == 0:
        return surface(x, y, tck, dx, dy)
    for points in (x, y):
        if np.ndim(points) == 1:
            points = np.asarray(points)
            if len(points) < 2:
                raise ValueError("the result of bisplev for a vector of one element has another shape: pass the number")
            if np.any(points[1:] < points[:-1]):
                raise ValueError("Invalid input data")
    if np.ndim(x) == 0:
        return np.array([surface(x, y[j], tck, dx, dy) for j in range(len(y))])
    return sheet(x, y, tck, dx, dy)


def sheet(x: Any, y: Any, tck: Any, dx: Any, dy: Any) -> Any:
    """A surface on a grid."""
    x, y = np.atleast_1d(x), np.atleast_1d(y)
    result = np.zeros((len(x), len(y)))
    for i in range(len(x)):
        for j in range(len(y)):
            result[i, j] = surface(x[i], y[j], tck, dx, dy)
    return result


def pieces(x: Any, breaks: Any, c: Any, extrapolate: Any) -> Any:
    """`scipy.interpolate.PPoly` at a number."""
    inside = x
    if extrapolate == "periodic":
        inside = breaks[0] + (x - breaks[0]) % (breaks[-1] - breaks[0])
    at = np.searchsorted(breaks[1:-1], inside, side="right")
    step = inside - breaks[at]
    value = c[0, at] + 0.0 * step
    for row in range(1, c.shape[0]):
        value = value * step + c[row, at]
    if extrapolate is False:
        return np.nan if x < breaks[0] or x > breaks[-1] else value
    return value


def lines(x: Any, points: Any, values: Any, kind: Any) -> Any:
    """`scipy.interpolate.interp1d` at a number."""
    if kind == "linear":
        at = np.clip(np.searchsorted(points, x), 1, len(points) - 1)
        slope = (values[at] - values[at - 1]) / (points[at] - points[at - 1])
        return slope * (x - points[at - 1]) + values[at - 1]
    if kind == "nearest":
        return values[np.searchsorted((points[1:] + points[:-1]) / 2.0, x)]
    if kind == "previous":
        return values[np.clip(np.searchsorted(points, x, side="right") - 1, 0, len(points) - 1)]
    return values[np.clip(np.searchsorted(points, x), 0, len(points) - 1)]


def cell(point: Any, grid: Any, values: Any, nearest: Any, outside: Any) -> Any:
    """`scipy.interpolate.RegularGridInterpolator` at a point: the mean of the corners around it."""
    for x, axis in zip(point, grid):
        if outside == "raise" and not (x >= axis[0] and x <= axis[-1]):
            raise ValueError("One of the requested xi is out of bounds")
    places = [np.clip(np.searchsorted(axis, x, side="right") - 1, 0, len(axis) - 2) for x, axis in zip(point, grid)]
    parts = [(x - axis[k]) / (axis[k + 1] - axis[k]) for x, axis, k in zip(point, grid, places)]
    if nearest:
        value = values[tuple(np.where(part <= 0.5, k, k + 1) for part, k in zip(parts, places))]
    else:
        corners: list[Any] = [((), 1.0)]
        for k, part in zip(places, parts):
            corners = [
                ((*where, k + side), weight * (part if side else 1.0 - part))
                for where, weight in corners
                for side in (0, 1)
            ]
        value = 0.0
        for where, weight in corners:
            value += values[where] * weight
    if outside is None or outside == "raise":
        return value
    for x, axis in zip(point, grid):
        if not (x >= axis[0] and x <= axis[-1]):
            value = outside
    return value


def limited(x: Any, inner: Any, low: Any, high: Any, below: Any, above: Any) -> Any:
    """A function between two ends, and what is given outside of them; None: the function."""
    if below is None:
        return inner(x)
    if below == "raise":
        if x < low or x > high:
            raise ValueError("A value in x_new is outside the interpolation range.")
        return inner(x)
    return below if x < low else above if x > high else inner(x)


def cells(xi: Any, count: Any, one: Any, vectorized: Any) -> Any:
    """An interpolant of several variables at points: a tuple of coordinates, or an array with them in its last axis."""
    if isinstance(xi, tuple) and len(xi) == count:
        return vectorized(lambda *point: one(point), *xi)
    points = np.asarray(xi)
    if points.ndim == 1:
        return np.array([one([points[k] for k in range(count)])])
    flat = points.reshape((-1, count))
    found = np.array([one([flat[i, k] for k in range(count)]) for i in range(flat.shape[0])])
    return found.reshape(points.shape[:-1])
