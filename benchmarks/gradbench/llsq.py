"""Least squares, and its gradient."""

from __future__ import annotations

import adgen
from benchmarks.gradbench.evaluation import Evaluation, fields
from benchmarks.workloads.least_squares import llsq

FUNCTIONS = {
    "primal": Evaluation(adgen.jit(llsq), fields("x", "n")),
    "gradient": Evaluation(adgen.grad(llsq, wrt="x"), fields("x", "n")),
}
