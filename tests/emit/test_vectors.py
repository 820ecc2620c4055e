"""Loops that the C compiler may run on several elements at once: functions of the C library, and sums under a mask."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import adgen
from adgen.emit import emit
from adgen.frontend.lower import lower
from adgen.ops.vectors import VECTORISED
from adgen.passes.pipeline import optimise
from adgen.runtime.signatures import describe_arguments

SPECIAL = (
    0.0,
    -0.0,
    np.inf,
    -np.inf,
    np.nan,
    1.0,
    -1.0,
    0.5,
    -2.0,
    5e-324,
    -1e-310,
    1.7e308,
    709.5,
    -745.5,
    1e22,
    40.0,
)
FUNCTIONS = {
    "acos": np.arccos, "acosh": np.arccosh, "asin": np.arcsin, "asinh": np.arcsinh, "atan": np.arctan,
    "atanh": np.arctanh, "atan2": np.arctan2, "cbrt": np.cbrt, "cos": np.cos, "cosh": np.cosh, "exp": np.exp,
    "exp2": np.exp2, "expm1": np.expm1, "hypot": np.hypot, "log": np.log, "log10": np.log10, "log1p": np.log1p,
    "log2": np.log2, "pow": np.power, "sin": np.sin, "sinh": np.sinh, "tan": np.tan, "tanh": np.tanh,
}  # fmt: skip


def source(function: Any, **arguments: Any) -> str:
    """The C of a function of `x`."""

    def applied(x: Any) -> Any:
        return function(x)

    lowered = lower(applied, describe_arguments(arguments))
    return emit([optimise(lowered.function)], "module").c_source


def ones(x: Any) -> Any:
    return tuple(function(x) for function in OF_ONE)


def twos(x: Any, y: Any) -> Any:
    return tuple(function(x, y) for function in OF_TWO)


OF_ONE = tuple(function for name, function in FUNCTIONS.items() if VECTORISED[name] == 1)
OF_TWO = tuple(function for name, function in FUNCTIONS.items() if VECTORISED[name] == 2)


@pytest.mark.parametrize(("function", "count"), [(ones, 1), (twos, 2)])
def test_vectors_and_numbers_agree(function: Any, count: int) -> None:
    """An array gives what its elements give one by one: to four units in the last place, and exactly where special."""
    numbers = np.random.default_rng(1).uniform(-3.0, 3.0, (count, 200))
    special = np.array(list(itertools.product(SPECIAL, repeat=count))).T
    compiled = adgen.jit(function)
    for arrays in (numbers, np.concatenate([special, special, special, special], axis=1)):
        results = compiled(*(np.ascontiguousarray(row) for row in arrays))
        single = np.array([compiled(*(float(x) for x in column)) for column in arrays.T]).T
        for found, expected in zip(results, single, strict=True):
            np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
            known = np.isfinite(expected)
            np.testing.assert_array_equal(found[~known], expected[~known])
            np.testing.assert_array_equal(np.signbit(found[known]), np.signbit(expected[known]))
            np.testing.assert_array_max_ulp(found[known], expected[known], 4)


def test_only_loops_ask_for_vector_forms() -> None:
    """Code without a loop calls the functions that C has, and says no more."""
    declared = '__attribute__((const, simd("notinbranch"))) double exp(double);'
    assert declared not in source(np.exp, x=1.0)
    assert declared in source(np.exp, x=np.ones(3))
    assert declared.replace("double", "float").replace("exp", "expf") in source(np.exp, x=np.ones(3, np.float32))


def test_sums_under_a_mask_may_be_reordered() -> None:
    """What a mask leaves out adds zero: the loop is a sum like any other."""

    def masked(x: Any) -> Any:
        return x[x > 0.0].sum() + x[x > 1.0].mean()

    x = np.random.default_rng(2).normal(size=101)
    text = source(masked, x=x)
    assert text.count("#pragma omp simd reduction") == 3
    assert adgen.jit(masked)(x) == pytest.approx(masked(x), rel=1e-13)
    np.testing.assert_allclose(adgen.grad(masked)(x), (x > 0.0) + (x > 1.0) / np.sum(x > 1.0), rtol=1e-14)
