"""Statistics of NumPy: histograms, bins, covariances, quantiles, and reductions that leave out NaN."""

from __future__ import annotations

from typing import Any

import numpy as np


def digitize(x: Any, bins: Any, right: Any = False) -> Any:
    """`np.digitize`: the bin of every number, of edges that increase or decrease."""
    edges = np.asarray(bins)
    side: Any = "left" if right else "right"
    if np.all(edges[1:] >= edges[:-1]):
        return np.searchsorted(edges, x, side=side)
    if not np.all(edges[1:] <= edges[:-1]):
        raise ValueError("bins must be monotonically increasing or decreasing")
    return len(edges) - np.searchsorted(edges[::-1], x, side=side)


def histogram(a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> Any:
    """`np.histogram`: counts (or sums of weights) between edges, and the edges."""
    values = np.asarray(a).ravel()
    given = None if weights is None else np.asarray(weights).ravel()
    if np.ndim(bins) == 0:
        if bins < 1:
            raise ValueError("`bins` must be positive, when an integer")
        first, last = _ends(values, range)
        edges = np.linspace(first, last, bins + 1)
        counts = _uniform(values, first, last, edges, bins, given)
    else:
        edges = np.asarray(bins)
        if np.any(edges[1:] < edges[:-1]):
            raise ValueError("`bins` must increase monotonically, when an array")
        counts = _between(values, edges, given)
    if density:
        return counts / np.diff(edges) / np.sum(counts), edges
    return counts, edges


def _ends(values: Any, range: Any) -> Any:
    if range is None:
        first, last = np.min(values), np.max(values)
    else:
        first, last = range
        if first > last:
            raise ValueError("max must be larger than min in range parameter")
    if not (np.isfinite(first) and np.isfinite(last)):
        raise ValueError("the range of the histogram is not finite")
    return np.where(first == last, first - 0.5, first), np.where(first == last, last + 0.5, last)


def _uniform(values: Any, first: Any, last: Any, edges: Any, bins: Any, weights: Any) -> Any:
    counts = np.zeros(bins, dtype=np.int64 if weights is None else weights.dtype)
    for i in range(len(values)):
        v = values[i]
        if v >= first and v <= last:
            k = int((v - first) / (last - first) * bins)
            if k == bins:
                k = bins - 1
            if v < edges[k]:
                k = k - 1
            elif v >= edges[k + 1] and k != bins - 1:
                k = k + 1
            counts[k] += 1 if weights is None else weights[i]
    return counts


def _between(values: Any, edges: Any, weights: Any) -> Any:
    last = len(edges) - 1
    counts = np.zeros(last, dtype=np.int64 if weights is None else weights.dtype)
    places = np.searchsorted(edges, values, side="right") - 1
    for i in range(len(values)):
        k = places[i]
        if values[i] == edges[last]:
            k = last - 1
        if k >= 0 and k < last:
            counts[k] += 1 if weights is None else weights[i]
    return counts


def cov(m: Any, y: Any = None, rowvar: Any = True, bias: Any = False, ddof: Any = None) -> Any:
    """`np.cov` of several variables: a matrix; of one: its variance."""
    rows = _variables(m, rowvar)
    if y is not None:
        rows = np.concatenate((rows, _variables(y, rowvar)))
    free = rows.shape[1] - ((0 if bias else 1) if ddof is None else ddof)
    rows = rows - np.mean(rows, axis=1)[:, None]
    products = rows @ np.conjugate(rows.T) * (1.0 / np.float64(free))
    if y is None and np.ndim(m) < 2:
        return products[0, 0]
    if y is None and rows.shape[0] == 1:
        raise ValueError("the covariance of one row is a number in NumPy: pass the row instead of the matrix")
    return products


def _variables(m: Any, rowvar: Any) -> Any:
    rows = np.atleast_2d(np.asarray(m) * 1.0)
    return rows.T if not rowvar and np.ndim(m) > 1 else rows


def corrcoef(x: Any, y: Any = None, rowvar: Any = True) -> Any:
    """`np.corrcoef`."""
    c = cov(x, y, rowvar)
    if y is None and np.ndim(x) < 2:
        return c / c
    scale = np.sqrt(np.diag(c))
    return np.clip(c / scale[:, None] / scale[None, :], -1, 1)


def nanmax(a: Any, axis: Any = None, keepdims: Any = False) -> Any:
    """`np.nanmax`: NaN where there is nothing else."""
    a = np.asarray(a)
    if a.dtype.kind != "f":
        return np.max(a, axis=axis, keepdims=keepdims)
    missing = np.isnan(a)
    largest = np.max(np.where(missing, -np.inf, a), axis=axis, keepdims=keepdims)
    return np.where(np.all(missing, axis=axis, keepdims=keepdims), np.nan, largest)


def nanmin(a: Any, axis: Any = None, keepdims: Any = False) -> Any:
    """`np.nanmin`: NaN where there is nothing else."""
    a = np.asarray(a)
    if a.dtype.kind != "f":
        return np.min(a, axis=axis, keepdims=keepdims)
    missing = np.isnan(a)
    smallest = np.min(np.where(missing, np.inf, a), axis=axis, keepdims=keepdims)
    return np.where(np.all(missing, axis=axis, keepdims=keepdims), np.nan, smallest)


def nanargmax(a: Any, axis: Any = None) -> Any:
    """`np.nanargmax`."""
    missing = np.isnan(a)
    if np.any(np.all(missing, axis=axis)):
        raise ValueError("All-NaN slice encountered")
    return np.argmax(np.where(missing, -np.inf, a), axis=axis)


def nanargmin(a: Any, axis: Any = None) -> Any:
    """`np.nanargmin`."""
    missing = np.isnan(a)
    if np.any(np.all(missing, axis=axis)):
        raise ValueError("All-NaN slice encountered")
    return np.argmin(np.where(missing, np.inf, a), axis=axis)


def _without_nan(a: Any, number: Any) -> Any:
    """The array with a number in place of NaN."""
    a = np.asarray(a)
    return a if a.dtype.kind != "f" else np.where(np.isnan(a), number, a)


def nanprod(a: Any, axis: Any = None, keepdims: Any = False) -> Any:
    """`np.nanprod`: NaN counts as one."""
    return np.prod(_without_nan(a, 1.0), axis=axis, keepdims=keepdims)


def nancumsum(a: Any, axis: Any = None) -> Any:
    """`np.nancumsum`: NaN counts as zero."""
    return np.cumsum(_without_nan(a, 0.0), axis=axis)


def nancumprod(a: Any, axis: Any = None) -> Any:
    """`np.nancumprod`: NaN counts as one."""
    return np.cumprod(_without_nan(a, 1.0), axis=axis)


def nanvar(a: Any, axis: Any = None, ddof: Any = 0, keepdims: Any = False) -> Any:
    """`np.nanvar`."""
    missing = np.isnan(a)
    number = np.sum(~missing, axis=axis, keepdims=True)
    middle = np.sum(np.where(missing, 0.0, a), axis=axis, keepdims=True) / number
    squares = np.where(missing, 0.0, (a - middle) * (a - middle))
    return np.sum(squares, axis=axis, keepdims=keepdims) / (np.sum(~missing, axis=axis, keepdims=keepdims) - ddof)


def nanstd(a: Any, axis: Any = None, ddof: Any = 0, keepdims: Any = False) -> Any:
    """`np.nanstd`; its derivative is zero where all elements are equal."""
    squares = nanvar(a, axis, ddof, keepdims)
    return np.where(squares > 0.0, np.sqrt(np.where(squares > 0.0, squares, 1.0)), squares)


def quantile(a: Any, q: Any, axis: Any = None, method: Any = "linear") -> Any:
    """`np.quantile` by linear interpolation between the sorted elements."""
    a = np.asarray(a)
    ordered = np.sort(a, axis=None) if axis is None else np.moveaxis(np.sort(a, axis=axis), axis, 0)
    if np.ndim(q) == 0:
        return _quantile(ordered, q)
    return np.stack([_quantile(ordered, q[k]) for k in range(len(q))])


def percentile(a: Any, q: Any, axis: Any = None, method: Any = "linear") -> Any:
    """`np.percentile`."""
    if np.ndim(q) == 0:
        return quantile(a, q / 100.0, axis)
    return quantile(a, [q[k] / 100.0 for k in range(len(q))], axis)


def _quantile(ordered: Any, q: Any) -> Any:
    if not (q >= 0.0 and q <= 1.0):
        raise ValueError("Quantiles must be in the range [0, 1]")
    last = ordered.shape[0] - 1
    place = q * last
    k = min(int(np.floor(place)), last)
    low, high, t = ordered[k], ordered[min(k + 1, last)], place - k
    inside = high - (high - low) * (1.0 - t) if t >= 0.5 else low + (high - low) * t
    return np.where(np.isnan(ordered[last]), np.nan, inside)
