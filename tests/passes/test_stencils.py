"""Adjoint stencils: sums collected by element, and buffers that change places instead of being copied."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adgen.frontend.lower import lower
from adgen.ir.interpret import run
from adgen.ir.nodes import Function
from adgen.passes.adjoint import adjoint
from adgen.passes.gathers import gathers
from adgen.passes.localise import localise
from adgen.passes.pipeline import keep_results, optimise, simplify
from adgen.passes.rotations import rotations
from adgen.runtime.signatures import describe_arguments
from tests.native import Native
from tests.oracles import check_derivatives, flat, floats, fresh
from tests.passes.stencil_programs import program, rank_of
from tests.passes.support import assert_same, parse, rows
from tests.test_random_programs import imported

COMPILED = 9


def point(rank: int, n: int, m: int, steps: int) -> list[Any]:
    """Arguments of a program."""
    generator = np.random.default_rng(n + 10 * m + steps)
    shape = (n, m)[:rank]
    return [generator.uniform(-1, 1, shape), generator.uniform(-1, 1, shape), 0.3, steps]


def lowered(function: Callable[..., Any], arguments: Sequence[Any]) -> Function:
    """The IR of a function."""
    specs = describe_arguments(dict(zip(function.__code__.co_varnames, arguments)))
    return localise(simplify(lower(function, specs).function))


def gradient(primal: Function) -> Function:
    """The gradient alone, not optimised."""
    derived = adjoint(primal, floats(primal), "one")
    return keep_results(derived, derived.result_names[len(primal.results) :])


def text(seed: int) -> str:
    """The program of a seed."""
    return program(random.Random(seed))


def made(seed: int, folder: Path) -> Callable[..., Any]:
    """That program as a function."""
    return imported(text(seed), folder, f"stencil_{seed}")


@given(st.integers(0, 10**6), st.integers(1, 9), st.integers(1, 7), st.integers(0, 3))
@settings(max_examples=15, deadline=None)
def test_random_stencils(tmp_path_factory: pytest.TempPathFactory, seed: int, n: int, m: int, steps: int) -> None:
    """Gradients are those of the same IR before optimisation, also where arrays are too short for an interior."""
    arguments = point(rank_of(text(seed)), n, m, steps)
    primal = lowered(made(seed, tmp_path_factory.mktemp("stencils")), arguments)
    plain = gradient(primal)
    before, after = (flat(run(each, fresh(arguments)).results) for each in (plain, optimise(plain)))
    assert np.allclose(after, before, rtol=0, atol=1e-12 * (1.0 + np.abs(before).max())), text(seed)


@pytest.mark.parametrize("seed", range(4))
def test_both_modes_of_stencils_agree(tmp_path: Path, seed: int) -> None:
    """The dot-product identity, and differences."""
    arguments = point(rank_of(text(seed)), 8, 7, 2)
    check_derivatives(lowered(made(seed, tmp_path), arguments), arguments, optimise)


def test_compiled_stencils_are_those_of_the_interpreter(tmp_path: Path) -> None:
    """But for the last bits of sines, and of a sum over all elements."""
    functions = []
    for seed in range(COMPILED):
        primal = lowered(made(seed, tmp_path), point(rank_of(text(seed)), 4, 4, 1))
        functions.append(replace(optimise(gradient(primal)), name=f"stencil_{seed}"))
    assert sum(rows(function)["swap"] for function in functions) >= COMPILED // 2
    native = Native(functions)
    for seed, function in enumerate(functions):
        for n, m, steps in ((9, 8, 3), (70, 6, 4), (4, 5, 2), (1, 1, 1), (6, 9, 0)):
            arguments = point(rank_of(text(seed)), n, m, steps)
            expected = run(function, fresh(arguments)).results
            status, results = native.call(function.name, fresh(arguments))
            assert status == 0
            scale = 1.0 + np.abs(flat(expected)).max()
            assert np.allclose(flat(results), flat(expected), rtol=0, atol=1e-13 * scale), (text(seed), n, m, steps)


def regrown(x, v0, c, steps):
    """Memory whose size is computed, used by steps of different numbers, and steps in a loop around."""
    s = 0.0
    w = np.ones(70) * c
    for k in range(3):
        n = int(x[k]) + 65
        u = np.ones(n) * x[3]
        for _ in range(k):
            new = u.copy()
            new[1:-1] = u[1:-1] * u[1:-1] * 0.5 + 0.3 * (u[2:] + u[:-2])
            u = new
        w[5] += np.sum(u * u) * 1e-3
        for _ in range(steps + k):
            new = w.copy()
            new[2:] = 0.5 * w[:-2] + 0.1 * w[2:]
            w = new
        s += np.sum(w * w)
    return s


def test_buffers_change_places_in_loops_around() -> None:
    """And on the heap, with the room that each has."""
    arguments = [np.array([1.0, 30.0, 12.0, 0.3]), np.zeros(1), 0.3, 3]
    primal = lowered(regrown, arguments)
    functions = [optimise(primal), optimise(gradient(primal))]
    assert [rows(function)["swap"] for function in functions] == [2, 2]
    check_derivatives(primal, arguments, optimise, differences=False)
    native = Native(functions)
    for function in functions:
        expected = run(function, fresh(arguments)).results
        status, results = native.call(function.name, fresh(arguments))
        assert status == 0
        assert np.allclose(flat(results), flat(expected), rtol=1e-12)


def burgers(u0, target, c, d, steps):
    """A nonlinear stencil."""
    u = u0.copy()
    for _ in range(steps):
        new = u.copy()
        new[1:-1] = u[1:-1] - c * u[1:-1] * (u[2:] - u[:-2]) + d * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        u = new
    return 0.5 * np.sum((u - target) ** 2)


def heat(u0, target, c, d, steps):
    """A linear stencil of two axes."""
    u = u0.copy()
    for _ in range(steps):
        new = u.copy()
        new[1:-1, 1:-1] = u[1:-1, 1:-1] + c * (
            u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4.0 * u[1:-1, 1:-1]
        )
        u = new
    return 0.5 * np.sum((u - target) ** 2)


@pytest.mark.parametrize(("function", "rank"), [(burgers, 1), (heat, 2)])
def test_a_step_writes_each_element_once(function: Callable[..., Any], rank: int) -> None:
    """Forwards, where a nonlinear one keeps it, and backwards; nothing is copied or cleared but at the borders."""
    counts = []
    for steps in (3, 4):
        arguments = [*point(rank, 60, 60, 0)[:2], 0.1, 0.2, steps]
        primal = lowered(function, arguments)
        derived = adjoint(primal, [0], "one")
        kept = optimise(keep_results(derived, derived.result_names[1:]))
        counts.append(run(kept, fresh(arguments)).counts.stores)
    elements = arguments[0].size
    assert 1.9 * elements <= counts[1] - counts[0] <= 2.5 * elements


LOOP = """function f(%A: f64[:], %B: f64[:], %n: i64, %m: i64) -> () {{
  %zero = const {{type="i64", value=0}} : i64
  %one = const {{type="i64", value=1}} : i64
  %two = const {{type="i64", value=2}} : i64
  for {start}, %n {{exit=false, step={step}, unordered={unordered}}} (%i: i64) {{
    %x = load %B, %i : f64
    %j = add %i, %one : i64
    %k = add %i, {second} : i64
    {before}
    accumulate %A, %x, %j
    accumulate {target}, %x, %k
    yield
  }}
  return
}}"""
ODD = {
    "ordered": {"unordered": "false"},
    "one place": {"second": "%one"},
    "a step of two": {"step": "2"},
    "what is read too": {"before": "%old = load %A, %i : f64\nstore %B, %old, %i"},
    "a shift that is not constant": {"second": "%m"},
    "two buffers": {"target": "%B"},
}


def loop(**parts: str) -> Function:
    """A loop that adds twice."""
    given = {"start": "%zero", "step": "1", "unordered": "true", "second": "%zero", "before": "", "target": "%A"}
    return parse(LOOP.format(**(given | parts)))


def test_increments_become_sums() -> None:
    """Also where a loop starts elsewhere, or there is an element of all terms at none of the shifts."""
    for start in ("%zero", "%one", "%two"):
        before = loop(start=start)
        after = gathers(before)
        assert rows(after)["for"] == 3
        assert_same(before, after)


@pytest.mark.parametrize("parts", ODD.values(), ids=ODD.keys())
def test_what_is_no_stencil_stays(parts: dict[str, str]) -> None:
    """Loops that are not understood are left alone."""
    before = loop(**parts)
    assert gathers(before) is before


def test_dear_terms_are_not_computed_twice() -> None:
    """A sine at two shifts costs more than two loads and stores."""
    source = str(loop()).replace("%x = load %B, %i : f64", "%b = load %B, %i : f64\n%x = sin %b : f64")
    before = parse(source)
    assert gathers(before) is before


STEPS = """function f(%out: f64[:], %n: i64, %x: f64, %m: i64) -> ({names}) {{
  %zero = const {{type="i64", value=0}} : i64
  %one = const {{type="i64", value=1}} : i64
  %nothing = const {{type="f64", value=0.0}} : f64
  %size = const {{type="i64", value=12}} : i64
  %long = add %n, %size : i64
  %state = alloc %long {{element="f64", zero=true}} : f64[:]
  for %zero, %m {{exit=false, step=1}} (%t: i64) {{
    %new = alloc %long {{element="f64", zero=false}} : f64[:]
    for %zero, {end} {{exit=false, step=1}} (%i: i64) {{
      {before}
      %a = load %state, %i : f64
      %b = add %a, %x : f64
      store %new, %b, {place}
      yield
    }}
    for %zero, {end} {{exit=false, step=1}} (%i: i64) {{
      %b = load %new, %i : f64
      store %state, %b, %i
      yield
    }}
    {after}
    yield
  }}
  for %zero, %n {{exit=false, step=1}} (%j: i64) {{
    %c = load %state, %j : f64
    store %out, %c, %j
    yield
  }}
  return {results}
}}"""
UNFIT = {
    "an end that moves": {"end": "%t"},
    "written on the way": {"before": "store %state, %x, %i"},
    "written elsewhere": {"place": "%one", "before": "store %new, %x, %i"},
    "used afterwards": {"after": "store %state, %x, %zero"},
    "a result": {"names": "state", "results": "%state"},
}


def steps(**parts: str) -> Function:
    """Steps that compute in one buffer and copy to another."""
    given = {"end": "%n", "before": "", "place": "%i", "after": "", "names": "", "results": ""}
    return parse(STEPS.format(**(given | parts)))


def test_buffers_change_places() -> None:
    """What a step does not write stays."""
    before = steps()
    after = rotations(before)
    assert rows(after)["swap"] == 1
    assert_same(before, after)


@pytest.mark.parametrize("parts", UNFIT.values(), ids=UNFIT.keys())
def test_copies_that_are_needed_stay(parts: dict[str, str]) -> None:
    """Whatever else happens to one of the buffers."""
    before = steps(**parts)
    assert rotations(before) is before
