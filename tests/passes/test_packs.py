"""Loops of applications of one function: the same results, and only where nothing is in the way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adgen
import adgen.passes.packs as module
from adgen.driver import lower_function
from adgen.ir import core
from adgen.ir.nodes import Function, walk
from adgen.ir.verify import verify
from adgen.passes.packs import packs
from adgen.passes.pipeline import PRIMAL, apply, simplify
from adgen.runtime.signatures import describe_arguments
from tests.passes.random_functions import Generator
from tests.passes.support import assert_same, parse


@pytest.mark.parametrize("seed", range(20))
def test_random_functions(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bit for bit the same."""
    monkeypatch.setattr(module, "FEWEST", 2)
    for function in (Generator(seed).function(), apply(Generator(seed).function(), PRIMAL)):
        after = packs(function)
        if after is not function:
            assert_same(function, after, seeds=3, extent=7)


def lowered(function: Any, **arguments: Any) -> Function:
    return simplify(lower_function(function, describe_arguments(arguments)).function)


def packed(function: Function) -> list[str]:
    """The function of each loop that was made."""
    before = {id(o) for o in walk(function.body)}
    loops = [o for o in walk(packs(function).body) if o.row is core.FOR and o.attributes.get("simd")]
    return [o.regions[0].operations[1].row.name for o in loops if id(o) not in before]


def angles(a, b, c, d, e):
    """Five sines at once; the exponentials wait for each other."""
    s = np.sin(a) * np.sin(b) + np.sin(c) * np.sin(d) * np.sin(e)
    return np.exp(np.exp(np.exp(np.exp(s))))


def checked(x, k):
    """An element behind a check is not read before it."""
    s = np.sin(x[0]) * np.sin(x[1])
    y = x[k]
    return s * np.sin(y) * np.sin(x[2])


def in_steps(x, v, n):
    """A time loop, whose iterations depend on each other."""
    for _ in range(n):
        v = v + 0.1 * (np.sin(x) + np.sin(x + v) + np.sin(2.0 * x) + np.sin(3.0 * x))
        x = x + v
    return x


def in_a_vector_loop(x):
    """A loop that a vector unit takes several iterations of at once."""
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] = np.sin(x[i]) + np.sin(2.0 * x[i]) + np.sin(3.0 * x[i]) + np.sin(4.0 * x[i])
    return y


def stored_between(x):
    """An element that is overwritten is read where it was."""
    x = x.copy()
    s = np.sin(x[0]) + np.sin(x[1])
    x[2] = s
    return np.sin(x[2]) + np.sin(x[3]) + s


def test_what_is_packed() -> None:
    number = dict.fromkeys("abcde", 1.0)
    assert packed(lowered(angles, **number)) == ["sin"]
    assert packed(lowered(in_steps, x=1.0, v=1.0, n=3)) == ["sin"]
    assert packed(lowered(in_a_vector_loop, x=np.ones(4))) == []
    assert packed(lowered(stored_between, x=np.ones(4))) == []


def test_a_load_does_not_pass_a_check() -> None:
    """It may be the one that makes the load right."""
    loads = [f"%a{k} = load %x, %k{k} : f64\n%s{k} = sin %a{k} : f64" for k in range(4)]
    numbers = [f'%k{k} = const {{type="i64", value={k}}} : i64' for k in range(4)]
    sums = ["%t1 = add %s0, %s1 : f64", "%t2 = add %t1, %s2 : f64", "%t3 = add %t2, %s3 : f64", "return %t3"]
    check = ["%n = dim %x {axis=0} : i64", "%c = lt %k3, %n : bool", 'check %c {exception="IndexError", message=""}']
    late = ["function f(%x: f64[:]) -> (out) {", *numbers, *loads[:3], *check, loads[3], *sums, "}"]
    early = ["function f(%x: f64[:]) -> (out) {", *numbers, *check, *loads, *sums, "}"]
    assert packed(parse("\n".join(late))) == []
    assert packed(parse("\n".join(early))) == ["sin"]


def on_either_side(a, b, c, d):
    """The same numbers in both branches, whose arrays are their own."""
    if a > 0.0:
        return np.sin(a) * np.sin(b) * np.sin(c) * np.sin(d)
    return np.sin(a) + np.sin(b) + np.sin(c) + np.sin(d)


def test_branches_have_arrays_of_their_own() -> None:
    made = lowered(on_either_side, **dict.fromkeys("abcd", 1.0))
    assert packed(made) == ["sin", "sin"]
    assert_same(made, packs(made))
    verify(packs(made))


def test_an_index_out_of_range_is_refused_before_it_is_read() -> None:
    x = np.linspace(1.0, 2.0, 4)
    assert adgen.jit(checked)(x, 3) == pytest.approx(checked(x, 3), rel=1e-15)
    with pytest.raises(IndexError):
        adgen.jit(checked)(x, 4)


def test_compiled() -> None:
    """Values and derivatives of compiled code, which calls functions for vectors: a few units in the last place."""
    point = [0.3, -1.2, 2.0, 0.7, 5.0]
    with np.errstate(over="ignore"):
        assert adgen.jit(angles)(*point) == pytest.approx(angles(*point), rel=1e-13)
    step = 1e-6
    for n in (1, 5):
        up, down = in_steps(1.0 + step, 0.2, n), in_steps(1.0 - step, 0.2, n)
        assert adgen.grad(in_steps, wrt="x")(1.0, 0.2, n) == pytest.approx((up - down) / (2 * step), rel=1e-7)
