"""The solution of a differential equation, and the gradient of its last component."""

from __future__ import annotations

import adgen
from benchmarks.gradbench.evaluation import Evaluation, fields
from benchmarks.workloads.ode import last, solve

FUNCTIONS = {
    "primal": Evaluation(adgen.jit(solve), fields("x", "s")),
    "gradient": Evaluation(adgen.grad(last, wrt="x"), fields("x", "s")),
}
