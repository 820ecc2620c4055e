"""Every layer of the check passes a right derivative and fails a wrong one, each for its own reason."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from adgen.runtime.checks import Layer, Problem, Vector, check, relative, richardson

pytestmark = pytest.mark.quick

MATRIX = np.array([[1.0, -2.0, 0.5], [0.3, 4.0, -1.0]])


def smooth(x: Vector) -> Vector:
    return np.sin(MATRIX @ x) * x[0]


def jacobian(x: Vector) -> Vector:
    inner = MATRIX @ x
    return np.cos(inner)[:, None] * MATRIX * x[0] + np.outer(np.sin(inner), [1.0, 0.0, 0.0])


POINT = np.array([0.7, -0.2, 1.1])
RIGHT = Problem(POINT, smooth, lambda v: jacobian(POINT) @ v, lambda w: w @ jacobian(POINT))


def found(problem: Problem) -> dict[str, Layer]:
    return {layer.name: layer for layer in check(problem)}


def test_a_right_derivative_passes_all_layers() -> None:
    """To rounding where the oracle has no step size, and to 1e-7 by differences."""
    layers = found(RIGHT)
    assert set(layers) == {"dot product", "complex step", "differences"}
    assert all(layer.passed for layer in layers.values())
    assert layers["complex step"].error < 1e-13


@pytest.mark.parametrize("fault", [1e-6, 1e-3, 1.0])
def test_a_fault_in_both_modes_is_seen(fault: float) -> None:
    """The dot product cannot see a fault that the modes share; the other layers can."""
    wrong = jacobian(POINT)
    wrong[1, 2] += fault
    layers = found(replace(RIGHT, push=lambda v: wrong @ v, pull=lambda w: w @ wrong))
    assert layers["dot product"].passed
    assert not layers["complex step"].passed and not layers["differences"].passed


def test_a_fault_in_one_mode_is_seen() -> None:
    """The dot product sees 1e-8 in the reverse mode alone."""
    wrong = jacobian(POINT)
    wrong[0, 1] *= 1 + 1e-8
    assert not found(replace(RIGHT, pull=lambda w: w @ wrong))["dot product"].passed


def test_a_nan_is_no_pass() -> None:
    """A derivative that is NaN where the function is smooth fails."""
    layers = found(replace(RIGHT, push=lambda v: np.full(2, np.nan)))
    assert not layers["differences"].passed


@pytest.mark.parametrize(
    "function",
    [lambda x: np.abs(x) * 2.0, lambda x: np.maximum(x, 0.1), lambda x: np.array([float(t) ** 2 for t in x])],
    ids=["abs", "maximum", "float"],
)
def test_no_complex_step_where_it_would_lie(function: Callable[[Vector], Vector]) -> None:
    """Functions that drop or refuse imaginary parts are judged by differences."""
    slope = {0: 2.0 * np.sign(POINT), 1: (POINT > 0.1) * 1.0, 2: 2.0 * POINT}
    right = next(
        s for s in slope.values() if np.allclose(s, (function(POINT + 1e-7) - function(POINT)) / 1e-7, atol=1e-5)
    )
    layers = found(Problem(POINT, function, lambda v: right * v, lambda w: right * w))
    assert all(layer.passed for layer in layers.values())
    wrong = found(Problem(POINT, function, lambda v: 3.0 * right * v, lambda w: 3.0 * right * w))
    assert not wrong["differences"].passed


def test_kinks_are_reported_not_judged() -> None:
    """At a kink differences do not settle on the convention's value, and the report says so."""
    kink = Problem(np.zeros(1), lambda x: np.abs(x) + np.where(x > 0, x, 0.0), lambda v: v, lambda w: w)
    layers = found(kink)
    assert layers["differences"].remark or not layers["differences"].passed


def test_outside_the_domain() -> None:
    """A step that leaves the domain of the function is no fault of the derivative."""

    def function(x: Vector) -> Vector:
        if (x < 0.999).any():
            raise ValueError
        return x**2

    layers = found(Problem(np.ones(2), function, lambda v: 2.0 * v, lambda w: 2.0 * w))
    assert all(layer.passed for layer in layers.values())


def test_richardson_is_accurate() -> None:
    """Extrapolation reaches far more digits than one difference, and knows how many."""
    problem = Problem(np.array([1.0]), np.exp, lambda v: v, lambda w: w)
    value, error = richardson(problem, np.ones(1))
    assert abs(value[0] - np.e) < 1e-10 and error < 1e-8


def test_relative() -> None:
    """Equal infinities and NaNs do not differ; different ones do."""
    inf, nan = np.inf, np.nan
    assert relative(np.array([inf, nan, 1.0]), np.array([inf, nan, 1.0])) == 0.0
    assert relative(np.array([inf]), np.array([1.0])) == inf
    assert not relative(np.array([nan]), np.array([1.0])) <= 1.0


def test_a_derivative_that_is_zero_because_its_terms_cancel() -> None:
    """What rounding leaves of it is no fault; a wrong derivative as small as that beside the value is one."""

    def gradient(x):
        return np.array([1.0 / (1.0 + np.exp(-x[0])) + 1.0 / (1.0 + np.exp(x[0]))])

    point, noise = np.array([0.4]), np.array([3e-17])
    passing = Problem(point, gradient, lambda v: v * noise, lambda w: -w * noise)
    assert check(passing)[0].passed
    large = 1e6
    slope = np.array([1e-4])
    wrong = Problem(point, lambda x: large + slope * x, lambda v: v * slope, lambda w: 1.001 * w * slope)
    assert not check(wrong)[0].passed
