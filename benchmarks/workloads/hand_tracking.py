"""Hand tracking: how far measured points are from a hand posed by 26 numbers, bones moving a skinned surface.

`theta`: a global rotation vector, a translation, and for each of five fingers flexion and abduction of its first joint
and the flexion of the next two.
"""

from __future__ import annotations

from inspect import signature
from pathlib import Path

import numpy as np

from benchmarks.workload import Array, Inputs, Workload
from benchmarks.workloads.hand_peers import with_casadi, with_jax


def euler(flexion: float, abduction: float) -> Array:
    """A turn around x, then one around z."""
    cx = np.cos(flexion)
    sx = np.sin(flexion)
    cz = np.cos(abduction)
    sz = np.sin(abduction)
    return np.array([[cz, -sz * cx, sz * sx], [sz, cz * cx, -cz * sx], [0.0, sx, cx]])


def rotation(v: Array) -> Array:
    """The matrix of a rotation vector; the identity for a tiny one."""
    angle = np.sqrt(np.sum(v * v))
    if angle < 1e-4:
        return np.eye(3)
    x = v[0] / angle
    y = v[1] / angle
    z = v[2] / angle
    s = np.sin(angle)
    c = np.cos(angle)
    return np.array(
        [
            [x * x + (1.0 - x * x) * c, x * y * (1.0 - c) - z * s, x * z * (1.0 - c) + y * s],
            [x * y * (1.0 - c) + z * s, y * y + (1.0 - y * y) * c, y * z * (1.0 - c) - x * s],
            [x * z * (1.0 - c) - y * s, y * z * (1.0 - c) + x * s, z * z + (1.0 - z * z) * c],
        ]
    )


def joint_angles(theta: Array, bones: int) -> Array:
    """Flexion and abduction of each bone."""
    angles = np.zeros((bones, 2))
    k = 6
    for finger in range(5):
        for joint in range(3):
            bone = 2 + 4 * finger + joint
            angles[bone, 0] = theta[k]
            k += 1
            if joint == 0:
                angles[bone, 1] = theta[k]
                k += 1
    return angles


def surface(theta: Array, parents: Array, base_rel: Array, inv_abs: Array, base_pos: Array, weights: Array) -> Array:
    """The positions of the vertices, one a column."""
    bones = parents.shape[0]
    angles = joint_angles(theta, bones)
    absolute = np.zeros((bones, 4, 4))
    positions = np.zeros((3, base_pos.shape[1]))
    for b in range(bones):
        turn = np.eye(4)
        turn[0:3, 0:3] = euler(angles[b, 0], angles[b, 1])
        relative = base_rel[b] @ turn
        if parents[b] == -1:
            absolute[b] = relative
        else:
            absolute[b] = absolute[parents[b]] @ relative
        positions += (absolute[b] @ inv_abs[b] @ base_pos)[0:3] * weights[b]
    return rotation(theta[0:3]) @ positions


def simple(
    theta: Array,
    parents: Array,
    base_rel: Array,
    inv_abs: Array,
    base_pos: Array,
    weights: Array,
    corr: Array,
    points: Array,
) -> Array:
    """The differences of points and the vertices they correspond to, point after point."""
    positions = surface(theta, parents, base_rel, inv_abs, base_pos, weights)
    error = np.zeros((corr.shape[0], 3))
    for i in range(corr.shape[0]):
        error[i] = points[:, i] - positions[:, corr[i]] - theta[3:6]
    return error


def complicated(
    theta: Array,
    parents: Array,
    base_rel: Array,
    inv_abs: Array,
    base_pos: Array,
    weights: Array,
    corr: Array,
    points: Array,
    us: Array,
    tri: Array,
) -> Array:
    """The same with points inside of triangles, at barycentric coordinates `us`."""
    positions = surface(theta, parents, base_rel, inv_abs, base_pos, weights)
    error = np.zeros((corr.shape[0], 3))
    for i in range(corr.shape[0]):
        a, b, c = positions[:, tri[corr[i], 0]], positions[:, tri[corr[i], 1]], positions[:, tri[corr[i], 2]]
        u, v = us[i, 0], us[i, 1]
        error[i] = points[:, i] - (u * a + v * b + (1.0 - u - v) * c) - theta[3:6]
    return error


def complicated_moved(
    moves: Array,
    parents: Array,
    base_rel: Array,
    inv_abs: Array,
    base_pos: Array,
    weights: Array,
    corr: Array,
    points: Array,
    us: Array,
    tri: Array,
) -> Array:
    """`complicated` as a function of one move of all barycentric coordinates and of `theta`.

    A point has coordinates of its own, so the first two columns of this Jacobian are those of each point.
    """
    return complicated(moves[2:], parents, base_rel, inv_abs, base_pos, weights, corr, points, us + moves[0:2], tri)


def inputs(data: Path, kind: str, count: int) -> Inputs:
    """The model and the points of one of ADBench's files, as GradBench keeps them."""
    folder = data / f"{kind}_small"
    bones = [line.split(":") for line in (folder / "model" / "bones.txt").read_text().split()]
    numbers = np.array([[float(entry) for entry in bone[1:34]] for bone in bones])
    vertices = [line.split(":") for line in (folder / "model" / "vertices.txt").read_text().split()]
    base_pos = np.ones((4, len(vertices)))
    weights = np.zeros((len(bones), len(vertices)))
    for k, vertex in enumerate(vertices):
        base_pos[:3, k] = [float(entry) for entry in vertex[:3]]
        for at in range(9, 9 + 2 * int(vertex[8]), 2):
            weights[int(vertex[at]), k] = float(vertex[at + 1])
    measured = next(folder.glob(f"hand*_c{count}.txt")).read_text().split()
    rows, rest = np.split(np.array(measured[2:], dtype=float), [4 * count])
    given = {
        "theta": rest[-26:],
        "parents": numbers[:, 0].astype(int),
        "base_rel": numbers[:, 1:17].reshape(-1, 4, 4),
        "inv_abs": numbers[:, 17:33].reshape(-1, 4, 4),
        "base_pos": base_pos,
        "weights": weights,
        "corr": rows[0::4].astype(int),
        "points": rows.reshape(-1, 4)[:, 1:].T.copy(),
    }
    if kind == "simple":
        return given
    triangles = [line.split(":") for line in (folder / "model" / "triangles.txt").read_text().split()]
    return {**given, "us": rest[:-26].reshape(-1, 2), "tri": np.array(triangles, dtype=int)}


def with_moves(given: Inputs) -> Inputs:
    """The arguments of `complicated_moved`."""
    moves = np.concatenate([np.zeros(2), given["theta"]])
    return {"moves": moves, **{name: given[name] for name in list(signature(complicated_moved).parameters)[1:]}}


PEERS = {"jax": with_jax, "casadi": with_casadi}

WORKLOADS = {
    "hand-simple": Workload(
        simple,
        lambda size: inputs(*size),
        {"simple_c100": ("simple", 100), "simple_c400": ("simple", 400)},
        wrt=("theta",),
        product="jacobian",
        own=PEERS,
        from_data=True,
        hand="hand",
        hand_peer="casadi_c",
    ),
    "hand-complicated": Workload(
        complicated_moved,
        lambda size: with_moves(inputs(*size)),
        {"complicated_c100": ("complicated", 100)},
        wrt=("moves",),
        product="jacobian",
        own=PEERS,
        from_data=True,
        hand="hand",
        hand_peer="casadi_c",
        adapt=with_moves,
    ),
}
