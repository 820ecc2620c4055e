"""Integrals of functions: what is refused while the program runs, and derivatives of second order."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import integrate

import adgen
from adgen.diagnostics import AdgenError


@pytest.mark.parametrize("place", [0.31, 0.5, 0.75])
def test_jumps(place: float) -> None:
    """The derivative for the place of a jump is not the sum of those of the integrand, so a jump is an error."""

    def step(a: float) -> Any:
        return integrate.quad(lambda x: 1.0 if x > a else 0.0, 0.0, 1.0)[0]

    with pytest.raises(RuntimeError, match="jumps"):
        adgen.grad(step)(place)


def test_divergence() -> None:
    """An integral that is not finite is an error."""

    def pole(a: float) -> Any:
        return integrate.quad(lambda x: a / x, 0.0, 1.0)[0]

    with pytest.raises(RuntimeError, match="converge"):
        adgen.jit(pole)(1.0)


def test_singular_ends() -> None:
    """A singularity at the lower end does not matter."""

    def root(a: float, b: float) -> Any:
        return integrate.quad(lambda x: x**-a, 0.0, b)[0]

    value, gradient = adgen.value_and_grad(root)(0.5, 2.0)
    assert np.isclose(value, 2.0 * math.sqrt(2.0), rtol=1e-12)
    assert np.allclose(gradient, (4.0 * math.sqrt(2.0) - math.sqrt(2.0) * 2.0 * math.log(2.0), 2.0**-0.5), rtol=1e-9)


def test_second_derivatives() -> None:
    """They are the integrals of the integrand's."""

    def bell(s: float) -> Any:
        return integrate.quad(lambda x: math.exp(-s * x * x), -np.inf, np.inf)[0]

    assert np.isclose(adgen.hessian(bell)(2.0), 0.75 * math.sqrt(math.pi) * 2.0**-2.5, rtol=1e-10)


def test_estimate_is_refused() -> None:
    """The error estimate is another one than QUADPACK's."""

    def both(a: float) -> Any:
        value, error = integrate.quad(lambda x: a * x, 0.0, 1.0)
        return value + error

    with pytest.raises(AdgenError, match="error estimate"):
        adgen.grad(both)(1.0)
