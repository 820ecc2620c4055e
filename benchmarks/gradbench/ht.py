"""The errors of hand tracking, and their Jacobian, a row an error: for points in triangles their two columns first."""

from __future__ import annotations

from typing import Any

import numpy as np

import adgen
from benchmarks.gradbench.evaluation import Arguments, Evaluation
from benchmarks.workload import Array
from benchmarks.workloads.hand_tracking import complicated, complicated_moved, simple

values = adgen.jit(simple)
values_in_triangles = adgen.jit(complicated)
jacobian = adgen.jacfwd(simple, wrt="theta")
jacobian_in_triangles = adgen.jacfwd(complicated_moved, wrt="moves")


def prepare(given: Any) -> Arguments:
    """Arrays, vertices and points one a column; the coordinates in triangles last, where there are any."""
    model = given["data"]["model"]
    if model["is_mirrored"]:
        raise ValueError("a mirrored hand is not modelled")
    arguments = (
        np.array(given["theta"]),
        np.array(model["parents"]),
        np.array(model["base_relatives"]),
        np.array(model["inverse_base_absolutes"]),
        np.array(model["base_positions"]).T.copy(),
        np.array(model["weights"]).T.copy(),
        np.array(given["data"]["correspondences"]),
        np.array(given["data"]["points"]).T.copy(),
    )
    return (*arguments, np.array(given["us"]), np.array(model["triangles"])) if given["us"] else arguments


def objective(theta: Array, *rest: Any) -> Array:
    """The errors."""
    return values(theta, *rest) if len(rest) == 7 else values_in_triangles(theta, *rest)


def derivative(theta: Array, *rest: Any) -> Array:
    """Their Jacobian."""
    if len(rest) == 7:
        return jacobian(theta, *rest)
    return jacobian_in_triangles(np.concatenate([np.zeros(2), theta]), *rest)


FUNCTIONS = {
    "objective": Evaluation(objective, prepare, lambda error: error.ravel().tolist()),
    "jacobian": Evaluation(derivative, prepare, lambda matrix: matrix.reshape(-1, matrix.shape[-1]).tolist()),
}
