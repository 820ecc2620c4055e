"""Seeds of pullbacks, and gradients that are written into arrays or added to them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adgen
from adgen.diagnostics import AdgenError


def squares(x: Any) -> Any:
    return x**2


def weighted(x: Any, a: Any) -> Any:
    return a * np.sum(x * x)


def test_seeds() -> None:
    """A number needs none; what is not a number does, and the error says how to pass it."""
    x = np.array([1.0, 2.0, 3.0])
    assert adgen.vjp(squares)(3.0)[1]() == 6.0
    _, pullback = adgen.vjp(squares)(x)
    assert np.array_equal(pullback(np.ones(3)), 2.0 * x)
    with pytest.raises(AdgenError, match=r"not a scalar but an array of shape \(3,\)(.|\n)*pullback\(np.ones"):
        pullback()


def test_overwrite_and_accumulate() -> None:
    """Into one array, or into several of the structure of the gradient."""
    x = np.array([1.0, 2.0, 3.0])
    gradient, out = adgen.grad(weighted, wrt="x"), np.full(3, 7.0)
    assert gradient(x, 0.5, out=out) is out and np.array_equal(out, x)
    gradient(x, 0.5, out=out, accumulate=True)
    assert np.array_equal(out, 2.0 * x) and np.array_equal(gradient(x, 0.5), x)
    outs = (np.zeros(3), np.zeros(()))
    for _ in range(2):
        value, same = adgen.value_and_grad(weighted)(x, 0.5, out=outs, accumulate=True)
    assert value == 7.0 and same is outs and np.array_equal(outs[0], 2.0 * x) and outs[1] == 28.0
    _, pullback = adgen.vjp(weighted, wrt="x")(x, 0.5)
    pullback(2.0, out=out)
    pullback(1.0, out=out, accumulate=True)
    assert np.array_equal(out, 3.0 * x)


def test_what_does_not_fit_is_refused() -> None:
    """Nothing is written then."""
    x, good = np.array([1.0, 2.0, 3.0]), np.zeros(3)
    for out in (np.zeros(2), np.zeros(3, dtype=np.float32), [0.0, 0.0, 0.0]):
        with pytest.raises(AdgenError, match="AD154"):
            adgen.grad(weighted, wrt="x")(x, 0.5, out=out)
    with pytest.raises(AdgenError, match="AD154"):
        adgen.grad(weighted)(x, 0.5, out=(good, 0.0))
    assert not good.any()


def test_a_parameter_of_that_name_is_the_functions_own() -> None:
    """`out` is an argument like any other where the function has it."""
    assert adgen.grad(lambda x, out: x * out, wrt="x")(2.0, out=5.0) == 5.0
