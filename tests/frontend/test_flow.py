"""`stop_gradient` and `tap`: values are kept, derivatives are not, or given for what is in between."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
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


# -- taps --------------------------------------------------------------------------------------------------------------


def tapped(x: Any) -> Any:
    y = adgen.tap(x**2, "y")
    return 3.0 * y


def layers(w: Any, x: Any) -> Any:
    total, h = 0.0, adgen.tap(w @ x, "h")
    for i in range(len(h)):
        if h[i] > 0.0:
            total += adgen.tap(np.exp(h[i]), "e") ** 2
    return total


def test_a_tap_has_a_gradient() -> None:
    """`wrt` names parameters and taps in any order; by default it means the parameters."""
    assert adgen.grad(tapped, wrt=("x", "y"))(2.0) == (12.0, 3.0)
    assert adgen.value_and_grad(tapped, wrt=("y", "x"))(2.0) == (12.0, (3.0, 12.0))
    assert adgen.grad(tapped)(2.0) == 12.0
    assert adgen.vjp(tapped, wrt="y")(2.0)[1](2.0) == 6.0
    assert adgen.grad(adgen.jit(tapped), wrt="y")(2.0) == 3.0


def test_taps_of_arrays_in_loops_and_branches() -> None:
    """The gradient for an array is an array, that for what a loop passes many times is the sum."""
    w, x = np.array([[1.0, 2.0], [0.5, -1.0], [-3.0, 1.0]]), np.array([0.3, 0.1])
    h, e = adgen.grad(layers, wrt=("h", "e"))(w, x)
    value = w @ x
    assert np.allclose(h, np.where(value > 0.0, 2.0 * np.exp(2.0 * value), 0.0), rtol=1e-14)
    assert np.isclose(e, np.sum(2.0 * np.exp(value[value > 0.0])), rtol=1e-14)


def test_a_gradient_for_a_tap_is_differentiated_further() -> None:
    """The inner derivative of `y**2` for `y` is `2 * x**3`."""
    inner = adgen.grad(lambda x: adgen.tap(x**3, "y") ** 2, wrt="y")
    assert adgen.grad(inner)(2.0) == 24.0


def test_a_wrong_name_is_refused() -> None:
    """What is neither a parameter nor a tap, a tap with the name of a parameter, directions for taps."""

    def named_alike(x: Any) -> Any:
        return adgen.tap(x * x, "x")

    for make, text in (
        (lambda: adgen.grad(tapped, wrt="z")(2.0), "not a parameter of `tapped` nor tapped in it"),
        (lambda: adgen.grad(named_alike)(2.0), "the name of a tap"),
        (lambda: adgen.jvp(tapped, wrt="y")(2.0, tangent=1.0), "no tangent"),
        (lambda: adgen.jacrev(tapped, wrt="y")(2.0), "no Jacobian"),
    ):
        with pytest.raises(AdgenError, match=text):
            make()


def test_what_cannot_be_tapped_is_refused() -> None:
    """Types that differ, a shape that is computed, functions of their own."""

    def twice(x: Any) -> Any:
        return np.sum(adgen.tap(np.ones(3) * x, "y")) + adgen.tap(x, "y")

    def recursive(n: Any, x: Any) -> Any:
        return x if n <= 0 else x * adgen.tap(recursive(n - 1, x), "y")

    for function, arguments, text in (
        (twice, (1.0,), "different types"),
        (recursive, (5, 1.0), "calls itself"),
        (lambda n, x: x * adgen.tap(n, "y"), (5, 1.0), "not defined for an int"),
    ):
        with pytest.raises(AdgenError, match=text):
            adgen.grad(function, wrt="x")(*arguments)


def test_ahead_of_time(tmp_path: Path) -> None:
    """`--wrt` takes the names of taps; derivatives are checked for the parameters."""
    (tmp_path / "tapping.py").write_text(SOURCE)
    command = [sys.executable, "-m", "adgen", "compile", "tapping.py", "--wrt", "x,y", "--emit", "grad,vjp,hvp"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0 and "dot product" in done.stdout, done.stderr
    compiled = adgen.load(tmp_path / "build" / "tapping_ad")
    gradient = compiled.f_grad(2.0, np.array([1.0, 2.0]))
    assert gradient.x == 60.0 and np.array_equal(gradient.y, [12.0, 24.0])


SOURCE = """
import adgen
import numpy as np

def f(x: float, w: "f64[n]") -> float:
    y = adgen.tap(x * w, "y")
    return 3.0 * np.sum(y * y)
"""


# -- hooks -------------------------------------------------------------------------------------------------------------


def clipped(x: Any, limit: Any) -> Any:
    return 3.0 * adgen.hook(x**2, lambda g: np.clip(g, -limit, limit))


def unit(g: Any) -> Any:
    return g / np.maximum(1.0, np.sqrt(np.sum(g * g)))


def test_a_hook_rewrites_the_cotangent() -> None:
    """The value is kept; the rule may read variables around it."""
    assert adgen.value_and_grad(clipped, wrt="x")(2.0, 1.0) == (12.0, 4.0)
    assert adgen.grad(clipped, wrt="x")(2.0, 5.0) == 12.0
    assert clipped(2.0, 1.0) == 12.0


def test_a_hook_in_a_loop() -> None:
    """Each time the cotangent of that time is rewritten, from the last to the first."""

    def f(w: Any, x: Any) -> Any:
        for _ in range(3):
            x = adgen.hook(w @ x, unit)
        return np.sum(x**3)

    w, x = np.array([[1.0, -2.0], [0.5, 1.5]]), np.array([1.0, -1.0])
    states = [x]
    for _ in range(3):
        states.append(w @ states[-1])
    bar, w_bar = 3.0 * states[-1] ** 2, np.zeros((2, 2))
    for state in states[-2::-1]:
        bar = unit(bar)
        w_bar += np.outer(bar, state)
        bar = w.T @ bar
    gradient = adgen.grad(f)(w, x)
    assert np.allclose(gradient.w, w_bar, rtol=1e-13) and np.allclose(gradient.x, bar, rtol=1e-13)


def test_a_hook_and_a_tap() -> None:
    """A tap before a hook has the rewritten cotangent, one behind it the other."""

    def f(x: Any) -> Any:
        return 3.0 * adgen.tap(adgen.hook(adgen.tap(x * x, "before"), lambda g: 0.5 * g), "behind")

    assert adgen.grad(f, wrt=("x", "before", "behind"))(2.0) == (6.0, 1.5, 3.0)


def test_second_derivatives_of_hooks() -> None:
    """The derivative of what the gradient is: of `2 * x * clip(3 * x**4)`, where nothing is clipped and where it is."""

    def f(x: Any, limit: Any) -> Any:
        return adgen.hook(x**2, lambda g: np.clip(g, -limit, limit)) ** 3

    for x, limit, wanted in ((1.0, 100.0, 30.0), (2.0, 1.0, 2.0)):
        assert adgen.grad(adgen.grad(f, wrt="x"), wrt="x")(x, limit) == wanted


def test_forward_mode_needs_a_linear_rule() -> None:
    """A linear rule is transposed, any other one refused; so for the rules of `custom_vjp`."""
    scaled = adgen.custom_vjp(lambda x: x * x, lambda x, out, c: x * c + c)
    wrong = adgen.custom_vjp(lambda x: x * x, lambda x, out, c: np.minimum(c, 1.0))
    pushed = adgen.custom_jvp(lambda x: x * x, lambda x, out, t: t * t)
    assert adgen.jvp(lambda x: 3.0 * scaled(x))(2.0, tangent=1.0) == (12.0, 9.0)
    for make in (
        lambda: adgen.jvp(clipped, wrt="x")(2.0, 1.0, tangent=1.0),
        lambda: adgen.jvp(lambda x: 3.0 * wrong(x))(2.0, tangent=1.0),
        lambda: adgen.grad(lambda x: 3.0 * pushed(x))(2.0),
    ):
        with pytest.raises(AdgenError, match="AD149.*not linear"):
            make()


def test_wrong_hooks_are_refused() -> None:
    """Wrong shapes, integers, effects."""

    def counting(x: Any) -> Any:
        calls = np.zeros(1)

        def rule(g: Any) -> Any:
            calls[0] += 1.0
            return g

        return adgen.hook(x, rule) * calls[0]

    for function, argument, text in (
        (counting, 1.0, "changes something outside"),
        (lambda x: np.sum(adgen.hook(x, np.sum)), np.ones(3), "AD147.*array of rank 1"),
        (lambda x: np.sum(adgen.hook(x, lambda g: g[1:])), np.ones(3), "cotangent of extent 2 along axis 0, not 3"),
        (lambda x: x * adgen.hook(3, lambda g: g), 1.0, "not defined for an int"),
    ):
        with pytest.raises((AdgenError, ValueError), match=text):
            adgen.grad(function)(argument)
