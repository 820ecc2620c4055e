"""Bundle adjustment: where cameras see points, and the blocks of the Jacobian, one for each observation.

A camera is a rotation vector, a centre, a focal length, a principal point and two coefficients of radial distortion.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import adgen
from benchmarks.workload import Array, Calls, Inputs, Workload


def rotated(rotation: Array, point: Array) -> Array:
    """The point turned by an angle and axis, by Rodrigues' formula."""
    square = rotation[0] * rotation[0] + rotation[1] * rotation[1] + rotation[2] * rotation[2]
    if square > 0.0:
        angle = np.sqrt(square)
        c = np.cos(angle)
        s = np.sin(angle)
        axis = rotation / angle
        return point * c + np.cross(axis, point) * s + axis * (np.dot(axis, point) * (1.0 - c))
    return point + np.cross(rotation, point)


def reprojection(camera: Array, point: Array, weight: float, feature: Array) -> Array:
    """The weighted distance of the point's image from where it was seen."""
    seen = rotated(camera[0:3], point - camera[3:6])
    image = seen[0:2] / seen[2]
    r = image[0] * image[0] + image[1] * image[1]
    image = image * (1.0 + camera[9] * r + camera[10] * r * r)
    return weight * (image * camera[6] + camera[7:9] - feature)


def weight_error(weight: float) -> float:
    """Pulls weights to one."""
    return 1.0 - weight * weight


def residuals(cams: Array, X: Array, w: Array, obs: Array, feats: Array) -> tuple[Array, Array]:
    """The errors of all observations and of their weights."""
    count = obs.shape[0]
    error = np.zeros((count, 2))
    of_weights = np.zeros(count)
    for i in range(count):
        error[i] = reprojection(cams[obs[i, 0]], X[obs[i, 1]], w[i], feats[i])
        of_weights[i] = weight_error(w[i])
    return error, of_weights


def blocks(cams: Array, X: Array, w: Array, obs: Array, feats: Array) -> tuple[Array, Array]:
    """The derivatives of each observation's errors by its camera, its point and its weight, and of weight errors."""
    count = obs.shape[0]
    jacobian = np.zeros((count, 2, 15))
    of_weights = np.zeros(count)
    for i in range(count):
        camera, point, weight = adgen.jacobian(reprojection, wrt=(0, 1, 2))(
            cams[obs[i, 0]], X[obs[i, 1]], w[i], feats[i]
        )
        jacobian[i, :, 0:11] = camera
        jacobian[i, :, 11:14] = point
        jacobian[i, :, 14] = weight
        of_weights[i] = adgen.grad(weight_error)(w[i])
    return jacobian, of_weights


def compiled(inputs: Inputs) -> Calls:
    """The errors and the blocks on adgen."""
    arguments = tuple(inputs.values())
    return Calls(partial(adgen.jit(residuals), *arguments), partial(adgen.jit(blocks), *arguments))


def observed(xp: Any, cams: Array, X: Array, w: Array, obs: Array, feats: Array) -> tuple[Any, Any]:
    """Camera, point and weight of each observation in a row, and its feature."""
    return xp.concatenate([cams[obs[:, 0]], X[obs[:, 1]], w[:, None]], 1), feats


def arrays(xp: Any, row: Array, feature: Array) -> Any:
    """`reprojection` of a row, for a rotation that is not zero."""
    rotation, point = row[0:3], row[11:14] - row[3:6]
    angle = xp.sqrt(xp.dot(rotation, rotation))
    axis, c, s = rotation / angle, xp.cos(angle), xp.sin(angle)
    seen = point * c + xp.cross(axis, point) * s + axis * (xp.dot(axis, point) * (1.0 - c))
    image = seen[0:2] / seen[2]
    r = xp.dot(image, image)
    return row[14] * (image * (1.0 + row[9] * r + row[10] * r * r) * row[6] + row[7:9] - feature)


def with_jax(inputs: Inputs) -> Calls:
    """All observations at once, gathered in the compiled code."""
    import jax
    import jax.numpy as jnp

    from benchmarks.peers.jax import compiled

    item = partial(arrays, jnp)

    def errors(*arguments: Any) -> Any:
        rows, features = observed(jnp, *arguments)
        return jax.vmap(item)(rows, features), 1.0 - rows[:, 14] ** 2

    def derivatives(*arguments: Any) -> Any:
        rows, features = observed(jnp, *arguments)
        return jax.vmap(jax.jacfwd(item))(rows, features), -2.0 * rows[:, 14]

    return Calls(*(compiled(function, *inputs.values()) for function in (errors, derivatives)))


def with_casadi(inputs: Inputs) -> Calls:
    """The block of one observation as C, mapped over rows that are gathered beforehand."""
    import casadi as ca

    from benchmarks.peers.casadi import bound, compiled

    rows, features = observed(np, **inputs)
    row, feature = ca.SX.sym("row", 15), ca.SX.sym("feature", 2)
    error = arrays(ca, row, feature)
    outputs = {"value": [error, 1.0 - row[14] ** 2], "derivative": [ca.jacobian(error, row), -2.0 * row[14]]}
    return Calls(
        *(bound(compiled(name, [row, feature], of, len(rows)), [rows, features]) for name, of in outputs.items())
    )


def inputs(size: tuple[int, int, int]) -> Inputs:
    """Cameras near one that sees points near one; observations go round both."""
    cameras, points, count = size
    rng = np.random.default_rng(2)
    camera = [-0.76, -1.1, -0.85, 34.6, 39.7, 53.9, 419.2, 5.9, -8.5, 0.088, 0.0027]
    turn = np.arange(count)
    return {
        "cams": np.array(camera) * (1.0 + 0.05 * rng.normal(size=(cameras, 11))),
        "X": np.array([7.2, 0.001, 3.0]) + rng.normal(size=(points, 3)),
        "w": rng.uniform(0.5, 1.5, size=count),
        "obs": np.stack([turn % cameras, turn % points], axis=1),
        "feats": 100.0 * rng.normal(size=(count, 2)),
    }


WORKLOADS = {
    "bundle-adjustment": Workload(
        residuals,
        inputs,
        {"p31843": (49, 7776, 31_843), "p393775": (810, 88_814, 393_775), "tiny": (2, 3, 4)},
        wrt=("cams", "X", "w"),
        product="jacobians",
        own={"adgen": compiled, "jax": with_jax, "casadi": with_casadi},
        hand="ba",
    )
}
