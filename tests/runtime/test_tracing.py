"""`trace_nan=True`: the first operation that makes a NaN or an infinity, with its line and its operands."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adgen
from adgen.ahead import Options, compile_file
from adgen.diagnostics import AdgenError


def quotient(x, y):
    a = x - 1.0
    b = y - 2.0
    return a / b + math.exp(x)  # here


def logarithm(x):
    y = 2.0 * x
    return x + math.log(y)  # here


def root(x):
    return math.sin(x) + math.sqrt(x)  # here


def exponential(x):
    y = x * x
    z = np.exp(y)  # here
    return z / (1.0 + z)


def ratios(x, y):
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i] * 2.0
        total += x[i] / y[i]  # here
    return total


def power(x, y):
    return x**y + 1.0  # here


def norm(x):
    return np.sqrt(np.sum(x * x))  # here


def softmax(x):
    z = np.exp(x)  # here
    return np.sum(z / np.sum(z))


def summed(x):
    return np.sum(x)  # here


def columns(x):
    return np.sum(x, axis=0)  # here


def scattered(x, k):
    bins = np.zeros(3)
    for i in range(x.shape[0]):
        bins[k[i]] += x[i]  # here
    return bins


def narrow(x):
    return np.sum(x * np.float32(1e30))  # here


def step(x):
    y = x
    while y > 1.0:
        y = y / 2.0
    return np.log(y - 1.0)  # here


def recursive(x, n):
    if n == 0:
        return 1.0 / x  # here
    return recursive(x - 1.0, n - 1) + x


def branches(x):
    if x > 0.0:
        return np.log(x)
    return np.log(-x)  # here


def cosine(x):
    return math.acos(x) + 2.0  # here


LINES = Path(__file__).read_text(encoding="utf-8").splitlines()
LARGE = np.array([1e308, 1e308, 1.0])
WITH_ZERO = np.array([1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 1.0])

IN_THE_FUNCTION = [
    (quotient, (1.0, 2.0), "divide(0.0, 0.0) is nan"),
    (quotient, (3.0, 2.0), "divide(2.0, 0.0) is inf"),
    (logarithm, (0.0,), "log(0.0) is -inf"),
    (logarithm, (-1.0,), "log(-2.0) is nan"),
    (root, (-4.0,), "sqrt(-4.0) is nan"),
    (exponential, (30.0,), "exp(900.0) is inf"),
    (ratios, (np.arange(9.0), WITH_ZERO), "divide(7.0, 0.0) is inf"),
    (power, (0.0, -1.5), "power(0.0, -1.5) is inf"),
    (power, (-8.0, 0.5), "power(-8.0, 0.5) is nan"),
    (softmax, (np.array([1.0, 800.0]),), "exp(800.0) is inf"),
    (summed, (LARGE,), "add(1e+308, 1e+308) is inf"),
    (columns, (np.stack([LARGE, LARGE]),), "add(1e+308, 1e+308) is inf"),
    (scattered, (LARGE, np.array([2, 2, 1])), "add(1e+308, 1e+308) is inf"),
    (narrow, (np.ones(2, np.float32) * np.float32(1e10),), "multiply(10000000000.0, 1.0000000150474662e+30) is inf"),
    (step, (4.0,), "log(0.0) is -inf"),
    (recursive, (3.0, 3), "divide(1.0, 0.0) is inf"),
    (branches, (0.0,), "log(-0.0) is -inf"),
]


@contextmanager
def blamed(function: Callable[..., Any], message: str) -> Iterator[None]:
    """The body raises a FloatingPointError with this message at the line of the function that says `here`."""
    with pytest.raises(FloatingPointError) as caught:
        yield
    error = caught.value
    assert isinstance(error, AdgenError)
    assert error.message == f"FloatingPointError: {message}"
    first = function.__code__.co_firstlineno
    here = next(number for number, line in enumerate(LINES[first:], first + 1) if line.endswith("# here"))
    assert error.lineno == here


@pytest.mark.parametrize(("function", "arguments", "message"), IN_THE_FUNCTION)
def test_in_the_function(function: Any, arguments: tuple[Any, ...], message: str) -> None:
    """Evaluated and differentiated: the operation, its operands, its line."""
    with blamed(function, f"{message}, in the function"):
        adgen.jit(function, trace_nan=True)(*arguments)
    derivative = adgen.grad if function not in (columns, scattered) else adgen.jacobian
    with blamed(function, f"{message}, in the function"):
        derivative(function, trace_nan=True)(*arguments)


IN_A_DERIVATIVE = [
    (root, (0.0,), "divide(1.0, 0.0) is inf", "sqrt"),
    (cosine, (1.0,), "divide(1.0, 0.0) is inf", "arccos"),
    (power, (0.0, 0.5), "power(0.0, -0.5) is inf", "power"),
]


@pytest.mark.parametrize(("function", "arguments", "message", "origin"), IN_A_DERIVATIVE)
def test_in_a_derivative(function: Any, arguments: tuple[Any, ...], message: str, origin: str) -> None:
    """The function is finite and its derivative is not: told with what it is the derivative of."""
    assert np.isfinite(adgen.jit(function, trace_nan=True)(*arguments))
    with blamed(function, f"{message}, in the reverse sweep of {origin}"):
        adgen.value_and_grad(function, wrt=0, trace_nan=True)(*arguments)
    with blamed(function, f"{message}, in the tangent of {origin}"):
        adgen.jvp(function, wrt=0, trace_nan=True)(*arguments, tangent=1.0)
    _, pullback = adgen.vjp(function, wrt=0, trace_nan=True)(*arguments)
    with blamed(function, f"{message}, in the reverse sweep of {origin}"):
        pullback()


def test_a_norm_at_zero() -> None:
    """The root of a sum of squares has no derivative there; along every direction its sum has the derivative zero."""
    with blamed(norm, "divide(1.0, 0.0) is inf, in the reverse sweep of sqrt"):
        adgen.grad(norm, trace_nan=True)(np.zeros(2))
    assert adgen.jvp(norm, trace_nan=True)(np.zeros(2), tangent=np.ones(2)) == (0.0, 0.0)
    assert np.array_equal(adgen.grad(np.linalg.norm, trace_nan=True)(np.zeros(2)), np.zeros(2))


def three_halves(x):
    return x * math.sqrt(x)  # here


def test_second_order() -> None:
    """A gradient that is finite, and its derivative that is not; first faults are told as first ones."""
    assert adgen.grad(power, wrt=0, trace_nan=True)(0.0, 1.5) == 0.0
    for hessian in (
        adgen.hessian(power, wrt=0, trace_nan=True),
        adgen.grad(adgen.grad(power, wrt=0), wrt=0, trace_nan=True),
    ):
        with pytest.raises(FloatingPointError, match=r"power\(0.0, -0.5\) is inf, in the .* of power"):
            hessian(0.0, 1.5)
    with blamed(three_halves, "divide(1.0, 0.0) is inf, in the tangent of the reverse sweep of sqrt"):
        adgen.hvp(three_halves, trace_nan=True)(0.0, tangent=1.0)
    for gradient in (adgen.grad(three_halves, trace_nan=True), adgen.grad(adgen.grad(three_halves), trace_nan=True)):
        with blamed(three_halves, "divide(0.0, 0.0) is nan, in the reverse sweep of sqrt"):
            gradient(0.0)
    with blamed(three_halves, "sqrt(-1.0) is nan, in the function"):
        adgen.hessian(three_halves, trace_nan=True)(-1.0)


def masked(x):
    return np.sum(
        np.where(x > 0.0, np.log(x), 0.0) + np.where(x > 0.0, np.sqrt(x), 0.0) + np.where(x == 0.0, 0.0, 1.0 / x)
    )


def bounded(x):
    return np.minimum(np.max(x), np.inf) + np.minimum(float("inf"), x[0]) + np.exp(-math.inf) * x[1]


def mixed(x):
    y = np.cumsum(np.tanh(x) * x[::-1])
    for i in range(1, y.shape[0]):
        y[i] += 0.5 * y[i - 1] ** 2
    return np.sum(y / (1.0 + y * y)) + np.linalg.norm(x) + np.prod(x)


def matrix(a):
    return np.sum(np.linalg.solve(a @ a.T + np.eye(3), a) ** 2)


@pytest.mark.parametrize("function", [masked, bounded, mixed, matrix])
def test_what_is_sound_is_not_blamed(function: Any) -> None:
    """What is thrown away, and infinities that the program writes, are no fault; numbers are what they are without."""
    x = np.random.default_rng(0).normal(size=(3, 3)) if function is matrix else np.array([0.0, 1.0, 2.0, -0.5])
    x = np.abs(x) if function is masked else x
    for operator in (adgen.jit, adgen.grad, *(() if function is matrix else (adgen.hessian,))):
        np.testing.assert_allclose(operator(function, trace_nan=True)(x), operator(function)(x), rtol=1e-13, atol=1e-15)


def test_nan_among_the_arguments() -> None:
    """It is said to be there, with the argument and the element, in directions as well; infinities may be passed."""
    x = np.ones((2, 3))
    x[1, 2] = np.nan
    y = np.ones((2, 3))

    def f(x: Any, y: Any) -> Any:
        return np.sum(x * y)

    with pytest.raises(FloatingPointError, match=r"argument `y` is nan at \[1, 2\]"):
        adgen.grad(f, trace_nan=True)(y, x)
    with pytest.raises(FloatingPointError, match=r"argument `tangent.x` is nan at \[1, 2\]"):
        adgen.jvp(f, wrt="x", trace_nan=True)(y, y, tangent=x)
    with pytest.raises(FloatingPointError, match="argument `cotangent"):
        adgen.vjp(f, trace_nan=True)(y, y)[1](np.nan)
    with pytest.raises(FloatingPointError, match="argument `x` is nan"):
        adgen.jit(root, trace_nan=True)(math.nan)
    with pytest.raises(FloatingPointError, match=r"argument `x.a.1` is nan at \[0\]"):
        adgen.jit(lambda x: x["a"][1][0], trace_nan=True)({"a": (1.0, np.array([np.nan]))})
    assert adgen.jit(lambda x: np.minimum(x, 1.0), trace_nan=True)(np.inf) == 1.0


class Model:
    def __init__(self) -> None:
        self.k = 3.0

    def energy(self, x: Any) -> Any:
        return self.k / x  # here

    def __call__(self, x: Any) -> Any:
        return self.k / x  # here


def test_methods_and_items() -> None:
    """Methods, objects that are called, items of `vmap`, operators inside functions."""
    model = Model()
    assert adgen.grad(model.energy, trace_nan=True)(1.0) == -3.0
    with blamed(Model.energy, "divide(3.0, 0.0) is inf, in the function"):
        adgen.grad(model.energy, trace_nan=True)(0.0)
    with blamed(Model.__call__, "divide(3.0, 0.0) is inf, in the function"):
        adgen.jit(model, trace_nan=True)(0.0)
    with blamed(root, "sqrt(-1.0) is nan, in the function"):
        adgen.vmap(root, trace_nan=True)(np.array([1.0, -1.0]))
    with blamed(root, "divide(1.0, 0.0) is inf, in the function"):  # which is a derivative
        adgen.jit(lambda x: adgen.grad(root)(x) + 1.0, trace_nan=True)(0.0)


def test_the_environment_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    """ADGEN_TRACE_NAN=1 for all operators that do not say; traced and untraced code are kept apart."""
    assert adgen.grad(root)(0.0) == np.inf
    monkeypatch.setenv("ADGEN_TRACE_NAN", "1")
    with blamed(root, "divide(1.0, 0.0) is inf, in the reverse sweep of sqrt"):
        adgen.grad(root)(0.0)
    assert adgen.grad(root, trace_nan=False)(0.0) == np.inf
    monkeypatch.setenv("ADGEN_TRACE_NAN", "0")
    assert adgen.grad(root)(0.0) == np.inf

    @adgen.grad(trace_nan=True)
    def decorated(x: Any) -> Any:
        return x / 0.0

    with pytest.raises(FloatingPointError, match=r"divide\(1.0, 0.0\)"):
        decorated(1.0)


def lazily(x):
    y = 1.0 / x
    if x > 0.0:
        return x * y
    return x


def test_what_a_branch_does_not_use() -> None:
    """What is computed before a branch and used in one that is not taken is thrown away."""
    assert adgen.value_and_grad(lazily, trace_nan=True)(0.0) == (0.0, 1.0)
    assert adgen.grad(lazily, trace_nan=True)(2.0) == 0.0


def test_errors_name_the_function() -> None:
    """Tracing does not show in other messages."""
    with pytest.raises(AdgenError, match="and `columns` returns an array of shape"):
        adgen.grad(columns, trace_nan=True)(np.ones((2, 2)))


def test_memory_for_time() -> None:
    """Chunks of steps are traced too."""

    def steps(x: Any, n: int) -> Any:
        for _ in range(n):
            x = x - 1.0 / x
        return np.sum(x)

    def run(n: int) -> Any:
        return adgen.grad(steps, wrt="x", memory=4000, trace_nan=True)(np.array([1.0, 3.0]), n)

    with pytest.raises(FloatingPointError, match=r"divide\(1.0, 0.0\) is inf, in the function"):
        run(100)


def test_sparse_products() -> None:
    """Several directions at once."""

    def f(x: Any) -> Any:
        return np.sqrt(x) * x

    x = np.array([1.0, 2.0, 4.0])
    sparse = adgen.jacobian(f, sparse=True, trace_nan=True)(x)
    np.testing.assert_allclose(sparse.toarray(), adgen.jacobian(f)(x), rtol=1e-15)
    with pytest.raises(FloatingPointError, match=r"divide\(1.0, 0.0\) is inf, in the tangent of sqrt"):
        adgen.jacobian(f, sparse=True, trace_nan=True)(0.0 * x)


PACKAGE = """import numpy as np


def root(x: float) -> float:
    return np.sqrt(x) + 1.0
"""


def test_a_package(tmp_path: Path) -> None:
    """`adgen compile --trace-nan` gives a package that tells; without it, one that does not."""
    path = tmp_path / "rooted.py"
    path.write_text(PACKAGE, encoding="utf-8")
    parsed = Options.parse(None, None, "value,grad", (), trace_nan=True)
    compile_file(path, tmp_path / "traced", parsed, lambda stage: None)
    compile_file(path, tmp_path / "plain", Options.parse(None, None, "value,grad", ()), lambda stage: None)
    package = adgen.load(tmp_path / "traced" / "rooted_ad")
    assert package.root(4.0) == 3.0 and package.root_grad(4.0) == 0.25
    with pytest.raises(FloatingPointError, match=r"divide\(1.0, 0.0\) is inf, in the reverse sweep of sqrt") as caught:
        package.root_grad(0.0)
    assert caught.value.lineno == 5
    assert "up to four details" in (tmp_path / "traced" / "rooted_ad" / "rooted.h").read_text(encoding="utf-8")
    assert adgen.load(tmp_path / "plain" / "rooted_ad").root_grad(0.0) == np.inf
