"""The posterior of a Gaussian mixture, and its gradient by weights, means and the two parts of the factors."""

from __future__ import annotations

from typing import Any

import numpy as np

import adgen
from benchmarks.gradbench.evaluation import Arguments, Evaluation
from benchmarks.workload import Array
from benchmarks.workloads.gaussian_mixture import posterior

PARAMETERS = ("alpha", "mu", "q", "l")


def objective(alpha: Array, mu: Array, q: Array, below: Array, x: Array, gamma: float, m: int) -> float:
    """The log posterior, with the diagonals of the factors and what is below them apart."""
    return posterior(alpha, mu, np.concatenate([q, below], axis=1), x, gamma, m)


def prepare(given: Any) -> Arguments:
    """Arrays; `l` keeps its rows where they are empty."""
    k, d = given["k"], given["d"]
    arrays = [np.array(given[name], dtype=float) for name in (*PARAMETERS, "x")]
    arrays[3] = arrays[3].reshape(k, d * (d - 1) // 2)
    return *arrays, float(given["gamma"]), given["m"]


FUNCTIONS = {
    "objective": Evaluation(adgen.jit(objective), prepare),
    "jacobian": Evaluation(
        adgen.grad(objective, wrt=(0, 1, 2, 3)),
        prepare,
        lambda gradient: {name: array.tolist() for name, array in zip(PARAMETERS, gradient)},
    ),
}
