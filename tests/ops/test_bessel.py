"""Bessel functions of any order are computed in a moment, in Python and in C alike."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import special

from adgen import ops
from adgen.ir.reader import parse_function
from tests.native import Native

ROWS = {"besselj": special.jv, "bessely": special.yv, "besseli": special.iv, "besselk": special.kv}
ORDERS = (0, 1, -2, 9, -33, 400, 5000, 2**31 - 1, -(2**31) + 1, 2**40 + 1, -(2**63))
NUMBERS = (0.5, 3.0, 40.0, 600.0, 2500.0, -2.5, 1e-300, float("inf"))
TEXT = "function f(%n: i64, %x: f64) -> (out) {{ %y = {} %n, %x : f64\n return %y }}"


@pytest.mark.parametrize("name", ROWS)
def test_any_order(name: str) -> None:
    """The same in both, and SciPy's where that has a value."""
    row = ops.ROWS[name]
    native = Native([parse_function(TEXT.format(name), ops.ROWS)], f"{name}_orders")
    for order, number in product(ORDERS, NUMBERS):
        with np.errstate(all="ignore"):
            mine = row.evaluate(order, np.float64(number))
        _, (theirs,) = native.call("f", [order, number])
        np.testing.assert_array_equal(mine, theirs, err_msg=f"{order} {number}")
        expected = ROWS[name](order, number)
        if np.isfinite(expected) and abs(order) <= 400 and 0.0 < number < 1e3:
            np.testing.assert_allclose(mine, expected, rtol=1e-11, atol=1e-300, err_msg=f"{order} {number}")
