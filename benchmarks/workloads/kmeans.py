"""k-means: the squared distance of each point to its nearest centroid, and a Newton direction for the centroids."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import adgen
from benchmarks.workload import Array, Calls, Dialect, Inputs, Workload


def cost(points: Array, centroids: Array) -> float:
    """The sum over the points of the squared distance to the nearest centroid."""
    total = 0.0
    for i in range(points.shape[0]):
        nearest = np.inf
        for j in range(centroids.shape[0]):
            distance = 0.0
            for k in range(points.shape[1]):
                distance += (points[i, k] - centroids[j, k]) ** 2
            nearest = min(nearest, distance)
        total += nearest
    return total


def direction(points: Array, centroids: Array) -> Array:
    """The gradient over the Hessian, which is diagonal: a product with ones gives its entries."""
    slope, curvature = adgen.jvp(adgen.grad(cost, wrt="centroids"), wrt="centroids")(
        points, centroids, tangent=np.ones_like(centroids)
    )
    return slope / curvature


def arrays(dialect: Dialect, points: Array, centroids: Array) -> Any:
    """The cost with all distances at once."""
    xp = dialect.np
    return xp.sum(xp.amin(xp.sum((points[:, None] - centroids[None]) ** 2, 2), 1))


def inputs(size: tuple[int, int, int]) -> Inputs:
    """`k` centroids, which are among `n` points in `d` dimensions."""
    k, n, d = size
    points = np.random.default_rng(0).random((n, d))
    return {"points": points, "centroids": points[-k:].copy()}


def compiled(inputs: Inputs) -> Calls:
    """The cost and the direction on adgen."""
    arguments = tuple(inputs.values())
    return Calls(partial(adgen.jit(cost), *arguments), partial(adgen.jit(direction), *arguments))


WORKLOADS = {
    "kmeans": Workload(
        cost,
        inputs,
        {"k10n1000d8": (10, 1000, 8), "k100n10000d8": (100, 10_000, 8), "tiny": (2, 5, 2)},
        wrt=("centroids",),
        product="newton",
        arrays=arrays,
        own={"adgen": compiled},
    )
}
