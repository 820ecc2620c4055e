"""The hand of an arm with seven joints: its position and rotation, by modified Denavit-Hartenberg parameters."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.workload import Array, Dialect, Inputs, Workload

A = (0.0, 0.0, 0.0, 0.0825, -0.0825, 0.0, 0.088)
D = (0.333, 0.0, 0.316, 0.0, 0.384, 0.0, 0.107)
COS = (1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
SIN = (0.0, -1.0, 1.0, 1.0, -1.0, 1.0, 1.0)


def fk(q: Array) -> Array:
    """Three numbers of the position, nine of the rotation."""
    R = np.eye(3)
    p = np.zeros(3)
    for i in range(7):
        c = np.cos(q[i])
        s = np.sin(q[i])
        x = R[:, 0]
        u = R[:, 1] * COS[i] + R[:, 2] * SIN[i]
        w = R[:, 2] * COS[i] - R[:, 1] * SIN[i]
        p = p + x * A[i] + w * D[i]
        R = np.stack([x * c + u * s, u * c - x * s, w], axis=1)
    return np.concatenate([p, R.ravel()])


def arrays(dialect: Dialect, q: Array) -> Any:
    """The same, a number at a time."""
    rows = [[float(i == j) for j in range(3)] for i in range(3)]
    p: list[Any] = [0.0, 0.0, 0.0]
    for i in range(7):
        c, s = dialect.np.cos(q[i]), dialect.np.sin(q[i])
        for k, (x, y, z) in enumerate(rows):
            u, w = y * COS[i] + z * SIN[i], z * COS[i] - y * SIN[i]
            p[k] = p[k] + x * A[i] + w * D[i]
            rows[k] = [x * c + u * s, u * c - x * s, w]
    return dialect.np.stack([*p, *(entry for row in rows for entry in row)])


def angles(count: int) -> Array:
    """Of the joints, `count` times."""
    return np.random.default_rng(10).uniform(-2.0, 2.0, size=(count, 7))


def one(theirs: Inputs) -> Inputs:
    """The first of many."""
    return {"q": theirs["q"][0]}


WORKLOADS = {
    "arm": Workload(
        fk,
        lambda _: {"q": angles(1)[0]},
        {"single": None},
        wrt=("q",),
        product="jacobian",
        arrays=arrays,
        symbolic=True,
        hand="arm",
        adapt=one,
    ),
    "arm-batch": Workload(
        fk,
        lambda count: {"q": angles(count)},
        {"batch10000": 10_000, "tiny": 3},
        wrt=("q",),
        product="jacobians",
        arrays=arrays,
        symbolic=True,
        hand="arm",
        hand_peer="c_simd",
    ),
}
