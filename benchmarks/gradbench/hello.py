"""The square of a number and its derivative."""

from __future__ import annotations

import adgen
from benchmarks.gradbench.evaluation import Evaluation


def square(x: float) -> float:
    """The square."""
    return x * x


FUNCTIONS = {
    "square": Evaluation(adgen.jit(square), lambda x: (x,)),
    "double": Evaluation(adgen.grad(square), lambda x: (x,)),
}
