"""The parameter for which a particle hits the origin, by nested derivatives in each pair of modes."""

from __future__ import annotations

import adgen
from benchmarks.gradbench.evaluation import Evaluation, fields
from benchmarks.workloads import particle

FUNCTIONS = {name: Evaluation(adgen.jit(getattr(particle, name)), fields("w")) for name in ("rr", "ff", "fr", "rf")}
