"""What a gradient costs when its problem grows: operations and workspace, counted, grow as the mathematics does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from adgen.emit import plan_memory
from adgen.ir.interpret import run
from tests.oracles import fresh
from tests.test_cost import burgers, example, functions

normal = np.random.default_rng(0).standard_normal


def mixture(n: int) -> Sequence[Any]:
    return normal(5), normal((5, 3)), 0.1 * normal((5, 3)), normal((n, 3))


def network(n: int) -> Sequence[Any]:
    return normal((4, 3, 2)), normal((4, 3, 3)), normal((4, 3)), normal((n, 2)), normal((n, 3))


def particles(n: int) -> Sequence[Any]:
    return np.arange(3.0 * n).reshape(n, 3) + 0.1 * normal((n, 3)), 1.0, 2.0, 1e6


def observations(n: int) -> Sequence[Any]:
    cameras = 0.1 * normal((4, 9)) + [0, 0, 0, 0, 0, 5.0, 1.0, 0, 0]
    return cameras, normal((6, 3)), np.arange(n) % 4, np.arange(n) % 6, normal((n, 2))


def options(n: int) -> Sequence[Any]:
    return normal(n), *(1.0 + abs(normal(n)) for _ in range(3)), 0.1, 0.3 + abs(normal(n))


def rod(n: int) -> Sequence[Any]:
    return normal(n), 1.0 + abs(normal(n)), normal(n), 5, 0.01


def steps(n: int) -> Sequence[Any]:
    return normal(12), 1.0 + abs(normal(12)), normal(12), n, 0.01


def chain(n: int) -> Sequence[Any]:
    return (normal(n),)


def joints(n: int) -> Sequence[Any]:
    return normal(n), normal(n), normal(3)


def cells(n: int) -> Sequence[Any]:
    return normal(n), normal(n), 0.1, 0.2, 6


GROWTH: dict[str, tuple[str, str, Callable[[int], Sequence[Any]], int, int]] = {
    # file, function, arguments of a size, degree of the operations, degree of the workspace (0: no growth)
    "gaussian mixture": ("gaussian_mixture", "mixture", mixture, 1, 0),
    "lstm": ("lstm", "loss", network, 1, 1),
    "lennard-jones": ("lennard_jones", "energy", particles, 2, 1),
    "bundle adjustment": ("bundle_adjustment", "cost", observations, 1, 0),
    "black-scholes": ("black_scholes", "book", options, 1, 0),
    "heat, cells": ("heat", "misfit", rod, 1, 1),
    "heat, steps": ("heat", "misfit", steps, 1, 1),
    "rosenbrock": ("rosenbrock", "rosenbrock", chain, 1, 0),
    "robot arm": ("robot_arm", "miss", joints, 1, 1),
    "burgers": ("", "burgers", cells, 1, 1),
}


def cost(function: Callable[..., Any], arguments: Sequence[Any]) -> tuple[int, int]:
    """Floating-point operations and bytes of workspace of a gradient."""
    _, gradient = functions(function, arguments)
    return run(gradient, fresh(arguments)).counts.operations, plan_memory(gradient).bytes_at(fresh(arguments))


@pytest.mark.parametrize("name", GROWTH)
def test_growth(name: str) -> None:
    """From n to 2n and from 2n to 4n: the increase doubles for what is linear, and is four times for pairs."""
    file, title, arguments, degree, memory = GROWTH[name]
    function = example(file, title) if file else burgers
    few, more, most = (cost(function, arguments(n)) for n in (40, 80, 160))
    operations = [few[0], more[0], most[0]]
    growth = (operations[2] - operations[1]) / (operations[1] - operations[0])
    assert growth == pytest.approx(2**degree, rel=0.1)
    if memory:
        assert (most[1] - more[1]) <= 2.05 * (more[1] - few[1])
    else:
        assert most[1] == more[1] == few[1]
