"""Linear algebra: the values are NumPy's and SciPy's, and derivatives of all orders are what differences say."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
import scipy.linalg

from adgen.ir import interpret
from adgen.passes.adjoint import adjoint
from adgen.passes.pipeline import simplify
from tests.frontend.harness import lowered_for, run
from tests.oracles import check_derivatives

GENERATOR = np.random.default_rng(3)
A = GENERATOR.normal(size=(3, 3)) + np.diag([3.0, -2.0, 2.5])
S = A @ A.T + np.eye(3)
TALL = GENERATOR.normal(size=(4, 3))
WIDE = TALL.T.copy()
B, C = GENERATOR.normal(size=(3, 2)), GENERATOR.normal(size=3)
ONE, NONE = np.array([[-2.0]]), np.zeros((0, 0))
STACK = np.stack([A, S])
SINGULAR = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [5.0, 7.0, 9.0]])
ZERO = np.zeros((2, 2))
la, sla = np.linalg, scipy.linalg


def gauge(v):
    """What does not depend on the signs of columns."""
    return np.sin(v) * v


def positive(a):
    """A positive definite matrix, nearly that of every entry."""
    return a @ a.T + 0.5 * a


CASES = {
    "solve": (lambda a, b: la.solve(a, b), A, B),
    "solve a vector": (lambda a, b: la.solve(a, b), A, C),
    "solve nothing": (lambda a, b: la.solve(a, b), NONE, np.zeros(0)),
    "solve a number": (lambda a, b: la.solve(a, b), ONE, np.array([3.0])),
    "solve a stack": (lambda a, b: (la.solve(a, b), la.solve(a, np.stack([b, 2.0 * b]))), STACK, B),
    "solve ints": (lambda b: la.solve([[2, 1], [0, 4]], b), np.array([1.0, 2.0])),
    "inv": (lambda a: la.inv(a), A),
    "inv of a stack": (lambda a: la.inv(a), STACK),
    "det": (lambda a: la.det(a), A),
    "det of a number": (lambda a: la.det(a), ONE),
    "det of nothing": (lambda a: la.det(a), NONE),
    "det of a stack": (lambda a: la.det(a), STACK),
    "det of rank 2": (lambda a: la.det(a), SINGULAR),
    "det of rank 0": (lambda a: la.det(a), ZERO),
    "slogdet": (lambda a: la.slogdet(a)[1] * la.slogdet(a).sign, A),
    "slogdet of nothing": (lambda a: tuple(la.slogdet(a)), NONE),
    "slogdet of a stack": (lambda a: tuple(la.slogdet(a)), STACK),
    "cholesky": (lambda a: la.cholesky(a), S),
    "cholesky of a number": (lambda a: la.cholesky(a), -ONE),
    "cholesky of nothing": (lambda a: la.cholesky(a), NONE),
    "cholesky of a stack": (lambda a: la.cholesky(np.stack([a, 2.0 * a])), S),
    "cholesky of scipy": (lambda a: (sla.cholesky(a), sla.cholesky(a, lower=True)), S),
    "cho_solve": (lambda a, b: sla.cho_solve(sla.cho_factor(a), b), S, B),
    "cho_factor": (lambda a: sla.cho_factor(a, lower=True)[0], S),
    "cho_solve lower": (lambda a, b: sla.cho_solve(sla.cho_factor(a, lower=True), b), S, C),
    "solve_triangular": (lambda a, b: sla.solve_triangular(a, b), A, B),
    "solve_triangular lower": (lambda a, b: sla.solve_triangular(a, b, lower=True), A, C),
    "solve_triangular transposed": (lambda a, b: sla.solve_triangular(a, b, trans=1, unit_diagonal=True), A, C),
    "solve_triangular of both": (lambda a, b: sla.solve_triangular(a, b, "T", lower=True), A, B),
    "qr": (lambda a: tuple(la.qr(a)), A),
    "qr of tall": (lambda a: tuple(la.qr(a)), TALL),
    "qr of wide": (lambda a: tuple(la.qr(a)), WIDE),
    "qr of a number": (lambda a: tuple(la.qr(a)), ONE),
    "r": (lambda a: la.qr(a, mode="r"), TALL),
    "eigh": (lambda a: (la.eigh(a)[0], gauge(la.eigh(a).eigenvectors)), S),
    "eigh of the upper triangle": (lambda a: gauge(la.eigh(a, UPLO="U")[1]), S + A),
    "eigvalsh": (lambda a: la.eigvalsh(a), S - 4.0 * np.eye(3)),
    "eigvalsh of a number": (lambda a: la.eigvalsh(a), ONE),
    "eigvalsh of nothing": (lambda a: la.eigvalsh(a), NONE),
    "svd": (lambda a: (gauge(la.svd(a)[0]), la.svd(a)[1], gauge(la.svd(a).Vh)), A),
    "svd of tall": (lambda a: [gauge(x) if x.ndim == 2 else x for x in la.svd(a, full_matrices=False)], TALL),
    "svd of wide": (lambda a: [gauge(x) if x.ndim == 2 else x for x in la.svd(a, full_matrices=False)], WIDE),
    "svdvals": (lambda a: la.svd(a, compute_uv=False), WIDE),
    "svdvals of nothing": (lambda a: la.svd(a, compute_uv=False), NONE),
    "pinv": (lambda a: la.pinv(a), TALL),
    "pinv of wide": (lambda a: la.pinv(a), WIDE),
    "lstsq": (lambda a, b: la.lstsq(a, b, rcond=None)[0], TALL, np.arange(4.0)),
    "lstsq of wide": (lambda a, b: la.lstsq(a, b, rcond=None)[0], WIDE, B),
    "rank": (lambda a: (la.matrix_rank(a), la.lstsq(a, a[0], rcond=None)[2]), SINGULAR),
    "cond": (lambda a: (la.cond(a), la.cond(a, 1), la.cond(a, -2), la.cond(a, "fro")), A),
    "norms": (lambda a: (la.norm(a, 2), la.norm(a, -2), la.norm(a, "nuc"), la.norm(a, 1), la.norm(a, -np.inf)), TALL),
    "matrix_power": (lambda a: (la.matrix_power(a, 0), la.matrix_power(a, 5), la.matrix_power(a, -2)), A),
    "expm": (lambda a: sla.expm(a), A),
    "expm of a large matrix": (lambda a: sla.expm(a), np.array([[-11.0, 8.0], [3.0, -9.0]])),
    "expm of a defective matrix": (lambda a: sla.expm(a), np.array([[0.0, 1.0], [0.0, 0.0]])),
}

ONLY_VALUES = ("rank",)
DERIVED = [name for name in CASES if name not in ONLY_VALUES]


def named(name: str) -> tuple:
    """The function of a case and its arguments by parameter."""
    function, *arguments = CASES[name]
    return function, dict(zip(inspect.signature(function).parameters, arguments))


def leaves(value) -> list:
    return [leaf for item in value for leaf in leaves(item)] if isinstance(value, tuple | list) else [value]


@pytest.mark.parametrize("name", CASES)
def test_values(name: str) -> None:
    """What NumPy or SciPy gives, and of the same shape."""
    function, arguments = named(name)
    expected, found = leaves(function(*arguments.values())), leaves(run(function, arguments)[0])
    assert len(found) == len(expected)
    for mine, wanted in zip(found, expected):
        assert np.shape(mine) == np.shape(wanted)
        np.testing.assert_allclose(mine, wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", DERIVED)
def test_both_modes(name: str) -> None:
    """Both modes agree with each other and with differences."""
    function, arguments = named(name)
    check_derivatives(simplify(lowered_for(function, arguments).function), list(arguments.values()))


@pytest.mark.parametrize("name", [name for name in DERIVED if "nothing" not in name and "stack" not in name])
def test_second_order(name: str) -> None:
    """The gradient of a sum has derivatives of its own, in both modes."""
    function, arguments = named(name)
    ir = simplify(lowered_for(function, arguments).function)
    gradient = simplify(adjoint(ir, range(len(ir.parameters))))
    values = interpret.run(ir, [x.copy() for x in arguments.values()]).results
    seeds = [GENERATOR.normal(size=np.shape(x)) if np.ndim(x) else float(GENERATOR.normal()) for x in values]
    check_derivatives(gradient, [*arguments.values(), *seeds])
