"""NumPy functions and methods: the lowered and interpreted function gives NumPy's results, types and shapes."""

from __future__ import annotations

import operator

import numpy as np
import pytest

from tests.frontend.array_tracer import agree, change, named, update

RANDOM = np.random.default_rng(3)
V = RANDOM.normal(size=6)
W = RANDOM.normal(size=6)
M = RANDOM.normal(size=(3, 4))
N = RANDOM.normal(size=(4, 3))
Q = RANDOM.normal(size=(3, 3))
T = RANDOM.normal(size=(2, 3, 4))
F = RANDOM.normal(size=5).astype(np.float32)
K = np.array([3, -1, 4, 1, 5, 9])
B = np.array([True, False, True, True, False, False])
ONE = np.array([1.5])

CASES = {
    "sum": (lambda x: np.sum(x * x), M),
    "sum axis 0": (lambda x: np.sum(x, axis=0), M),
    "sum axis -1 keepdims": (lambda x: np.sum(x, axis=-1, keepdims=True), T),
    "sum axes": (lambda x: x.sum(axis=(0, 2)), T),
    "sum all keepdims": (lambda x: np.sum(x, keepdims=True), M),
    "sum of ints": (lambda x: np.sum(x), K),
    "sum of bools": (lambda x: np.sum(x), B),
    "sum of float32": (lambda x: np.sum(x * 2), F),
    "mean": (lambda x: np.mean(x, axis=1), M),
    "mean of ints": (lambda x: np.mean(x), K),
    "mean of float32": (lambda x: x.mean(), F),
    "var": (lambda x: np.var(x, axis=0, ddof=1), M),
    "std": (lambda x: (np.std(x), x.std(axis=1)), M),
    "prod": (lambda x: np.prod(x, axis=1), M),
    "prod of ints": (lambda x: x.prod(), K),
    "any all": (lambda x: (np.any(x > 0, axis=0), np.all(x > -5), (x > 1).any()), M),
    "count": (lambda x: np.count_nonzero(x > 0), M),
    "average": (lambda x, w: np.average(x, weights=w * w), V, W),
    "max": (lambda x: (np.max(x), x.max(axis=0), x.min(axis=1), np.min(x)), M),
    "max keepdims": (lambda x: x.max(axis=(0, 1), keepdims=True), T),
    "max of ints": (lambda x: (np.max(x), x.min()), K),
    "max of ties": (lambda x: np.max(x), np.array([1.0, 3.0, 3.0, 3.0])),
    "max of infinities": (lambda x: np.max(x), np.array([-np.inf, -np.inf])),
    "max of nan": (lambda x: (np.max(x), np.min(x), np.argmax(x)), np.array([1.0, np.nan, 3.0])),
    "ptp": (lambda x: np.ptp(x, axis=0), M),
    "argmax": (lambda x: (np.argmax(x), x.argmin(axis=1), np.argmin(x)), M),
    "argmax of bools": (lambda x: np.argmax(x > 0), V),
    "argmax of ties": (lambda x: (np.argmax(x), np.argmin(x)), np.array([1.0, 3.0, 1.0, 3.0])),
    "norm": (lambda x: (np.linalg.norm(x), np.linalg.norm(x, axis=1)), M),
    "norm of a vector": (lambda x: (np.linalg.norm(x, 1), np.linalg.norm(x, np.inf), np.linalg.norm(x, 2)), V),
    "dot": (lambda x, y: np.dot(x, y), V, W),
    "matrix vector": (lambda m, v: m @ v[:4], M, V),
    "vector matrix": (lambda v, m: v[:3] @ m, V, M),
    "matrix matrix": (lambda m, n: m @ n, M, N),
    "transposed": (lambda m: m @ m.T, M),
    "gram": (lambda m: m.T @ m, M),
    "chain": (lambda m, q: q @ m @ m.T @ q.T + np.eye(3), M, Q),
    "batched": (lambda t, n: t @ n, T, N),
    "batched twice": (lambda t: np.matmul(t, np.swapaxes(t, 1, 2)), T),
    "dot of rank 3": (lambda t, n: np.dot(t, n), T, N),
    "dot of a number": (lambda x: np.dot(x, 2.0), V),
    "inner": (lambda x, y: np.inner(x, y), M, M),
    "vdot": (lambda x, y: np.vdot(x, y), M, M),
    "outer": (lambda x, y: np.outer(x, y * 2), V, W),
    "tensordot": (lambda t, n: np.tensordot(t, n, axes=([2], [0])), T, N),
    "tensordot 2": (lambda t: np.tensordot(t, t, axes=2 + 1), T),
    "einsum": (lambda m, n: np.einsum("ij,jk->ik", m, n), M, N),
    "einsum implicit": (lambda m, n: np.einsum("ij,jk", m, n), M, N),
    "einsum trace": (lambda q: np.einsum("ii", q), Q),
    "einsum diagonal": (lambda q: np.einsum("ii->i", q), Q),
    "einsum sum": (lambda t: np.einsum("abc->b", t), T),
    "einsum three": (lambda m, q, n: np.einsum("ij,jk,kl->il", q, m, n), M, Q, N),
    "trace": (lambda q: (np.trace(q), q.trace()), Q),
    "cross": (lambda q: np.cross(q[0], q[1]), Q),
    "cross of rows": (lambda q: np.cross(q, q[::-1]), Q),
    "cumsum": (lambda x: (np.cumsum(x), np.cumsum(x, axis=1), x.cumsum(axis=0)), M),
    "cumprod": (lambda x: np.cumprod(x), V),
    "cumsum of ints": (lambda x: np.cumsum(x), K),
    "diff": (lambda x: (np.diff(x), np.diff(x, axis=0), np.diff(x, n=2)), M),
    "where": (lambda x: np.where(x > 0, x, 0.0), M),
    "where of expressions": (lambda x: np.where(x > 0, np.sqrt(np.abs(x)), x * x), M),
    "where broadcast": (lambda x, v: np.where(v[:4] > 0, x, 1), M, V),
    "where of a scalar condition": (lambda x: np.where(x[0] > 0, x, -x), V),
    "select": (lambda x: np.select([x < -1, x < 1], [x, x * x], 7.0), V),
    "clip": (lambda x: (np.clip(x, -0.5, 0.5), x.clip(0.0, None), np.clip(x, x[0], x[1])), V),
    "maximum": (lambda x, y: (np.maximum(x, y), np.minimum(x, 0.0)), V, W),
    "logaddexp": (lambda x, y: np.logaddexp(x, y), V, W),
    "functions": (lambda x: np.exp(np.sin(x)) + np.tanh(x) ** 2 - np.arctan2(x, 1.0), V),
    "isnan": (lambda x: np.isnan(x) | (x > 1), np.array([0.5, np.nan, 2.0])),
    "mod": (lambda x: (x % 2.0, np.fmod(x, 2.0), x // 0.3), V),
    "integer arithmetic": (lambda k: (k * 2 + 1, k / 2, k // 2, k % 3, k**2, -k), K),
    "mixed types": (lambda k, x: (k * x, k > x, np.exp(k)), K, V),
    "float32": (lambda f: (f * 2.0 + 1, np.exp(f), f / 3, np.mean(f)), F),
    "float32 and float64": (lambda f, x: f + x[:5], F, V),
    "bools": (lambda b: (~b, b & (b | b), b + b, b * 2.5), B),
    "round": (lambda x: (np.round(x, 1), x.round(), np.floor(x)), V),
    "reshape": (lambda x: (x.reshape(4, 3), x.reshape(-1), np.reshape(x, (2, -1, 2)), x.reshape((12,))), M),
    "reshape of a row": (lambda x: x[1].reshape(2, 2), M),
    "reshape of a slice": (lambda x: x[::2].reshape(3, 1), V),
    "reshape of a block": (lambda t: t[1].reshape(-1), T),
    "reshape of expressions": (lambda x: (x * 2).reshape(2, 6), M),
    "reshape of a transpose": (lambda t: np.transpose(t, (2, 0, 1)).reshape(4, 6), T),
    "reshape of inner axes": (lambda t: t.reshape(2, 12), T),
    "ravel": (lambda x: (x.ravel(), x.T.ravel(), np.ravel(x[:, 1]), x.flatten()), M),
    "transpose": (lambda t: (t.T, np.transpose(t, (1, 0, 2)), t.transpose(2, 0, 1), t.swapaxes(0, 2)), T),
    "moveaxis": (lambda t: (np.moveaxis(t, 0, -1), np.moveaxis(t, [0, 1], [2, 0])), T),
    "squeeze": (lambda x: np.squeeze(x[:, None], axis=1), V),
    "expand": (lambda x: (np.expand_dims(x, 0), np.expand_dims(x, (0, 2)), np.atleast_2d(x), np.atleast_1d(x)), V),
    "broadcast_to": (lambda x: np.broadcast_to(x[:4], (3, 4)), V),
    "diag": (lambda q, v: (np.diag(q), np.diag(v), np.diag(v, 1), np.diag(q, -1), q.diagonal()), Q, V),
    "triangles": (lambda m: (np.tril(m), np.triu(m, 1), np.tril(m, -1)), M),
    "concatenate": (lambda x, y: np.concatenate([x, y[:2], x * 2]), V, W),
    "concatenate axis": (lambda m: np.concatenate((m, m[:, :1]), axis=1), M),
    "stack": (
        lambda x, y: (np.stack([x, y], axis=1), np.vstack([x, y]), np.hstack([x, y]), np.column_stack([x, y])),
        V,
        W,
    ),
    "append": (lambda x: np.append(x, 1.0), V),
    "split": (lambda x: tuple(np.split(x, 3)), V),
    "roll": (lambda m: (np.roll(m, 1), np.roll(m, -1, axis=0), np.roll(m, 5, axis=1)), M),
    "roll by a number": (lambda x, k: np.roll(x, k), V, 2),
    "flip": (lambda m: (np.flip(m), np.flip(m, axis=0), np.fliplr(m), np.flipud(m), np.rot90(m), np.rot90(m, 3)), M),
    "tile": (lambda m: (np.tile(m, 2), np.tile(m, (2, 1)), np.tile(m, (2, 1, 2))), M),
    "repeat": (lambda m: (np.repeat(m, 3), np.repeat(m, 2, axis=0)), M),
    "take": (lambda m: (np.take(m, [0, 2], axis=1), np.take(m, [5, 1]), m.take(np.array([1, 0]), axis=0)), M),
    "sort": (lambda x: (np.sort(x), np.argsort(x)), V),
    "sort rows": (lambda m: (np.sort(m), np.argsort(m, axis=0), np.sort(m, axis=None)), M),
    "sort nan": (lambda x: np.sort(x), np.array([2.0, np.nan, -1.0, np.nan, 0.0])),
    "searchsorted": (lambda x, y: (np.searchsorted(np.sort(x), y), np.searchsorted(np.sort(x), y, side="right")), V, W),
    "searchsorted ints": (lambda k, x: np.searchsorted(np.sort(k), x), K, V),
    "interp": (lambda x, y: np.interp(x, np.array([-1.0, -0.2, 0.4, 1.5]), y[:4]), V, W),
    "interp ends": (lambda x, y: np.interp(x, np.array([-0.1, 0.1]), y[:2], left=-7.0, right=8.0), V, W),
    "trapezoid": (lambda x, y: (np.trapezoid(y), np.trapezoid(y, x), np.trapezoid(y, dx=0.5)), V, W),
    "copy astype": (lambda x: (x.copy(), x.astype(int), x.astype(np.float32), (x > 0).astype(float)), V),
    "likes": (lambda x: (np.zeros_like(x), np.ones_like(x, dtype=int), np.full_like(x, 2.5)), M),
    "meshgrid": (lambda x, y: tuple(np.meshgrid(x, y[:2])), V, W),
    "meshgrid ij": (lambda x, y: tuple(np.meshgrid(x, y[:2], indexing="ij")), V, W),
    "attributes": (lambda t: (t.size, t.ndim, t.shape[1], np.shape(t)[2], np.size(t, 0)), T),
    "item": (lambda x: x.item(2) + x[:1].item(), V),
    "allclose": (lambda x, y: (np.allclose(x, y), np.isclose(x, x)), V, W),
    "nan_to_num": (lambda x: np.nan_to_num(x), np.array([1.0, np.nan, np.inf, -np.inf])),
    "take along axis": (lambda m: np.take_along_axis(m, np.argsort(m, axis=1), axis=1), M),
    "reduce of ufuncs": (lambda m: (np.add.reduce(m), np.maximum.reduce(m, axis=1), np.multiply.reduce(m[0])), M),
    "nan": (lambda x: (np.nansum(x), np.nanmean(x)), np.array([1.0, np.nan, 3.0])),
    "polyval": (lambda x, p: (np.polyval(p, x), np.polyval([1.0, 2.0], x[0])), V, W),
    "convolve": (lambda x, y: tuple(np.convolve(x, y[:3], mode) for mode in ("full", "same", "valid")), V, W),
    "convolve a longer one": (
        lambda x, y: tuple(np.convolve(x[:4], y, mode) for mode in ("full", "same", "valid")),
        V,
        W,
    ),
    "kron": (lambda m, q: (np.kron(m, q), np.kron(m[0], q[1])), M, Q),
    "gradient": (lambda x: (np.gradient(x), np.gradient(x, 0.5)), V),
    "median": (lambda x: (np.median(x), np.median(x[1:])), V),
    "arguments by position": (lambda m: (np.max(m, 1, None, True), np.sum(m, 0, None, None, True)), M),
    "arguments of methods": (lambda m: (m.std(1, None, None, 1), m.sum(0, None, None, True), m.round(1)), M),
    "resize": (lambda m: (np.resize(m, (5, 3)), np.resize(m, 4)), M),
    "known masks": (lambda m: (m[[True, False, True]], m[:, [False, True, True, False]]), M),
    "broadcast by run-time ones": (lambda x, m: (x * m, m + x), ONE, M),
    "broadcast of columns": (lambda m, x: m / x[:3, None], M, V),
}


@pytest.mark.parametrize("name", CASES)
def test_function(name: str) -> None:
    """The function gives what NumPy gives."""
    function, *arguments = CASES[name]
    agree(function, *arguments)


@pytest.mark.parametrize("name", ["mean", "max", "sum", "prod", "var", "argmax", "any"])
def test_reduction_of_a_selection(name: str) -> None:
    """Elements that a mask picks are reduced as NumPy reduces them."""
    agree(lambda x: getattr(np, name)(x[x > -0.3] * 2.0) if name not in ("argmax",) else np.argmax(x), V)


def test_masked_update_from_the_same_mask() -> None:
    """`y[m] = f(x[m])` needs no known shape."""

    def f(x):
        y = named(x * 1.0)
        y[x < 0] = x[x < 0] ** 2
        update(y, x > 1, operator.add, x[0])
        y[y > 2.0] = 9.0
        return y

    agree(f, V)


def test_named_selections() -> None:
    """Elements picked by a named mask keep their meaning, and go back through the same mask."""

    def f(x, w):
        m = named(x > -0.3)
        picked = named(x[m])
        total = np.sum(picked * 2.0) + np.dot(x[m], w[m]) + picked.mean()
        y = named(x * 1.0)
        y[m] = picked * picked
        return y, total, np.sum(m), picked.size

    agree(f, V, W)


def test_overlapping_assignments() -> None:
    """The right-hand side counts as computed first, however it overlaps the target."""

    def f(x):
        a = named(x * 1.0)
        a[1:] = a[:-1] + x[1:]
        a[:-1] = a[1:] * x[:-1]
        a[:-1:2] = a[::-2][: a[:-1:2].shape[0]]
        a[:] = a + a[::-1]
        a[...] = a * a[0]
        return a

    agree(f, V)
    agree(f, V[:5])


def test_updates_through_views() -> None:
    """Views of views write into the array that owns the memory."""

    def f(m):
        a = named(m * 1.0)
        row = a[1]
        row[0] = 5.0
        change(row, operator.add, 0.5)
        block = a[:, 1:][::-1, ::2]
        block[0] = row[1]
        change(block[1:], operator.mul, 2.0)
        a.T[3] = a[:, 0]
        update(a, (slice(None), 1), operator.sub, a[:, 0])
        b = a.reshape(-1)
        b[5] = 100.0
        a[0].reshape(2, 2)[1, 0] = -1.0
        a[0].fill(3.0)
        return a

    agree(f, M)


def test_writes_into_parameters() -> None:
    """What is stored into an argument is left there."""

    def f(x, m):
        x[0] = x[1] * 2.0
        m[1:, 0] = x[:2]
        update(x, 2, operator.add, x[0])
        update(x, 3, operator.truediv, 2.0)
        return np.sum(m)

    agree(f, V, M)


def test_gather_and_scatter() -> None:
    """Index arrays read in any place, and write so that the last value stays."""

    def f(x, m, k):
        y = named(x * 1.0)
        y[[0, 2, 0]] = y[[1, 1, 3]] + 1.0
        update(y, [0, 2, 0], operator.add, x[:3])
        y[k[:2] % 3] = -1.0
        np.add.at(y, [1, 1, -1], x[:3])
        g = m[[0, 2]] * m[:, [1, 1, 0, -1]][:2] + m[[0, 1], [2, 3]][:, None]
        return y, g, m[k[:4] % 3, 1], m[1, k % 4], m[:, None, [0, 1]], m[[[0, 1], [2, 0]]]

    agree(f, V, M, K)


def test_sorted_in_place() -> None:
    """`array.sort()` sorts the array itself, rows of views too."""

    def f(m):
        a = named(m * 1.0)
        a.sort()
        a[:, 0].sort()
        return a

    agree(f, M)


def test_augmented_types() -> None:
    """In-place operators keep the array's type."""

    def f(f32, k):
        a, b = named(f32 * 1.0), named(k * 1)
        change(a, operator.add, 0.1)
        change(b, operator.mul, 3)
        b[0] = 2.9
        update(b, 1, operator.floordiv, 2)
        return a, b

    agree(f, F, K)
