"""The errors of bundle adjustment, and their Jacobian as a matrix of compressed rows."""

from __future__ import annotations

from typing import Any

import numpy as np

import adgen
from benchmarks.gradbench.evaluation import Arguments, Evaluation
from benchmarks.workload import Array
from benchmarks.workloads.bundle_adjustment import reprojection, residuals, weight_error

SHOWN = 30  # entries of one observation


def compressed(cams: Array, X: Array, w: Array, obs: Array, feats: Array) -> tuple[Array, Array, Array]:
    """Starts of rows, columns and values: two rows an observation, then one a weight."""
    cameras, points, count = cams.shape[0], X.shape[0], obs.shape[0]
    rows = np.zeros(3 * count + 1, dtype=np.int64)
    columns = np.zeros(31 * count, dtype=np.int64)
    values = np.zeros(31 * count)
    for i in range(count):
        camera, point, weight = adgen.jacobian(reprojection, wrt=(0, 1, 2))(
            cams[obs[i, 0]], X[obs[i, 1]], w[i], feats[i]
        )
        for row in range(2):
            start = 30 * i + 15 * row
            rows[2 * i + row + 1] = start + 15
            for j in range(11):
                columns[start + j] = 11 * obs[i, 0] + j
                values[start + j] = camera[row, j]
            for j in range(3):
                columns[start + 11 + j] = 11 * cameras + 3 * obs[i, 1] + j
                values[start + 11 + j] = point[row, j]
            columns[start + 14] = 11 * cameras + 3 * points + i
            values[start + 14] = weight[row]
        rows[2 * count + i + 1] = 30 * count + i + 1
        columns[30 * count + i] = 11 * cameras + 3 * points + i
        values[30 * count + i] = adgen.grad(weight_error)(w[i])
    return rows, columns, values


def prepare(given: Any) -> Arguments:
    """One camera, point, weight and feature, repeated; observations go round cameras and points."""
    n, m, p = given["n"], given["m"], given["p"]
    turn = np.arange(p)
    return (
        np.tile(given["cam"], (n, 1)),
        np.tile(given["x"], (m, 1)),
        np.full(p, given["w"]),
        np.stack([turn % n, turn % m], axis=1),
        np.tile(given["feat"], (p, 1)),
    )


def errors(result: Any) -> dict[str, Any]:
    """The first of each kind and how many there are: all are the same."""
    error, of_weights = result
    return {
        "reproj_error": {"elements": error[0].tolist(), "repeated": len(error)},
        "w_err": {"element": float(of_weights[0]), "repeated": len(of_weights)},
    }


def ends(result: Any) -> dict[str, Any]:
    """The entries of the first observation and the very last."""
    return {name: [*array[:SHOWN].tolist(), array[-1].item()] for name, array in zip(("rows", "cols", "vals"), result)}


FUNCTIONS = {
    "objective": Evaluation(adgen.jit(residuals), prepare, errors),
    "jacobian": Evaluation(adgen.jit(compressed), prepare, ends),
}
