"""The logarithm of a sum of exponentials, kept in range by the largest one."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.workload import Array, Dialect, Workload


def lse(x: Array) -> float:
    """`log(sum(exp(x)))`."""
    largest = np.max(x)
    return largest + np.log(np.sum(np.exp(x - largest)))


def arrays(dialect: Dialect, x: Array) -> Any:
    """The same."""
    largest = dialect.np.max(x)
    return largest + dialect.np.log(dialect.np.sum(dialect.np.exp(x - largest)))


WORKLOADS = {
    "log-sum-exp": Workload(
        lse,
        lambda n: {"x": np.random.default_rng(0).uniform(-100.0, 100.0, size=n)},
        {"n10000": 10_000, "n1e6": 1_000_000, "tiny": 5},
        wrt=("x",),
        arrays=arrays,
    )
}
