"""Least squares: a polynomial through the sign of evenly spaced times."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.workload import Array, Dialect, Workload


def llsq(x: Array, n: int) -> float:
    """Half the sum of squares of `sign(t) - sum x[j] t^j` at `n` times from -1 to 1."""
    total = 0.0
    for i in range(n):
        t = 2.0 * i / (n - 1) - 1.0
        residual = 0.0
        if t > 0.0:
            residual = 1.0
        elif t < 0.0:
            residual = -1.0
        power = 1.0
        for j in range(x.shape[0]):
            residual -= x[j] * power
            power *= t
        total += residual * residual
    return 0.5 * total


def arrays(dialect: Dialect, x: Array, n: int) -> Any:
    """The same with the powers of all times as one constant matrix."""
    t = np.linspace(-1.0, 1.0, n)
    residual = dialect.constant(np.sign(t)) - dialect.constant(t[:, None] ** np.arange(x.shape[0])) @ x
    return 0.5 * dialect.np.sum(residual * residual)


WORKLOADS = {
    "least-squares": Workload(
        llsq,
        lambda n: {"x": np.random.default_rng(0).random(128), "n": n},
        {"n1024": 1024, "n16392": 16_392, "tiny": 4},
        wrt=("x",),
        arrays=arrays,
    )
}
