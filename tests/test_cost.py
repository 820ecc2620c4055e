"""The cheap-gradient principle, counted exactly: a gradient costs a small multiple of its function, at every size."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adgen.frontend.lower import lower
from adgen.ir.interpret import run
from adgen.ir.nodes import Function
from adgen.passes.adjoint import adjoint
from adgen.passes.localise import localise
from adgen.passes.pipeline import keep_results, optimise, simplify
from adgen.runtime.signatures import describe_arguments
from tests.oracles import floats, fresh

EXAMPLES = Path(__file__).parent.parent / "examples"
LIMIT = 4.0


def example(file: str, name: str) -> Callable[..., Any]:
    """A function of an example file."""
    spec = importlib.util.spec_from_file_location(f"cost_{file}", EXAMPLES / f"{file}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    function: Callable[..., Any] = getattr(module, name)
    return function


def burgers(u0, target, c, d, steps):
    """A nonlinear stencil in time: every state is read again by the reverse sweep."""
    u = u0.copy()
    for _ in range(steps):
        new = u.copy()
        new[1:-1] = u[1:-1] - c * u[1:-1] * (u[2:] - u[:-2]) + d * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        u = new
    return 0.5 * np.sum((u - target) ** 2)


def inputs(name: str, n: int) -> Sequence[Any]:
    """Arguments of a size."""
    normal = np.random.default_rng(0).standard_normal
    if name == "mixture":
        return normal(5), normal((5, 3)), 0.1 * normal((5, 3)), normal((n, 3))
    if name == "loss":
        return normal((4, 3, 2)), normal((4, 3, 3)), normal((4, 3)), normal((n, 2)), normal((n, 3))
    if name == "energy":
        return np.arange(3.0 * n).reshape(n, 3) + 0.1 * normal((n, 3)), 1.0, 2.0, 100.0
    return normal(n), normal(n), 0.1, 0.2, 6


def functions(function: Callable[..., Any], arguments: Sequence[Any]) -> tuple[Function, Function]:
    """The optimised primal, and its gradient alone."""
    names = function.__code__.co_varnames
    specs = describe_arguments(dict(zip(names, arguments)))
    primal = localise(simplify(lower(function, specs).function))
    derived = adjoint(primal, floats(primal), "one")
    gradients = derived.result_names[len(primal.results) :]
    return optimise(primal), optimise(keep_results(derived, gradients))


def ratio(function: Callable[..., Any], name: str, n: int) -> float:
    """Floating-point operations of the gradient over those of the function."""
    arguments = inputs(name, n)
    primal, gradient = functions(function, arguments)
    counts = [run(each, fresh(arguments)).counts.operations for each in (primal, gradient)]
    return counts[1] / counts[0]


@pytest.mark.parametrize(
    ("file", "name"), [("gaussian_mixture", "mixture"), ("lstm", "loss"), ("lennard_jones", "energy"), ("", "burgers")]
)
def test_a_gradient_costs_at_most_four_times_its_function(file: str, name: str) -> None:
    """And the ratio does not grow with the size."""
    function = example(file, name) if file else burgers
    small, large = ratio(function, name, 12), ratio(function, name, 48)
    assert small <= LIMIT and large <= LIMIT
    assert large <= 1.1 * small


def centred(x):
    x -= np.mean(x * x, axis=0)
    x[:] = np.sin(x[0] * x[1])
    return np.sum(x)


def test_what_is_repeated_is_computed_once() -> None:
    """An expression that is broadcast by an assignment is computed for each of its own elements only."""
    counts = []
    for n in (10, 20):
        x = np.random.default_rng(0).standard_normal((n, 3))
        lowered = lower(centred, describe_arguments({"x": x}))
        counts.append(run(optimise(lowered.function), [x]).counts.operations)
    assert counts[1] <= 2 * counts[0]
