"""Emitted C computes what the interpreter computes, and reads as it should."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from adgen import ops
from adgen.emit import emit
from adgen.emit.names import Names, legible
from adgen.ir.interpret import run
from adgen.ir.reader import parse_function
from adgen.passes.adjoint import adjoint
from adgen.passes.forward import forward
from adgen.passes.pipeline import optimise, simplify
from tests.native import Native
from tests.oracles import floats, fresh
from tests.passes.test_derivatives import PROGRAMS, program


@pytest.mark.parametrize("name", PROGRAMS)
def test_interpreter_and_c_agree(name: str) -> None:
    """Primal, tangent and adjoint, of every hand-written program."""
    primal = simplify(program(name))
    wrt = floats(primal)
    functions = [
        replace(optimise(function), name=label)
        for label, function in (
            ("primal", primal),
            ("tangent", forward(primal, wrt)),
            ("adjoint", adjoint(primal, wrt)),
        )
    ]
    native = Native(functions)
    arguments = list(PROGRAMS[name][1])
    results = run(primal, fresh(arguments)).results
    directions = [np.full(np.shape(arguments[k]), 0.3) if np.ndim(arguments[k]) else 0.3 for k in wrt]
    seeds = [np.full(np.shape(result), 0.7) if np.ndim(result) else 0.7 for result in results]
    for function, extra in zip(functions, ([], directions, seeds), strict=True):
        expected = run(function, [*fresh(arguments), *fresh(extra)]).results
        status, found = native.call(function.name, [*fresh(arguments), *fresh(extra)])
        assert status == 0
        for ours, theirs in zip(found, expected, strict=True):
            assert np.allclose(ours, theirs, rtol=1e-13, atol=1e-14), function.name


def test_a_swap_keeps_both_values() -> None:
    """Carried values that change places are assigned in parallel."""
    function = parse_function(
        """function swap(%x: f64, %y: f64, %n: i64) -> (a, b) {
          %z = const {type="i64", value=0} : i64
          %a, %b = for %z, %n, %x, %y {exit=false, step=1} (%i: i64, %p: f64, %q: f64) {
            yield %q, %p
          } : f64, f64
          return %a, %b
        }""",
        ops.ROWS,
    )
    status, results = Native([function]).call("swap", [1.0, 2.0, 3])
    assert status == 0 and results == [2.0, 1.0]


def test_a_failed_check_gives_its_number_and_details() -> None:
    """The status is the number of the check; nothing else happens."""
    function = parse_function(
        """function f(%i: i64, %n: i64) -> (out) {
          %c = lt %i, %n : bool
          check %c, %i, %n {exception="IndexError", message="{0} of {1}"}
          return %i
        }""",
        ops.ROWS,
    )
    native = Native([function])
    assert native.call("f", [3, 5])[0] == 0
    assert native.call("f", [5, 5])[0] == 1
    assert native.emitted.sites[0].exception == "IndexError"


@pytest.mark.parametrize(
    ("name", "expected"),
    [("θ", "theta"), ("Δt", "Deltat"), ("café", "cafe"), ("x̂", "x"), ("雪", "u96EA"), ("_Z", "Z"), ("0a", "v0a")],
)
def test_names_are_legible(name: str, expected: str) -> None:
    """Unicode names become what a person would type."""
    assert legible(name) == expected


def test_names_avoid_c_and_each_other() -> None:
    """Keywords, libm and names in use are left alone."""
    names = Names()
    assert [names.claim(name) for name in ("double", "x", "x", "sin", "", "t", "")] == [
        "double_",
        "x",
        "x_2",
        "sin_",
        "t1",
        "t",
        "t2",
    ]


def test_the_same_function_gives_the_same_text() -> None:
    """Emission depends on nothing but its input."""
    from adgen.emit import emit

    first, second = (emit([optimise(program("triangular nest with a branch"))], "m").c_source for _ in range(2))
    assert first == second


def test_arrays_that_a_loop_fills_in_part() -> None:
    """What compilers cannot see is said once, where there is such an array, and nowhere else."""
    text = """function f(%x: f64[:], %y: f64) -> (out) {{
      %0 = const {{type="i64", value=0}} : i64
      %2 = const {{type="i64", value=2}} : i64
      %none = const {{type="f64", value=0.0}} : f64
      {alloc}
      %out = for %0, %2, %none {{exit=true, step=1}} (%i: i64, %s: f64) {{
        %v = load %x, %i : f64
        {store}
        %t = add %s, %v : f64
        %c = lt %t, %y : bool
        yield %c, %t
      }} : f64
      return %out
    }}"""
    alloc, store = '%w = alloc %2 {element="f64", zero=false} : f64[:]', "store %w, %v, %i"
    for parts, wanted in (({"alloc": alloc, "store": store}, True), ({"alloc": "", "store": ""}, False)):
        emitted = emit([parse_function(text.format(**parts), ops.ROWS)], "module")
        assert ("maybe-uninitialized" in emitted.c_source) == wanted
