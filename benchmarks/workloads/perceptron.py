"""A perceptron of three layers: the loss of a batch, and its gradient by all weights."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from benchmarks.workload import Array, Dialect, Inputs, Workload

WEIGHTS = ("W1", "b1", "W2", "b2", "W3", "b3")


def mlp(W1: Array, b1: Array, W2: Array, b2: Array, W3: Array, b3: Array, x: Array, onehot: Array) -> float:
    """The mean cross entropy of the classes."""
    h1 = np.maximum(x @ W1 + b1, 0.0)
    h2 = np.maximum(h1 @ W2 + b2, 0.0)
    z = h2 @ W3 + b3
    m = np.max(z, axis=1)
    lse = m + np.log(np.sum(np.exp(z - m[:, None]), axis=1))
    return np.mean(lse - np.sum(z * onehot, axis=1))


def arrays(dialect: Dialect, x: Array, onehot: Array, **weights: Array) -> Any:
    """The same."""
    xp = dialect.np
    W1, b1, W2, b2, W3, b3 = (weights[name] for name in WEIGHTS)
    h = x @ W1 + b1
    h = h * (h > 0.0)
    h = h @ W2 + b2
    h = h * (h > 0.0)
    z = h @ W3 + b3
    m = xp.amax(z, 1)
    lse = m + xp.log(xp.sum(xp.exp(z - m[:, None]), 1))
    return xp.mean(lse - xp.sum(z * onehot, 1))


def inputs(size: tuple[int, ...]) -> Inputs:
    """Random weights of the given widths, and a random batch."""
    *widths, batch = size
    rng = np.random.default_rng(8)
    given: Inputs = {}
    for layer, (rows, columns) in enumerate(pairwise(widths), start=1):
        given[f"W{layer}"] = rng.normal(size=(rows, columns)) / np.sqrt(rows)
        given[f"b{layer}"] = 0.1 * rng.normal(size=columns)
    classes = rng.integers(0, widths[-1], batch)
    return {**given, "x": rng.normal(size=(batch, widths[0])), "onehot": np.eye(widths[-1])[classes]}


WORKLOADS = {
    "perceptron": Workload(
        mlp,
        inputs,
        {"f64": (784, 256, 256, 10, 128), "f64small": (16, 32, 32, 4, 8), "tiny": (3, 4, 4, 2, 2)},
        wrt=WEIGHTS,
        arrays=arrays,
        hand="mlp",
        hand_peer="numpy_hand",
    )
}
