"""Functions of NumPy on arrays that a few others make."""

from __future__ import annotations

from typing import Any

import numpy as np


def piecewise(x: Any, condlist: Any, funclist: Any) -> Any:
    """`np.piecewise`: where a condition holds, what its function (or number) gives; the last condition wins."""
    x = np.asarray(x)
    conditions = condlist if isinstance(condlist, list | tuple) else [condlist]
    result = np.zeros_like(x)
    if len(funclist) == len(conditions) + 1:
        rest = conditions[0] == False  # noqa: E712 - an array or a bool
        for condition in conditions[1:]:
            rest = np.logical_and(rest, np.logical_not(condition))
        conditions = [*conditions, rest]
    for condition, function in zip(conditions, funclist):
        if callable(function):
            result[condition] = function(x[condition])
        else:
            result[condition] = function
    return result


def apply_along_axis(func1d: Any, axis: Any, arr: Any) -> Any:
    """`np.apply_along_axis` of a vector or a matrix."""
    arr = np.asarray(arr)
    if arr.ndim == 1:
        return func1d(arr)
    rows = np.moveaxis(arr, axis, -1)
    first = np.asarray(func1d(rows[0]))
    result = np.empty((rows.shape[0], *first.shape), dtype=first.dtype)
    result[0] = first
    for i in range(1, rows.shape[0]):
        result[i] = func1d(rows[i])
    return result if first.ndim == 0 else np.moveaxis(result, -1, axis)


def vectorized(function: Any, *arrays: Any) -> Any:
    """A function of numbers applied to every element of arrays that are broadcast."""
    found = [np.asarray(a) for a in arrays]
    total = found[0] if len(found) == 1 else sum(np.zeros_like(a, dtype=np.float64) for a in found)
    shape = np.shape(total)
    if len(shape) == 0:
        return np.asarray(function(*[a[()] for a in found]))
    flat = [np.broadcast_to(a, shape).reshape(-1) for a in found]
    return np.array([function(*[a[i] for a in flat]) for i in range(len(flat[0]))]).reshape(shape)


def pad(array: Any, pad_width: Any, mode: Any = "constant", constant_values: Any = 0) -> Any:
    """`np.pad` with a constant, or by the elements of the array itself."""
    array = np.asarray(array)
    widths = _widths(array.ndim, pad_width)
    if mode == "constant":
        shape = tuple(n + w[0] + w[1] for n, w in zip(array.shape, widths))
        result = np.full(shape, constant_values, dtype=array.dtype)
        inside = result
        for axis in tuple(range(array.ndim)):
            first, n = widths[axis][0], array.shape[axis]
            inside = np.moveaxis(np.moveaxis(inside, axis, 0)[first : first + n], 0, axis)
        inside[...] = array
        return result
    for axis in tuple(range(array.ndim)):
        n = array.shape[axis]
        at = np.arange(-widths[axis][0], n + widths[axis][1])
        if mode == "edge":
            at = np.clip(at, 0, n - 1)
        elif mode == "wrap":
            at = at % n
        elif mode == "symmetric":
            at = at % (2 * n)
            at = np.where(at < n, at, 2 * n - 1 - at)
        else:
            at = at % max(2 * n - 2, 1)
            at = np.where(at < n, at, 2 * n - 2 - at)
        array = np.take(array, at, axis=axis)
    return array


def _widths(rank: Any, pad_width: Any) -> Any:
    if not isinstance(pad_width, list | tuple):
        return [(pad_width, pad_width)] * rank
    if isinstance(pad_width[0], list | tuple):
        return [(w[0], w[-1]) for w in pad_width] * (rank if len(pad_width) == 1 else 1)
    return [(pad_width[0], pad_width[-1])] * rank


def delete(arr: Any, obj: Any, axis: Any = None) -> Any:
    """`np.delete` of one element, row or column."""
    arr, axis = (np.ravel(arr), 0) if axis is None else (np.asarray(arr), axis)
    moved = np.moveaxis(arr, axis, 0)
    k = obj + moved.shape[0] if obj < 0 else obj
    if k < 0 or k >= moved.shape[0]:
        raise IndexError("index is out of bounds for axis")
    return np.moveaxis(np.concatenate((moved[:k], moved[k + 1 :])), 0, axis)


def insert(arr: Any, obj: Any, values: Any) -> Any:
    """`np.insert` of one or several elements before a position of a vector."""
    arr = np.ravel(arr)
    k = obj + arr.shape[0] if obj < 0 else obj
    if k < 0 or k > arr.shape[0]:
        raise IndexError("index is out of bounds for axis 0")
    return np.concatenate((arr[:k], np.atleast_1d(np.asarray(values)).astype(arr.dtype), arr[k:]))


def indices(dimensions: Any, dtype: Any = int) -> Any:
    """`np.indices`."""
    grids = np.meshgrid(*[np.arange(n) for n in dimensions], indexing="ij")
    return np.stack(grids).astype(dtype)


def fromfunction(function: Any, shape: Any, dtype: Any = float) -> Any:
    """`np.fromfunction`."""
    grids = indices(shape, dtype)
    return function(*[grids[k] for k in range(len(shape))])


def block(arrays: Any) -> Any:
    """`np.block` of rows of blocks."""
    if not isinstance(arrays[0], list):
        return np.concatenate(arrays, axis=-1)
    if isinstance(arrays[0][0], list):
        raise ValueError("`np.block` is supported for rows of blocks, not for lists of more levels")
    return np.concatenate([np.concatenate(row, axis=-1) for row in arrays], axis=-2)


def isin(element: Any, test_elements: Any) -> Any:
    """`np.isin`."""
    return np.any(np.asarray(element)[..., None] == np.ravel(test_elements), axis=-1)


def ediff1d(ary: Any) -> Any:
    """`np.ediff1d`."""
    return np.diff(np.ravel(ary))


def correlate(a: Any, v: Any, mode: Any = "valid") -> Any:
    """`np.correlate`."""
    return np.convolve(a, np.conjugate(np.asarray(v)[::-1]), mode)


def logspace(start: Any, stop: Any, num: Any = 50, endpoint: Any = True, base: Any = 10.0) -> Any:
    """`np.logspace`."""
    return np.power(base, np.linspace(start, stop, num, endpoint=endpoint))


def modf(x: Any) -> Any:
    """`np.modf`: the fraction and the whole part, both with the sign of the number."""
    x = np.multiply(x, 1.0)
    whole = np.trunc(x)
    return np.copysign(np.where(np.isinf(x), 0.0, x - np.where(np.isinf(x), 0.0, whole)), x), whole


def divide_with_remainder(x1: Any, x2: Any) -> Any:
    """`np.divmod`."""
    return np.floor_divide(x1, x2), np.remainder(x1, x2)


def isposinf(x: Any) -> Any:
    """`np.isposinf`."""
    return np.asarray(x) == np.inf


def isneginf(x: Any) -> Any:
    """`np.isneginf`."""
    return np.asarray(x) == -np.inf


def _running(choose: Any, array: Any, axis: Any) -> Any:
    rows = np.moveaxis(np.asarray(array), axis, 0)
    result = np.empty(rows.shape, dtype=rows.dtype)
    result[0] = rows[0]
    for i in range(1, rows.shape[0]):
        result[i] = choose(result[i - 1], rows[i])
    return np.moveaxis(result, 0, axis)


def running_maximum(array: Any, axis: Any = 0) -> Any:
    """`np.maximum.accumulate`."""
    return _running(np.maximum, array, axis)


def running_minimum(array: Any, axis: Any = 0) -> Any:
    """`np.minimum.accumulate`."""
    return _running(np.minimum, array, axis)


def running_sum(array: Any, axis: Any = 0) -> Any:
    """`np.add.accumulate`."""
    return np.cumsum(array, axis=axis)


def running_product(array: Any, axis: Any = 0) -> Any:
    """`np.multiply.accumulate`."""
    return np.cumprod(array, axis=axis)


def gradient(f: Any, *varargs: Any, axis: Any = None) -> Any:
    """`np.gradient`: central differences inside, one-sided ones at the ends."""
    f = np.asarray(f)
    axes = tuple(range(f.ndim)) if axis is None else (axis if isinstance(axis, tuple) else (axis,))
    if len(varargs) == 0:
        spacings: Any = (1.0,) * len(axes)
    elif len(varargs) == 1 and np.ndim(varargs[0]) == 0:
        spacings = varargs * len(axes)
    elif len(varargs) == len(axes):
        spacings = varargs
    else:
        raise TypeError("invalid number of arguments")
    results = [_slopes(f, spacing, k) for spacing, k in zip(spacings, axes)]
    return results[0] if len(axes) == 1 else tuple(results)


def _slopes(f: Any, spacing: Any, axis: Any) -> Any:
    y = np.moveaxis(f if f.dtype.kind == "f" else f * 1.0, axis, 0)
    if y.shape[0] < 2:
        raise ValueError("Shape of array too small to calculate a numerical gradient")
    result = np.empty(y.shape, dtype=y.dtype)
    if np.ndim(spacing) == 0:
        result[1:-1] = (y[2:] - y[:-2]) / (2.0 * spacing)
        result[0] = (y[1] - y[0]) / spacing
        result[-1] = (y[-1] - y[-2]) / spacing
    else:
        if len(spacing) != y.shape[0]:
            raise ValueError("when 1d, distances must match the length of the corresponding dimension")
        steps = np.diff(np.asarray(spacing)).reshape((-1,) + (1,) * (y.ndim - 1))
        before, after = steps[:-1], steps[1:]
        left = -after / (before * (before + after)) * y[:-2]
        middle = (after - before) / (before * after) * y[1:-1]
        result[1:-1] = left + middle + before / (after * (before + after)) * y[2:]
        result[0] = (y[1] - y[0]) / steps[0]
        result[-1] = (y[-1] - y[-2]) / steps[-1]
    return np.moveaxis(result, 0, axis)


def choose(a: Any, choices: Any, mode: Any = "raise") -> Any:
    """`np.choose` among arrays."""
    a = np.asarray(a)
    last = len(choices) - 1
    if mode == "clip":
        a = np.clip(a, 0, last)
    elif mode == "wrap":
        a = a % (last + 1)
    elif np.any((a < 0) | (a > last)):
        raise ValueError("invalid entry in choice array")
    result = choices[last]
    for k in range(last - 1, -1, -1):
        result = np.where(a == k, choices[k], result)
    return result


def put_along_axis(arr: Any, indices: Any, values: Any, axis: Any) -> None:
    """`np.put_along_axis` of a vector or a matrix."""
    if arr.ndim == 1:
        arr[indices] = values
    elif axis % 2 == 0:
        arr[indices, np.arange(arr.shape[1])[None, :]] = values
    else:
        arr[np.arange(arr.shape[0])[:, None], indices] = values


def open_mesh(*args: Any) -> Any:
    """`np.ix_` of vectors of indices."""
    found = [np.asarray(a) for a in args]
    return tuple(a.reshape((1,) * k + (-1,) + (1,) * (len(found) - 1 - k)) for k, a in enumerate(found))


def sliding_window_view(x: Any, window_shape: Any, axis: Any = None) -> Any:
    """`np.lib.stride_tricks.sliding_window_view` along one axis, as a copy."""
    x = np.asarray(x)
    width = window_shape[0] if isinstance(window_shape, tuple) else window_shape
    if axis is None:
        if x.ndim != 1:
            raise ValueError("Since axis is None, must provide window_shape for all dimensions of `x`")
        axis = 0
    moved = np.moveaxis(x, axis, -1)
    count = moved.shape[-1] - width + 1
    if count < 1:
        raise ValueError("window shape cannot be larger than input array shape")
    return np.moveaxis(moved[..., np.arange(count)[:, None] + np.arange(width)], -2, axis)


def rollaxis(a: Any, axis: Any, start: Any = 0) -> Any:
    """`np.rollaxis`."""
    a = np.asarray(a)
    axis = axis % a.ndim
    start = start + a.ndim if start < 0 else start
    return np.moveaxis(a, axis, start - 1 if axis < start else start)


def dstack(tup: Any) -> Any:
    """`np.dstack`."""
    return np.concatenate([atleast_3d(a) for a in tup], axis=2)


def atleast_3d(a: Any) -> Any:
    """`np.atleast_3d`."""
    a = np.asarray(a)
    if a.ndim == 0:
        return a.reshape((1, 1, 1))
    if a.ndim == 1:
        return a[None, :, None]
    return a[:, :, None] if a.ndim == 2 else a


def diagflat(v: Any, k: Any = 0) -> Any:
    """`np.diagflat`."""
    return np.diag(np.ravel(v), k)


def logaddexp2(x1: Any, x2: Any) -> Any:
    """`np.logaddexp2`."""
    return np.logaddexp(np.multiply(x1, np.log(2.0)), np.multiply(x2, np.log(2.0))) / np.log(2.0)


def cumulative_prod(x: Any, axis: Any = None) -> Any:
    """`np.cumulative_prod`, which needs an axis for more than a vector."""
    if axis is None and np.ndim(x) != 1:
        raise ValueError("For arrays which have more than one dimension ``axis`` argument is required.")
    return np.cumprod(x, axis=axis)


def array_equiv(a1: Any, a2: Any) -> Any:
    """`np.array_equiv` of arrays that can be broadcast."""
    return bool(np.all(np.asarray(a1) == np.asarray(a2)))


def matrix_transpose(x: Any) -> Any:
    """`np.matrix_transpose`."""
    return np.swapaxes(x, -1, -2)


def multi_dot(arrays: Any) -> Any:
    """`np.linalg.multi_dot`, from the left."""
    result = arrays[0]
    for a in arrays[1:]:
        result = np.dot(result, a)
    return result


def cumulative_sum(x: Any, axis: Any = None) -> Any:
    """`np.cumulative_sum`, which needs an axis for more than a vector."""
    if axis is None and np.ndim(x) != 1:
        raise ValueError("For arrays which have more than one dimension ``axis`` argument is required.")
    return np.cumsum(x, axis=axis)
