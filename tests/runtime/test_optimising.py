"""What SciPy's optimisers and integrators take, against known minima and integrals."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
import scipy.integrate
import scipy.optimize

import adgen
from adgen import AdgenError


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def shifted(x, centre, scale=1.0):
    return scale * np.sum((x - centre) ** 2 * (1.0 + x**2))


def decay(p, t, y):
    return p[0] * np.exp(-p[1] * t) - y


START = np.array([-1.2, 1.0, 0.5])


@pytest.mark.parametrize(
    ("method", "used"),
    [("BFGS", ("jac",)), ("L-BFGS-B", ("jac",)), ("Newton-CG", ("jac", "hessp")), ("trust-exact", ("jac", "hess"))],
)
def test_minimize(method: str, used: tuple[str, ...]) -> None:
    """Each method finds the minimum with the derivatives that it takes, without a warning."""
    problem = adgen.scipy_problem(rosenbrock)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        given = {name: getattr(problem, name) for name in used}
        found = scipy.optimize.minimize(problem.fun, START, method=method, **given)
    assert np.allclose(found.x, 1.0, atol=1e-4)


def test_derivatives_are_those_of_the_function() -> None:
    """`jac`, `hess` and `hessp` against SciPy's own closed forms, which are the same function's."""
    problem, direction = adgen.scipy_problem(rosenbrock), np.array([1.0, -2.0, 0.5])
    assert np.isclose(problem.fun(START), scipy.optimize.rosen(START))
    assert np.allclose(problem.jac(START), scipy.optimize.rosen_der(START))
    assert np.allclose(problem.hess(START), scipy.optimize.rosen_hess(START))
    assert np.allclose(problem.hessp(START, direction), scipy.optimize.rosen_hess_prod(START, direction))


def test_other_parameters_are_args() -> None:
    """What is not the first parameter is passed by SciPy and not differentiated for."""
    problem, centre = adgen.scipy_problem(shifted), np.array([0.1, -0.2])
    given = {"args": (centre, 2.0), "jac": problem.jac, "hess": problem.hess, "options": {"gtol": 1e-9}}
    found = scipy.optimize.minimize(problem.fun, np.ones(2), method="trust-exact", **given)
    assert np.allclose(problem.jac(found.x, centre, 2.0), 0.0, atol=1e-6)


def test_least_squares() -> None:
    """For residuals `jac` is their Jacobian."""
    t = np.linspace(0.0, 2.0, 9)
    y = 3.0 * np.exp(-0.7 * t)
    problem = adgen.scipy_problem(decay)
    found = scipy.optimize.least_squares(problem.fun, np.ones(2), jac=problem.jac, args=(t, y))
    assert np.allclose(found.x, [3.0, 0.7])
    assert problem.jac(found.x, t, y).shape == (9, 2)


# -- callbacks ---------------------------------------------------------------------------------------------------------


def bell(x: float) -> float:
    return math.exp(-x * x)


def damped(x: float, rate: float, frequency: float) -> float:
    return math.exp(-rate * x) * math.sin(frequency * x)


def polynomial(x: "f64[n]") -> float:  # noqa: F821, UP037
    total = 0.0
    for k in range(len(x)):
        total += (k + 1) * x[k] ** 2
    return total


def stepwise(x: float) -> float:
    """Its reverse sweep needs memory."""
    path = np.zeros(5)
    path[0] = x
    for k in range(4):
        path[k + 1] = math.sin(path[k]) * path[k] + 0.1 * x
    return path[4]


def positive(x: float) -> float:
    if x < 0.0:
        raise ValueError("negative")
    return math.sqrt(x)


def test_quad_of_one_float() -> None:
    """`quad` calls `double (double)`."""
    called = adgen.low_level(bell)
    assert called.signature == "double (double)"
    assert np.isclose(scipy.integrate.quad(called, -np.inf, np.inf)[0], math.sqrt(math.pi))


def test_quad_of_several_floats() -> None:
    """`quad` integrates over the first and passes `args` for the others."""
    found = scipy.integrate.quad(adgen.low_level(damped), 0.0, np.inf, args=(0.5, 2.0))[0]
    assert np.isclose(found, 2.0 / (0.25 + 4.0))


def test_a_gradient_is_integrated() -> None:
    """An operator on a function is a function: the integral of a derivative is the difference of the values."""
    for function in (bell, stepwise):
        found = scipy.integrate.quad(adgen.low_level(adgen.grad(function)), 0.2, 1.1)[0]
        assert np.isclose(found, function(1.1) - function(0.2))


def test_a_vector() -> None:
    """A vector comes as its length and its numbers."""
    found, _ = scipy.integrate.nquad(adgen.low_level(polynomial), [(0.0, 1.0), (0.0, 1.0)])
    assert np.isclose(found, 1.0)


def test_failure_is_not_a_number() -> None:
    """What raises in Python, and a wrong number of arguments, give not-a-number."""
    root = adgen.low_level(positive)
    assert np.isclose(scipy.integrate.quad(root, 0.0, 1.0)[0], 2.0 / 3.0)
    with pytest.warns(scipy.integrate.IntegrationWarning):
        assert math.isnan(scipy.integrate.quad(root, -1.0, 1.0)[0])
    with pytest.warns(scipy.integrate.IntegrationWarning):
        assert math.isnan(scipy.integrate.quad(adgen.low_level(damped), 0.0, 1.0, args=(0.5,))[0])


def with_an_int(x: float, k: int) -> float:
    return x**k


def pair(x: float):
    return x, x


def writes(x: "f64[n]") -> float:  # noqa: F821, UP037
    x[0] = 1.0
    return x[0]


@pytest.mark.parametrize(
    ("function", "message"),
    [(with_an_int, "parameters are x: .*k: "), (pair, "not one float"), (writes, "not one float")],
)
def test_what_c_cannot_call(function, message: str) -> None:
    """Other parameters and results are refused with what they are."""
    with pytest.raises(AdgenError, match=message):
        adgen.low_level(function)
