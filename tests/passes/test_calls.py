"""Calls of functions that call themselves: derivatives of both orders, C, cost, failures, and what passes keep."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import adgen
from adgen import ops
from adgen.ir.interpret import ProgramError, run
from adgen.ir.nodes import Function
from adgen.ir.reader import ReadError, parse_function
from adgen.ir.verify import VerifyError, verify
from adgen.passes.adjoint import adjoint
from adgen.passes.forward import forward
from adgen.passes.hoist import hoist
from adgen.passes.hoist_checks import hoist_checks
from adgen.passes.pipeline import optimise, simplify
from tests.frontend import harness
from tests.native import Native
from tests.oracles import check_derivatives, floats, fresh
from tests.passes.support import parse, rows

CORPUS = [function for function in harness.corpus("recursion") if function.__name__ != "adaptive_quadrature"]
named = pytest.mark.parametrize("function", CORPUS, ids=[function.__name__ for function in CORPUS])


@functools.cache
def lowered(function: Callable[..., Any]) -> tuple[Function, list[Any]]:
    """A function of the corpus and its arguments; finding a recursion may take seconds."""
    samples = harness.samples(function)
    made = harness.lowered_for(function, samples)
    return made.function, [samples[leaf.path[0]] for leaf in made.leaves]


@named
def test_calls_are_calls(function: Any) -> None:
    """The recursion is a callee that calls itself, and the text form holds it."""
    primal, _ = lowered(function)
    assert primal.callees
    assert parse_function(str(primal), ops.ROWS) == primal
    for derived in (adjoint(simplify(primal), floats(primal)), forward(simplify(primal), floats(primal))):
        verify(derived)
        assert parse_function(str(derived), ops.ROWS) == derived


@named
def test_derivatives(function: Any) -> None:
    """Both modes agree with each other and with differences, before and after optimisation."""
    primal, arguments = lowered(function)
    check_derivatives(primal, arguments)
    check_derivatives(simplify(primal), arguments, optimise)


@named
def test_second_derivatives(function: Any) -> None:
    """A gradient is an ordinary function: both modes again."""
    primal, arguments = lowered(function)
    gradient = simplify(adjoint(simplify(primal), floats(primal), "one"))
    check_derivatives(gradient, arguments, optimise)


@named
def test_c_is_the_interpreter(function: Any) -> None:
    """Primal, tangent, adjoint and the tangent of the adjoint, in one C file."""
    primal, arguments = lowered(function)
    primal = simplify(primal)
    wrt = floats(primal)
    gradient = simplify(adjoint(primal, wrt, "one"))
    directions = [np.full(np.shape(arguments[k]), 0.3) if np.ndim(arguments[k]) else 0.3 for k in wrt]
    derived = [
        (primal, "primal", []),
        (forward(primal, wrt), "tangent", directions),
        (gradient, "gradient", []),
        (forward(gradient, wrt), "curvature", directions),
    ]
    functions = [replace(optimise(each), name=name) for each, name, _ in derived]
    native = Native(functions)
    for made, (_, name, extra) in zip(functions, derived, strict=True):
        expected = run(made, [*fresh(arguments), *fresh(extra)]).results
        status, found = native.call(name, [*fresh(arguments), *fresh(extra)])
        assert status == 0
        for ours, theirs in zip(found, expected, strict=True):
            assert np.allclose(ours, theirs, rtol=1e-13, atol=1e-14), name


# -- cost --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["power", "two_calls", "shrink"])
def test_a_gradient_costs_a_fixed_multiple(name: str) -> None:
    """However deep the recursion: the callee's value and gradient are computed in one call."""
    primal, _ = lowered(next(function for function in CORPUS if function.__name__ == name))
    primal = simplify(primal)
    gradient, tangent = (optimise(f(primal, [0])) for f in (lambda p, w: adjoint(p, w, "one"), forward))
    small, large = {"power": ((1.1, 20), (1.1, 80)), "two_calls": ((0.5, 6), (0.5, 14))}.get(name, ((9.0,), (9e9,)))
    ratios = [
        [run(f, [*given, *extra]).counts.operations / run(primal, given).counts.operations for given in (small, large)]
        for f, extra in ((gradient, []), (tangent, [1.0]))
    ]
    for first, second in ratios:
        assert second < 6
        assert second < 1.2 * first


# -- failures ----------------------------------------------------------------------------------------------------------


def endless(x: float, n: int):
    if n == -1:
        return x
    return x * endless(x, n + 1)


def divides(x: float, n: int):
    if x > 1e6:
        return x
    return x + 10 // n + divides(x, n - 1)


def asserts(x: float, n: int):
    assert n > -3, "too deep"
    return 1.0 if n == 20 else x * asserts(x, n - 1)


def raises(x: float, n: int):
    if n == 2:
        raise ValueError("two")
    return 1.0 if n < 0 else x * raises(x, n - 1)


def stores(x: float, n: int):
    if n > 10:
        return x
    values = np.zeros(n)
    for i in range(n):
        values[i] = x * i
    if n == 2:
        raise KeyError("two")
    return np.sum(values) * stores(x, n - 1)


@pytest.mark.parametrize(
    ("function", "kind"),
    [
        (endless, RecursionError),
        (divides, ZeroDivisionError),
        (asserts, AssertionError),
        (raises, ValueError),
        (stores, KeyError),
    ],
)
def test_failures_reach_the_caller(function: Any, kind: type[Exception]) -> None:
    """What Python raises at any depth, the value and the derivatives raise, at the same line."""
    with pytest.raises(kind) as plain:
        function(0.5, 4)
    line = plain.traceback[-1].lineno + 1
    for call in (adgen.jit(function), adgen.grad(function, wrt="x")):
        with pytest.raises(kind) as caught:
            call(0.5, 4)
        assert isinstance(caught.value, adgen.AdgenError)
        if kind is not RecursionError:
            assert caught.value.lineno == line


def test_recursion_as_deep_as_allowed() -> None:
    """The guard counts calls; one more is Python's exception, and the process lives on."""

    def chain(x: float, n: int):
        return x if n == 0 else math.sin(chain(x, n - 1)) + x

    compiled, gradient = adgen.jit(chain), adgen.grad(chain, wrt="x")
    assert math.isfinite(compiled(0.5, 999)) and math.isfinite(gradient(0.5, 999))
    for call in (compiled, gradient):
        for depth in (1000, 10**9, -1):
            with pytest.raises(RecursionError, match="maximum recursion depth"):
                call(0.5, depth)
    assert math.isfinite(compiled(0.5, 10))


# -- passes ------------------------------------------------------------------------------------------------------------

CALLEE = """
function half(%x: f64, %n: i64) -> (out) {
  %zero = const {type="i64", value=0} : i64
  %fine = ge %n, %zero : bool
  check %fine {exception="ValueError", message="negative"}
  %two = const {type="f64", value=2.0} : f64
  %y = div %x, %two : f64
  return %y
}
"""


def test_a_call_that_nobody_reads_stays() -> None:
    """It may raise."""
    function = parse(
        'function f(%x: f64, %n: i64) -> (out) {\n%y = call %x, %n {callee="half", types=["f64"]} : f64\n'
        "return %x\n}\n" + CALLEE
    )
    assert rows(optimise(function))["call"] == rows(simplify(function))["call"] == 1
    with pytest.raises(ProgramError, match="negative"):
        run(optimise(function), [1.0, -1])
    assert run(optimise(function), [1.0, 1]).results == (1.0,)


def test_a_call_is_not_speculated() -> None:
    """Not out of a loop that may not run, and no other check moves past it."""
    function = parse(
        """function f(%A: f64[:], %x: f64, %m: i64, %n: i64) -> (out) {
          %zero = const {type="i64", value=0} : i64
          %d = dim %A {axis=0} : i64
          %s = for %zero, %m, %x {exit=false, step=1} (%i: i64, %t: f64) {
            %y = call %x, %n {callee="half", types=["f64"]} : f64
            %in = lt %i, %d : bool
            check %in {exception="IndexError", message="outside"}
            %a = load %A, %i : f64
            %z = mul %a, %y : f64
            %u = add %t, %z : f64
            yield %u
          } : f64
          return %s
        }
        """
        + CALLEE
    )
    array = np.ones(2)
    for change in (hoist, hoist_checks, simplify, optimise):
        changed = change(function)
        assert run(changed, [array, 1.0, 0, -1]).results == (1.0,)
        with pytest.raises(ProgramError, match="negative"):
            run(changed, [array, 1.0, 5, -1])
    check_derivatives(function, [array, 1.0, 2, 1], optimise)


def test_callees_that_nothing_calls_are_dropped() -> None:
    """They would be emitted."""
    function = parse("function f(%x: f64) -> (out) {\nreturn %x\n}\n" + CALLEE)
    assert function.callees and not optimise(function).callees


@pytest.mark.parametrize(
    "call",
    [
        '%y = call %x, %n {callee="other", types=["f64"]} : f64',
        '%y = call %x {callee="half", types=["f64"]} : f64',
        '%y = call %n, %n {callee="half", types=["f64"]} : f64',
        '%y = call %x, %n {callee="half", types=["i64"]} : i64',
    ],
)
def test_wrong_calls_are_not_well_formed(call: str) -> None:
    """The callee exists, and its parameters and results have the types of the call."""
    with pytest.raises(VerifyError):
        parse(f"function f(%x: f64, %n: i64) -> (out) {{\n{call}\nreturn %x\n}}\n" + CALLEE)


def test_two_callees_of_one_name_are_not_read() -> None:
    """A name is one function."""
    with pytest.raises(ReadError, match="two callees"):
        parse("function f(%x: f64) -> (out) {\nreturn %x\n}\n" + CALLEE + CALLEE)
