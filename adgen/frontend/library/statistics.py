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


def median(a: Any, axis: Any = None, keepdims: Any = False) -> Any:
    """`np.median`: the middle element, or the mean of the two in the middle; NaN where there is one."""
    a = np.asarray(a) * 1.0
    ordered = np.sort(a, axis=None) if axis is None else np.moveaxis(np.sort(a, axis=axis), axis, 0)
    n = ordered.shape[0]
    middle = (ordered[(n - 1) // 2] + ordered[n // 2]) / 2.0
    return _kept(np.where(np.isnan(ordered[n - 1]), np.nan, middle), a, axis, keepdims)


def _kept(result: Any, a: Any, axis: Any, keepdims: Any) -> Any:
    if not keepdims:
        return result
    return np.reshape(result, (1,) * a.ndim) if axis is None else np.expand_dims(result, axis)


def nanmedian(a: Any, axis: Any = None, keepdims: Any = False) -> Any:
    """`np.nanmedian`."""
    return nanquantile(a, 0.5, axis, keepdims)


def nanpercentile(a: Any, q: Any, axis: Any = None, keepdims: Any = False) -> Any:
    """`np.nanpercentile`."""
    if np.ndim(q) == 0:
        return nanquantile(a, q / 100.0, axis, keepdims)
    return nanquantile(a, [q[k] / 100.0 for k in range(len(q))], axis, keepdims)


def nanquantile(a: Any, q: Any, axis: Any = None, keepdims: Any = False) -> Any:
    """`np.nanquantile` by linear interpolation between the sorted elements that are numbers."""
    a = np.asarray(a) * 1.0
    if np.ndim(q) != 0:
        return np.stack([nanquantile(a, q[k], axis, keepdims) for k in range(len(q))])
    if not (q >= 0.0 and q <= 1.0):
        raise ValueError("Quantiles must be in the range [0, 1]")
    if axis is None or a.ndim == 1:
        return _kept(_quantile_of_numbers(np.sort(a, axis=None), q), a, axis, keepdims)
    ordered = np.moveaxis(np.sort(a, axis=axis), axis, -1)
    rows = 1
    for extent in ordered.shape[:-1]:
        rows = rows * extent
    flat = ordered.reshape((rows, ordered.shape[-1]))
    found = np.array([_quantile_of_numbers(flat[i], q) for i in range(rows)]).reshape(ordered.shape[:-1])
    return _kept(found, a, axis, keepdims)


def _quantile_of_numbers(ordered: Any, q: Any) -> Any:
    number = len(ordered) - int(np.sum(np.isnan(ordered)))
    if number == 0:
        return np.nan
    place = q * (number - 1)
    k = min(int(np.floor(place)), number - 1)
    low, high, t = ordered[k], ordered[min(k + 1, number - 1)], place - k
    return high - (high - low) * (1.0 - t) if t >= 0.5 else low + (high - low) * t


def histogram2d(x: Any, y: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> Any:
    """`np.histogram2d`."""
    x, y = np.ravel(x), np.ravel(y)
    pair = isinstance(bins, list | tuple) and len(bins) == 2
    first = _edges(x, bins[0] if pair else bins, None if range is None else range[0])
    second = _edges(y, bins[1] if pair else bins, None if range is None else range[1])
    weights = None if weights is None else np.ravel(weights)
    sums = np.zeros((len(first) - 1, len(second) - 1))
    for i in np.arange(len(x)):
        row, column = _bin(x[i], first), _bin(y[i], second)
        if row >= 0 and column >= 0:
            sums[row, column] += 1.0 if weights is None else weights[i]
    if density:
        sums = sums / np.diff(first)[:, None] / np.diff(second)[None, :] / np.sum(sums)
    return sums, first, second


def _edges(values: Any, bins: Any, range: Any) -> Any:
    if np.ndim(bins) == 0:
        first, last = _ends(values, range)
        return np.linspace(first, last, bins + 1)
    edges = np.asarray(bins) * 1.0
    if np.any(edges[1:] < edges[:-1]):
        raise ValueError("`bins` must increase monotonically")
    return edges


def _bin(value: Any, edges: Any) -> Any:
    """The bin of a number, -1 outside."""
    last = len(edges) - 1
    if not (value >= edges[0] and value <= edges[last]):
        return -1
    return min(int(np.searchsorted(edges, value, side="right")) - 1, last - 1)


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
