"""Inputs are found for functions whose shapes nobody gave."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from adgen.frontend.specs import ArraySpec, ScalarSpec, Spec
from adgen.ir.types import F32, F64, I64
from adgen.runtime.samples import sample
from adgen.runtime.shapes import Extents

pytestmark = pytest.mark.quick

VECTOR, MATRIX, NUMBER, COUNT = ArraySpec(F64, 1), ArraySpec(F64, 2), ScalarSpec(F64), ScalarSpec(I64)


def triangular(icf, means):
    d = means.shape[1]
    return sum(icf[k, i] for k in range(means.shape[0]) for i in range(d * (d + 1) // 2))


def pieces(camera, feature):
    return np.cross(camera[0:3], camera[3:6]) @ camera[9:12] * (feature - camera[1:3])


def chain(a, b, c):
    return np.sum((a @ b) @ c)


def gathered(values, index):
    return sum(values[i] for i in index)


def seven(q):
    return sum(math.cos(q[i]) for i in range(7))


def logarithm(x):
    return np.log(1.0 - x) + np.sqrt(x - 0.05)


def guarded(rate, n):
    if rate < 1.0 or n < 2:
        raise ValueError("bad")
    return rate**n


def square_only(a):
    return np.trace(np.linalg.inv(a + 9.0 * np.eye(a.shape[0])))


def unpacked(points):
    return sum(x * y + z for x, y, z in points)


@pytest.mark.parametrize(
    ("function", "specs"),
    [
        (triangular, {"icf": MATRIX, "means": MATRIX}),
        (pieces, {"camera": VECTOR, "feature": VECTOR}),
        (chain, {"a": MATRIX, "b": MATRIX, "c": VECTOR}),
        (gathered, {"values": VECTOR, "index": ArraySpec(I64, 1)}),
        (seven, {"q": VECTOR}),
        (logarithm, {"x": VECTOR}),
        (guarded, {"rate": NUMBER, "n": COUNT}),
        (square_only, {"a": MATRIX}),
        (unpacked, {"points": MATRIX}),
    ],
)
def test_found(function: Callable[..., Any], specs: dict[str, Spec]) -> None:
    """The function runs on what is found, and the same is found again."""
    first, second = sample(function, specs), sample(function, specs)
    assert first is not None and second is not None
    assert np.isfinite(function(**first)).all()
    assert all(np.array_equal(first[name], second[name]) for name in specs)


def test_named_extents() -> None:
    """Equal names are equal extents, numbers are kept, and the rest differ."""
    specs = {"x": ArraySpec(F64, 2, ("n", 3)), "y": ArraySpec(F32, 2, ("n", ":"))}
    found = sample(lambda x, y: x.sum() + y.sum(), specs)
    assert found is not None
    assert found["x"].shape[0] == found["y"].shape[0] and found["x"].shape[1] == 3
    assert found["y"].dtype == np.float32 and found["y"].shape[1] != 3


@pytest.mark.parametrize(
    "function",
    [lambda x: x[len(x)], lambda x: float("nan") * x, lambda x: [None for _ in iter(int, 1)]],
    ids=["never in range", "never finite", "endless"],
)
def test_nothing_found(function: Callable[..., Any]) -> None:
    """A function without valid inputs, or that does not end, gives None in bounded time."""
    assert sample(function, {"x": VECTOR}) is None


def test_repairs() -> None:
    """What each kind of message changes."""
    extents = Extents.of({("a", 0): "", ("a", 1): "", ("b", 0): ""}, 5)
    assert extents.shape("a", 2) == (5, 6) and extents.shape("b", 1) == (7,)
    assert extents.repaired("IndexError: index 9 is out of bounds for axis 0 with size 6")
    assert extents.shape("a", 2)[1] > 9
    assert extents.repaired("ValueError: operands could not be broadcast together with shapes (5,) (7,)")
    assert extents.shape("a", 2)[0] == extents.shape("b", 1)[0]
    assert extents.repaired("matmul: ... (size 4 is different from 5)")
    assert extents.shape("b", 1) == (4,)
    assert not extents.repaired("ValueError: math domain error")
