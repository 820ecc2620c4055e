"""A determinant by minors, and its gradient."""

from __future__ import annotations

from functools import lru_cache

import adgen
from benchmarks.gradbench.evaluation import Evaluation, fields
from benchmarks.workloads.determinant import determinant

compiled = lru_cache(lambda size: adgen.jit(determinant(size)))
gradient = lru_cache(lambda size: adgen.grad(determinant(size)))

FUNCTIONS: dict[str, Evaluation] = {
    "primal": Evaluation(lambda a, size: compiled(size)(a), fields("A", "ell")),
    "gradient": Evaluation(lambda a, size: gradient(size)(a), fields("A", "ell")),
}
