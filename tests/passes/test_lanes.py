"""Iterations side by side: the same numbers, in the same order where the order counts, and only where it is proved."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import adgen
from adgen.frontend.lower import lower
from adgen.ir import core
from adgen.ir.interpret import run
from adgen.ir.nodes import Function, Operation, walk
from adgen.passes import lane_choice as module
from adgen.passes.activity import roots
from adgen.passes.independence import Tie, independence
from adgen.passes.lanes import lanes
from adgen.passes.pipeline import PRIMAL, apply, simplify
from adgen.runtime.signatures import describe_arguments
from tests.passes.random_functions import Generator
from tests.passes.support import assert_same

SIZES = (0, 1, 63, 64, 65, 150)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of four, so that small programs have several."""
    monkeypatch.setattr(module, "WIDTHS", (4,))
    monkeypatch.setattr(module, "VECTORS", 2)


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("seed", range(60))
def test_random_functions(seed: int) -> None:
    """Bit for bit the same, whatever can be taken in blocks."""
    for function in (Generator(seed).function(), apply(Generator(seed).function(), PRIMAL)):
        after = lanes(function, everywhere=True)
        if after is not function:
            assert_same(function, after, seeds=3, extent=7)


def lowered(function: Any, **arguments: Any) -> Function:
    return simplify(lower(function, describe_arguments(arguments)).function)


def blocks(function: Function) -> list[Operation]:
    """The loops over blocks."""
    return [o for o in walk(function.body) if o.row is core.FOR and abs(o.attributes["step"]) in module.WIDTHS]


def first_loop(function: Function) -> Operation:
    return next(o for o in walk(function.body) if o.row is core.FOR)


def mixture(x, means, scale):
    """A sum over points of a log of a sum over components, with a temporary array of each point."""
    total = 0.0
    t = np.zeros(means.shape[0])
    for n in range(x.shape[0]):
        for k in range(means.shape[0]):
            s = 0.0
            for i in range(means.shape[1]):
                s += (x[n, i] - means[k, i]) ** 2
            t[k] = -scale * s if s < 9.0 else -9.0 * scale - np.log(s)
        m = np.max(t)
        total += m + np.log(np.sum(np.exp(t - m)))
    return total


def mixture_arguments(n: int) -> tuple[Any, ...]:
    generator = np.random.default_rng(n)
    return generator.normal(size=(n, 3)), generator.normal(size=(5, 3)), 0.7


@pytest.mark.parametrize("n", SIZES)
def test_sums_in_the_order_of_the_program(n: int) -> None:
    """A primal in blocks adds up in the user's order: equal to the last bit."""
    x, means, scale = mixture_arguments(n)
    before = lowered(mixture, x=x, means=means, scale=scale)
    after = lanes(before)
    assert len(blocks(after)) == 1
    assert run(after, [x, means, scale]).results == run(before, [x, means, scale]).results


@pytest.mark.parametrize("n", SIZES)
def test_gradients_in_blocks(n: int) -> None:
    """The compiled gradient is that of the interpreter without blocks, for tails of every kind."""
    x, means, scale = mixture_arguments(n)
    compiled = adgen.grad(mixture)(x, means, scale)
    plain = adgen.gradcheck(mixture, (x, means, scale)) if n == 1 else None
    assert plain is None or plain
    epsilon = 1e-6
    slope = (mixture(x, means, scale + epsilon) - mixture(x, means, scale - epsilon)) / (2 * epsilon)
    assert compiled.scale == pytest.approx(slope, rel=1e-6, abs=1e-6)
    direction = np.ones_like(means)
    slope = (mixture(x, means + epsilon * direction, scale) - mixture(x, means - epsilon * direction, scale)) / (
        2 * epsilon
    )
    assert np.sum(compiled.means * direction) == pytest.approx(slope, rel=1e-6, abs=1e-6)
    assert compiled.x.shape == x.shape


def scattered(values, places, out):
    """Several iterations add to one element."""
    for i in range(values.shape[0]):
        v = values[i]
        w = math.sin(v) * math.exp(-v * v) + math.cos(v) / (1.0 + v * v)
        out[places[i]] += w * v
    return out


def test_several_iterations_add_to_one_element() -> None:
    """Additions anywhere are taken one after the other, in the program's order; indices are checked before."""
    generator = np.random.default_rng(0)
    values, places = generator.normal(size=130), generator.integers(0, 7, size=130)
    before = lowered(scattered, values=values, places=places, out=np.zeros(7))
    after = lanes(before, everywhere=True)
    assert len(blocks(after)) == 1
    results = [run(function, [values, places, np.zeros(7)]).results for function in (before, after)]
    assert all(np.array_equal(a, b) for a, b in zip(*results, strict=True))


def test_a_bad_index_is_named() -> None:
    """The first iteration that fails is reported, with its own index, by C too."""
    places = np.arange(130) % 7
    places[70], places[75] = 9, -9
    with pytest.raises(IndexError, match="index 9 is out of bounds for axis 0 with size 7"):
        adgen.jit(scattered)(np.ones(130), places, np.zeros(7))


def prefix(x):
    for i in range(1, x.shape[0]):
        x[i] = x[i] + x[i - 1]
    return x[-1]


def mapped(x, table):
    """Only stores, by way of memory of a known size."""
    out = np.zeros((x.shape[0], 2))
    for n in range(x.shape[0]):
        R = np.zeros((3, 3))
        for i in range(3):
            for j in range(3):
                R[i, j] = np.sin(x[n] * table[i]) + table[j]
        for k in range(4):
            for i in range(3):
                for j in range(3):
                    R[i, j] = R[i, j] * R[j, i] + 0.1 * k
        out[n, 0] = R[0, 1]
        out[n, 1] = R[2, 2] if R[2, 2] < 1.0 else 1.0 / R[2, 2]
    return out


@pytest.mark.parametrize("n", SIZES)
def test_the_last_iteration_may_be_computed_again(n: int) -> None:
    """Whole vectors, whatever is left over; C and the interpreter agree."""
    x, table = np.linspace(-1, 1, n), np.array([0.5, -0.2, 0.9])
    before = lowered(mapped, x=x, table=table)
    after = lanes(before, everywhere=True)
    expected = run(before, [x, table]).results[0]
    assert np.array_equal(run(after, [x, table]).results[0], expected)
    np.testing.assert_allclose(adgen.jit(mapped)(x, table), expected, rtol=1e-14)


def carried(x):
    s = 1.0
    for i in range(x.shape[0]):
        s = math.sin(s) * x[i]
    return s


def overwritten(x, y):
    for i in range(x.shape[0]):
        y[0] = x[i] * y[1]
    return y[0]


def early(x):
    s = 0.0
    for i in range(x.shape[0]):
        if x[i] < 0.0:
            break
        s += x[i]
    return s


@pytest.mark.parametrize(
    ("function", "arguments", "reason"),
    [
        (prefix, {"x": np.ones(9)}, "`x` is written where other iterations may look"),
        (carried, {"x": np.ones(9)}, "`s` is carried from one iteration to the next"),
        (overwritten, {"x": np.ones(9), "y": np.ones(2)}, "is written where other iterations may look"),
        (early, {"x": np.ones(9)}, "the loop may end early"),
    ],
)
def test_what_ties_iterations_together(function: Any, arguments: Any, reason: str) -> None:
    """A loop that is not independent is told why, and stays as it is."""
    before = lowered(function, **arguments)
    found = independence(first_loop(before), roots(before))
    assert isinstance(found, Tie) and reason in found.reason
    assert not blocks(lanes(before, everywhere=True))


def test_operations_stay_linear() -> None:
    """Blocks add no work that grows: the count per point is the same for many points as for few."""
    counts = []
    for n in (128, 512):
        x, means, scale = mixture_arguments(n)
        after = lanes(lowered(mixture, x=x, means=means, scale=scale))
        counts.append(run(after, [x, means, scale]).counts.operations / n)
    assert counts[1] == pytest.approx(counts[0], rel=0.02)
