"""Logistic regression: the second derivatives of its loss."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.workload import Array, Dialect, Inputs, Workload


def loss(x: Array, X: Array, y: Array, lam: float) -> float:
    """The loss of weights `x` for samples `X` of classes `y`, -1 and 1, and a penalty."""
    margin = y * (X @ x)
    return np.sum(np.log(1.0 + np.exp(-margin))) + 0.5 * lam * np.dot(x, x)


def arrays(dialect: Dialect, x: Array, X: Array, y: Array, lam: float) -> Any:
    """The same."""
    xp = dialect.np
    return xp.sum(xp.log(1.0 + xp.exp(-y * (X @ x)))) + 0.5 * lam * xp.sum(x * x)


def inputs(size: tuple[int, int]) -> Inputs:
    """`n` features of `m` samples, and a direction."""
    n, m = size
    rng = np.random.default_rng(9)
    given = {"x": 0.1 * rng.normal(size=n), "v": rng.normal(size=n), "X": rng.normal(size=(m, n))}
    return {**given, "y": np.sign(rng.normal(size=m)), "lam": 0.1}


WORKLOADS = {
    "logistic-hessian": Workload(
        loss,
        inputs,
        {"logreg50": (50, 1000), "tiny": (3, 5)},
        wrt=("x",),
        product="hessian",
        arrays=arrays,
        symbolic=True,
        hand="hessian",
    ),
    "logistic-hvp": Workload(
        loss,
        inputs,
        {"logreg50_hvp": (50, 1000), "tiny": (3, 5)},
        wrt=("x",),
        product="hvp",
        arrays=arrays,
        symbolic=True,
        hand="hessian",
    ),
}
