"""`root`, `fixed_point`, `linear_solve`: higher derivatives, exceptions, what is refused, ahead of time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adgen
from adgen.diagnostics import AdgenError

POINT = np.array([0.5, 0.3])


def both(p: Any) -> Any:
    """The sum of a root in two unknowns, which `p` occurs in."""

    def residual(x: Any) -> Any:
        return np.array([x[0] ** 2 + x[1] * p[0] - 2.0, np.exp(x[0] * p[1]) + x[1] - 2.0])

    x = adgen.root(residual, np.ones(2))
    return x[0] * x[1] + np.sum(x) * p[1]


def test_second_derivatives() -> None:
    """The Hessian is what differences of the gradient give, in both ways to compute it."""
    gradient = adgen.grad(both)
    rows = np.array([(gradient(POINT + 1e-5 * e) - gradient(POINT - 1e-5 * e)) / 2e-5 for e in np.eye(2)])
    assert np.allclose(adgen.hessian(both)(POINT), rows, rtol=1e-7)
    assert np.allclose(adgen.jacrev(gradient)(POINT), rows, rtol=1e-7)


def test_third_derivative() -> None:
    """`x**3 = a` has `x = a**(1/3)`."""
    third = adgen.grad(adgen.grad(adgen.grad(lambda a: adgen.root(lambda x: x**3 - a, 1.0))))
    assert np.isclose(third(2.0), 10.0 / 27.0 * 2.0 ** (-8.0 / 3.0), rtol=1e-12)


@pytest.mark.parametrize("seed", range(2))
def test_random_systems(seed: int) -> None:
    """Both modes agree with the derivative of the inverse function at random systems of three unknowns."""
    generator = np.random.default_rng(seed)
    a, b = generator.normal(size=(3, 3)) + 4.0 * np.eye(3), generator.normal(size=3)

    def solved(b: Any) -> Any:
        return adgen.root(lambda x: a @ x + np.sin(x) - b, np.zeros(3))

    x = solved(b)
    wanted = np.linalg.inv(a + np.diag(np.cos(x)))
    assert np.allclose(adgen.jacfwd(solved)(b), wanted, rtol=1e-11, atol=1e-13)
    assert np.allclose(adgen.jacrev(solved)(b), wanted, rtol=1e-11, atol=1e-13)


def test_the_guess_has_no_derivative() -> None:
    """Neither that of `root` nor the start of `fixed_point`."""
    assert adgen.grad(lambda g: adgen.root(lambda x: x**3 - 8.0, g))(1.5) == 0.0
    assert adgen.grad(lambda g: adgen.fixed_point(lambda x: np.cos(x), g))(0.5) == 0.0


def test_single_precision() -> None:
    """A float32 start gives a float32 root."""
    start = np.ones(2, dtype=np.float32)

    def f(b: Any) -> Any:
        return np.sum(adgen.root(lambda x: x * x - b, start, tol=1e-5))

    b = np.array([4.0, 9.0], dtype=np.float32)
    gradient = adgen.grad(f)(b)
    assert gradient.dtype == np.float32 and np.allclose(gradient, [0.25, 1.0 / 6.0], rtol=1e-6)


def test_exceptions() -> None:
    """Searches that do not end, singular slopes."""

    def none(a: Any) -> Any:
        return adgen.root(lambda x: x * x + a, 1.0)

    def away(a: Any) -> Any:
        return adgen.fixed_point(lambda x: 2.0 * x + a, np.ones(2), maxiter=20)[0]

    def flat(a: Any) -> Any:
        return adgen.root(lambda x: np.array([a * x[0], a * x[0]]), np.ones(2))[0]

    for function, kind, text in (
        (none, RuntimeError, "did not converge"),
        (away, RuntimeError, "did not converge"),
        (flat, np.linalg.LinAlgError, "[Ss]ingular"),
    ):
        with pytest.raises(kind, match=text):
            adgen.grad(function)(1.0)


def test_what_is_refused() -> None:
    """Effects, matrices, residuals of another shape."""

    def counting(a: Any) -> Any:
        calls = np.zeros(1)

        def residual(x: Any) -> Any:
            calls[0] += 1.0
            return x - a

        return adgen.root(residual, 1.0) + calls[0]

    for function, text in (
        (counting, "AD148"),
        (lambda a: np.sum(adgen.root(lambda x: x - a, np.ones((2, 2)))), "AD302.*array of rank 2"),
        (lambda a: np.sum(adgen.root(lambda x: np.sum(x) - a, np.ones(2))), "AD147"),
        (lambda a: np.sum(adgen.root(lambda x: x[:1] - a, np.ones(2))), "extent 1 along axis 0, not 2"),
    ):
        with pytest.raises((AdgenError, ValueError), match=text):
            adgen.grad(function)(1.0)


def test_ahead_of_time(tmp_path: Path) -> None:
    """A compiled package has the same derivatives, which the command checks."""
    (tmp_path / "solving.py").write_text(SOURCE)
    command = [sys.executable, "-m", "adgen", "compile", "solving.py", "--emit", "value,grad"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0 and "dot product" in done.stdout, done.stderr
    compiled = adgen.load(tmp_path / "build" / "solving_ad")
    value, gradient = compiled.f_value_and_grad(9.0, 1.0)
    assert np.isclose(value, 3.0) and np.isclose(gradient.a, 1.0 / 6.0) and np.isclose(gradient.c, 3.0)


SOURCE = """
import adgen
import numpy as np

def f(a: float, c: float) -> float:
    return c * adgen.root(lambda x: x * x - a, 2.0)
"""
