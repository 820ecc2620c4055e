"""Linear algebra: the values are NumPy's and SciPy's, and derivatives of all orders are what differences say."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
import scipy.linalg

import adgen
from adgen.diagnostics import AdgenError
from adgen.ir import interpret
from adgen.ir.nodes import walk
from adgen.passes.adjoint import adjoint
from adgen.passes.custom import inline_custom
from adgen.passes.forward import forward
from adgen.passes.localise import localise
from adgen.passes.pipeline import simplify
from tests.frontend.harness import inputs_of, lowered_for, run, tree_of
from tests.oracles import check_derivatives, floats

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
    "of scipy": (lambda a, b: (sla.solve(a, b), sla.inv(a), sla.det(a), sla.svdvals(a), sla.norm(b)), A, B),
    "eigh of scipy": (lambda a: (sla.eigvalsh(a), gauge(sla.eigh(a, lower=False)[1])), S),
    "svd of scipy": (lambda a: [gauge(x) if x.ndim == 2 else x for x in sla.svd(a)], A),
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
FIRST_ORDER = ("nothing", "stack", "of scipy", "large", "upper", "transposed", "lower")  # others have the second too


def named(name: str) -> tuple:
    """The function of a case and its arguments by parameter."""
    function, *arguments = CASES[name]
    return function, dict(zip(inspect.signature(function).parameters, arguments))


def leaves(value) -> list:
    return [leaf for item in value for leaf in leaves(item)] if isinstance(value, tuple | list) else [value]


@pytest.mark.parametrize("name", CASES)
def test_case(name: str) -> None:
    """What NumPy or SciPy gives, and of the same shape; derivatives of both orders, in both modes, by differences."""
    function, arguments = named(name)
    made = lowered_for(function, arguments)
    found = tree_of(made.output, interpret.run(made.function, inputs_of(made, arguments)).results)
    expected, found = leaves(function(*arguments.values())), leaves(found)
    assert len(found) == len(expected)
    for mine, wanted in zip(found, expected):
        assert np.shape(mine) == np.shape(wanted)
        np.testing.assert_allclose(mine, wanted, rtol=1e-12, atol=1e-12)
    if name in ONLY_VALUES:
        return
    ir = simplify(made.function)
    check_derivatives(ir, list(arguments.values()))
    if not any(word in name for word in FIRST_ORDER):
        gradient = simplify(adjoint(ir, range(len(ir.parameters))))
        values = interpret.run(ir, [x.copy() for x in arguments.values()]).results
        seeds = [GENERATOR.normal(size=np.shape(x)) if np.ndim(x) else float(GENERATOR.normal()) for x in values]
        check_derivatives(gradient, [*arguments.values(), *seeds])


# -- programs ----------------------------------------------------------------------------------------------------------


def gaussian_process(x, y, length, scale, noise):
    n = len(x)
    k = scale**2 * np.exp(-0.5 * ((x[:, None] - x[None, :]) / length) ** 2) + noise**2 * np.eye(n)
    c, lower = sla.cho_factor(k, lower=True)
    z = sla.solve_triangular(c, y, lower=True)
    return 0.5 * z @ z + np.sum(np.log(np.diag(c))) + 0.5 * y @ sla.cho_solve((c, lower), y)


def kalman(f, h, q, x, p, z):
    total = 0.0
    for t in range(len(z)):
        x = f @ x
        p = f @ p @ f.T + q
        s = h @ p @ h.T + np.eye(len(h))
        e = z[t] - h @ x
        gain = np.linalg.solve(s, h @ p).T
        x = x + gain @ e
        p = p - gain @ h @ p
        total -= 0.5 * (e @ np.linalg.solve(s, e) + np.linalg.slogdet(s)[1])
    return total


def trust_region(g, h, radius, n):
    shift = 0.1
    step = np.zeros_like(g)
    for _ in range(n):
        l = np.linalg.cholesky(h + shift * np.eye(len(g)))
        step = -np.linalg.solve(l.T, np.linalg.solve(l, g))
        size = np.linalg.norm(step)
        shift = shift + (size / np.linalg.norm(np.linalg.solve(l, step))) ** 2 * (size - radius) / radius
    return g @ step + 0.5 * step @ h @ step


def orthogonal_iteration(a, q, n):
    for _ in range(n):
        q, _ = np.linalg.qr(a @ q)
    return np.linalg.eigvalsh(q.T @ a @ q)[0]


def overwritten(a, b, n):
    for k in range(n):
        b[:] = np.sin(np.linalg.solve(a, b))
        a[k, k] += np.linalg.det(a) * b[0]
    return b @ b


PROGRAMS = {
    "gaussian process": (gaussian_process, C, np.sin(C), 0.7, 1.2, 0.3),
    "kalman": (kalman, A[:2, :2], A[:1, 1:], np.eye(2), C[:2], np.eye(2), B[:, :1]),
    "trust region": (trust_region, C, S, 0.3, 3),
    "orthogonal iteration": (orthogonal_iteration, S, B, 4),
    "overwritten": (overwritten, A / 3.0, C, 2),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str) -> None:
    """Values, both modes and second derivatives of programs with loops, rebinding and writes."""
    function, *arguments = PROGRAMS[name]
    arguments = dict(zip(inspect.signature(function).parameters, arguments))
    assert run(function, copied(arguments))[0] == pytest.approx(function(**copied(arguments)), rel=1e-12)
    ir = simplify(localise(lowered_for(function, arguments).function))
    check_derivatives(ir, list(arguments.values()))
    gradient = simplify(adjoint(ir, floats(ir), seeds="one"))
    check_derivatives(gradient, list(arguments.values()))


def copied(arguments: dict) -> dict:
    return {key: x.copy() if isinstance(x, np.ndarray) else x for key, x in arguments.items()}


REWRITES = {
    "solve": (lambda a, b: np.sum(np.sin(la.solve(a, b))), lambda a, b: np.sum(np.sin(la.inv(a) @ b)), (A, C)),
    "slogdet": (lambda a: la.slogdet(a)[1], lambda a: 2.0 * np.sum(np.log(np.diag(la.cholesky(a)))), (S,)),
    "det": (lambda a: la.det(a), lambda a: np.exp(la.slogdet(a)[1]) * la.slogdet(a)[0], (A,)),
    "eigvalsh": (lambda a: np.sum(la.eigvalsh(a) ** 3), lambda a: np.trace(la.matrix_power(a, 3)), (S,)),
    "norm": (lambda a: la.norm(a, "nuc"), lambda a: np.sum(np.sqrt(la.eigvalsh(a.T @ a))), (A,)),
    "lstsq": (
        lambda a, b: np.sum(la.lstsq(a, b, rcond=None)[0]),
        lambda a, b: np.sum(la.solve(a.T @ a, a.T @ b)),
        (TALL, np.arange(4.0)),
    ),
}


def symmetric_part(a: np.ndarray) -> np.ndarray:
    return a + a.T if a.ndim == 2 and a.shape[0] == a.shape[1] else a


@pytest.mark.parametrize("name", REWRITES)
def test_equivalent_programs(name: str) -> None:
    """What is computed in two ways has the same gradient, whichever triangle of a symmetric matrix is read."""
    first, second, arguments = REWRITES[name]
    gradients = []
    for function in (first, second):
        ir = simplify(lowered_for(function, dict(zip("ab", arguments))).function)
        gradients.append(
            interpret.run(adjoint(ir, floats(ir), seeds="one"), [*copied(dict(enumerate(arguments))).values()]).results[
                1:
            ]
        )
    for mine, other in zip(*gradients):
        np.testing.assert_allclose(symmetric_part(mine), symmetric_part(other), rtol=1e-9, atol=1e-9)


# -- what has no derivative --------------------------------------------------------------------------------------------


def gradient_of(function, *arguments):
    return adgen.grad(function, wrt=0)(*arguments)


def test_determinant_of_a_singular_matrix() -> None:
    """The gradient is the matrix of cofactors; the Hessian of two by two is the same everywhere."""
    expected = [[3.0, -6.0, 3.0], [3.0, -6.0, 3.0], [-3.0, 6.0, -3.0]]
    np.testing.assert_allclose(gradient_of(lambda a: np.linalg.det(a), SINGULAR), expected, rtol=1e-12)
    hessian = adgen.hessian(lambda a: np.linalg.det(a))(ZERO)
    np.testing.assert_array_equal(hessian.reshape(4, 4), np.fliplr(np.diag([1.0, -1.0, -1.0, 1.0])))


def test_equal_eigenvalues() -> None:
    """Eigenvalues may be equal; what depends on single eigenvectors then is not a number, never a wrong one."""
    twice = np.diag([2.0, 2.0, 5.0])
    cubes = gradient_of(lambda a: np.sum(np.linalg.eigvalsh(0.5 * (a + a.T)) ** 3), twice)
    np.testing.assert_allclose(cubes, np.diag([12.0, 12.0, 75.0]), rtol=1e-13)

    def cubes_by_vectors(a):
        w, v = np.linalg.eigh(a)
        return np.sum(w**3) + np.sum((v[:, 2]) ** 2)

    np.testing.assert_allclose(gradient_of(cubes_by_vectors, twice), np.diag([12.0, 12.0, 75.0]), rtol=1e-13)

    def root(a):
        w, v = np.linalg.eigh(a)
        return ((v * np.sqrt(w)) @ v.T)[1, 0]

    assert np.isnan(gradient_of(root, twice)[1, 0])


SQUARE = "Last 2 dimensions of the array must be square"


@pytest.mark.parametrize(
    ("function", "arguments", "kind", "said"),
    [
        (lambda a, b: np.linalg.solve(a, b)[0], (SINGULAR * 0.0, C), la.LinAlgError, "Singular matrix"),
        (lambda a: np.linalg.inv(a)[0, 0], (ZERO,), la.LinAlgError, "Singular matrix"),
        (lambda a: np.linalg.cholesky(a)[0, 0], (-S,), la.LinAlgError, "Matrix is not positive definite"),
        (lambda a: np.linalg.det(a), (TALL,), la.LinAlgError, SQUARE),
        (lambda a, b: np.linalg.solve(a, b)[0], (TALL, C), la.LinAlgError, SQUARE),
        (lambda a, b: np.linalg.solve(a, b)[0], (A, C[:2]), ValueError, "3 rows and the right-hand side 2"),
        (lambda a, b: np.linalg.solve(a, b)[0, 0, 0], (STACK, STACK[:1]), ValueError, "2 matrices and 1"),
        (lambda a, b: sla.cho_solve((a, True), b)[0], (TALL, C), ValueError, "is not square"),
        (lambda a, b: sla.solve_triangular(a, b)[0], (ZERO, C[:2]), la.LinAlgError, "resolution failed at diagonal"),
        (lambda a: np.linalg.eigvalsh(a)[0], (ZERO + np.nan,), la.LinAlgError, "Eigenvalues did not converge"),
        (lambda a: np.linalg.eigvalsh(a)[0], (ZERO + np.inf,), la.LinAlgError, "Eigenvalues did not converge"),
        (lambda a: np.linalg.svd(a, compute_uv=False)[0], (ZERO + np.nan,), la.LinAlgError, "SVD did not converge"),
        (lambda a: np.linalg.svd(a)[1][0], (TALL,), NotImplementedError, "full_matrices=False"),
        (lambda a: np.linalg.lstsq(a, a, rcond=None)[1], (A,), AdgenError, "residuals of `np.linalg.lstsq`"),
        (lambda a: np.linalg.solve(a, a), (C,), AdgenError, "`solve` takes a matrix or an array of rank 3"),
        (lambda a: np.linalg.qr(a, "complete")[0], (A,), AdgenError, "mode='complete' is not supported"),
    ],
)
def test_errors(function, arguments, kind, said) -> None:
    """NumPy's exceptions with NumPy's messages, at the line of the call."""
    with pytest.raises(kind, match=said) as caught:
        adgen.jit(function)(*arguments)
    assert isinstance(caught.value, AdgenError) and caught.value.span.file == __file__
    assert caught.value.span.line == inspect.getsourcelines(function)[1]


def test_not_a_number_spreads() -> None:
    """A factorisation does not skip what is not a number."""
    a = np.array([[np.nan, 1.0], [1.0, 1.0]])
    assert np.isnan(adgen.jit(lambda a, b: np.linalg.solve(a, b))(a, np.ones(2))).all()
    below = np.array([[1.0, 0.0], [np.nan, 1.0]])
    assert np.isnan(adgen.jit(lambda a: np.linalg.qr(a, "r"))(below)).any()


def test_single_precision() -> None:
    """float32 stays float32."""
    a = A.astype(np.float32)
    found = adgen.jit(lambda a: (np.linalg.inv(a), np.linalg.slogdet(a)[1], np.linalg.svd(a)[1]))(a)
    assert [x.dtype for x in found] == [np.float32] * 3
    np.testing.assert_allclose(found[0], np.linalg.inv(a), rtol=1e-4)
    np.testing.assert_allclose(found[2], np.linalg.svd(a)[1], rtol=1e-5)


def test_accuracy() -> None:
    """Small residuals for matrices that are hard: graded, nearly singular, large and small."""
    generator = np.random.default_rng(0)
    basis = np.linalg.qr(generator.normal(size=(8, 8)))[0]
    for a in (basis * 10.0 ** -np.arange(8.0), 1e150 * basis, 1e-150 * basis, np.triu(np.ones((8, 8)))):
        u, s, vt = run(lambda a: tuple(np.linalg.svd(a)), {"a": a})[0]
        np.testing.assert_allclose(s, np.linalg.svd(a)[1], rtol=1e-12)
        np.testing.assert_allclose((u * s) @ vt, a, atol=1e-14 * np.abs(a).max())
        np.testing.assert_allclose(u.T @ u, np.eye(8), atol=1e-14)
        q, r = run(lambda a: tuple(np.linalg.qr(a)), {"a": a})[0]
        np.testing.assert_allclose(q @ r, a, atol=1e-14 * np.abs(a).max())
        w, v = run(lambda a: tuple(np.linalg.eigh(a)), {"a": a + a.T})[0]
        np.testing.assert_allclose((v * w) @ v.T, a + a.T, atol=1e-14 * np.abs(a).max())
        np.testing.assert_allclose(v.T @ v, np.eye(8), atol=1e-14)
    rank_two = np.outer(np.arange(4.0), np.ones(3)) + np.outer(np.ones(4), np.arange(3.0))
    u, s, vt = run(lambda a: tuple(np.linalg.svd(a, full_matrices=False)), {"a": rank_two})[0]
    np.testing.assert_allclose(u.T @ u, np.eye(3), atol=1e-14)
    zeros = run(lambda a: tuple(np.linalg.svd(a, full_matrices=False)), {"a": np.zeros((4, 3))})[0]
    np.testing.assert_allclose(zeros[0].T @ zeros[0], np.eye(3), atol=1e-14)


def two_calls(a, b):
    x = np.linalg.solve(a, b)
    return np.linalg.solve(a, x) @ b


def test_places() -> None:
    """Every operation, of values and of derivatives, belongs to the line of its call, each to its own."""
    first = inspect.getsourcelines(two_calls)[1]
    ir = simplify(lowered_for(two_calls, {"a": A, "b": C}).function)
    for function in (ir, adjoint(ir, [0, 1]), forward(ir, [0, 1])):
        spans = [operation.span for operation in walk(inline_custom(function).body) if operation.span is not None]
        assert {span.file for span in spans} == {__file__}
        divisions = [op.span.line for op in walk(inline_custom(function).body) if op.row.name == "div" and op.span]
        assert {first + 1, first + 2} <= set(divisions) and min(divisions) > first


def test_third_derivative_of_a_determinant() -> None:
    """The rule of the second derivative is what differences of it say; the library runs in Python as it is."""
    from adgen.frontend.library import determinant

    moved, cotangent, direction = (GENERATOR.normal(size=(3, 3)) for _ in range(3))
    found = np.sum(determinant._second_vjp(A, moved, None, cotangent)[0] * direction)
    more, less = (np.sum(cotangent * determinant.second(A + step * direction, moved)) for step in (1e-5, -1e-5))
    assert found == pytest.approx((more - less) / 2e-5, rel=1e-7)
