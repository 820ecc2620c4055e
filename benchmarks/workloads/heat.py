"""Heat on a square by explicit steps: the distance of the last state from a target."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.workload import Array, Dialect, Inputs, Workload


def heat2d(u0: Array, target: Array, a: float, T: int) -> float:
    """`a` is conductivity dt / dx²; the border is fixed."""
    u = u0.copy()
    for _ in range(T):
        new = u.copy()
        new[1:-1, 1:-1] = u[1:-1, 1:-1] + a * (
            u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4.0 * u[1:-1, 1:-1]
        )
        u = new
    return 0.5 * np.sum((u - target) ** 2)


def arrays(dialect: Dialect, u0: Array, target: Array, a: float, T: int) -> Any:
    """The same without writing into arrays."""
    xp = dialect.np

    def step(u: Array) -> Any:
        inner = u[1:-1, 1:-1]
        inner = inner + a * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4.0 * inner)
        middle = xp.concatenate([u[1:-1, :1], inner, u[1:-1, -1:]], 1)
        return xp.concatenate([u[:1], middle, u[-1:]])

    return 0.5 * xp.sum((dialect.repeat(T, step, u0) - target) ** 2)


def inputs(size: tuple[int, int]) -> Inputs:
    """Noise on a square of `n` by `n`."""
    n, steps = size
    rng = np.random.default_rng(4)
    return {"u0": rng.normal(size=(n, n)), "target": rng.normal(size=(n, n)), "a": 0.2, "T": steps}


WORKLOADS = {
    "heat": Workload(
        heat2d,
        inputs,
        {"n128T500": (128, 500), "n256T200": (256, 200), "tiny": (16, 4)},
        wrt=("u0",),
        arrays=arrays,
        hand="heat2d",
    )
}
