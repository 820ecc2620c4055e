"""The operators against closed forms: results, layouts, structures, nesting, errors."""

from __future__ import annotations

import inspect
import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

import adgen
from adgen import AdgenError

X = np.array([0.3, -1.2, 2.0])


def cubic(x):
    """A cubic."""
    return x**3 - 2.0 * x


def product(x, y, k=3):
    return k * x * y * y


def quadratic(x, A):
    total = 0.0
    for i in range(x.shape[0]):
        for j in range(x.shape[0]):
            total += x[i] * A[i, j] * x[j]
    return total


def squares(x):
    y = np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        y[i] = x[i] * x[i] * (i + 1)
    return y


def both(x, s):
    return x * s, s * s * s


def scale_in_place(x, s):
    for i in range(x.shape[0]):
        x[i] = x[i] * s


A = np.array([[1.0, 2.0, 0.0], [-1.0, 0.5, 3.0], [0.2, 0.0, -2.0]])


# -- first derivatives -----------------------------------------------------------------------------------------------


def test_grad_of_a_number() -> None:
    """A Python float comes back as one."""
    result = adgen.grad(cubic)(2.0)
    assert result == 10.0 and type(result) is float


def test_several_parameters_are_named() -> None:
    """By default every floating-point parameter, defaults included, integers not."""
    result = adgen.grad(product)(2.0, 5.0)
    assert (result.x, result.y) == (75.0, 60.0) and result == (75.0, 60.0)
    assert adgen.grad(product)(y=5.0, x=2.0, k=1) == (25.0, 20.0)


def test_wrt() -> None:
    """Alone for a name or position, a tuple in the order of a sequence."""
    assert adgen.grad(product, wrt="y")(2.0, 5.0) == 60.0
    assert adgen.grad(product, wrt=1)(2.0, 5.0) == 60.0
    assert adgen.grad(product, wrt=["y", "x"])(2.0, 5.0) == (60.0, 75.0)
    assert adgen.grad(product, wrt=("x",))(2.0, 5.0) == (75.0,)


def test_arrays() -> None:
    """Gradients have the shape of the argument, and one compile serves every shape and layout."""
    gradient = adgen.grad(quadratic)
    for n in (3, 1, 2, 0):
        a = A[:n, :n]
        result = gradient(X[:n], a)
        assert np.allclose(result.x, (a + a.T) @ X[:n], rtol=1e-14)
        assert np.allclose(result.A, np.outer(X[:n], X[:n]), rtol=1e-14)
    strided = np.repeat(X, 2)[::2]
    assert np.array_equal(gradient(strided, np.asfortranarray(A)).x, gradient(X, A).x)


def test_integer_arrays_are_inactive() -> None:
    """An int32 array counts as integers: read, and no gradient."""
    result = adgen.grad(quadratic)(X, A.round().astype(np.int32))
    assert np.allclose(result, (A.round() + A.round().T) @ X)


def test_float32_stays() -> None:
    """float32 in, float32 out, scalars as well."""
    result = adgen.grad(quadratic)(X.astype("f4"), A.astype("f4"))
    assert result.x.dtype == result.A.dtype == np.float32
    assert np.allclose(result.x, (A + A.T) @ X, rtol=1e-5)
    assert type(adgen.grad(cubic)(np.float32(2.0))) is np.float32


def test_numpy_numbers() -> None:
    """NumPy scalars and arrays without axes are numbers."""
    assert adgen.grad(cubic)(np.float64(2.0)) == adgen.grad(cubic)(np.array(2.0)) == 10.0


def test_value_and_grad() -> None:
    """Both from one call."""
    value, gradient = adgen.value_and_grad(product, wrt="x")(2.0, 5.0)
    assert (value, gradient) == (150.0, 75.0)


def test_jvp() -> None:
    """The value, and the derivative along the tangent."""
    value, tangent = adgen.jvp(squares)(X, tangent=[1.0, 0.0, -1.0])
    assert np.allclose(value, X * X * [1, 2, 3]) and np.allclose(tangent, 2 * X * [1, 0, -3])
    value, tangent = adgen.jvp(product)(2.0, 5.0, tangent=(1.0, 2.0))
    assert (value, tangent) == (150.0, 195.0)
    assert adgen.jvp(product, wrt="y")(2.0, 5.0, tangent=2.0)[1] == 120.0
    assert adgen.jvp(product)(2.0, 5.0, tangent={"x": 1.0, "y": 2.0})[1] == 195.0


def test_vjp() -> None:
    """A pullback can be called many times, and arguments may change meanwhile."""
    x = X.copy()
    value, pullback = adgen.vjp(squares)(x)
    x[:] = 0.0
    assert np.allclose(value, X * X * [1, 2, 3])
    for k in range(3):
        assert np.allclose(pullback(np.eye(3)[k]), 2 * (k + 1) * X * np.eye(3)[k])


def test_vjp_of_a_tuple() -> None:
    """A cotangent has the structure of the result."""
    value, pullback = adgen.vjp(both)(X, 2.0)
    assert np.allclose(value[0], 2 * X) and value[1] == 8.0
    x_bar, s_bar = pullback((np.ones(3), 0.5))
    assert np.allclose(x_bar, [2.0] * 3) and math.isclose(s_bar, X.sum() + 6.0)


# -- matrices of derivatives -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("operator", [adgen.jacobian, adgen.jacfwd, adgen.jacrev])
def test_jacobians(operator) -> None:
    """Shaped result.shape + parameter.shape; tuples of results and of parameters nest."""
    assert np.allclose(operator(squares)(X), np.diag(2 * X * [1, 2, 3]))
    first, second = operator(both, wrt=[0, 1])(X, 2.0)
    assert np.allclose(first[0], 2 * np.eye(3)) and np.allclose(first[1], X)
    assert np.allclose(second[0], 0.0) and second[1] == 12.0
    assert operator(cubic)(2.0) == 10.0
    assert np.allclose(operator(quadratic, wrt=0)(X, A), (A + A.T) @ X)


def test_hessian() -> None:
    """Symmetric, and in blocks for several parameters."""
    assert np.allclose(adgen.hessian(quadratic, wrt="x")(X, A), A + A.T)
    assert adgen.hessian(cubic)(2.0) == 12.0
    blocks = adgen.hessian(product, wrt=[0, 1])(2.0, 5.0)
    assert np.allclose(blocks, [[0.0, 30.0], [30.0, 12.0]])
    mixed = adgen.hessian(quadratic, wrt=["x", "A"])(X, A)
    assert mixed[0][1].shape == (3, 3, 3) and mixed[1][0].shape == (3, 3, 3)
    assert np.allclose(mixed[0][1], np.moveaxis(mixed[1][0], 2, 0))


def test_hvp() -> None:
    """The Hessian along a direction, with the structure of the gradient."""
    assert np.allclose(adgen.hvp(quadratic, wrt=0)(X, A, tangent=X), (A + A.T) @ X)
    assert adgen.hvp(product)(2.0, 5.0, tangent=(1.0, 1.0)) == (30.0, 42.0)


# -- nesting ---------------------------------------------------------------------------------------------------------


def test_operators_nest() -> None:
    """An operator's function can be differentiated, to any order."""
    second = adgen.grad(adgen.grad(cubic))
    assert second(2.0) == 12.0
    assert adgen.grad(second)(2.0) == 6.0
    assert np.allclose(adgen.jacobian(adgen.grad(quadratic, wrt=0), wrt=0)(X, A), A + A.T)
    assert adgen.grad(adgen.jit(cubic))(2.0) == 10.0
    assert adgen.hessian(adgen.jit(cubic))(2.0) == 12.0
    assert adgen.jvp(adgen.grad(cubic))(2.0, tangent=1.0) == (10.0, 12.0)


def test_decorators() -> None:
    """With and without options; name, text and parameters stay."""

    @adgen.grad
    def f(x):
        """Square."""
        return x * x

    @adgen.grad(wrt="y")
    def g(x, y):
        return x * y

    assert f(3.0) == 6.0 and g(3.0, 4.0) == 3.0
    assert f.__name__ == "f" and f.__doc__ == "Square." and str(inspect.signature(g)) == "(x, y)"
    assert adgen.grad(cubic).__wrapped__ is cubic


# -- structures ------------------------------------------------------------------------------------------------------


@dataclass
class Spring:
    stiffness: float
    length: float
    turns: int


class Pair(NamedTuple):
    a: float
    b: np.ndarray


def energy(spring, x):
    return 0.5 * spring.stiffness * (x - spring.length) ** 2 * spring.turns


def of_dict(p):
    return p["scale"] * p["rest"][0] + p["rest"][1] ** 2


def of_pair(p):
    return p.a * np.sum(p.b)


def test_structures() -> None:
    """A dataclass or dict gives a dict of what has a derivative; tuples, lists, NamedTuples their like."""
    result = adgen.grad(energy)(Spring(4.0, 0.5, 2), 1.5)
    assert result.spring == {"stiffness": 1.0, "length": -8.0} and result.x == 8.0
    assert adgen.grad(of_dict)({"scale": 2.0, "rest": [3.0, 4.0]}) == {"scale": 3.0, "rest": [2.0, 8.0]}
    pair = adgen.grad(of_pair)(Pair(2.0, X))
    assert type(pair) is Pair and math.isclose(pair.a, X.sum()) and np.array_equal(pair.b, [2.0] * 3)


def test_structures_out() -> None:
    """The value keeps the structure that the function gives it."""

    def f(x):
        return {"square": x * x, "pair": Pair(x, np.ones(2) * x), "kind": "test"}

    result = adgen.jit(f)(3.0)
    assert result["square"] == 9.0 and result["kind"] == "test"
    assert type(result["pair"]) is Pair and np.array_equal(result["pair"].b, [3.0, 3.0])


# -- writes ----------------------------------------------------------------------------------------------------------


def test_jit_writes_as_python_does() -> None:
    """In place, also through a view, and with aliasing refused."""
    x, y = X.copy(), np.repeat(X, 2)
    assert adgen.jit(scale_in_place)(x, 2.0) is None
    adgen.jit(scale_in_place)(y[::2], 2.0)
    assert np.array_equal(x, 2 * X) and np.array_equal(y[::2], 2 * X) and np.array_equal(y[1::2], X)


def test_derivatives_leave_arguments_alone() -> None:
    """What is written counts as a result, and the caller's array keeps its values."""
    x = X.copy()
    value, pullback = adgen.vjp(scale_in_place)(x, 2.0)
    assert np.array_equal(x, X) and np.array_equal(value, 2 * X)
    x_bar, s_bar = pullback(np.ones(3))
    assert np.array_equal(x_bar, [2.0] * 3) and math.isclose(s_bar, X.sum())
    assert np.allclose(adgen.jacobian(scale_in_place, wrt=1)(x, 2.0), X)


def test_overlap_is_refused() -> None:
    """A written array must not share memory with another, in derivatives too."""

    def add(x, y):
        for i in range(x.shape[0]):
            x[i] = x[i] + y[i]
        return x[0]

    a = np.arange(6.0)
    for operator in (adgen.jit, adgen.grad):
        compiled = operator(add)
        compiled(a[:3].copy(), a[3:])
        for x, y in [(a, a), (a[:4], a[2:]), (a[1:], a[:-1])]:
            with pytest.raises(AdgenError, match="overlap"):
                compiled(x, y)
    assert np.array_equal(a, np.arange(6.0))


# -- errors ----------------------------------------------------------------------------------------------------------


def strict(x):
    if x < 0.0:
        raise ValueError("negative")
    return x * x


def test_exceptions_are_pythons() -> None:
    """A raise is that exception and an AdgenError, with the line; calls before and after are right."""
    gradient = adgen.grad(strict)
    assert gradient(2.0) == 4.0
    with pytest.raises(ValueError, match="negative") as caught:
        gradient(-1.0)
    assert isinstance(caught.value, AdgenError)
    assert caught.value.lineno == inspect.getsourcelines(strict)[1] + 2
    assert gradient(3.0) == 6.0


def test_index_errors() -> None:
    """An index out of range is an IndexError."""

    def f(x, i):
        return x[i] * x[i]

    gradient = adgen.grad(f)
    assert np.array_equal(gradient(X, -1), [0.0, 0.0, 4.0])
    for i in (3, -4):
        with pytest.raises(IndexError):
            gradient(X, i)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: adgen.grad(squares)(X), r"(?s)\(3,\).*(vjp|jacobian)"),
        (lambda: adgen.grad(both)(X, 1.0), "tuple"),
        (lambda: adgen.grad(product, wrt="k")(1.0, 2.0), "int64.*\n?.*float"),
        (lambda: adgen.grad(product, wrt=3)(1.0, 2.0), "wrt is 3"),
        (lambda: adgen.grad(product, wrt=[0, 0])(1.0, 2.0), "twice"),
        (lambda: adgen.grad(product)(1.0), "'y'"),
        (lambda: adgen.grad(product)(1.0, 2.0, 3, 4), "too many"),
        (lambda: adgen.grad(product)(1.0, 2.0, z=4), "'z'"),
        (lambda: adgen.grad(cubic)("2.0"), "str"),
        (lambda: adgen.grad(cubic)(1j), "complex"),
        (lambda: adgen.grad(cubic)(2), "int64"),
        (lambda: adgen.grad(3.0), "not a function"),
        (lambda: adgen.grad(math.sin)(1.0), "sin"),
        (lambda: adgen.jvp(squares)(X), "tangent"),
        (lambda: adgen.jvp(squares)(X, tangent=[1.0, 2.0]), r"tangent has shape \(2,\).*\(3,\)"),
        (lambda: adgen.jvp(product)(1.0, 2.0, tangent=1.0), "sequence of 2"),
        (lambda: adgen.jvp(squares)(X, tangent=["a", "b", "c"]), "dtype"),
        (lambda: adgen.vjp(squares)(X)[1](1.0), r"cotangent has shape \(\).*\(3,\)"),
        (lambda: adgen.vjp(both)(X, 1.0)[1](np.ones(3)), "sequence of 2"),
        (lambda: adgen.grad(adgen.hvp(cubic))(2.0), "cannot be"),
    ],
)
def test_user_faults(call, words: str) -> None:
    """Each is an AdgenError that says what is wrong, without a traceback through adgen's inside."""
    with pytest.raises(AdgenError, match=words) as caught:
        call()
    depth = 0
    trace = caught.value.__traceback__
    while trace is not None:
        depth, trace = depth + 1, trace.tb_next
    assert depth <= 5


class Options(dict):
    """A dict of a class of its own, which adgen does not take as an argument."""


def with_options(x, full=False, power=2, options=Options(scale=3.0), offset=0.5):
    if full:
        return x, x * x
    return options["scale"] * x**power + offset


def test_defaults_are_known() -> None:
    """What was not passed is static, so it may decide the structure; floats stay arguments to differentiate for."""
    assert adgen.jit(with_options)(2.0) == with_options(2.0)
    assert adgen.grad(with_options)(2.0) == (12.0, 1.0)
    assert adgen.jvp(with_options)(2.0, tangent=(1.0, 0.0))[1] == 12.0
    assert adgen.jit(with_options)(2.0, True) == with_options(2.0, True)


def extents(a, n: int, m: int):
    b = np.zeros((n,)) if n == m else np.zeros((n + m,))
    for i in range(len(b)):
        b[i] = a * i
    return np.sum(b * b)


def looked_up(x, n, key, plain):
    total = 0.0
    for i in range(n):
        total += x * i
    return total if plain else (total, {0: x, 1: 2.0 * x}[key])


def test_an_option_that_decides_the_structure_is_compiled_for_its_value() -> None:
    """Each value has a variant of its own, in every product; ints that decide nothing stay arguments."""
    compiled = adgen.jit(with_options)
    for full in (False, True, np.bool_(True), False, 1, 0):
        assert compiled(2.0, full) == with_options(2.0, full)
    value, pullback = adgen.vjp(with_options, wrt="x")(2.0, True)
    assert value == (2.0, 4.0) and pullback((1.0, 0.5)) == 3.0
    assert adgen.grad(with_options, wrt="x")(2.0, False) == 12.0
    assert adgen.jacobian(with_options, wrt="x")(2.0, True) == (1.0, 4.0)
    shaped = adgen.jit(extents)
    for n, m in ((2, 2), (2, 3), (300, 300), (301, 300), (2, 2)):
        assert shaped(0.5, n, m) == extents(0.5, n, m)
    found = adgen.jit(looked_up)
    for n, key, plain in ((4, 1, False), (5, 0, False), (6, 7, True), (3, 1, False)):
        assert found(0.5, n, key, plain) == looked_up(0.5, n, key, plain)
    assert found.__adgen__.decisive == {"key", "plain"}


def test_an_option_that_does_not_help_is_not_remembered() -> None:
    """The first diagnostic is shown when a value decides nothing either."""

    def either(x, k):
        return x if x > k else (x, x)

    compiled = adgen.jit(either)
    with pytest.raises(AdgenError, match="AD310"):
        compiled(0.5, 1)
    assert not compiled.__adgen__.decisive


def test_a_passed_option_is_not_the_default() -> None:
    """One function serves calls with and without an option, in any order."""
    compiled = adgen.jit(product)
    for _ in range(2):
        assert compiled(1.0, 2.0) == product(1.0, 2.0)
        assert compiled(1.0, 2.0, 5) == product(1.0, 2.0, 5)
        assert compiled(1.0, 2.0, k=7) == product(1.0, 2.0, k=7)


def test_a_changed_default_is_seen() -> None:
    """A default that can change is looked at again at every call."""
    shared = Options(scale=3.0)

    def scaled(x, options=shared):
        return x * options["scale"]

    compiled = adgen.jit(scaled)
    assert [compiled(2.0), compiled(2.0)] == [6.0, 6.0]
    shared["scale"] = 5.0
    assert compiled(2.0) == 10.0
