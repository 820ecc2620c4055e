"""`record`: gradients of the statements of a `with` block."""

from __future__ import annotations

import numpy as np
import pytest

import adgen

SCALE = 2.0


def test_a_variable_for_another() -> None:
    """Of a number, as often as it is asked for; the block itself has run as Python."""
    x = 3.0
    with adgen.record() as tape:
        y = x**2  # noqa: F841
        z = 3.0 * y
    assert (y, z) == (9.0, 27.0)
    assert tape.gradient("y", "x") == 6.0
    assert tape.gradient("z", "x") == 18.0


def test_values_at_the_beginning() -> None:
    """What the block changes, and what is changed after it, is taken as it was when the block was entered."""
    x, w = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    with adgen.record() as tape:
        for k in range(2):
            if x[k] > 5.0:
                break
            x[k] *= w[k]
        total = np.sum(x * x) * SCALE
        x = x + 1.0
    w[:] = 0.0
    x_bar, w_bar = tape.gradient("total", ("x", "w"))
    np.testing.assert_allclose(x_bar, 4.0 * np.array([1.0, 2.0]) * np.array([9.0, 16.0]))
    np.testing.assert_allclose(w_bar, 4.0 * np.array([1.0, 4.0]) * np.array([3.0, 4.0]))
    assert tape.gradient("total", "SCALE") == total / 2.0


def test_functions_and_arrays() -> None:
    """Functions around it are compiled too; an array needs a cotangent."""

    def square(v):
        return v * v

    x = np.array([1.0, 2.0])
    with adgen.record() as tape:
        y = square(x)
    assert np.array_equal(y, [1.0, 4.0])
    assert np.array_equal(tape.gradient("y", "x", cotangent=np.ones(2)), [2.0, 4.0])
    with pytest.raises(adgen.AdgenError, match="cotangent"):
        tape.gradient("y", "x")


def test_wrong_names() -> None:
    """They are refused, with the names there are."""
    x = 3.0
    with adgen.record() as tape:
        y = x**2  # noqa: F841
    with pytest.raises(adgen.AdgenError, match="does not set `q`(.|\n)*it has: `y`"):
        tape.gradient("q", "x")
    with pytest.raises(adgen.AdgenError, match="does not read a number or array `y`(.|\n)*it has: `x`"):
        tape.gradient("y", "y")


def test_what_is_no_block() -> None:
    """A block that is left from inside, and one without a text."""

    def early(x):
        with adgen.record() as tape:
            y = x**2  # noqa: F841
            if y > 100.0:
                return y, tape
        return y, tape

    value, tape = early(3.0)
    assert value == 9.0
    with pytest.raises(adgen.AdgenError, match="left from inside"):
        tape.gradient("y", "x")
    with pytest.raises(adgen.AdgenError, match="cannot be found"):
        exec("import adgen\nwith adgen.record() as tape:\n    y = 1.0\n", {})


def test_an_exception_passes_through() -> None:
    """The scope catches nothing."""
    with pytest.raises(ZeroDivisionError), adgen.record():
        1 / 0
