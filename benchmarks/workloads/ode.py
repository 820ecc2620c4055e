"""Runge-Kutta steps for `y'[0] = x[0]`, `y'[i] = x[i] y[i - 1]` from zero to time 2."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.workload import Array, Dialect, Workload


def rate(x: Array, y: Array) -> Array:
    """The time derivative of `y`."""
    out = np.zeros_like(x)
    out[0] = x[0]
    out[1:] = x[1:] * y[:-1]
    return out


def solve(x: Array, s: int) -> Array:
    """The state at time 2, by `s` steps of the classical method of fourth order."""
    h = 2.0 / s
    y = np.zeros_like(x)
    for _ in range(s):
        k1 = rate(x, y)
        k2 = rate(x, y + 0.5 * h * k1)
        k3 = rate(x, y + 0.5 * h * k2)
        k4 = rate(x, y + h * k3)
        y = y + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    return y


def last(x: Array, s: int) -> float:
    """The last component of the state."""
    return solve(x, s)[-1]


def arrays(dialect: Dialect, x: Array, s: int) -> Any:
    """`last` by array operations."""
    h = 2.0 / s

    def rate(y: Array) -> Any:
        return dialect.np.concatenate([x[:1], x[1:] * y[:-1]])

    def step(y: Array) -> Any:
        k1 = rate(y)
        k2 = rate(y + 0.5 * h * k1)
        k3 = rate(y + 0.5 * h * k2)
        return y + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + rate(y + h * k3))

    return dialect.repeat(s, step, 0.0 * x)[-1]


WORKLOADS = {
    "ode": Workload(
        last,
        lambda size: {"x": np.random.default_rng(0).uniform(0.5, 1.5, size=size[0]), "s": size[1]},
        {"n20s100": (20, 100), "n1000s100": (1000, 100), "tiny": (3, 2)},
        wrt=("x",),
        arrays=arrays,
        symbolic=True,
    )
}
