"""The cost of centroids, and the Newton direction: gradient over the Hessian's diagonal."""

from __future__ import annotations

import adgen
from benchmarks.gradbench.evaluation import Evaluation, fields
from benchmarks.workloads.kmeans import cost, direction

FUNCTIONS = {
    "cost": Evaluation(adgen.jit(cost), fields("points", "centroids")),
    "dir": Evaluation(adgen.jit(direction), fields("points", "centroids")),
}
