"""Rosenbrock's function in many dimensions: second derivatives, and the cost of one small call."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.workload import Array, Dialect, Inputs, Workload


def rosenbrock(x: Array) -> float:
    """A curved valley."""
    total = 0.0
    for i in range(x.shape[0] - 1):
        total += 100.0 * (x[i + 1] - x[i] ** 2) ** 2 + (1.0 - x[i]) ** 2
    return total


def arrays(dialect: Dialect, x: Array) -> Any:
    """The same with slices."""
    return dialect.np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def point(n: int) -> Inputs:
    """A random one."""
    return {"x": np.random.default_rng(9).normal(size=n)}


def point_and_direction(n: int) -> Inputs:
    """Both random."""
    return {**point(n), "v": np.random.default_rng(10).normal(size=n)}


WORKLOADS = {
    "rosenbrock-hessian": Workload(
        rosenbrock,
        point,
        {"rosen100": 100, "tiny": 4},
        wrt=("x",),
        product="hessian",
        sparse=True,
        arrays=arrays,
        symbolic=True,
        hand="hessian",
    ),
    "rosenbrock-hvp": Workload(
        rosenbrock,
        point_and_direction,
        {"rosen100_hvp": 100, "tiny": 4},
        wrt=("x",),
        product="hvp",
        arrays=arrays,
        symbolic=True,
        hand="hessian",
    ),
    "call-of-ten": Workload(
        rosenbrock,
        point,
        {"rosen10": 10},
        wrt=("x",),
        arrays=arrays,
        symbolic=True,
        hand="small",
        hand_peer="c_fastcall",
    ),
}
