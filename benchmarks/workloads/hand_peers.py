"""Hand tracking in the words of JAX and of CasADi."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np

from benchmarks.workload import Array, Calls, Inputs


def flexions(theta: Any) -> list[tuple[Any, Any]]:
    """Flexion and abduction of the three joints of each finger, from the wrist's two on: `bone -> angles`."""
    angles: list[tuple[Any, Any]] = [(0.0, 0.0)] * 22
    for finger in range(5):
        first = 6 + 4 * finger
        for joint, pair in enumerate(
            [(theta[first], theta[first + 1]), (theta[first + 2], 0.0), (theta[first + 3], 0.0)]
        ):
            angles[2 + 4 * finger + joint] = pair
    return angles


def turn(xp: Any, flexion: Any, abduction: Any) -> list[list[Any]]:
    """The joint's matrix."""
    cx, sx, cz, sz = xp.cos(flexion), xp.sin(flexion), xp.cos(abduction), xp.sin(abduction)
    return [[cz, -sz * cx, sz * sx, 0.0], [sz, cz * cx, -cz * sx, 0.0], [0.0, sx, cx, 0.0], [0.0, 0.0, 0.0, 1.0]]


def rotation(xp: Any, v: Any) -> list[list[Any]]:
    """The matrix of a rotation vector that is not tiny."""
    angle = xp.sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])
    x, y, z = v[0] / angle, v[1] / angle, v[2] / angle
    s, c = xp.sin(angle), xp.cos(angle)
    return [
        [x * x + (1.0 - x * x) * c, x * y * (1.0 - c) - z * s, x * z * (1.0 - c) + y * s],
        [x * y * (1.0 - c) + z * s, y * y + (1.0 - y * y) * c, y * z * (1.0 - c) - x * s],
        [x * z * (1.0 - c) - y * s, y * z * (1.0 - c) + x * s, z * z + (1.0 - z * z) * c],
    ]


def corners(given: Inputs) -> tuple[Array, Array]:
    """The vertices of each point, and their weights as a function of the coordinates: one, or three of a triangle."""
    if "us" not in given:
        return given["corr"][:, None], np.ones((len(given["corr"]), 1))
    us = given["us"]
    return given["tri"][given["corr"]], np.column_stack([us, 1.0 - us.sum(axis=1)])


SHIFTS = np.array([[1.0, 0.0, -1.0], [0.0, 1.0, -1.0]])  # of the weights, when coordinates move


def with_jax(inputs: Inputs) -> Calls:
    """All vertices by products of matrices."""
    import jax
    import jax.numpy as jnp

    from benchmarks.peers.jax import compiled

    vertices, shares = corners(inputs)
    parents = inputs["parents"].tolist()
    varied, *_ = inputs.values()
    model = {name: inputs[name] for name in ("base_rel", "inv_abs", "base_pos", "weights", "points")}

    def errors(varied: Any, model: Any, shares: Any) -> Any:
        theta = varied[-26:]
        if "us" in inputs:
            shares = shares + varied[:2] @ SHIFTS
        absolute: list[Any] = []
        positions = 0.0
        for b, (parent, angles) in enumerate(zip(parents, flexions(theta))):
            relative = model["base_rel"][b] @ jnp.array(turn(jnp, *angles))
            absolute.append(relative if parent < 0 else absolute[parent] @ relative)
            moved = (absolute[b] @ model["inv_abs"][b] @ model["base_pos"])[0:3]
            positions = positions + moved * model["weights"][b]
        positions = jnp.array(rotation(jnp, theta)) @ positions
        placed = jnp.einsum("ink,nk->ni", positions[:, vertices], shares)
        return model["points"].T - placed - theta[3:6]

    return Calls(*(compiled(function, varied, model, shares) for function in (errors, jax.jacfwd(errors))))


def with_casadi(inputs: Inputs) -> Calls:
    """Only the vertices and bones that matter, everything unrolled: more than the compiler optimises in minutes."""
    import casadi as ca

    from benchmarks.peers.casadi import bound, compiled

    vertices, shares = corners(inputs)
    value, *_ = inputs.values()
    varied = ca.SX.sym("varied", len(value))
    theta = varied[-26:]
    moves = ca.mtimes(varied[:2].T, SHIFTS) if "us" in inputs else ca.SX(1, 1)
    absolute: list[Any] = []
    positions: dict[int, Any] = {}
    for b, (parent, angles) in enumerate(zip(inputs["parents"].tolist(), flexions(theta))):
        relative = ca.mtimes(ca.SX(inputs["base_rel"][b]), ca.SX(ca.blockcat(turn(ca, *angles))))
        absolute.append(relative if parent < 0 else ca.mtimes(absolute[parent], relative))
        moved = ca.mtimes(absolute[b], ca.SX(inputs["inv_abs"][b]))[0:3, :]
        for vertex in np.unique(vertices[inputs["weights"][b, vertices] != 0.0]).tolist():
            part = inputs["weights"][b, vertex] * ca.mtimes(moved, ca.SX(inputs["base_pos"][:, vertex]))
            positions[vertex] = positions.get(vertex, 0.0) + part
    turned = ca.blockcat(rotation(ca, theta))
    placed = {vertex: ca.mtimes(turned, position) for vertex, position in positions.items()}

    def at(row: Array, share: Array) -> Any:
        return reduce(ca.plus, [placed[v] * (share[k] + moves[k]) for k, v in enumerate(row.tolist())])

    rows = [inputs["points"][:, n] - at(vertices[n], shares[n]) - theta[3:6] for n in range(len(vertices))]
    error = ca.vertcat(*rows)
    outputs = {"value": error, "derivative": ca.densify(ca.jacobian(error, varied))}
    return Calls(*(bound(compiled(name, [varied], [of], level="-O1"), [value]) for name, of in outputs.items()))
