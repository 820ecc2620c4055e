"""A saddle point by nested derivatives in each pair of modes."""

from __future__ import annotations

import adgen
from benchmarks.gradbench.evaluation import Evaluation, fields
from benchmarks.workloads import saddle

FUNCTIONS = {name: Evaluation(adgen.jit(getattr(saddle, name)), fields("start")) for name in ("rr", "ff", "fr", "rf")}
