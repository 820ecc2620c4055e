"""`vmap`: items of arrays in one compiled loop."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adgen

RNG = np.random.default_rng(11)
X, A = RNG.normal(size=(5, 3)), np.arange(1.0, 6.0)


def product(x: Any, a: Any) -> Any:
    return np.sin(x[0]) * x[1] * a + x[2] ** 2


def outer(x: Any) -> Any:
    return np.outer(x, x)


def squares(x: Any) -> Any:
    return np.sum(adgen.vmap(adgen.grad(product, wrt="x"))(x, A) ** 2)


def test_values_and_axes() -> None:
    """Any axis in and out, arguments that all items share, items that are views, and no items at all."""
    np.testing.assert_allclose(adgen.vmap(product)(X, A), [product(x, a) for x, a in zip(X, A)])
    np.testing.assert_allclose(adgen.vmap(product, in_axes=(1, None))(X.T.copy(), 2.0), [product(x, 2.0) for x in X])
    np.testing.assert_allclose(adgen.vmap(outer, out_axis=1)(X), np.stack([outer(x) for x in X], axis=1))
    np.testing.assert_array_equal(adgen.vmap(lambda x: x[:2])(X), X[:, :2])
    assert adgen.vmap(product)(X[:0], A[:0]).shape == (0,)
    assert adgen.vmap(adgen.vmap(lambda x: x * x))(X).shape == (5, 3)


def test_with_derivatives() -> None:
    """Gradients of items, inside of what is differentiated again, and Jacobians of what is mapped."""
    expected = [adgen.grad(product, wrt="x")(x, a) for x, a in zip(X, A)]
    np.testing.assert_allclose(adgen.vmap(adgen.grad(product, wrt="x"))(X, A), expected)
    direction, step = RNG.normal(size=X.shape), 1e-6
    ends = [adgen.jit(squares)(X + sign * step * direction) for sign in (1.0, -1.0)]
    got = np.sum(adgen.grad(squares)(X) * direction)
    assert got == pytest.approx((ends[0] - ends[1]) / (2.0 * step), rel=1e-7)
    np.testing.assert_allclose(adgen.jacobian(adgen.vmap(lambda x: x**3))(A), np.diag(3.0 * A**2))


def test_what_does_not_fit() -> None:
    """Lengths that differ, axes for other parameters, parameters without names."""
    with pytest.raises(ValueError, match="different lengths"):
        adgen.vmap(product)(X, A[:2])
    for axes in ((0,), (None, None)):
        with pytest.raises(adgen.AdgenError, match="AD132"):
            adgen.vmap(product, in_axes=axes)
    with pytest.raises(adgen.AdgenError, match="AD132"):
        adgen.vmap(lambda *xs: xs[0])
