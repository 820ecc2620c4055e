"""Columns of arrays with short rows in one piece: the same numbers, and only around loops that read them again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adgen
from adgen.frontend.lower import lower
from adgen.ir import core
from adgen.ir.interpret import run
from adgen.ir.nodes import Function, walk
from adgen.passes.columns import columns
from adgen.passes.pipeline import optimise, simplify
from adgen.runtime.signatures import describe_arguments
from tests.passes.support import assert_same


def lowered(function: Any, **arguments: Any) -> Function:
    return simplify(lower(function, describe_arguments(arguments)).function)


def allocs(function: Function) -> list[str]:
    return [o.result.name for o in walk(function.body) if o.row is core.ALLOC]


def pairs(x):
    """Distances of all pairs, by two of three columns."""
    total = 0.0
    for i in range(x.shape[0]):
        for j in range(i + 1, x.shape[0]):
            total += (x[i, 2] - x[j, 2]) ** 2 + abs(x[i, 0] - x[j, 0])
    return total


def once(x):
    """Every row is read once."""
    total = 0.0
    for i in range(x.shape[0]):
        for _ in range(3):
            total += x[i, 0] * x[i, 1]
    return total


def any_column(x):
    """Which column is decided at run time."""
    total = 0.0
    for i in range(x.shape[0]):
        for j in range(x.shape[0]):
            total += x[j, i % 2]
    return total


def moving(x):
    """The array is written between the passes over it."""
    for _ in range(4):
        for i in range(x.shape[0]):
            for j in range(i + 1, x.shape[0]):
                x[i, 0] = x[i, 0] + 0.1 * x[j, 0]
    return x[0, 0]


@pytest.mark.parametrize("shape", [(0, 3), (1, 3), (1, 0), (2, 3), (9, 5)])
def test_what_is_read_is_the_same(shape: tuple[int, int]) -> None:
    """For any number of rows, and where a column does not exist because no pair does."""
    x = np.random.default_rng(1).normal(size=shape)
    before = lowered(pairs, x=x)
    after = columns(before)
    assert allocs(after) == ["x_columns"]
    assert run(after, [x]).results == run(before, [x]).results


def few_rows(x):
    """A copy of the whole column would be more work than the loops."""
    total = 0.0
    for i in range(3):
        for j in range(i + 2):
            total += x[i, 0] * x[j, 0]
    return total


@pytest.mark.parametrize("function", [once, any_column, moving, few_rows])
def test_stays(function: Any) -> None:
    """No gain, or not known."""
    before = lowered(function, x=np.ones((4, 2)))
    assert columns(before) is before


def test_random_arguments() -> None:
    before = lowered(pairs, x=np.ones((4, 3)))
    assert_same(before, columns(before))


def test_gradient_of_pairs() -> None:
    """Increments of columns arrive in the array; checked against differences."""
    x = np.random.default_rng(2).normal(size=(70, 3))
    gradient = adgen.grad(pairs)(x)
    direction = np.random.default_rng(3).normal(size=x.shape)
    slope = (pairs(x + 1e-6 * direction) - pairs(x - 1e-6 * direction)) / 2e-6
    assert np.sum(gradient * direction) == pytest.approx(slope, rel=1e-6)
    assert not gradient[:, 1].any()


def test_operations_are_linear_in_pairs() -> None:
    """Copies cost a share of the rows, not of the pairs."""

    def count(n: int) -> float:
        before, x = lowered(pairs, x=np.ones((4, 3))), np.ones((n, 3))
        return run(optimise(before), [x]).counts.operations / (n * n)

    assert count(80) <= 1.05 * count(20)
