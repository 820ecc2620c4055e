"""The energy of particles that attract and repel each other in pairs."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.workload import Array, Dialect, Inputs, Workload


def energy(pos: Array) -> float:
    """Over all pairs, one after the other."""
    n = pos.shape[0]
    total = 0.0
    for i in range(n):
        for j in range(i + 1, n):
            dx = pos[i, 0] - pos[j, 0]
            dy = pos[i, 1] - pos[j, 1]
            dz = pos[i, 2] - pos[j, 2]
            s = 1.0 / (dx * dx + dy * dy + dz * dz)
            s6 = s * s * s
            total += 4.0 * (s6 * s6 - s6)
    return total


def arrays(dialect: Dialect, pos: Array) -> Any:
    """All pairs at once, each twice; a particle is kept from itself."""
    itself = dialect.constant(np.eye(pos.shape[0]))
    difference = pos[:, None, :] - pos[None, :, :]
    s = 1.0 / (dialect.np.sum(difference * difference, 2) + itself)
    s6 = s * s * s
    return 2.0 * dialect.np.sum((s6 * s6 - s6) * (1.0 - itself))


def inputs(n: int) -> Inputs:
    """Particles near the points of a cubic grid."""
    side = np.arange(int(np.ceil(n ** (1 / 3))))
    grid = np.stack(np.meshgrid(side, side, side, indexing="ij"), -1).reshape(-1, 3)[:n] * 1.1
    return {"pos": grid + 0.1 * np.random.default_rng(5).normal(size=(n, 3))}


WORKLOADS = {
    "lennard-jones": Workload(
        energy,
        inputs,
        {"n512": 512, "n2000": 2000, "tiny": 4},
        wrt=("pos",),
        arrays=arrays,
        hand="lennard_jones",
    )
}
