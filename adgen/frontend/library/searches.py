"""Functions of NumPy whose results have a shape that depends on the data: their arrays cannot leave a function."""

from __future__ import annotations

from typing import Any

import numpy as np


def flatnonzero(a: Any) -> Any:
    """`np.flatnonzero`."""
    flat = np.ravel(a)
    found = np.zeros(np.count_nonzero(flat), dtype=np.int64)
    count = 0
    for i in range(len(flat)):
        if flat[i] != 0:
            found[count] = i
            count += 1
    return found


def nonzero(a: Any) -> Any:
    """`np.nonzero`, and `np.where` of a condition alone."""
    a = np.asarray(a)
    flat = flatnonzero(a)
    places: Any = []
    for axis in range(a.ndim - 1, 0, -1):
        places = [flat % a.shape[axis], *places]
        flat = flat // a.shape[axis]
    return (flat, *places)


def argwhere(a: Any) -> Any:
    """`np.argwhere`."""
    return np.stack(nonzero(a), axis=-1)


def extract(condition: Any, arr: Any) -> Any:
    """`np.extract`."""
    return np.ravel(arr)[flatnonzero(condition)]


def compress(condition: Any, a: Any, axis: Any = None) -> Any:
    """`np.compress`."""
    return np.take(np.ravel(a) if axis is None else np.asarray(a), flatnonzero(condition), 0 if axis is None else axis)


def bincount(x: Any, weights: Any = None, minlength: Any = 0) -> Any:
    """`np.bincount`."""
    x = np.asarray(x)
    length = minlength
    for i in range(len(x)):
        if x[i] < 0:
            raise ValueError("'list' argument must have no negative elements")
        length = max(length, x[i] + 1)
    if weights is None:
        counts = np.zeros(length, dtype=np.int64)
        for i in range(len(x)):
            counts[x[i]] += 1
        return counts
    weights = np.asarray(weights)
    if len(weights) != len(x):
        raise ValueError("The weights and list don't have the same length.")
    sums = np.zeros(length)
    for i in range(len(x)):
        sums[x[i]] += weights[i]
    return sums


def _differ(a: Any, b: Any) -> Any:
    """Two elements are not the same; NaN is the same as NaN."""
    return a != b and not (np.isnan(a) and np.isnan(b))


def unique(
    ar: Any, return_index: Any = False, return_inverse: Any = False, return_counts: Any = False, axis: Any = None
) -> Any:
    """`np.unique` of all elements."""
    if axis is not None:
        raise ValueError("`np.unique` along an axis is not supported")
    flat = np.ravel(ar)
    order = np.argsort(flat, kind="stable")
    values = flat[order]
    number = 0
    for i in range(len(values)):
        if i == 0 or _differ(values[i - 1], values[i]):
            number += 1
    first, counts = np.zeros(number, dtype=np.int64), np.zeros(number, dtype=np.int64)
    inverse = np.zeros(len(values), dtype=np.int64)
    number = 0
    for i in range(len(values)):
        if i == 0 or _differ(values[i - 1], values[i]):
            first[number] = order[i]
            number += 1
        counts[number - 1] += 1
        inverse[order[i]] = number - 1
    found = [flat[first]]
    if return_index:
        found.append(first)
    if return_inverse:
        found.append(inverse.reshape(np.shape(ar)))
    if return_counts:
        found.append(counts)
    return found[0] if len(found) == 1 else tuple(found)


def intersect1d(ar1: Any, ar2: Any) -> Any:
    """`np.intersect1d`."""
    first = unique(ar1)
    return first[flatnonzero(np.isin(first, np.ravel(ar2)))]


def setdiff1d(ar1: Any, ar2: Any) -> Any:
    """`np.setdiff1d`."""
    first = unique(ar1)
    return first[flatnonzero(np.logical_not(np.isin(first, np.ravel(ar2))))]


def union1d(ar1: Any, ar2: Any) -> Any:
    """`np.union1d`."""
    return unique(np.concatenate((np.ravel(ar1), np.ravel(ar2))))
