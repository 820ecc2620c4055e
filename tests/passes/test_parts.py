"""Loops divided among threads: the same numbers, the same bits for one number of threads, and only where it is safe."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import adgen
from adgen.diagnostics import AdgenError
from adgen.emit import emit
from adgen.frontend.lower import lower
from adgen.ir import core
from adgen.ir.interpret import run
from adgen.ir.nodes import Function, walk
from adgen.ir.verify import verify
from adgen.passes import parts as module
from adgen.passes.parts import parts
from adgen.passes.pipeline import PRIMAL, apply, optimise, simplify
from adgen.runtime.signatures import describe_arguments
from tests.passes.random_functions import Generator
from tests.passes.support import assert_same


@pytest.fixture(autouse=True)
def all_worth(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small loops are divided too."""
    monkeypatch.setattr(module, "WORTH", -1)


def lowered(function: Any, **arguments: Any) -> Function:
    return simplify(lower(function, describe_arguments(arguments)).function)


def divided(function: Function) -> int:
    return sum(bool(o.attributes.get("parallel")) for o in walk(function.body))


@pytest.mark.parametrize("seed", range(40))
def test_random_functions(seed: int) -> None:
    """Bit for bit the same where no sum is divided."""
    for function in (Generator(seed).function(), apply(Generator(seed).function(), PRIMAL)):
        after = parts(function, 3)
        if after is not function:
            verify(after)
            assert_same(function, after, seeds=3, extent=7)


def elementwise(x, y):
    for i in range(x.shape[0]):
        y[i] = np.exp(x[i]) * y[i]
    return y


def triangle(x):
    """Iterations of different lengths; every one adds to many elements of the gradient."""
    total = 0.0
    for i in range(x.shape[0]):
        for j in range(i + 1, x.shape[0]):
            total += np.sin(x[i]) * x[j] * x[j]
    return total


def rows(x, w):
    """Memory of each iteration, checks of indices that are data, and shared weights."""
    total = 0.0
    for n in range(x.shape[0]):
        t = np.zeros(w.shape[0])
        for k in range(w.shape[0]):
            t[k] = np.tanh(w[k] * x[n, k])
        total += np.sum(t * t)
    return total


def gathered(values, places):
    out = np.zeros(places.shape[0])
    for i in range(places.shape[0]):
        out[i] = np.exp(values[places[i]])
    return out


def test_stretches_cover_every_iteration() -> None:
    """For all numbers of iterations around the number of parts."""
    before = lowered(elementwise, x=np.ones(3), y=np.ones(3))
    after = parts(before, 4)
    assert divided(after) == 1
    for n in range(11):
        x, y = np.linspace(-1, 1, n), np.linspace(1, 2, n)
        expected = run(before, [x, y.copy()]).results[0]
        assert np.array_equal(run(after, [x, y.copy()]).results[0], expected)


@pytest.mark.parametrize("threads", [1, 2, 3, 5])
def test_gradients(threads: int) -> None:
    """Against one thread, to the rounding of sums; the same again to the last bit."""
    generator = np.random.default_rng(4)
    x = generator.normal(size=90)
    gradient = adgen.grad(triangle, threads=threads)
    np.testing.assert_allclose(gradient(x), adgen.grad(triangle, threads=1)(x), rtol=1e-12)
    assert all(np.array_equal(gradient(x), gradient(x)) for _ in range(5))
    x, w = generator.normal(size=(70, 6)), generator.normal(size=6)
    both = adgen.grad(rows, threads=threads)(x, w)
    direction = generator.normal(size=6)
    slope = (rows(x, w + 1e-6 * direction) - rows(x, w - 1e-6 * direction)) / 2e-6
    assert both.w @ direction == pytest.approx(slope, rel=1e-6)
    np.testing.assert_allclose(both.x, adgen.grad(rows, threads=1)(x, w).x, rtol=1e-12)


def test_what_c_says() -> None:
    """A pragma with the number of threads; memory of its own for each of them."""
    text = emit([optimise(lowered(rows_only, x=np.ones((2, 2)), w=np.ones(2)), threads=2)], "f").c_source
    assert re.search(r"#pragma omp parallel for num_threads\(2\) schedule\(static, 1\) if \(\w+ > 1\)", text)
    assert re.search(r"double \*const restrict t_2 = t \+ part \* \(?w_n0 \* 64\)?;", text)


def rows_only(x, w):
    out = np.zeros(x.shape[0])
    for n in range(x.shape[0]):
        t = np.zeros(w.shape[0])
        for k in range(w.shape[0]):
            t[k] = np.tanh(w[k] * x[n, k])
        for k in range(1, w.shape[0]):
            t[k] = t[k] + 0.5 * t[k - 1]
        out[n] = t[-1]
    return out


@pytest.mark.parametrize("threads", [2, 3])
def test_memory_of_each_thread(threads: int) -> None:
    """Values of iterations that run at once do not mix."""
    generator = np.random.default_rng(5)
    x, w = generator.normal(size=(200, 100)), generator.normal(size=100)
    expected = rows_only(x, w)
    for _ in range(5):
        np.testing.assert_allclose(adgen.jit(rows_only, threads=threads)(x, w), expected, rtol=1e-13)


def test_a_check_is_reported_as_in_python() -> None:
    """The first bad index in the order of iterations."""
    places = np.arange(100) % 7
    places[80], places[20] = 11, 9
    with pytest.raises(IndexError, match="index 9 is out of bounds for axis 0 with size 7"):
        adgen.jit(gathered, threads=2)(np.ones(7), places)


def prefix(x):
    for i in range(1, x.shape[0]):
        x[i] = np.sin(x[i]) + x[i - 1]
    return x


def own_sum(x):
    total = 0.0
    for i in range(x.shape[0]):
        total += np.sin(x[i])
    return total


@pytest.mark.parametrize("function", [prefix, own_sum])
def test_stays_whole(function: Any) -> None:
    """What depends on the iteration before, and sums in the user's order."""
    before = lowered(function, x=np.ones(4))
    assert parts(before, 2) is before


@pytest.mark.parametrize("threads", [0, -1, 2.0, True, "2"])
def test_bad_numbers(threads: Any) -> None:
    with pytest.raises(AdgenError, match="threads is"):
        adgen.grad(triangle, threads=threads)


def test_default_is_the_environments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "3,1")
    assert adgen.grad(triangle).__adgen__.machine.threads == 3
    monkeypatch.setenv("OMP_NUM_THREADS", "many")
    assert adgen.grad(triangle).__adgen__.machine.threads == 1
    assert adgen.grad(triangle, threads=2).__adgen__.machine.threads == 2


def test_loops_with_checks_inside_are_not_shared() -> None:
    """A part that could leave the function runs on one thread."""
    function = optimise(lowered(gathered, values=np.ones(3), places=np.arange(3)), threads=2)
    loops = [o for o in walk(function.body) if o.attributes.get("parallel")]
    assert loops and not any(inner.row is core.CHECK for o in loops for inner in walk(o.regions[0]))
