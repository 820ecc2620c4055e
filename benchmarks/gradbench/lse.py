"""The logarithm of a sum of exponentials, and its gradient."""

from __future__ import annotations

import adgen
from benchmarks.gradbench.evaluation import Evaluation, fields
from benchmarks.workloads.log_sum_exp import lse

FUNCTIONS = {
    "primal": Evaluation(adgen.jit(lse), fields("x")),
    "gradient": Evaluation(adgen.grad(lse), fields("x")),
}
