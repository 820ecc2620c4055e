"""Derivatives of array functions: both modes agree, also with differences, and kinks follow the conventions."""

from __future__ import annotations

import numpy as np
import pytest

from adgen.ir.interpret import run
from adgen.ir.nodes import Function
from adgen.ir.types import Buffer
from adgen.passes.adjoint import adjoint
from adgen.passes.forward import forward
from adgen.passes.pipeline import simplify
from tests.frontend.array_tracer import lowered
from tests.frontend.test_arrays_functions import CASES

KINKS = ("max of ties", "max of infinities", "max of nan", "sort nan")
STEP = 1e-6


def floats(arguments) -> list[int]:
    """The positions of the arguments to differentiate for."""
    return [k for k, x in enumerate(arguments) if np.asarray(x).dtype.kind == "f"]


def is_float(kind) -> bool:
    return (kind.element if isinstance(kind, Buffer) else kind).is_float


def evaluated(function: Function, arguments: list) -> tuple:
    return run(function, [x.copy() if isinstance(x, np.ndarray) else x for x in arguments]).results


def inner(xs, ys) -> float:
    return float(sum(np.sum(np.asarray(x, float) * np.asarray(y, float)) for x, y in zip(xs, ys)))


def like(generator: np.random.Generator, x):
    """Random numbers of the same shape and type."""
    drawn = generator.normal(size=np.shape(x))
    return drawn.astype(x.dtype) if isinstance(x, np.ndarray) else float(drawn)


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if name not in KINKS and floats(case[1:])])
def test_modes_agree(name: str) -> None:
    """`<w, J v> = <J^T w, v>`, and `J v` is what central differences give."""
    function, *arguments = CASES[name]
    ir = simplify(lowered(function, *arguments))
    wrt = floats(arguments)
    if not any(is_float(value.type) for value in ir.results):
        return
    generator = np.random.default_rng(1)
    directions = [like(generator, arguments[k]) for k in wrt]
    tangents = evaluated(forward(ir, wrt), [*arguments, *directions])[len(ir.results) :]
    seeds = [like(generator, t if isinstance(t, np.ndarray) else float(t)) for t in tangents]
    gradients = evaluated(adjoint(ir, wrt), [*arguments, *seeds])[-len(wrt) :]
    single = any(np.asarray(x).dtype == np.float32 for x in (*arguments, *tangents))
    tolerance = 1e-4 if single else 1e-11
    assert inner(seeds, tangents) == pytest.approx(inner(directions, gradients), rel=tolerance, abs=tolerance)
    if not single:
        difference = differences(ir, arguments, wrt, directions)
        for mine, wanted in zip(tangents, difference):
            np.testing.assert_allclose(mine, wanted, rtol=1e-5, atol=1e-6)


def differences(ir: Function, arguments: list, wrt: list[int], directions: list) -> list:
    """Central differences of the floating-point results."""
    moved = []
    for sign in (1, -1):
        shifted = list(arguments)
        for k, direction in zip(wrt, directions):
            shifted[k] = arguments[k] + sign * STEP * direction
        moved.append(evaluated(ir, shifted))
    pairs = zip(*moved, ir.results)
    return [(np.asarray(p) - np.asarray(m)) / (2 * STEP) for p, m, value in pairs if is_float(value.type)]


def gradient(function, *arguments):
    """The gradient of a scalar function for its first argument."""
    ir = simplify(lowered(function, *arguments))
    return evaluated(adjoint(ir, [0]), [*arguments, 1.0])[-1]


@pytest.mark.parametrize(
    "function, point, wanted",
    [
        (np.max, [1.0, 3.0, 3.0, 3.0], [0.0, 1 / 3, 1 / 3, 1 / 3]),
        (np.min, [2.0, 2.0], [0.5, 0.5]),
        (np.max, [-np.inf, -np.inf], [1.0, 0.0]),
        (np.linalg.norm, [0.0, 0.0], [0.0, 0.0]),
        (np.std, [2.0, 2.0], [0.0, 0.0]),
        (np.prod, [2.0, 0.0, 3.0, 4.0], [0.0, 24.0, 0.0, 0.0]),
        (np.prod, [0.0, 0.0, 3.0], [0.0, 0.0, 0.0]),
        (lambda x: np.sum(np.cumprod(x)), [2.0, 0.0, 3.0, 4.0], [1.0, 32.0, 0.0, 0.0]),
        (lambda x: np.sum(np.where(x < 1.0, x, np.sqrt(x))), [0.0, 0.5, 4.0], [1.0, 1.0, 0.25]),
        (lambda x: np.sum(np.where(x > 0.0, x, 0.0)), [0.0, 2.0, -1.0], [0.0, 1.0, 0.0]),
        (lambda x: np.sum(x[x > 0.0] ** 2), [0.5, -1.0, 2.0], [1.0, 0.0, 4.0]),
        (lambda x: np.sum(x[[0, 0, 2]]), [1.0, 2.0, 3.0], [2.0, 0.0, 1.0]),
    ],
)
def test_conventions(function, point, wanted) -> None:
    """Ties share equally, norms and deviations of equal elements give zero, untaken branches give nothing."""
    np.testing.assert_allclose(gradient(function, np.array(point)), wanted, rtol=1e-14)
