"""Burgers' equation by explicit steps: the distance of the last state from a target."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.workload import Array, Dialect, Inputs, Workload


def burgers(u0: Array, target: Array, c: float, d: float, T: int) -> float:
    """`c` is dt / (2 dx), `d` is viscosity dt / dx²; the ends are fixed."""
    u = u0.copy()
    for _ in range(T):
        new = u.copy()
        new[1:-1] = u[1:-1] - c * u[1:-1] * (u[2:] - u[:-2]) + d * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        u = new
    return 0.5 * np.sum((u - target) ** 2)


def arrays(dialect: Dialect, u0: Array, target: Array, c: float, d: float, T: int) -> Any:
    """The same without writing into arrays."""

    def step(u: Array) -> Any:
        inner = u[1:-1]
        change = d * (u[2:] - 2.0 * inner + u[:-2]) - c * inner * (u[2:] - u[:-2])
        return dialect.np.concatenate([u[:1], inner + change, u[-1:]])

    return 0.5 * dialect.np.sum((dialect.repeat(T, step, u0) - target) ** 2)


def inputs(size: tuple[int, int]) -> Inputs:
    """A wave that steepens."""
    n, steps = size
    x = np.linspace(0.0, 1.0, n)
    u0, target = 0.8 * np.sin(2.0 * np.pi * x), np.cos(3.0 * x)
    return {"u0": u0, "target": target, "c": 0.25, "d": 0.2, "T": steps}


WORKLOADS = {
    "burgers": Workload(
        burgers,
        inputs,
        {"n2048T1000": (2048, 1000), "n16384T1000": (16_384, 1000), "tiny": (16, 4)},
        wrt=("u0",),
        arrays=arrays,
        hand="burgers",
    )
}
