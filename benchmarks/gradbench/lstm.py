"""The loss of a long short-term memory, and its gradient as one flat array."""

from __future__ import annotations

from typing import Any

import numpy as np

import adgen
from benchmarks.gradbench.evaluation import Arguments, Evaluation
from benchmarks.workloads.lstm import lstm


def prepare(given: Any) -> Arguments:
    """Arrays by layer: GradBench's rows are weights and biases, hidden and cell states in turn."""
    main, extra, state, sequence = (
        np.array(given[name], dtype=float) for name in ("main_params", "extra_params", "state", "sequence")
    )
    width = extra.shape[1]
    return main.reshape(-1, 8, width), extra, state.reshape(-1, 2, width), sequence


FUNCTIONS = {
    "objective": Evaluation(adgen.jit(lstm), prepare),
    "jacobian": Evaluation(
        adgen.grad(lstm, wrt=("main", "extra")),
        prepare,
        lambda gradient: np.concatenate([array.ravel() for array in gradient]).tolist(),
    ),
}
