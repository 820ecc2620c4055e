"""Both modes on hand-written IR: what loops, branches and memory can do to a reverse sweep."""

import numpy as np
import pytest

from adgen import ops
from adgen.ir.interpret import run
from adgen.ir.nodes import Function
from adgen.ir.reader import parse_function
from adgen.passes.adjoint import adjoint
from adgen.passes.dead_code import keep_results
from tests.oracles import check_derivatives
from tests.passes.support import rows

Z = '%z = const {type="i64", value=0} : i64\n%one = const {type="i64", value=1} : i64\n'

PROGRAMS = {
    "straight line": (
        """function f(%x: f64, %y: f64) -> (out) {
          %a = mul %x, %y : f64
          %b = sin %a : f64
          %c = div %b, %x : f64
          %d = add %c, %a : f64
          return %d
        }""",
        (0.7, 1.3),
    ),
    "carried product": (
        "function f(%x: f64, %n: i64) -> (out) {"
        + Z
        + """
          %c = const {type="f64", value=1.5} : f64
          %r = for %z, %n, %c {exit=false, step=1} (%i: i64, %p: f64) {
            %q = mul %p, %x : f64
            %s = sin %q : f64
            yield %s
          } : f64
          return %r
        }""",
        (0.7, 5),
    ),
    "recurrence in memory": (
        "function f(%A: f64[:]) -> (out) {"
        + Z
        + """
          %n = dim %A {axis=0} : i64
          %B = alloc %n {element="f64", zero=true} : f64[:]
          %a0 = load %A, %z : f64
          store %B, %a0, %z
          for %one, %n {exit=false, step=1} (%i: i64) {
            %j = sub %i, %one : i64
            %b = load %B, %j : f64
            %s = sin %b : f64
            %a = load %A, %i : f64
            %t = mul %s, %a : f64
            store %B, %t, %i
            accumulate %B, %t, %j
            yield
          }
          return %B
        }""",
        (np.array([0.4, 1.1, -0.7, 0.9]),),
    ),
    "triangular nest with a branch": (
        "function f(%A: f64[:,:], %x: f64) -> (out) {"
        + Z
        + """
          %n = dim %A {axis=0} : i64
          %c = const {type="f64", value=0.0} : f64
          %r = for %z, %n, %c {exit=false, step=1} (%i: i64, %s: f64) {
            %first = add %i, %one : i64
            %t = for %first, %n, %s {exit=false, step=1} (%j: i64, %u: f64) {
              %a = load %A, %i, %j : f64
              %e = exp %a : f64
              %big = gt %e, %x : bool
              %w = if %big {types=["f64"]} () {
                %m = mul %e, %u : f64
                %k = tanh %m : f64
                yield %k
              } () {
                %m = mul %a, %x : f64
                %o = add %u, %m : f64
                yield %o
              } : f64
              yield %w
            } : f64
            %v = mul %t, %x : f64
            %q = add %v, %s : f64
            yield %q
          } : f64
          return %r
        }""",
        (np.random.default_rng(1).standard_normal((4, 4)), 0.8),
    ),
    "while over scalars and memory": (
        "function f(%x: f64, %A: f64[:]) -> (out, other) {"
        + Z
        + """
          %n = dim %A {axis=0} : i64
          %B = alloc %n {element="f64", zero=true} : f64[:]
          %r, %k = while %x, %z {} (%y: f64, %i: i64) {
            %t = const {type="f64", value=4.0} : f64
            %c = lt %y, %t : bool
            yield %c
          } (%y: f64, %i: i64) {
            %W = alloc %n {element="f64", zero=true} : f64[:]
            for %z, %n {exit=false, step=1} (%j: i64) {
              %a = load %A, %j : f64
              %m = mul %a, %y : f64
              %e = exp %m : f64
              store %W, %e, %j
              yield
            }
            %w = load %W, %one : f64
            %h = sin %w : f64
            %two = const {type="f64", value=1.2} : f64
            %g = mul %y, %two : f64
            %s = mul %h, %h : f64
            %y2 = add %g, %s : f64
            accumulate %B, %y2, %one
            %i2 = add %i, %one : i64
            yield %y2, %i2
          } : f64, i64
          return %r, %B
        }""",
        (0.9, np.array([0.4, 0.3, -0.7])),
    ),
    "memory of one iteration": (
        "function f(%A: f64[:,:]) -> (out) {"
        + Z
        + """
          %n = dim %A {axis=0} : i64
          %m = dim %A {axis=1} : i64
          %c = const {type="f64", value=0.0} : f64
          %r = for %z, %n, %c {exit=false, step=1} (%i: i64, %s: f64) {
            %W = alloc %m {element="f64", zero=true} : f64[:]
            for %z, %m {exit=false, step=1} (%j: i64) {
              %a = load %A, %i, %j : f64
              %e = exp %a : f64
              store %W, %e, %j
              yield
            }
            %total = for %z, %m, %c {exit=false, step=1} (%j: i64, %u: f64) {
              %w = load %W, %j : f64
              %q = mul %w, %w : f64
              %v = add %u, %q : f64
              yield %v
            } : f64
            %l = log %total : f64
            %t = add %s, %l : f64
            yield %t
          } : f64
          return %r
        }""",
        (np.random.default_rng(2).standard_normal((5, 3)),),
    ),
    "memory carried over time": (
        "function f(%A: f64[:], %T: i64, %d: f64) -> (out) {"
        + Z
        + """
          %n = dim %A {axis=0} : i64
          %U = alloc %n {element="f64", zero=false} : f64[:]
          for %z, %n {exit=false, step=1} (%i: i64) {
            %a = load %A, %i : f64
            store %U, %a, %i
            yield
          }
          %last = sub %n, %one : i64
          for %z, %T {exit=false, step=1} (%t: i64) {
            %V = alloc %n {element="f64", zero=true} : f64[:]
            for %one, %last {exit=false, step=1} (%i: i64) {
              %l = sub %i, %one : i64
              %h = add %i, %one : i64
              %a = load %U, %l : f64
              %b = load %U, %h : f64
              %c = load %U, %i : f64
              %e = sub %b, %a : f64
              %g = mul %e, %c : f64
              %k = mul %g, %d : f64
              %o = add %c, %k : f64
              store %V, %o, %i
              yield
            }
            for %z, %n {exit=false, step=1} (%i: i64) {
              %a = load %V, %i : f64
              store %U, %a, %i
              yield
            }
            yield
          }
          return %U
        }""",
        (np.array([0.4, 1.1, -0.7, 0.9, 0.2]), 3, 0.3),
    ),
    "loop that ends early": (
        "function f(%x: f64, %n: i64) -> (out) {"
        + Z
        + """
          %c = const {type="f64", value=1.0} : f64
          %r = for %z, %n, %c {exit=true, step=1} (%i: i64, %p: f64) {
            %q = mul %p, %x : f64
            %s = sin %q : f64
            %e = add %q, %s : f64
            %limit = const {type="f64", value=5.0} : f64
            %go = lt %e, %limit : bool
            yield %go, %e
          } : f64
          return %r
        }""",
        (0.9, 20),
    ),
    "downward loop with a step": (
        "function f(%A: f64[:]) -> (out) {"
        + Z
        + """
          %n = dim %A {axis=0} : i64
          %last = sub %n, %one : i64
          %c = const {type="f64", value=1.0} : f64
          %end = const {type="i64", value=-1} : i64
          %r = for %last, %end, %c {exit=false, step=-2} (%i: i64, %p: f64) {
            %a = load %A, %i : f64
            %q = mul %p, %a : f64
            %s = tanh %q : f64
            %e = add %q, %s : f64
            yield %e
          } : f64
          return %r
        }""",
        (np.array([0.4, 1.1, -0.7, 0.9, 0.6]),),
    ),
    "two shapes of the same memory": (
        "function f(%A: f64[:,:], %x: f64) -> (out) {"
        + Z
        + """
          %n = dim %A {axis=0} : i64
          %m = dim %A {axis=1} : i64
          %size = mul %n, %m : i64
          %c = const {type="f64", value=0.5} : f64
          %r = for %z, %n, %c {exit=false, step=1} (%t: i64, %s: f64) {
            %W = alloc %n, %m {element="f64", zero=true} : f64[:,:]
            %V = reshape %W, %size : f64[:]
            for %z, %n {exit=false, step=1} (%i: i64) {
              for %z, %m {exit=false, step=1} (%j: i64) {
                %a = load %A, %i, %j : f64
                %b = mul %a, %s : f64
                %e = sin %b : f64
                store %W, %e, %i, %j
                yield
              }
              yield
            }
            %u = for %z, %size, %s {exit=false, step=1} (%k: i64, %p: f64) {
              %v = load %V, %k : f64
              %q = mul %v, %v : f64
              %g = add %p, %q : f64
              yield %g
            } : f64
            %h = mul %u, %x : f64
            yield %h
          } : f64
          return %r
        }""",
        (np.random.default_rng(3).standard_normal((3, 2)), 0.4),
    ),
    "exchange of carried values": (
        "function f(%x: f64, %y: f64, %n: i64) -> (a, b) {"
        + Z
        + """
          %a, %b = for %z, %n, %x, %y {exit=false, step=1} (%i: i64, %p: f64, %q: f64) {
            %m = mul %p, %q : f64
            %e = add %q, %m : f64
            yield %e, %p
          } : f64, f64
          return %a, %b
        }""",
        (0.3, 0.4, 4),
    ),
}


def program(name: str) -> Function:
    return parse_function(PROGRAMS[name][0], ops.ROWS)


@pytest.mark.parametrize("name", PROGRAMS)
def test_both_modes_agree_with_differences(name: str) -> None:
    """Forward, reverse and central differences give one derivative."""
    check_derivatives(program(name), PROGRAMS[name][1])


@pytest.mark.parametrize("name", PROGRAMS)
def test_derivatives_of_the_adjoint(name: str) -> None:
    """The adjoint is an ordinary function: both modes differentiate it again."""
    function = program(name)
    wrt = [k for k, value in enumerate(function.parameters) if str(value.type).startswith("f64")]
    arguments = list(PROGRAMS[name][1])
    for value, result in zip(function.results, run(function, arguments).results, strict=True):
        arguments.append(np.full(np.shape(result), 0.7) if "[" in str(value.type) else 0.7)
    check_derivatives(adjoint(function, wrt), arguments)


def test_squares_share_their_factor() -> None:
    """The two of every `2 x` is on the cotangent, which is doubled once."""
    function = parse_function(
        """function f(%x: f64, %y: f64) -> (out) {
          %a = mul %x, %x : f64
          %b = mul %y, %y : f64
          %c = add %a, %b : f64
          return %c
        }""",
        ops.ROWS,
    )
    pulled = keep_results(adjoint(function, (0, 1)), ["x_bar", "y_bar"])
    assert rows(pulled)["mul"] == 3
    assert run(pulled, [1.5, -2.0, 0.5]).results == (1.5, -2.0)
