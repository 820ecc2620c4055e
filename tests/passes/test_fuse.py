"""Loops that hand a buffer on become one loop, and only where nothing can tell."""

import numpy as np
import pytest

import adgen
from adgen.driver import lower_function
from adgen.ir.nodes import Function
from adgen.passes.fuse import fuse
from adgen.passes.pipeline import optimise, simplify
from adgen.runtime.signatures import describe_arguments
from tests.passes.support import assert_same, gradient_of, parse, rows

TWO = """function f(%x: f64[:], %y: f64[:], %p: f64[:]) -> ({result}) {{
  %0 = const {{type="i64", value=0}} : i64
  %1 = const {{type="i64", value=1}} : i64
  %one = const {{type="f64", value=1.0}} : f64
  %n = dim %x {{axis=0}} : i64
  %m = sub %n, %1 : i64
  %yes = le %n, %n : bool
  %t = alloc %n {{element="f64", zero=true}} : f64[:]
  for %0, %n {{exit=false, step=1}} (%i: i64) {{
    %a = load %x, %i : f64
    %b = sin %a : f64
    {write}
    yield
  }}
  {between}
  for %0, {stop} {{exit=false, step={step}}} (%j: i64) {{
    %c = load %t, {place} : f64
    %d = mul %c, %c : f64
    {read}
    yield
  }}
  return {value}
}}"""


def two(write="store %t, %b, %i", between="", read="store %y, %d, %j", stop="%n", step=1, place="%j", result=""):
    parts = {"write": write, "between": between, "stop": stop, "step": step, "place": place, "read": read}
    return parse(TWO.format(**parts, result=result, value=result and f"%{result}"))


FUSED = {
    "stored": two(),
    "added": two(write="accumulate %t, %b, %i"),
    "changed again": two(read="store %t, %d, %j\nstore %y, %d, %j"),
    "a sum of its own": two(read="accumulate %p, %d, %0"),
    "values in between": two(
        between="%e = load %p, %0 : f64\n%f = sin %e : f64", read="%g = mul %f, %d : f64\nstore %y, %g, %j"
    ),
}
APART = {
    "another element": two(place="%0"),
    "a result": two(result="t"),
    "another range": two(stop="%m"),
    "another step": two(step=2),
    "a check": two(read='check %yes {exception="IndexError", message="no"}\nstore %y, %d, %j'),
    "sums in one place": two(write="store %t, %b, %i\naccumulate %p, %b, %0", read="accumulate %p, %d, %0"),
    "what the second overwrites": two(read="store %x, %d, %0"),
    "written in between": two(between="store %t, %one, %0"),
    "read in between": two(between="%e = load %t, %0 : f64", read="store %y, %e, %j"),
    "places from memory": two(read="%k = to_i64 %d : i64\n%r = minimum %k, %0 : i64\naccumulate %p, %d, %r"),
}


def loops(function: Function) -> int:
    return rows(function)["for"]


@pytest.mark.parametrize("name", FUSED)
def test_one_loop(name: str) -> None:
    """The buffer is one value of an iteration for the second half of it."""
    after = fuse(FUSED[name])
    assert loops(after) == 1 and rows(after)["load"] == rows(FUSED[name])["load"] - 1
    assert_same(FUSED[name], after)


@pytest.mark.parametrize("name", APART)
def test_two_loops(name: str) -> None:
    """Loops stay apart where an iteration of the second needs more than the same iteration of the first."""
    after = fuse(APART[name])
    assert loops(after) == 2
    assert_same(APART[name], after)


def test_a_result_of_the_first_is_needed() -> None:
    """What the first loop carries is known after its last iteration only."""
    before = parse("""function f(%x: f64[:], %y: f64[:]) -> (s) {
      %0 = const {type="i64", value=0} : i64
      %start = const {type="f64", value=0.0} : f64
      %n = dim %x {axis=0} : i64
      %t = alloc %n {element="f64", zero=false} : f64[:]
      %s = for %0, %n, %start {exit=false, step=1, unordered=true} (%i: i64, %u: f64) {
        %a = load %x, %i : f64
        store %t, %a, %i
        %v = add %u, %a : f64
        yield %v
      } : f64
      for %0, %n {exit=false, step=1} (%j: i64) {
        %c = load %t, %j : f64
        %d = mul %c, %s : f64
        store %y, %d, %j
        yield
      }
      return %s
    }""")
    assert fuse(before) == before


def test_nests() -> None:
    """Two nests over the same elements are one nest, and the matrix between them is gone."""
    before = parse("""function f(%A: f64[:,:], %B: f64[:,:]) -> () {
      %0 = const {type="i64", value=0} : i64
      %n = dim %A {axis=0} : i64
      %m = dim %A {axis=1} : i64
      %T = alloc %n, %m {element="f64", zero=false} : f64[:,:]
      for %0, %n {exit=false, step=1} (%i: i64) {
        for %0, %m {exit=false, step=1} (%j: i64) {
          %a = load %A, %i, %j : f64
          %b = exp %a : f64
          store %T, %b, %i, %j
          yield
        }
        yield
      }
      for %0, %n {exit=false, step=1} (%k: i64) {
        for %0, %m {exit=false, step=1} (%l: i64) {
          %c = load %T, %k, %l : f64
          %d = mul %c, %c : f64
          store %B, %d, %k, %l
          yield
        }
        yield
      }
      return
    }""")
    after = fuse(before)
    assert loops(after) == 2 and rows(after)["alloc"] == 0
    assert_same(before, after)


def test_too_many_arrays() -> None:
    """Compilers cannot tell very many arrays apart, and leave a loop over them to scalar code."""
    names = [f"%q{k}" for k in range(12)]
    stores = "\n".join(f"store {name}, %b, %i" for name in names)
    text = str(two(write="store %t, %b, %i"))
    text = text.replace("store %t, %b, %i\n", f"store %t, %b, %i\n{stores}\n")
    before = parse(text.replace("%p: f64[:]", ", ".join(f"{name}: f64[:]" for name in names)))
    assert fuse(before) == before


def prices(x, y):
    out = np.zeros(len(x))
    for i in range(len(x)):
        out[i] = np.exp(x[i]) * y[i]
    return np.sum(out)


def test_a_gradient_of_elements_has_one_pass() -> None:
    """The cotangent of a sum is a constant in the loop it belongs to, and no buffer; longer arguments end in zeros."""
    x, y = np.linspace(0.0, 1.0, 5), np.linspace(1.0, 2.0, 7)
    first, second = adgen.grad(prices, wrt=(0, 1))(x, y)
    assert np.allclose(first, np.exp(x) * y[:5], rtol=1e-15)
    assert np.allclose(second, [*np.exp(x), 0.0, 0.0], rtol=1e-15)
    function = optimise(gradient_of(prices, x, y))
    assert rows(function)["alloc"] == 2 and rows(function)["accumulate"] == 0
    assert rows(function)["for"] == 2  # the elements, and the zeros behind those of `x`


def test_several_readers() -> None:
    """A mask that a sum and a count read is no memory, if nothing else reads it."""

    def masked_mean(x, low):
        mask = x > low
        return np.mean(x[mask])

    def also_returned(x, low):
        mask = x > low
        return np.mean(x[mask]), mask

    for function, buffers in ((masked_mean, 0), (also_returned, 1)):
        before = simplify(lower_function(function, describe_arguments({"x": np.ones(4), "low": 0.5})).function)
        after = optimise(before, plain=True)
        assert_same(before, after)
        assert rows(after)["alloc"] == buffers
