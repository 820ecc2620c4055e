"""`gradcheck` with PyTorch's meaning, and all layers on functions that adgen compiles."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest

import adgen
from adgen import AdgenError
from adgen.operators import checking
from adgen.operators.checking import check_function


def cube(x):
    return x**3


def mixed(x, n, scale):
    y = np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        y[i] = np.sin(x[i]) * scale + n
    return y, np.sum(x * x)


def overwrite(x):
    for i in range(1, x.shape[0]):
        x[i] = x[i] * x[i - 1]


X = np.array([0.4, -1.3, 0.9])


def test_right_derivatives_pass() -> None:
    """Numbers, arrays, integers, several results, writes."""
    assert adgen.gradcheck(cube, (np.random.default_rng(0).normal(size=5),), eps=1e-6, atol=1e-4)
    assert adgen.gradcheck(cube, 1.5)
    assert adgen.gradcheck(mixed, (X, 2, 0.5))
    assert adgen.gradcheck(mixed, (X, 2, 0.5), fast=True)
    assert adgen.gradcheck(overwrite, (X,))


@pytest.mark.parametrize("mode", ["push", "pull"])
def test_a_wrong_derivative_is_named(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The offending entry, what it is and what differences give; or False."""
    right = checking.problem_of

    def wrong(*arguments):
        problem = right(*arguments)
        fields = {name: getattr(problem, name) for name in ("point", "python", "push", "pull", "single")}
        old = fields[mode]
        return SimpleNamespace(**{**fields, mode: lambda v: old(v) + np.array([0.0, 0.5, 0.0])})

    monkeypatch.setattr(checking, "problem_of", wrong)
    with pytest.raises(AdgenError, match="result 1|entry"):
        adgen.gradcheck(cube, (X,))
    assert not adgen.gradcheck(cube, (X,), raise_exception=False)


def test_all_layers() -> None:
    """Layers by name; the complex step only where the function is analytic."""
    layers = {layer.name: layer for layer in check_function(cube, {"x": X})}
    assert set(layers) == {"dot product", "complex step", "differences"}
    assert all(layer.passed for layer in layers.values())
    layers = {layer.name: layer for layer in check_function(overwrite, {"x": X})}
    assert all(layer.passed for layer in layers.values())
    layers = {layer.name: layer for layer in check_function(cube, {"x": X.astype("f4")})}
    assert all(layer.passed for layer in layers.values())


def test_derivatives_below_the_rounding_of_values_are_not_judged() -> None:
    """A derivative of 1e-63 beside a value of 6 cannot be seen by differences, which find nothing wrong then."""

    def saturated(x):
        return 5.0 + math.erf(x)

    layers = {layer.name: layer for layer in check_function(saturated, {"x": 12.0})}
    assert layers["differences"].error <= layers["differences"].tolerance
    assert "differences do not settle" in layers["differences"].remark
