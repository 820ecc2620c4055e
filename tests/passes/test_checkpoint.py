"""Loops in chunks: the same gradients, no more than one step more for each, and memory that grows with the root."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adgen
from adgen.emit import emit
from adgen.frontend.lower import lower
from adgen.ir import core
from adgen.ir.interpret import run
from adgen.ir.nodes import Function, walk
from adgen.ir.verify import verify
from adgen.passes import checkpoint
from adgen.passes.adjoint import adjoint
from adgen.passes.checkpoint import checkpointed
from adgen.passes.localise import localise
from adgen.passes.pipeline import optimise, simplify
from adgen.runtime.signatures import describe_arguments
from tests.oracles import floats, fresh
from tests.test_cost import burgers

RNG = np.random.default_rng(3)


def numbers(x, n):
    """Carried numbers that start from a constant which the loop reads too, counted in threes."""
    s, t = x, 1.0
    for i in range(2, 3 * n, 3):
        s, t = np.sin(s) * t + 1.0, t * 0.9 + s * s * 0.01 + i * 1e-3
    return s * t


def backwards(a, n):
    """A written argument, a step of -1, a branch with a constant, an inner loop and one that stops early."""
    total = 0.0
    for i in range(n - 1, -1, -1):
        for j in range(len(a)):
            a[j] = np.sin(a[j]) + 0.1 * a[j - 1]
        total = total * 0.9 + a[i % len(a)] if a[0] > 0.2 else total
        k = 0
        while k < 3 and a[k] < 0.5:
            total += a[k] * a[k]
            k += 1
    return total


def narrow(x, table, n):
    """Single precision, a table of indices, an integer state."""
    y, last = x.copy(), 0
    for i in range(n):
        y[table[last]] += np.cos(y[table[i % 3]]) * np.float32(0.5)
        last = (last + 2) % 3
    return np.sum(y * y)


CASES: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "burgers": (burgers, (RNG.normal(size=9), RNG.normal(size=9), 0.1, 0.2, 30)),
    "numbers": (numbers, (0.3, 17)),
    "backwards": (backwards, (RNG.normal(size=5), 11)),
    "narrow": (narrow, (RNG.normal(size=4).astype(np.float32), np.array([2, 0, 1]), 12)),
    "one": (numbers, (0.3, 1)),
    "none": (burgers, (RNG.normal(size=4), RNG.normal(size=4), 0.1, 0.2, 0)),
}


def primal(name: str) -> tuple[Function, list[Any]]:
    """A pure function ready to be reversed, and its arguments."""
    function, arguments = CASES[name]
    specs = describe_arguments(dict(zip(function.__code__.co_varnames, arguments)))
    return localise(simplify(lower(function, specs).function)), list(arguments)


def reversed_(function: Function, memory: int | None) -> Function:
    """The gradient with as much memory."""
    chunked = function if memory is None else simplify(checkpointed(function, memory))
    verify(chunked)
    return optimise(adjoint(chunked, floats(function), "one"))


@pytest.mark.parametrize("memory", [0, 1000, 10**9])
@pytest.mark.parametrize("name", CASES)
def test_gradients_are_the_same(name: str, memory: int) -> None:
    """Whatever the memory, values are equal to the last bit and gradients up to the order of sums."""
    function, arguments = primal(name)
    plain = run(reversed_(function, None), fresh(arguments))
    chunked = run(reversed_(function, memory), fresh(arguments))
    count = len(function.results)
    for ours, theirs in zip(chunked.results[:count], plain.results[:count]):
        np.testing.assert_array_equal(ours, theirs)
    tolerance = 1e-5 if name == "narrow" else 1e-12
    for ours, theirs in zip(chunked.results[count:], plain.results[count:], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance)


def test_operations() -> None:
    """Chunks cost one run of the loop; with memory for all there is nothing to run again."""
    function, arguments = primal("burgers")
    arguments[-1] = 200
    plain, least, most = (run(reversed_(function, m), fresh(arguments)).counts.operations for m in (None, 0, 10**9))
    assert least < 1.5 * plain
    assert most < 1.01 * plain


def workspace(memory: int, steps: int) -> int:
    """The bytes that the gradient of `burgers` asks for."""
    gradient = adgen.grad(burgers, wrt="u0", memory=memory)
    x = np.sin(np.arange(100.0))
    gradient(x, x, 0.1, 0.2, 3)
    (entry,) = gradient.__adgen__.entries.values()
    ffi, sizes = entry.library.ffi, entry.library.ffi.new("int64_t[8]")
    pointer = ffi.from_buffer("double[]", x)
    getattr(entry.library.lib, f"{entry.program.name}_sizes")(pointer, 100, pointer, 100, 0.1, 0.2, steps, sizes)
    return int(sizes[0])


def test_memory_grows_with_the_root() -> None:
    """A hundred times as many steps take ten times the memory, and the limit decides between the two ways."""
    few, many = workspace(0, 1_000), workspace(0, 100_000)
    assert many < 11 * few
    assert many < 2.1 * 800 * 100_000**0.5 + 20_000
    assert workspace(10**9, 1_000) > 800 * 1_000 > workspace(800_000 - 1, 1_000)


def heat(u, steps):
    """Steps that are linear."""
    u = u.copy()
    for _ in range(steps):
        new = u.copy()
        new[1:-1] = u[1:-1] + 0.2 * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        u = new
    return np.sum(u * u)


@pytest.mark.parametrize("steps", [0, 1, 3, 30])
def test_long_loops_that_replace_a_state(monkeypatch: pytest.MonkeyPatch, steps: int) -> None:
    """They keep some of the states, without a limit being given; the gradient is the same."""
    monkeypatch.setattr(checkpoint, "CACHED", 0)
    monkeypatch.setattr(checkpoint, "FEWEST", 2)
    function, arguments = primal("burgers")
    arguments[-1] = steps
    chunked = simplify(checkpointed(function, None, states=True))
    assert any(operation.row is core.CUSTOM for operation in walk(chunked.body))
    derived = [optimise(adjoint(each, floats(function), "one")) for each in (function, chunked)]
    plain, ours = (run(each, fresh(arguments)) for each in derived)
    for mine, theirs in zip(ours.results, plain.results, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-12, atol=1e-12)
    assert ours.counts.operations < 1.6 * plain.counts.operations + 100


@pytest.mark.parametrize("name", ["numbers", "backwards", "narrow"])
def test_other_loops_keep_everything(name: str) -> None:
    """Unless a limit is given."""
    function, _ = primal(name)
    assert checkpointed(function, None, states=True) is function


def test_linear_steps_keep_nothing() -> None:
    """So there is nothing to keep less of."""
    u = np.ones(9)
    function = localise(simplify(lower(heat, describe_arguments({"u": u, "steps": 3})).function))
    assert checkpointed(function, None, states=True) is function


def test_states_that_fit_are_all_kept() -> None:
    """Memory is that of all states up to a size, and then grows with the root of the number of steps."""
    x = np.sin(np.arange(1000.0))
    gradient = adgen.grad(burgers, wrt="u0")
    gradient(x, x, 0.1, 0.2, 3)
    (entry,) = gradient.__adgen__.entries.values()
    ffi, sizes = entry.library.ffi, entry.library.ffi.new("int64_t[8]")
    pointer = ffi.from_buffer("double[]", x)
    found = []
    for steps in (4_000, 5_000, 500_000):
        function = getattr(entry.library.lib, f"{entry.program.name}_sizes")
        function(pointer, 1000, pointer, 1000, 0.1, 0.2, steps, sizes)
        found.append(int(sizes[0]))
    assert found[0] > 8_000 * 4_000
    assert found[1] < 2 * 8_000 * 5_000**0.5 + 150_000
    assert found[2] < 11 * found[1]


def test_other_products() -> None:
    """Pullbacks, second derivatives along a direction and gradients of gradients, in C."""
    x, y = RNG.normal(size=12), RNG.normal(size=12)

    def powers(x, n):
        u = np.array([x, 0.5])
        for _ in range(n):
            u[0] = u[0] * u[1] * 0.5 + np.sin(u[0])
        return u[0]

    arguments = (x, y, 0.1, 0.2, 25)
    v = RNG.normal(size=12)
    expected = adgen.hvp(burgers, wrt="u0")(*arguments, tangent=v)
    np.testing.assert_allclose(adgen.hvp(burgers, wrt="u0", memory=0)(*arguments, tangent=v), expected, rtol=1e-10)
    _, pullback = adgen.vjp(burgers, wrt="c", memory="1kB")(*arguments)
    assert pullback(2.0) == pytest.approx(2.0 * adgen.grad(burgers, wrt="c")(*arguments), rel=1e-12)
    expected = adgen.grad(adgen.grad(powers))(0.7, 7)
    twice = adgen.grad(adgen.grad(powers, memory=0), memory=0)(0.7, 7)
    assert expected != 0.0 and twice == pytest.approx(expected, rel=1e-10)


def wave(u, c, n, mark):
    for _ in mark(range(n)):
        f = np.sin(c * u) + 0.1 * u * u
        u = u + 0.01 * f
    return np.sum(u * u)


def smoothed(u, c):
    f = np.sin(c * u) + 0.1 * u * u
    g = np.exp(-f) * f
    return u + 0.01 * f * g


def test_what_is_marked() -> None:
    """A loop and a function that the program itself marks: the same gradient, less memory, each step twice at most."""
    again = adgen.checkpoint(smoothed)

    def recorded(u, c, n):
        return wave(u, c, n, lambda steps: steps)

    def marked(u, c, n):
        return wave(u, c, n, adgen.checkpoint)

    def called(u, c, n):
        for _ in range(n):
            u = smoothed(u, c)
        return np.sum(u * u)

    def called_again(u, c, n):
        for _ in range(n):
            u = again(u, c)
        return np.sum(u * u)

    arguments = (np.linspace(0.1, 0.5, 20), 1.3, 100)
    for plain, other, share in ((recorded, marked, 0.5), (called, called_again, 0.4)):
        expected, found = adgen.grad(plain)(*arguments), adgen.grad(other)(*arguments)
        for one, two in zip(expected, found, strict=True):
            np.testing.assert_allclose(two, one, rtol=1e-12)
        assert adgen.jit(other)(*arguments) == adgen.jit(plain)(*arguments)
        before, after = adgen.explain(plain)(*arguments), adgen.explain(other)(*arguments)
        assert after.workspace_bytes < share * before.workspace_bytes
        assert before.operations[1] < after.operations[1] < before.operations[1] + 1.1 * before.operations[0]
        assert after.operations[0] == before.operations[0]
        assert any("run again" in remark for remark in after.remarks) and not before.remarks


def test_memory_that_every_step_fills() -> None:
    """It is kept too, whatever it held before the first step: C without a warning, and the same gradient."""

    def filled(m, n):
        out = np.zeros(2)
        for k in range(n):
            out[:] = np.array([np.sum(m[k:]), np.sum(m[k:] ** 2)])
            m = m * out[1] / out[0]
        return out @ out

    m = np.arange(1.0, 13.0).reshape(4, 3) / 7.0
    np.testing.assert_allclose(adgen.grad(filled, memory="8B")(m, 3), adgen.grad(filled)(m, 3), rtol=1e-12)


def hooked(x, n):
    """What has no forward mode is in the loop."""
    u = x.copy()
    for _ in range(n):
        u = adgen.hook(np.sin(u) + u * x, lambda c: np.clip(c, -1.0, 1.0))
    return np.sum(u)


def test_hooks_run_in_chunks_too() -> None:
    """A loop without a forward mode has chunks, and no forward mode with them either."""
    x = np.array([0.1, 0.2, 0.3])
    np.testing.assert_allclose(adgen.grad(hooked, memory=0)(x, 5), adgen.grad(hooked)(x, 5), rtol=1e-12)
    with pytest.raises(adgen.AdgenError, match="AD149"):
        adgen.hvp(hooked, memory=0)(x, 5, tangent=x)


def test_amounts() -> None:
    """Texts and numbers of bytes; anything else is refused before anything is compiled."""
    for amount in ("lots", "3 XB", -1, 1.5, "", True):
        with pytest.raises(adgen.AdgenError, match="AD131"):
            adgen.grad(burgers, memory=amount)


def test_chunks_are_in_the_source() -> None:
    """The C says what it does."""
    function, _ = primal("burgers")
    text = emit([reversed_(function, 32_000_000)], "module").c_source
    assert "chunk" in text and "32000000" in text
