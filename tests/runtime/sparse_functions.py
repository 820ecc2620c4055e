"""Functions with sparse derivatives, and what to call them with; `n` is free."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import numpy as np

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "bundle_adjustment.py"
# ruff: noqa: D103


def example() -> Any:
    """The module of the example of bundle adjustment."""
    spec = importlib.util.spec_from_file_location("sparse_bundle_adjustment", EXAMPLE)
    assert spec is not None and spec.loader is not None
    module = sys.modules["sparse_bundle_adjustment"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


bundle = example()


def misses(cameras, points, camera_of, point_of, pixels):
    """How far each point is from where it was seen."""
    found = np.zeros((len(camera_of), 2))
    for m in range(len(camera_of)):
        u, v = bundle.project(cameras[camera_of[m]], points[point_of[m]])
        found[m, 0] = u - pixels[m, 0]
        found[m, 1] = v - pixels[m, 1]
    return found


def seen(cameras: int, points: int, observations: int) -> tuple[Any, ...]:
    """Arguments of `misses`: each observation of some camera and some point."""
    rng = np.random.default_rng(cameras)
    depth = [0.0, 0.0, 0.0, 0.0, 0.0, 5.0, 400.0, 0.0, 0.0]
    return (
        rng.normal(0.0, 0.1, (cameras, 9)) + depth,
        rng.normal(0.0, 1.0, (points, 3)),
        rng.integers(0, cameras, observations),
        rng.integers(0, points, observations),
        rng.normal(0.0, 100.0, (observations, 2)),
    )


def stencil(u):
    v = np.zeros(len(u))
    v[1:-1] = u[2:] * u[1:-1] - u[:-2] ** 2
    return v


def gathered(x, index):
    y = np.zeros(len(index))
    for i in range(len(index)):
        y[i] = x[index[i]] * x[index[i] - 1]
    return y


def scattered(x, index):
    y = np.zeros(7)
    for i in range(len(index)):
        y[index[i]] += x[i] ** 2
    return y


def arrow(x):
    y = np.zeros(len(x))
    y[0] = np.sum(x**2)
    y[1:] = x[0] * x[1:] + x[1:] ** 3
    return y


def branching(x):
    y = x**2
    for i in range(1, len(x)):
        if x[i] > 0.3:
            y[i] = x[i - 1] * x[i]
    return y


def newton(x):
    """Each element the root of its own equation, as many steps as it takes."""
    y = np.zeros(len(x))
    for i in range(len(x)):
        r = 1.0
        while abs(r**3 + r - x[i]) > 1e-12:
            r = r - (r**3 + r - x[i]) / (3.0 * r * r + 1.0)
        y[i] = r
    return y


def relaxed(x):
    """Sweeps until nothing moves: everything may depend on everything, at the latest after some sweeps."""
    u = x.copy()
    for _ in range(30):
        change = 0.0
        for i in range(1, len(u) - 1):
            new = 0.5 * (u[i - 1] + u[i + 1])
            change = max(change, abs(new - u[i]))
            u[i] = new
        if change < 1e-3:
            break
    return u


def looked_up(x, table):
    """The place in the table depends on a number."""
    y = np.zeros(len(x))
    for i in range(len(x)):
        k = int(x[i] * 10.0) % len(table)
        y[i] = table[k] * x[i]
    return y


def sorted_sums(x):
    return np.cumsum(np.sort(x))


def wide(x, a):
    """Fewer results than arguments, and rows and columns of nothing."""
    return np.array([x[0] * a, 1.0, x[2] * x[3]])


def several_results(x, s, k):
    return {"squares": x**2 * k, "number": x[0] * s, "count": k, "matrix": np.outer(x, x[:2])}


def in_place(x):
    x[1:] *= x[:-1]


def spread(x, y):
    return x * y + np.sin(x)


def of_a_dict(p):
    return p["a"] ** 2 * p["b"][0] + p["b"][1]


def nothing(x):
    return np.zeros(3)


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def beam(u):
    """Bending energy: five diagonals."""
    bend = u[2:] - 2.0 * u[1:-1] + u[:-2]
    return np.sum(bend**4) + np.sum(np.cos(u))


def hub(x):
    total = 0.0
    for i in range(1, len(x)):
        total += x[0] ** 2 * np.sin(x[i])
    return total


def grid(u):
    """Dirichlet energy on a square, with a potential."""
    across = u[:, 1:] - u[:, :-1]
    down = u[1:, :] - u[:-1, :]
    return np.sum(np.sqrt(1.0 + across**2)) + np.sum(down**4) + np.sum(u**4)


def two(x, y):
    return np.sum(x[:2] * y[0] ** 2) + np.exp(y[1])


def linear(x):
    return 3.0 * np.sum(x)


def numbers(n):
    return np.random.default_rng(n).uniform(-1.0, 1.0, n)


INDEX = np.array([1, 3, 3, 6, 2])
JACOBIANS = [
    (stencil, (numbers(7),)),
    (stencil, (numbers(2),)),
    (gathered, (numbers(7), INDEX), "x"),
    (scattered, (numbers(5), INDEX), "x"),
    (arrow, (numbers(9),)),
    (branching, (numbers(8),)),
    (newton, (numbers(5),)),
    (relaxed, (numbers(6),)),
    (looked_up, (numbers(5), numbers(4))),
    (sorted_sums, (numbers(5),)),
    (wide, (numbers(6), 0.5)),
    (several_results, (numbers(4), 0.3, 2)),
    (in_place, (numbers(5),)),
    (spread, (numbers(1), numbers(4))),
    (spread, (numbers(4), numbers(1))),
    (spread, (numbers(4), numbers(4))),
    (of_a_dict, ({"a": numbers(3), "b": (numbers(3), 0.5)},)),
    (nothing, (numbers(4),)),
    (nothing, (np.zeros(0),)),
    (gathered, (numbers(7), INDEX[:0]), "x"),
    (stencil, (numbers(6).astype(np.float32),)),
]
HESSIANS = [
    (rosenbrock, (numbers(6),)),
    (beam, (numbers(9),)),
    (hub, (numbers(7),)),
    (grid, (numbers(12).reshape(3, 4),)),
    (two, (numbers(4), numbers(3))),
    (linear, (numbers(4),)),
]
