"""Whole matrices whose loops leave out what is zero along unit directions: the same entries, and fewer operations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from adgen.driver import lower_function
from adgen.ir.interpret import run
from adgen.passes.pipeline import optimise
from adgen.runtime.differentiate import differentiate
from adgen.runtime.signatures import describe_arguments
from adgen.runtime.wrt import resolve
from tests.passes.matrix_oracle import check_matrix

RNG = np.random.default_rng(3)


def shifted(x):
    """Neighbours on both sides, by slices."""
    return x[1:] * x[:-1] ** 2 - np.sin(x[1:])


def twice(x):
    """A stencil of a stencil: the window grows."""
    y = x[2:] - 2.0 * x[1:-1] * x[:-2]
    return y[2:] * y[:-2] + y[1:-1]


def backwards(x):
    """The last element first."""
    y = np.zeros(len(x))
    for i in range(len(x) - 1, 0, -1):
        y[i] = x[i] * x[i - 1]
    return y


def mirrored(x):
    """An index that falls while the loop's grows."""
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[len(x) - 1 - i] = x[i] ** 2
    return y


def overwritten(x):
    """What was stored by an earlier iteration is stored over by zeros of a later one."""
    y = np.zeros(len(x) + 1)
    for i in range(len(x)):
        y[i] = x[i]
        y[i + 1] = x[i] ** 2
    for i in range(len(x) - 1):
        y[i] = x[i + 1] * y[i]
    return y


def at_one_place(x):
    """All iterations store into the same element."""
    y = np.zeros(2)
    for i in range(len(x)):
        y[1] = x[i] ** 2
    return y


def running(x):
    """Sums that are stored as they grow, and a product."""
    y, s, p = np.zeros(len(x)), 0.0, 1.0
    for i in range(len(x)):
        s += x[i] ** 2
        p = p * x[i]
        y[i] = s * 0.5
    return y * p + s


def chosen(x):
    """Branches on numbers, sums under a mask."""
    y, s = np.zeros(len(x)), 0.0
    for i in range(1, len(x)):
        if x[i] > 0.0:
            y[i] = x[i] ** 3
            s += x[i - 1] * x[i]
    return y + s


def gathered(x):
    """Elements in another order, and every second one."""
    order = np.array([2, 0, 1, 0, 3, 2])
    y = np.zeros(len(x))
    for i in range(len(x) // 2):
        y[i] = x[2 * i] ** 2
    return np.concatenate([y[:6] * x[order], x[::2]])


def inside(x):
    """A product with a matrix, a table, a nest that is narrowed within one that is not."""
    a = np.sin(np.arange(3.0 * len(x)).reshape(3, len(x)))
    return np.tanh(a @ x), np.exp(x) * (a @ x)[0]


def in_steps(x):
    """A stencil over and over."""
    u = x.copy()
    for _ in range(3):
        v = u.copy()
        v[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2.0 * u[1:-1] + u[:-2]) * u[1:-1]
        u = v
    return u


def rosenbrock(x):
    s = 0.0
    for i in range(len(x) - 1):
        s += 100.0 * (x[i + 1] - x[i] ** 2) ** 2 + (1.0 - x[i]) ** 2
    return s


FUNCTIONS = [
    shifted, twice, backwards, mirrored, overwritten, at_one_place, running, chosen, gathered, inside, in_steps,
]  # fmt: skip


def program(function: Callable[..., Any], product: str, size: int) -> Any:
    """A product, made ready for emission."""
    specs = describe_arguments({"x": np.ones(size)})
    return optimise(differentiate(lower_function(function, specs), product, resolve(None, specs, "f")).function)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_every_entry(function: Callable[..., Any]) -> None:
    """By columns and by rows, for fewer directions than stand side by side, as many, and more."""
    lowered = lower_function(function, describe_arguments({"x": np.ones(9)})).function
    for size in (7, 17):
        check_matrix(lowered, [RNG.normal(size=size)])


@pytest.mark.parametrize(("function", "product"), [(rosenbrock, "hessian"), (twice, "jacfwd"), (shifted, "jacrev")])
def test_banded_matrices_cost_as_much_as_their_bands(function: Callable[..., Any], product: str) -> None:
    """Four times the size, four times the operations."""
    made = program(function, product, 9)
    counts = [run(made, [RNG.normal(size=size)]).counts.operations for size in (64, 256)]
    assert counts[1] < 4.5 * counts[0]


def test_what_no_direction_enters_is_done_once() -> None:
    """The exponentials of a vector are not taken again for each eight directions."""

    def weighted(x):
        return np.exp(np.sum(x)) * x + np.log(np.sum(x * x))

    made = program(weighted, "jacfwd", 9)
    counts = [run(made, [RNG.normal(size=size)]).counts for size in (8, 64)]
    assert counts[0].rows["exp"] == counts[1].rows["exp"] == 1
