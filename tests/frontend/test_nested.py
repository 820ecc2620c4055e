"""Derivative operators called inside a lowered function."""

from __future__ import annotations

import math

import numpy as np
import pytest

import adgen
from adgen.diagnostics import AdgenError
from adgen.frontend.lower import lower
from adgen.frontend.specs import ScalarSpec
from tests.frontend import harness

POWER = 3


def cube(x):
    return x**POWER * math.sin(x)


def energy(p):
    total = 0.0
    for i in range(len(p) - 1):
        total += (p[i] - p[i + 1] ** 2) ** 2
    return total


slope = adgen.grad(cube)


def uses_slope(x=0.5, y=0.7):
    return slope(x) * y + slope(y)


def descends(p=np.array([0.3, 0.7, -0.2]), n=3):
    for _ in range(n):
        value, direction = adgen.value_and_grad(energy)(p)
        p = p - 0.05 * direction
    return energy(p) + value


def descends_on_a_part(p=np.array([0.3, 0.7, -0.2])):
    q = 2.0 * p
    q[:-1] -= 0.05 * adgen.grad(energy)(q[:-1])
    return energy(q)


def of_a_part(p=np.array([0.3, 0.7, -0.2]), n=2):
    return np.sum(adgen.grad(energy)(p[:n])), (2.0 * p)[:n]


def spring(x, y, k):
    return math.sin(x) * y * y * k


def with_literals(x=0.3):
    return adgen.grad(spring, wrt="y")(x, 2.0, 3) + adgen.grad(spring)(1.5, x, 2).x


def test_value_agrees_with_python() -> None:
    """The compiled call gives what calling the operator gives, of the first elements of an array too."""
    for function in (uses_slope, descends, descends_on_a_part, of_a_part, with_literals):
        got, _ = harness.run(function, harness.samples(function))
        assert harness.agree(got, function(**harness.samples(function)))


def test_dependencies_reach_through_the_operator(monkeypatch: pytest.MonkeyPatch) -> None:
    """A constant that only the differentiated function reads is noted."""
    found = lower(uses_slope, {"x": ScalarSpec(), "y": ScalarSpec()}).dependencies
    assert any(str(dependency).endswith("POWER") for dependency in found)
    monkeypatch.setitem(globals(), "POWER", 2)
    assert not all(dependency.current() for dependency in found)


def test_inner_function_is_refused() -> None:
    """A function that is made inside has no derivative of its own."""

    def f(x):
        return adgen.grad(lambda y: y * x)(x)

    with pytest.raises(AdgenError, match="AD245"):
        lower(f, {})


def swirl(x):
    return np.sin(x) * x[::-1]


def cubes(y):
    return np.sum(y**3)


def two_arguments(a, x):
    return np.sum(a * np.sin(a * x))


def squared_jacobian(x):
    return np.sum(adgen.jacobian(swirl)(x) ** 2) + np.sum(adgen.jacrev(swirl)(x))


def sum_of_a_hessian(x):
    return np.sum(adgen.hessian(cubes)(x) * x)


def value_times_tangent(x):
    value, tangent = adgen.jvp(swirl)(x, tangent=x)
    return np.sum(value * tangent)


def curvature(x):
    return np.sum(adgen.hvp(cubes)(x, tangent=x[::-1]))


def curvature_of_two(x):
    found = adgen.hvp(two_arguments)(0.7, x, tangent=(1, 2.0 * x))
    (alone,) = adgen.hvp(two_arguments, wrt=("x",))(0.7, x, tangent=(x,))
    named = adgen.jvp(two_arguments)(0.7, x, tangent={"x": x, "a": x[0]})[1]
    return found.a + np.sum(found.x) + np.sum(alone) * named


def along_in_a_loop(x):
    total = 0.0
    for k in range(3):
        _, tangent = adgen.jvp(swirl)(x, tangent=np.ones(3) * k)
        total += np.sum(tangent)
        x = x + 0.1 * tangent
    return total


ALONG = [squared_jacobian, sum_of_a_hessian, value_times_tangent, curvature, curvature_of_two, along_in_a_loop]


@pytest.mark.parametrize("function", ALONG, ids=lambda function: function.__name__)
def test_products_and_matrices_inside(function) -> None:
    """Of directions that depend on the arguments: the value is Python's, the gradient is what differences say."""
    x = np.array([0.3, 0.7, 1.1])
    assert adgen.jit(function)(x) == pytest.approx(function(x), rel=1e-12)
    assert adgen.gradcheck(function, (x,))


def test_a_wrong_tangent_inside() -> None:
    """None, a shape that does not fit, a number for an array: refused as outside."""
    x = np.array([0.3, 0.7, 1.1])
    with pytest.raises(adgen.AdgenError, match="needs a tangent"):
        adgen.jit(lambda x: adgen.jvp(swirl)(x)[1])(x)
    with pytest.raises(ValueError, match="extent 2 along axis 0, not 3"):
        adgen.jit(lambda x: adgen.hvp(cubes)(x, tangent=x[:2]))(x)
    with pytest.raises(adgen.AdgenError, match="array of rank 1"):
        adgen.jit(lambda x: adgen.hvp(cubes)(x, tangent=1.0))(x)
