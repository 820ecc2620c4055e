"""Programs whose loops become kernels in every way there is, with arguments: for the passes and for the emulator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from adgen.driver import lower_function
from adgen.ir.interpret import run
from adgen.ir.nodes import Function
from adgen.ir.types import is_float
from adgen.passes.adjoint import adjoint
from adgen.passes.localise import localise, written_parameters
from adgen.passes.pipeline import simplify
from adgen.runtime.signatures import describe_arguments
from tests.oracles import floats, like

N, M = 11, 7
MEETING = ("sums", "pairs", "histogram", "one_row_own", "counted", "gathered", "gathered_columns", "growing")


def elementwise(x, y):
    for i in range(len(x)):
        y[i] = np.sin(x[i]) * y[i]
    return np.sum(y * y)


def stencil(x, steps: int):
    a, b = x.copy(), np.zeros(len(x))
    for _ in range(steps):
        for i in range(1, len(x) - 1):
            b[i] = 0.5 * (a[i - 1] + a[i + 1])
        a, b = b, a
    return a


def transposed(A):
    n, m = A.shape
    B = np.zeros((m, n))
    for i in range(n):
        for j in range(m):
            B[j, i] = A[i, j] * A[i, j]
    return B


def backwards(x):
    y = np.zeros(len(x))
    for i in range(len(x) - 1, 0, -2):
        y[len(x) - 1 - i] = x[i] * i
    return y


def sums(x, k):
    s, t, c = 0.5, 1.0, 0
    for i in range(len(x) - 1, -1, -1):
        if x[i] > 0:
            s += x[i]
            c += 1
        elif k[i] > 3:
            t += x[i] * x[i]
        else:
            for j in range(3):
                t -= x[i] * j
    return s, t, c


def rows_and_columns(A, x, y):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            x[i] += A[i, j]
            y[j] += A[i, j] * A[i, j]
    return np.sum(x * x) + np.sum(y * y)


def both_ends(A, y):
    for i in range(M):
        for j in range(M):
            y[i] += A[i, j]
            if A[i, j] > 0.1:
                y[j] += A[j, i] * A[i, j]
    return np.sum(y * y)


def only_columns(A, y, k):
    B = np.zeros((N, M))
    for i in range(len(k) - 1, -1, -1):
        w = np.cos(A[i, 0])
        for j in range(M):
            y[j] -= A[i, j]
            B[k[i], j] -= w
    return B


def ended_early(x, A, n: int):
    s, y = 0.0, np.zeros(M)
    for t in range(n):
        for i in range(len(x)):
            s += x[i] * x[i]
        y += A.T @ x
        if s > 20.0:
            break
        x *= 1.5
    return s, y


def chosen_by_arrays(x, A):
    s, B = 1.0, np.zeros((N, N))
    if x[0] > 0.0:
        for i in range(len(x)):
            s += A[i, 1]
        B += A @ A.T
    else:
        B[:, 0] = x
        s = np.max(x)
    return s, B


def folded(x, k):
    n = np.argmax(x)
    return np.max(x) * np.min(x) + x[np.argmin(x)] + np.prod(x[:5]), n, np.prod(k), np.any(x > 2.0), np.all(k < 9)


def pairs(x):
    f = np.zeros(len(x))
    for i in range(len(x)):
        for j in range(i + 1, len(x)):
            d = x[i] - x[j]
            if d * d < 2.0:
                f[i] += d
                f[j] -= d
    return f


def histogram(x, k):
    h = np.zeros(N)
    for i in range(len(x)):
        h[k[i]] += x[i] * x[i]
    return h


def one_row_own(x, k):
    h, y = np.zeros((2, N)), np.zeros(N)
    for i in range(len(x)):
        h[0, i] += 2.0 * x[i]
        y[i] = h[0, i] * x[i]
        h[1, k[i]] += x[i]
    return h, y


def counted(k):
    h = np.zeros(4, dtype=np.int64)
    for i in range(len(k)):
        h[k[i] % 4] += k[i]
    return h


def large_private(x):
    s = 0.0
    y = np.zeros(len(x))
    for i in range(len(x)):
        w = np.zeros(40)
        for j in range(40):
            w[j] = x[i] * j
        s += w[3 + i] * w[20 - i]
        y[i] = w[i]
    return s, y


def private_in_planes(A):
    B = np.zeros(A.shape)
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            w = np.zeros(30)
            for q in range(30):
                w[q] = A[i, j] * q
            B[i, j] = w[i + j] + w[9]
    return B


def growing(x, n: int):
    s = 0.0
    for i in range(n):
        t = np.zeros(i + 1)
        for j in range(i + 1):
            t[j] = x[j] * i
        for j in range(1, i + 1):
            s += t[j] * t[j - 1]
    return s


def carried_by_the_host(x, n: int):
    p, s = 0.0, 1.0
    for t in range(n):
        q = s
        s = 0.0
        for i in range(len(x)):
            s += np.sin(x[i] + p)
        p = q
        if t % 2 == 0:
            p += 1.0
    return p + s, p


def passed_on_by_the_host(x, n: int):
    a, b, c, d, e, f, g, h = 1.0, 0.5, 0.25, 2.0, 3.0, -1.0, -0.5, 0.1
    for _ in range(n):
        for i in range(len(x)):
            x[i] += 0.1 * a - 0.05 * h
        a, b, c, d, e, f, g, h = h * 0.9 + np.sin(x[0]), a, b, c, d, e, f, g
    return a, b, c, d, e, f, g, h


def ever_shorter(x):
    for t in range(len(x)):
        s = 0.0
        for j in range(t, len(x)):
            s += x[j] * x[t]
        x[t] = 0.5 * x[t] + 0.1 * s
    return np.sum(x)


def chosen_by_the_host(x, n: int):
    s = 1.0
    if n > 3:
        for i in range(len(x)):
            s += x[i] * n
        y = x * 2
    else:
        y = x.copy()
        s = y[0]
    return s, y


def reshaped(A, x):
    m = x.reshape(1, N)
    for i in range(N):
        x[i] = m[0, i] * 2.0
    for i in range(N):
        for j in range(M):
            m[0, i] += A[i, j] * 0.1
    return x.copy()


def kinds(f, b, u):
    s = np.float32(0)
    for i in range(len(f)):
        s += f[i] * f[i]
        b[i] = f[i] > 0.2
        u[i] = u[i] + u[i]
    return s


def zero_trips(A, n: int, m: int):
    t, u, s = np.zeros(M), np.ones((N, M)), 1.5
    for i in range(n):
        for j in range(m):
            t[j] += A[i, j]
            u[i, j] = A[i, j] * 2
    for i in range(n):
        s += A[i, 0]
    return t, u, s


def shifted(x, y):
    y += x * 2
    x[1:] = x[:-1] * 1.0
    return np.sum(x) + np.sum(y)


def gathered(x, k):
    s = 0.0
    for i in range(len(k)):
        s += x[k[i]]
    return s


def gathered_back(x, k):
    y = np.zeros(len(k))
    for i in range(len(k) - 1, -1, -1):
        y[i] = x[k[i]]
    return y


def gathered_columns(A, k, t):
    y = np.zeros(len(k))
    for i in range(len(t)):
        for j in range(len(k)):
            y[j] += A[t[i], k[j]]
    return y


def gathered_with_memory(x, k):
    s = 0.0
    for i in range(len(k)):
        w = np.zeros(40)
        for j in range(40):
            w[j] = x[i] * j
        s += w[3 + i] * w[20 - i] + x[k[i]]
    return s


def raising(x, k):
    for i in range(len(x)):
        if x[i] > 1.0:
            raise ValueError("large")
        x[i] = k[k[i]] * 1.0
    for i in range(len(x)):
        x[i] += x[k[0] + 1 - 1]
    return np.sum(x)


def normalised_rows(A, w):
    n, m = A.shape
    y, B, total = np.zeros(n), np.zeros((n, m)), 0.5
    for i in range(n):
        e = np.exp(A[i] - np.max(A[i]))
        s = np.sum(e)
        mean = np.sum(A[i]) / m
        spread = 0.1
        for j in range(m):
            spread += (A[i, j] - mean) ** 2
        for j in range(m):
            B[i, j] = e[j] / s * (A[i, j] - mean) / np.sqrt(spread)
        y[i] = s * w[i]
        if w[i] > 0:
            total += y[i] * mean
    return total, y, B


def folded_rows(A, k):
    y, places = np.zeros(len(A)), np.zeros(len(A), dtype=np.int64)
    for i in range(len(A)):
        places[i] = np.argmax(A[i]) + np.sum(k[i])
        y[i] = np.prod(A[i]) + np.max(A[i]) - np.min(A[i])
    return y, places


def slanted_rows(x, n: int):
    s, y = 0.0, np.zeros(n)
    for i in range(n - 1, -1, -1):
        for j in range(2 * i, len(x)):
            y[i] += x[i] * x[j]
        for j in range(len(x) - 1, i, -2):
            s += np.sin(x[j] - x[i])
    return s, y


def stored_rows(A, w):
    total = 0.0
    for i in range(len(A)):
        first = A[i, 0]
        for j in range(A.shape[1]):
            A[i, j] = w[j] * A[i, j] + first
            total += A[i, j]
        last = A[i, A.shape[1] - 1] * 2.0
        for j in range(A.shape[1]):
            A[i, j] -= last
    return total


def diffused(u0, rate, steps: int):
    u = u0.copy()
    for _ in range(steps):
        new = u.copy()
        new[1:-1, 1:-1] = u[1:-1, 1:-1] + rate * (u[:-2, 1:-1] + u[2:, 1:-1] - 2.0 * u[1:-1, 1:-1])
        u = new
    return u * u


def diffused_until(u0, most, steps: int):
    u = u0.copy()
    for _ in range(steps):
        new = np.zeros(len(u))
        for i in range(1, len(u) - 1):
            new[i] = 0.5 * (u[i - 1] + u[i + 1])
        u = new
        if np.sum(u * u) < most:
            break
    return u * u


def eliminated(u0, rate):
    u, d = u0.copy(), 1.0 + 2.0 * rate * np.ones(len(u0))
    for _ in range(3):
        new, c = np.zeros(len(u)), np.zeros(len(u))
        c[0], new[0] = -rate / d[0], u[0] / d[0]
        for i in range(1, len(u)):
            m = d[i] + rate * c[i - 1]
            c[i], new[i] = -rate / m, (u[i] + rate * new[i - 1]) / m
        u = new
    return np.sum(u * u)


def emptied_rows(A, B, x, h):
    y = np.zeros(A.shape[1])
    for i in range(len(A)):
        t = h[i]
        h[i] = 0.0
        for j in range(A.shape[1]):
            y[j] += A[i, j] * t
            B[i, j] += x[j] * t
    return y


def running_sums(x, k, A):
    s, count, total, worst = 1.0, 0, 0.25, 0.0
    path = np.zeros(len(x))
    for i in range(len(x)):
        before = s
        s -= 0.1 * x[i]
        count += k[i]
        path[i] = np.exp(s) + count
        if before > 0.5:
            total += path[i] * before
    y = np.cumsum(A[:, 1])
    t = 0.0
    for i in range(len(x) - 1, 0, -2):
        t += y[i] * path[i]
        for j in range(A.shape[1]):
            worst += t * A[i, j]
        x[i] = t
    return s, count, total, worst, path


def empty_sums(x, n: int):
    s, y = 1.0, np.ones(4)
    for i in range(n):
        s += x[i]
        y[i] = s
    return s, y


@dataclass(frozen=True)
class Sample:
    """A program with arguments."""

    name: str
    program: Callable[..., Any]
    arguments: Mapping[str, Any]

    def __str__(self) -> str:
        return self.name

    @property
    def writes(self) -> bool:
        """True when the program writes into an argument."""
        return bool(written_parameters(self.value))

    def given(self) -> list[Any]:
        """New copies of the arguments."""
        return [a.copy() if isinstance(a, np.ndarray) else a for a in self.arguments.values()]

    @cached_property
    def value(self) -> Function:
        """The IR of the program."""
        specs = describe_arguments(dict(self.arguments))
        return replace(simplify(lower_function(self.program, specs).function), name=self.name)

    @cached_property
    def gradient(self) -> Function | None:
        """The IR of the value and the cotangents of all that is real; None where nothing is."""
        pure = localise(self.value)
        wrt = floats(pure)
        if not wrt or not any(is_float(value.type) for value in pure.results):
            return None
        return replace(adjoint(pure, wrt), name=f"{self.name}_gradient")

    def seeds(self) -> list[Any]:
        """What is given to the gradient after the arguments."""
        function = localise(self.value)
        results = run(function, self.given()).results
        generator = np.random.default_rng(2)
        return [like(v, r, generator) for v, r in zip(function.results, results, strict=True) if is_float(v.type)]


def samples() -> list[Sample]:
    """The programs that run through."""
    r = np.random.default_rng(0)
    x, y, A = r.normal(size=N), r.normal(size=M), r.normal(size=(N, M))
    k, l = r.integers(0, N, N), r.integers(0, M, M)
    f = r.normal(size=N).astype(np.float32)
    wide = r.normal(size=(3, N))
    made = [
        (elementwise, {"x": x, "y": x + 1.0}),
        (stencil, {"x": x, "steps": 3}),
        (transposed, {"A": A}),
        (backwards, {"x": x}),
        (sums, {"x": x, "k": k}),
        (rows_and_columns, {"A": A, "x": x, "y": y}),
        (both_ends, {"A": A, "y": y}),
        (only_columns, {"A": A, "y": y, "k": k}),
        (ended_early, {"x": x, "A": A, "n": 4}),
        (chosen_by_arrays, {"x": x, "A": A}),
        (chosen_by_arrays, {"x": -x, "A": A}),
        (folded, {"x": np.array([0.3, 1.2, -0.4, 1.2, 0.9, -0.4, 1.2, 0.0, 0.7, 1.1, -0.3]), "k": k}),
        (pairs, {"x": x}),
        (histogram, {"x": x, "k": k}),
        (one_row_own, {"x": x, "k": k}),
        (counted, {"k": k}),
        (large_private, {"x": x}),
        (private_in_planes, {"A": A}),
        (growing, {"x": x, "n": N}),
        (carried_by_the_host, {"x": x, "n": 4}),
        (passed_on_by_the_host, {"x": x, "n": 3}),
        (ever_shorter, {"x": x}),
        (chosen_by_the_host, {"x": x, "n": 5}),
        (reshaped, {"A": A, "x": x}),
        (kinds, {"f": f, "b": f > 0, "u": k.astype(np.int32)}),
        (zero_trips, {"A": A, "n": 0, "m": 3}),
        (zero_trips, {"A": A, "n": 3, "m": 0}),
        (zero_trips, {"A": A, "n": -2, "m": -1}),
        (shifted, {"x": x, "y": x * 3}),
        (gathered, {"x": x, "k": k}),
        (gathered_columns, {"A": A, "k": l, "t": k}),
        (normalised_rows, {"A": wide, "w": x[:3]}),
        (normalised_rows, {"A": A, "w": x}),
        (folded_rows, {"A": np.round(wide), "k": r.integers(0, 9, (3, N))}),
        (slanted_rows, {"x": x, "n": 3}),
        (stored_rows, {"A": wide, "w": x}),
        (diffused, {"u0": A, "rate": 0.1, "steps": 3}),
        (diffused, {"u0": A[:2], "rate": 0.1, "steps": 4}),
        (eliminated, {"u0": x, "rate": 0.3}),
        (diffused_until, {"u0": x, "most": 1.0, "steps": 4}),
        (emptied_rows, {"A": wide, "B": wide + 1.0, "x": x, "h": x[:3].copy()}),
        (running_sums, {"x": x, "k": k, "A": A}),
        (empty_sums, {"x": x, "n": 0}),
        (empty_sums, {"x": x, "n": -2}),
        (empty_sums, {"x": x, "n": 3}),
    ]
    return [_sample(*each, number) for number, each in enumerate(made)]


def failing() -> list[Sample]:
    """Programs in which several iterations fail: the first of them in Python's order is what counts."""
    r = np.random.default_rng(1)
    x, A = np.clip(r.normal(size=N), -1.0, 0.9), r.normal(size=(N, M))
    k, l, late = r.integers(0, N, N), r.integers(0, M, M), r.integers(0, N, N)
    wrong, columns, rows = k.copy(), l.copy(), k.copy()
    wrong[[7, 9]], columns[[2, 5]], rows[[6, 8]] = (90, -99), (70, 71), (80, 81)
    other = k.copy()
    other[[5, 4]] = 50, 60
    large = x.copy()
    large[[3, 8]] = 2.0
    late[6] = 77
    made = [
        (gathered, {"x": x, "k": wrong}),
        (gathered_back, {"x": x, "k": wrong}),
        (gathered_columns, {"A": A, "k": columns, "t": k}),
        (gathered_columns, {"A": A, "k": l, "t": rows}),
        (gathered_columns, {"A": A, "k": columns, "t": rows}),
        (gathered_with_memory, {"x": x, "k": other}),
        (gathered_with_memory, {"x": x, "k": wrong}),
        (raising, {"x": large, "k": k}),
        (raising, {"x": large, "k": late}),
        (raising, {"x": x, "k": late}),
    ]
    return [_sample(*each, number) for number, each in enumerate(made, 100)]


def _sample(program: Callable[..., Any], arguments: Mapping[str, Any], number: int) -> Sample:
    return Sample(f"{program.__name__}_{number}", program, arguments)
