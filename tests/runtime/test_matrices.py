"""Jacobians and Hessians as one call of compiled code: the products they are made of, in every arrangement."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import adgen
from adgen.driver import lower_function
from adgen.ir.interpret import run
from adgen.ir.verify import verify
from adgen.passes.pipeline import optimise
from adgen.runtime.differentiate import differentiate
from adgen.runtime.signatures import describe_arguments
from adgen.runtime.wrt import resolve

RNG = np.random.default_rng(2)
A, X = RNG.normal(size=(2, 3)), RNG.normal(size=3)


def several(a, x, s):
    """Arrays of two ranks and a number, from a matrix, a vector and a number."""
    y = np.sin(a @ x) * s
    a[0, 0] = 5.0
    total = 0.0
    for k in range(len(x)):
        if x[k] > 0.0:
            total += x[k] ** 3 * s
    return y, total, np.outer(x, y) + a[1, 2]


def product(a, x):
    return a @ x


def number(x):
    return x**3 - 2.0 * x


def in_single(x):
    return np.cumsum(x * x)


def curved(a, x, s):
    return np.sum(np.exp(a @ x * s)) + s**3 * x[0] ** 2


CASES = [(several, (A, X, 0.7)), (number, (1.5,)), (in_single, (X.astype(np.float32),)), (curved, (A, X, 0.7))]
EMPTY = [(product, (np.ones((2, 0)), np.ones(0))), (in_single, (np.ones(0),))]


def along(function, arguments, directions):
    """The tangent along directions of all arguments."""
    tangent = directions[0] if len(arguments) == 1 else tuple(directions)
    return adgen.jvp(function)(*arguments, tangent=tangent)[1]


def times(matrix, direction):
    """A block times a direction of its parameter."""
    return np.tensordot(np.asarray(matrix), np.asarray(direction), np.ndim(direction))


@pytest.mark.parametrize(("function", "arguments"), CASES, ids=lambda x: getattr(x, "__name__", ""))
def test_both_modes_are_the_products(function, arguments) -> None:
    """A Jacobian times a direction is the tangent along it, whichever way it was made."""
    directions = [RNG.normal(size=np.shape(x)).astype(np.asarray(x).dtype) for x in arguments]
    directions = [d if d.ndim else float(d) for d in directions]
    single = arguments[0] is not A and np.asarray(arguments[0]).dtype == np.float32
    expected = along(function, arguments, directions)
    for operator in (adgen.jacobian, adgen.jacfwd, adgen.jacrev):
        found = operator(function)(*arguments)
        pairs = zip(found, expected) if isinstance(expected, tuple) else [(found, expected)]
        for row, tangent in pairs:
            blocks = row if len(arguments) > 1 else [row]
            total = sum(times(block, d) for block, d in zip(blocks, directions, strict=True))
            np.testing.assert_allclose(total, tangent, rtol=1e-4 if single else 1e-10)
            for block, x in zip(blocks, arguments):
                assert np.shape(block) == np.shape(tangent) + np.shape(x)
                assert np.asarray(block).dtype == np.asarray(tangent).dtype


@pytest.mark.parametrize(("function", "arguments"), EMPTY, ids=["two", "one"])
def test_nothing(function, arguments) -> None:
    """Extents of zero give blocks of none."""
    for operator in (adgen.jacobian, adgen.jacfwd, adgen.jacrev):
        found = operator(function)(*arguments)
        block = found if function is in_single else found.x
        assert block.shape == ((0, 0) if function is in_single else (2, 0))


def test_hessian() -> None:
    """Of several parameters: the Jacobian of the gradient, and symmetric."""
    found = adgen.hessian(curved)(A, X, 0.7)
    expected = adgen.jacobian(adgen.grad(curved))(A, X, 0.7)
    for row, other in zip(found, expected, strict=True):
        for block, same in zip(row, other, strict=True):
            np.testing.assert_allclose(block, same, rtol=1e-12)
    np.testing.assert_allclose(found.a.x, np.moveaxis(found.x.a, 0, -1), rtol=1e-10)


def test_matrices_are_functions_like_any_other() -> None:
    """They can be differentiated and mapped."""
    assert adgen.grad(adgen.jacobian(number))(2.0) == 12.0
    assert adgen.grad(adgen.hessian(number))(2.0) == 6.0
    rows = np.arange(6.0).reshape(2, 3)
    np.testing.assert_allclose(adgen.vmap(adgen.jacrev(in_single))(rows)[1], adgen.jacfwd(in_single)(rows[1]))
    third = adgen.jacobian(adgen.hessian(lambda x: np.sum(x**3)))(X)
    assert third.shape == (3, 3, 3) and np.allclose(third[1, 1], [0.0, 6.0, 0.0])


@pytest.mark.parametrize("n", [1, 12])
def test_the_cheaper_mode(n: int) -> None:
    """`jacobian` for a package: its operations are those of the cheaper mode, decided when it runs."""

    def pair(x):
        return np.array([np.sum(x * x), np.sum(np.exp(x))])

    arguments = {"x": np.ones(n)}
    specs = describe_arguments(arguments)
    primal, wrt = lower_function(pair, specs), resolve(None, specs, "pair")
    counts = {}
    for product in ("jacobian", "jacfwd", "jacrev"):
        function = optimise(differentiate(primal, product, wrt).function)
        verify(function)
        outcome = run(function, [np.ones(n)])
        np.testing.assert_allclose(outcome.results[0], [np.full(n, 2.0), np.full(n, np.e)])
        counts[product] = outcome.counts.operations
    assert counts["jacobian"] == counts["jacfwd" if n <= 4 else "jacrev"]


def test_a_tap_has_none() -> None:
    """It has a gradient and no tangent."""
    with pytest.raises(adgen.AdgenError, match="AD144"):
        adgen.jacrev(lambda x: adgen.tap(x * x, "y") + 1.0, wrt="y")(X)


SOURCE = """
import numpy as np

def f(a: "f64[m,n]", x: "f64[n]"):
    return np.sin(a @ x)

def g(x: "f64[n]", s: float) -> float:
    return np.sum(x**3) * s
"""


def test_ahead_of_time(tmp_path: Path) -> None:
    """Entry points of a package, checked by the command."""
    (tmp_path / "m.py").write_text(SOURCE)
    command = [sys.executable, "-m", "adgen", "compile", "m.py", "--emit", "value,jacobian,jacrev,hessian"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0 and "as one product" in done.stdout, done.stderr
    assert "jacobian: by forward mode where there are at most 2 inputs for each result" in done.stdout
    package = adgen.load(tmp_path / "build" / "m_ad")
    expected = np.cos(A @ X)[:, None] * A
    np.testing.assert_allclose(package.f_jacobian(A, X).x, expected)
    np.testing.assert_allclose(package.f_jacrev(A, X).x, expected)
    hessian = package.g_hessian(X, 2.0)
    np.testing.assert_allclose(hessian.x.x, np.diag(12.0 * X))
    np.testing.assert_allclose(hessian.s.x, 3.0 * X**2)
    assert hessian.s.s == 0.0
    stubs = (tmp_path / "build" / "m_ad" / "__init__.pyi").read_text()
    assert "def g_hessian(x: NDArray[np.float64], s: float) -> GHessian:" in stubs and "x: GHessianRow" in stubs
