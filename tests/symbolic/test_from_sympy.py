"""Formulas as functions: sympy's own evaluation and differentiation are the oracle."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import sympy as sp
from sympy.codegen import cfunctions

import adgen
from adgen import AdgenError
from adgen.ops.derive import rows_of_functions

X, Y, Z = sp.symbols("x y z", real=True)
CONDITIONS = ("And", "Or", "Not", "Xor", "Equality", "Unequality")
ROWS = {
    name: row
    for name, row in rows_of_functions().items()
    if not any(text in name for text in (*CONDITIONS, "Than", "Piecewise"))
}


def exact(expression, symbols, arguments) -> float:
    """sympy's value to 30 digits."""
    given = {s: sp.Float(float(a), 30) for s, a in zip(symbols, arguments)}
    return float(sp.N(expression.doit().subs(given), 30))


def test_every_function_that_a_row_means() -> None:
    """All in one function, each of symbols of its own: values in Python and in C, and partials, against sympy's."""
    expressions, places, symbols, domains = [], [], [], []
    for name in sorted(ROWS):
        row = ROWS[name]
        own = [1 if k in row.fixed else sp.Symbol(f"{name}_{k}", real=True) for k in range(row.arity)]
        places.append([s for s in own if s != 1])
        symbols += places[-1]
        domains += [row.domain[k] for k in range(row.arity) if k not in row.fixed]
        expressions.append(getattr(sp, name)(*own))
    function = adgen.from_sympy(expressions, symbols)
    rng = np.random.default_rng(1)
    for _ in range(3):
        arguments = [float(rng.uniform(*bounds)) for bounds in domains]
        wanted = [exact(expression, symbols, arguments) for expression in expressions]
        assert function(*arguments) == pytest.approx(wanted, rel=1e-12, abs=1e-14)
        for position in range(2):
            moving = [own[position] for own in places if position < len(own)]
            tangent = tuple(float(symbol in moving) for symbol in symbols)
            values, slopes = adgen.jvp(function)(*arguments, tangent=tangent)
            assert values == pytest.approx(wanted, rel=1e-12, abs=1e-14)
            for own, expression, slope, name in zip(places, expressions, slopes, sorted(ROWS)):
                if position < len(own) and name not in ("Mod", "floor", "ceiling", "sign"):
                    partial = exact(sp.diff(expression, own[position]), symbols, arguments)
                    assert slope == pytest.approx(partial, rel=1e-11, abs=1e-13), name


FORMULAS = [
    sp.sin(X * Y) ** 2 + sp.exp(-X * Y) / 3 + sp.sqrt(X) + X ** sp.Rational(3, 2),
    sp.Piecewise((sp.log(X), (X > 1) & (Y < 2)), (X**2, X > 0), (0, True)) + sp.Max(X, Y, sp.Rational(1, 2)),
    sp.Piecewise((X, sp.Or(X < 0, sp.Not(sp.Ne(Y, 1)))), (Y * X**3, True)),
    sp.Mod(X, Y) + sp.sec(X) + sp.sech(Y) + sp.Heaviside(X - 1) * X + sp.csch(X) + sp.cot(Y),
    sp.pi * X - sp.E * Y + sp.GoldenRatio + sp.Rational(1, 3) * X / Y - 7 / (X + Y) ** 2,
    sp.diff(sp.Abs(X) ** 3 * sp.tanh(Y), X),
    cfunctions.log1p(X) + cfunctions.expm1(Y) + cfunctions.hypot(X, Y) + cfunctions.log10(X) + cfunctions.exp2(Y),
    X ** (-Y) + X ** sp.Rational(-1, 2) + (X * Y) ** -3,
    sp.sinc(X) + sp.binomial(X + 3, Y) + sp.factorial(Y),
    sp.sympify("1e-30") * X + 10**25 * Y,
]


@pytest.mark.parametrize("expression", FORMULAS, ids=range(len(FORMULAS)))
def test_formulas(expression) -> None:
    """Values and gradients of compositions."""
    function = adgen.from_sympy(expression, [X, Y])
    for arguments in ((1.3, 0.7), (0.4, 1.9)):
        wanted = exact(expression, (X, Y), arguments)
        assert function(*arguments) == pytest.approx(wanted, rel=1e-12)
        value, gradient = adgen.value_and_grad(function)(*arguments)
        assert value == pytest.approx(wanted, rel=1e-12)
        if expression.has(sp.Mod, sp.Heaviside):  # sympy keeps derivatives of floor and steps
            continue
        for symbol, slope in zip((X, Y), gradient):
            assert slope == pytest.approx(exact(sp.diff(expression, symbol), (X, Y), arguments), rel=1e-10)


def test_common_subexpressions_are_shared() -> None:
    """What occurs twice is computed once."""
    text = inspect.getsource(adgen.from_sympy(sp.log(X * Y) + sp.log(X * Y) ** 3 + sp.sin(X * Y), [X, Y]))
    assert text.count("np.log") == 1
    assert text.count("x * y") == 1


def test_second_derivatives() -> None:
    """A formula is a function like any other: Hessians too."""
    expression = sp.exp(X * Y) * sp.sin(X)
    found = adgen.hessian(adgen.from_sympy(expression, [X, Y]))(0.4, 0.9)
    for a, row in zip((X, Y), found):
        for b, entry in zip((X, Y), row):
            assert entry == pytest.approx(exact(sp.diff(expression, a, b), (X, Y), (0.4, 0.9)), rel=1e-12)


def test_several_results() -> None:
    """A sequence gives a tuple, a matrix an array."""
    assert adgen.jit(adgen.from_sympy([X * Y, X + 1], [X, Y]))(2.0, 3.0) == (6.0, 3.0)
    turn = adgen.from_sympy(sp.Matrix([[sp.cos(X), -sp.sin(X)], [sp.sin(X), sp.cos(X)]]), X)
    assert np.allclose(adgen.jacobian(turn)(0.3), [[-np.sin(0.3), -np.cos(0.3)], [np.cos(0.3), -np.sin(0.3)]])


energy = adgen.from_sympy(4 * (X**-12 - X**-6), [X], "energy")


def chain(distances):
    """Calls a formula in a loop."""
    total = 0.0
    for i in range(distances.shape[0]):
        total += energy(distances[i])
    return total


def test_called_by_a_compiled_function() -> None:
    """A formula is called as any function is."""
    distances = np.array([1.1, 1.3, 2.0])
    wanted = [exact(sp.diff(4 * (X**-12 - X**-6), X), (X,), (d,)) for d in distances]
    assert np.allclose(adgen.grad(chain)(distances), wanted)


def test_names_that_are_no_identifiers() -> None:
    """Keywords and indices become names; what was said of `np` and `t1` stays apart."""
    symbols = sp.symbols("lambda x_{1} np t1")
    product = sp.exp(symbols[0] * symbols[1]) * symbols[2] * symbols[3] + symbols[0] * symbols[1]
    function = adgen.from_sympy(product, symbols)
    assert list(inspect.signature(function).parameters) == ["lambda_", "x_1", "np", "t1"]
    assert function(1.0, 2.0, 3.0, 4.0) == adgen.jit(function)(1.0, 2.0, 3.0, 4.0) == np.exp(2.0) * 12.0 + 2.0


REFUSED = [
    (sp.Integral(sp.exp(-(X**2)), (X, 0, Y)), "evaluate it first"),
    (sp.Sum(X**2, (X, 0, Y)), "evaluate it first"),
    (sp.Derivative(sp.Function("g")(X), X), "evaluate it first"),
    (sp.Function("exp2")(X), "substitute its definition"),
    (sp.I * X, "finite real numbers"),
    (X + sp.oo * Y, "finite real numbers"),
    (sp.log(-2) * X, "finite real numbers"),
    (X + 10**400, "finite real numbers"),
    (sp.LambertW(X), "as a Python function"),
    (sp.zeta(X), "as a Python function"),
    (sp.coth(X), "as a Python function"),
    (X + Z, "does not take `z`"),
]


@pytest.mark.parametrize(("expression", "message"), REFUSED, ids=[str(e) for e, _ in REFUSED])
def test_refused(expression, message: str) -> None:
    """What no row means is refused, naming it, and so is what is not a real number."""
    with pytest.raises(AdgenError, match=message):
        adgen.from_sympy(expression, [X, Y])


@pytest.mark.parametrize(
    ("symbols", "name", "message"),
    [([X, 2 * Y], "f", "not a symbol"), ([X, sp.Symbol("x")], "f", "two symbols"), ([X, Y], "2f", "not a name")],
)
def test_refused_signatures(symbols, name: str, message: str) -> None:
    """Parameters are symbols with names of their own."""
    with pytest.raises(AdgenError, match=message):
        adgen.from_sympy(X * Y, symbols, name)


FILE = """
import adgen
import sympy

x, y = sympy.symbols("x y")
f = adgen.from_sympy(sympy.exp(x * y) + sympy.sin(x * y) ** 2, [x, y], "f")
"""


def test_ahead_of_time(tmp_path: Path) -> None:
    """`adgen compile` takes a formula of a file for a function of it, and writes the same text under any hash seed."""
    (tmp_path / "formula.py").write_text(FILE)
    texts = set()
    for seed in ("1", "2"):
        out = tmp_path / seed
        environment = {**os.environ, "PYTHONHASHSEED": seed, "ADGEN_CACHE_DIR": str(tmp_path / f"cache{seed}")}
        command = [sys.executable, "-m", "adgen", "compile", "formula.py", "--out", str(out)]
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, env=environment)
        texts.add((out / "formula_ad" / "formula.c").read_text())
    assert len(texts) == 1
    compiled = adgen.load(tmp_path / "1" / "formula_ad")
    wanted = sp.diff(sp.exp(X * Y) + sp.sin(X * Y) ** 2, X)
    assert compiled.f_grad(0.3, 0.8)[0] == pytest.approx(exact(wanted, (X, Y), (0.3, 0.8)))
