"""`custom_vjp` and `custom_jvp`: the rule wins, in both modes, in loops, at second order; what is wrong is said."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adgen
from adgen.diagnostics import AdgenError

POINT = np.array([0.5, 4.0, -3.0])


def clamp(x):
    return np.minimum(np.maximum(x, -1.0), 1.0)


def clamp_vjp(x, out, cotangent):
    return cotangent * np.where(np.abs(x) > 1.0, 0.5, 1.0)


def square(x):
    return x * x


def square_jvp(x, out, tangent):
    return 2.0 * x * tangent


def relu(x):
    return np.maximum(x, 0.0)


def mix(a, b, n):
    return a * b + n


def mix_vjp(a, b, n, out, cotangent):
    return np.sum(cotangent * b), a * cotangent, None


def mix_jvp(a, b, n, out, tangent):
    a_dot, b_dot, _ = tangent
    return a_dot * b + a * b_dot


straight = adgen.custom_vjp(clamp, clamp_vjp)
pushed = adgen.custom_jvp(square, square_jvp)
rectified = adgen.custom_vjp(relu, lambda x, out, cotangent: cotangent * (x > 0.0))
mixed_back = adgen.custom_vjp(mix, mix_vjp)
mixed_forth = adgen.custom_jvp(mix, mix_jvp)


def weighted(x):
    return np.sum(straight(x) * np.array([1.0, 2.0, 3.0]))


def test_the_rule_wins_in_both_modes() -> None:
    """A straight-through rule, which is not the derivative of the function."""
    assert np.array_equal(adgen.grad(weighted)(POINT), [1.0, 1.0, 1.5])
    value, tangent = adgen.jvp(weighted)(POINT, tangent=np.ones(3))
    assert value == weighted(POINT) and tangent == 3.5


def test_python_calls_are_plain() -> None:
    """Outside of compiled code the function is itself."""
    assert np.array_equal(straight(POINT), clamp(POINT))
    assert pushed(3.0) == 9.0


def doubled(x):
    return np.sum(x) + 2.0 * len(x)


summed = adgen.custom_vjp(doubled, lambda x, out, cotangent: cotangent * np.ones(len(x)))


def first_and_all(x, n):
    y = 3.0 * x
    return summed(x[:n]) + summed(y[:n]) + summed(y)


def test_a_part_of_an_array() -> None:
    """What begins where an array begins need not be all of it, for the function and for its rule."""
    assert adgen.jit(first_and_all)(POINT, 2) == pytest.approx(first_and_all(POINT, 2))
    assert np.array_equal(adgen.grad(first_and_all, wrt="x")(POINT, 2), [7.0, 7.0, 3.0])


def test_known_values() -> None:
    """A square at 3 and a rectifier."""
    assert adgen.grad(lambda x: pushed(x))(3.0) == 6.0
    assert np.array_equal(adgen.grad(lambda x: np.sum(rectified(x)))(np.array([-2.0, 1.0, 3.0])), [0.0, 1.0, 1.0])


@pytest.mark.parametrize("function", [mixed_back, mixed_forth, mix], ids=["vjp", "jvp", "plain"])
def test_rules_and_none_agree(function: Any) -> None:
    """Equal rules of either kind, and none at all, give the same in loops with rebinding, at both orders."""

    def chain(a, b):
        for k in range(3):
            b = np.sin(function(a, b, k)) + 0.1 * b
            b[0] = b[1] * a
        return np.sum(b * b)

    arguments = (0.7, np.array([0.3, -0.2, 0.9]))
    expected = adgen.grad(_plain_chain)(*arguments)
    found = adgen.grad(chain)(*arguments)
    assert found.a == pytest.approx(expected.a, rel=1e-12) and np.allclose(found.b, expected.b, rtol=1e-12)
    direction = (0.3, np.array([0.1, 1.0, -0.4]))
    curved = adgen.hvp(chain)(*arguments, tangent=direction)
    wanted = adgen.hvp(_plain_chain)(*arguments, tangent=direction)
    assert curved.a == pytest.approx(wanted.a, rel=1e-10) and np.allclose(curved.b, wanted.b, rtol=1e-10)


def _plain_chain(a, b):
    for k in range(3):
        b = np.sin(mix(a, b, k)) + 0.1 * b
        b[0] = b[1] * a
    return np.sum(b * b)


@adgen.custom_vjp
def power(x, n):
    return x**n


def power_forward(x, n):
    return x**n, {"slope": n * x ** (n - 1), "n": n}


def power_backward(saved, cotangent):
    return saved["slope"] * cotangent, None


power.defvjp(power_forward, power_backward)


def test_saved_values() -> None:
    """What the forward function saves is there in the reverse sweep, of every iteration."""

    def total(x, n):
        s = 0.0
        for k in range(4):
            s += power(x + k, n) * s + 1.0
        return s

    def plain(x, n):
        s = 0.0
        for k in range(4):
            s += (x + k) ** n * s + 1.0
        return s

    first, second = adgen.grad(total, wrt="x"), adgen.grad(plain, wrt="x")
    for _ in range(3):  # what is saved has derivatives too
        assert first(0.4, 3) == pytest.approx(second(0.4, 3), rel=1e-13)
        assert adgen.jvp(first, wrt="x")(0.4, 3, tangent=2.0)[1] == pytest.approx(
            2.0 * adgen.grad(second, wrt="x")(0.4, 3)
        )
        first, second = adgen.grad(first, wrt="x"), adgen.grad(second, wrt="x")


@adgen.custom_vjp
def cubes(x):
    return np.sum(x**3)


cubes.defvjp(lambda x: (np.sum(x**3), {"square": x * x, "factor": 3.0}), lambda s, bar: s["factor"] * s["square"] * bar)


def test_second_derivatives_of_saved_arrays() -> None:
    """In every mode, in a loop that writes what it reads."""

    def total(x):
        y = x.copy()
        for i in range(2):
            y[i] = cubes(0.5 * y) * x[1]
        return y[0] * y[1]

    def plain(x):
        y = x.copy()
        for i in range(2):
            y[i] = np.sum((0.5 * y) ** 3) * x[1]
        return y[0] * y[1]

    x = np.array([0.7, 1.9])
    want = adgen.hessian(plain)(x)
    assert np.allclose(adgen.grad(total)(x), adgen.grad(plain)(x), rtol=1e-13)
    assert np.allclose(adgen.hessian(total)(x), want, rtol=1e-12)
    assert np.allclose(adgen.jacrev(adgen.grad(total))(x), want, rtol=1e-12)


@adgen.custom_vjp
def exponential(x):
    return np.exp(x)


def exponential_forward(x):
    y = np.exp(x)
    return y, y


exponential.defvjp(exponential_forward, lambda saved, cotangent: saved * cotangent)


def test_the_result_itself_is_saved() -> None:
    """One number in two places: its cotangent is that of the result."""
    want = np.exp(0.5)
    assert adgen.grad(exponential)(0.5) == adgen.grad(adgen.grad(exponential))(0.5) == pytest.approx(want, rel=1e-14)
    assert adgen.jvp(exponential)(0.5, tangent=1.0)[1] == pytest.approx(want, rel=1e-14)
    x = np.array([0.5, -1.0])
    assert np.allclose(adgen.grad(lambda x: np.sum(exponential(x)) * exponential(x[0]))(x), _product_of_powers(x))


def _product_of_powers(x):
    total = np.sum(np.exp(x))
    return np.exp(x) * np.exp(x[0]) + np.array([total * np.exp(x[0]), 0.0])


def doubled(x):
    y = x * x
    return y, y


doubled_back = adgen.custom_vjp(doubled, lambda x, out, cotangent: 2.0 * x * (cotangent[0] + 3.0 * cotangent[1]))
doubled_forth = adgen.custom_jvp(doubled, lambda x, out, tangent: (2.0 * x * tangent, 6.0 * x * tangent))


@pytest.mark.parametrize("function", [doubled_back, doubled_forth])
def test_one_number_that_is_two_results(function: Any) -> None:
    """Each has its own part of the rule."""

    def first(x):
        return function(x)[0]

    def second(x):
        a, b = function(x)
        return 10.0 * a + b

    for make in (adgen.grad, lambda f: lambda x: adgen.jvp(f)(x, tangent=1.0)[1]):
        assert make(first)(2.0) == 4.0
        assert make(second)(2.0) == 52.0


@dataclasses.dataclass
class Spring:
    stiffness: float
    rest: np.ndarray


def energy(spring, x):
    return {"value": 0.5 * spring.stiffness * np.sum((x - spring.rest) ** 2), "count": len(x)}


def energy_vjp(spring, x, out, cotangent):
    gap = x - spring.rest
    bar = cotangent["value"]
    pull = bar * spring.stiffness * gap
    return Spring(0.5 * bar * np.sum(gap**2), -pull), pull


stored = adgen.custom_vjp(energy, energy_vjp)


def test_structures() -> None:
    """Arguments and results may be structures of numbers and arrays."""
    spring, x = Spring(2.0, np.array([0.1, 0.2])), np.array([1.0, -1.0])
    found = adgen.grad(lambda spring, x: stored(spring, x)["value"])(spring, x)
    expected = adgen.grad(lambda spring, x: energy(spring, x)["value"])(spring, x)
    assert found.spring["stiffness"] == pytest.approx(expected.spring["stiffness"])
    assert np.allclose(found.spring["rest"], expected.spring["rest"]) and np.allclose(found.x, expected.x)


def test_gradcheck_finds_a_wrong_rule() -> None:
    """The rule is held against differences of the function."""
    assert adgen.gradcheck(lambda x: pushed(x), (3.0,))
    wrong = adgen.custom_vjp(square, lambda x, out, cotangent: 3.0 * x * cotangent)
    with pytest.raises(AdgenError, match="AD161"):
        adgen.gradcheck(lambda x: wrong(x), (3.0,))


def writing(x):
    x[0] = 1.0
    return np.sum(x)


def summed_vjp(x, out, cotangent):
    return cotangent * np.ones(2)


def itself(x, out, tangent):
    return looping(tangent) + x * tangent


looping = adgen.custom_jvp(square, itself)


def test_arity_at_definition() -> None:
    """A rule that cannot take what it is given is refused at once."""
    with pytest.raises(AdgenError, match="AD147.*must take 3 arguments"):
        adgen.custom_vjp(square, lambda x, cotangent: x)


@pytest.mark.parametrize(
    ("function", "argument", "said"),
    [
        (adgen.custom_vjp(square, lambda x, out, c: (c, c)), 2.0, "AD147.*gives 2 cotangents for 1 argument"),
        (adgen.custom_vjp(mix, lambda a, b, n, out, c: (c, c)), None, "AD147.*gives 2 cotangents for 3"),
        (adgen.custom_vjp(square, lambda x, out, c: c * np.ones(3)), 2.0, "AD147.*cotangent of a number"),
        (adgen.custom_vjp(np_sum := (lambda x: np.sum(x)), lambda x, out, c: c), np.ones(3), "AD147.*of rank 1"),
        (adgen.custom_vjp(np_sum, summed_vjp), np.ones(3), "extent 2 along axis 0, not 3"),
        (adgen.custom_vjp(writing, lambda x, out, c: c * np.ones(3)), np.ones(3), "AD148"),
        (looping, 2.0, "AD146"),
    ],
)
def test_wrong_rules(function: Any, argument: Any, said: str) -> None:
    """Wrong counts and shapes are errors where the derivative is made, or called."""
    arguments = (0.5, 1.5, 2) if argument is None else (argument,)
    with pytest.raises(AdgenError, match=said):
        adgen.grad(function, wrt=0)(*arguments)


def test_a_changed_rule_is_seen(tmp_path: Path) -> None:
    """Code that was compiled with another rule is not taken from the cache, nor with another helper of the rule."""
    file = tmp_path / "rules.py"
    text = (
        "import adgen\nFACTOR = {factor}\n\ndef helper(x):\n    return FACTOR * x\n\n"
        "def f(x):\n    return x * x\n\ndef rule(x, out, c):\n    return helper(x) * c {more}\n\n"
        "g = adgen.custom_vjp(f, rule)\n\ndef h(x):\n    return g(x)\n\nprint(adgen.grad(h)(1.0), adgen.grad(g)(1.0))\n"
    )
    seen = []
    for factor, more in ((2.0, ""), (5.0, ""), (5.0, "+ c")):
        file.write_text(text.format(factor=factor, more=more))
        environment = {**os.environ, "ADGEN_CACHE_DIR": str(tmp_path / "cache")}
        done = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, env=environment, check=True)
        seen.append(done.stdout.split())
    assert seen == [["2.0", "2.0"], ["5.0", "5.0"], ["6.0", "6.0"]]


def test_a_changed_forward_function_is_seen(tmp_path: Path) -> None:
    """Nor what was compiled with another forward function, or with another constant or helper of it."""
    file = tmp_path / "saving.py"
    text = (
        "import adgen\nFACTOR = {factor}\n\ndef helper(x):\n    return FACTOR * x {helped}\n\n"
        "def f(x):\n    return x * x\n\ndef forward(x):\n    return x * x, helper(x) {more}\n\n"
        "def rule(saved, c):\n    return saved * c\n\ng = adgen.custom_vjp(f, rule, forward=forward)\n\n"
        "def h(x):\n    return g(x)\n\nprint(adgen.grad(h)(1.0), adgen.grad(g)(1.0))\n"
    )
    seen = []
    for factor, helped, more in ((2.0, "", ""), (5.0, "", ""), (5.0, "+ x", ""), (5.0, "+ x", "+ x")):
        file.write_text(text.format(factor=factor, helped=helped, more=more))
        environment = {**os.environ, "ADGEN_CACHE_DIR": str(tmp_path / "cache")}
        done = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, env=environment, check=True)
        seen.append(done.stdout.split())
    assert seen == [["2.0", "2.0"], ["5.0", "5.0"], ["6.0", "6.0"], ["7.0", "7.0"]]
