"""Solvers of `scipy.optimize`: second derivatives, exceptions, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import optimize

import adgen
from adgen.diagnostics import AdgenError

POINT = np.array([1.5, 2.0])


def root(v: Any) -> Any:
    return optimize.brentq(lambda x: x**3 + v[0] * x - v[1] * np.exp(v[0]), 0.0, 9.0)


def test_second_derivatives() -> None:
    """The Hessian of a root is what differences of its gradient give."""
    gradient = adgen.grad(root)
    rows = [(gradient(POINT + 1e-5 * e) - gradient(POINT - 1e-5 * e)) / 2e-5 for e in np.eye(2)]
    assert np.allclose(adgen.hessian(root)(POINT), rows, rtol=1e-6)


def test_exceptions() -> None:
    """What SciPy raises is raised."""

    def same_sign(a: float) -> Any:
        return optimize.brentq(lambda x: x - a, 2.0, 3.0)

    def too_few(a: float) -> Any:
        return optimize.brentq(lambda x: x**3 - a, 0.0, 3.0, maxiter=2)

    def flat(a: float) -> Any:
        return optimize.newton(lambda x: x * x + a, 0.0, lambda x: 2.0 * x)

    for function, kind, text in (
        (same_sign, ValueError, r"f\(a\) and f\(b\) must have different signs"),
        (too_few, RuntimeError, "Failed to converge after 2 iterations"),
        (flat, RuntimeError, "Derivative was zero"),
    ):
        with pytest.raises(kind, match=text):
            function(1.0)
        with pytest.raises(kind, match=text):
            adgen.grad(function)(1.0)


def test_effects_are_refused() -> None:
    """A function that a solver calls leaves the memory around it alone."""

    def counted(a: float) -> Any:
        calls = np.zeros(1)

        def f(x: Any) -> Any:
            calls[0] += 1.0
            return x - a

        return optimize.bisect(f, 0.0, 3.0) + calls[0]

    with pytest.raises(AdgenError, match="changes something outside"):
        adgen.grad(counted)(1.0)


def test_counts_are_refused() -> None:
    """How many iterations were made is not known."""

    def steps(a: float) -> Any:
        _, result = optimize.brentq(lambda x: x - a, 0.0, 3.0, full_output=True)
        return result.iterations * a

    with pytest.raises(AdgenError, match="how many steps"):
        adgen.grad(steps)(1.0)
