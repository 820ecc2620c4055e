"""`stop_gradient`: values are kept, derivatives are not, in any mode and at any order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adgen
from adgen.diagnostics import AdgenError

POINT = np.array([0.5, 4.0, -3.0])


def product(x: Any) -> Any:
    return x * adgen.stop_gradient(x * x)


def test_a_stopped_value_is_a_constant() -> None:
    """First and second derivatives in both modes are those of `x * c`."""
    assert adgen.value_and_grad(product)(3.0) == (27.0, 9.0)
    assert adgen.jvp(product)(3.0, tangent=1.0) == (27.0, 9.0)
    assert adgen.grad(adgen.grad(product))(3.0) == adgen.hessian(product)(3.0) == 0.0


def test_python_gives_a_copy() -> None:
    """Outside of compiled code only the value counts."""
    copy = adgen.stop_gradient(POINT)
    assert copy is not POINT and np.array_equal(copy, POINT)
    assert adgen.stop_gradient((2.0, [3])) == (2.0, [3])


def test_nothing_is_computed_for_what_is_stopped() -> None:
    """What leads to a stopped value has no reverse sweep, so that infinite partials do no harm."""

    def f(x: Any) -> Any:
        return x + 0.0 * adgen.stop_gradient(np.sqrt(x))

    assert adgen.grad(f)(0.0) == 1.0


def test_functions_are_refused() -> None:
    """A function is no value to stop."""

    def f(x: Any) -> Any:
        return adgen.stop_gradient(lambda y: x * y)(2.0)

    with pytest.raises(AdgenError, match="`stop_gradient` is not defined for the function"):
        adgen.grad(f)(1.0)
