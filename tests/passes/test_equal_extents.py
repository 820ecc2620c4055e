"""Only what a check found equal has one name, and only behind the check."""

import numpy as np

from adgen.ir.nodes import Function, walk
from adgen.passes.equal_extents import equal_extents
from adgen.passes.pipeline import optimise
from tests.passes.support import assert_same, gradient_of, parse, rows

SUMS = """function f(%x: f64[:], %y: f64[:], %z: f64[:], %s: f64) -> (t, a, b) {
  %0 = const {type="i64", value=0} : i64
  %k = dim %z {axis=0} : i64
  %n = dim %x {axis=0} : i64
  %m = dim %y {axis=0} : i64
  %before = alloc %n {element="f64", zero=true} : f64[:]
  CHECKS
  %t = for %0, %n, %s {exit=false, step=1} (%i: i64, %u: f64) {
    %c = load %x, %i : f64
    %v = add %u, %c : f64
    yield %v
  } : f64
  %behind = alloc %m {element="f64", zero=true} : f64[:]
  return %t, %before, %behind
}"""
EQUAL = '%{0} = eq %{1}, %{2} : bool\ncheck %{0} {{exception="ValueError", message="{0}"}}'


def extents(function: Function) -> list[str]:
    return [o.operands[o.row.name == "for"].name for o in walk(function.body) if o.row.name in ("for", "alloc")]


def sums(*checks: str) -> Function:
    return parse(SUMS.replace("CHECKS", "\n".join(checks)))


def test_the_first_of_all_that_are_equal() -> None:
    """Equations follow from others, in whatever order they come."""
    before = sums(EQUAL.format("p", "n", "m"), EQUAL.format("q", "m", "k"))
    after = equal_extents(before)
    assert extents(after) == ["n", "k", "k"]
    assert_same(before, after)


def test_a_constant_comes_first() -> None:
    """An extent that is known stays known."""
    before = sums('%three = const {type="i64", value=3} : i64', EQUAL.format("p", "n", "three"))
    after = equal_extents(before)
    assert extents(after) == ["n", "three", "m"]
    assert_same(before, after)


def test_other_checks_say_nothing() -> None:
    """An order, or an equation of floats, or one under a condition."""
    under = "%r = lt %k, %0 : bool\nif %r {types=[]} () {\n" + EQUAL.format("q", "m", "k") + "\nyield\n} () {\nyield\n}"
    for check in ('%p = le %n, %m : bool\ncheck %p {exception="ValueError", message="no"}', under):
        before = sums(check)
        assert equal_extents(before) == before
    floats = sums(EQUAL.format("p", "s", "s"))
    assert equal_extents(floats) == floats


ORDER = '%{0} = le %{1}, %{2} : bool\ncheck %{0} {{exception="ValueError", message="{0}"}}'
UNLESS_EMPTY = """%{0} = le %{1}, %{2} : bool
%{0}_1 = le %{3}, %0 : bool
%{0}_2 = or %{0}, %{0}_1 : bool
check %{0}_2 {{exception="ValueError", message="{0}"}}"""
INSIDE = """function f(%x: f64[:], %y: f64[:], %k: i64, %s: f64) -> (t, b) {
  %0 = const {type="i64", value=0} : i64
  %n = dim %x {axis=0} : i64
  %m = dim %y {axis=0} : i64
  CHECKS
  %t = for %0, %k, %s {exit=false, step=1} (%i: i64, %u: f64) {
    %v = for %0, %m, %u {exit=false, step=1} (%j: i64, %w: f64) {
      %c = load %y, %j : f64
      %d = add %w, %c : f64
      yield %d
    } : f64
    yield %v
  } : f64
  %b = for %0, %m, %s {exit=false, step=1} (%j_1: i64, %w_1: f64) {
    %c_1 = load %y, %j_1 : f64
    %d_1 = add %w_1, %c_1 : f64
    yield %d_1
  } : f64
  return %t, %b
}"""


def test_two_orders_are_an_equation() -> None:
    before = sums(ORDER.format("p", "n", "m"), ORDER.format("q", "m", "n"))
    after = equal_extents(before)
    assert extents(after) == ["n", "n", "n"]
    assert_same(before, after)


def test_a_check_of_a_loop_holds_in_that_loop() -> None:
    """Behind it the extents may differ, as the loop may have had no iteration; in another loop, too."""
    for bound, inside in (("k", "n"), ("m", "m")):
        checks = [UNLESS_EMPTY.format("p", "n", "m", bound), UNLESS_EMPTY.format("q", "m", "n", bound)]
        before = parse(INSIDE.replace("CHECKS", "\n".join(checks)))
        after = equal_extents(before)
        assert extents(after) == ["k", inside, "m"]
        assert_same(before, after)


def test_gradients_of_arrays_are_filled_once() -> None:
    """Arguments that are checked to be equally long have one range, and nothing is left to clear."""

    def squares(x, y, z):
        return np.sum(x * y + np.exp(y * z))

    function = optimise(gradient_of(squares, *np.ones((3, 4))))
    assert rows(function)["for"] == 1 and rows(function)["accumulate"] == 0
    assert not any(o.attributes["zero"] for o in walk(function.body) if o.row.name == "alloc")


def test_a_check_of_a_constant() -> None:
    before = sums('%p = const {type="bool", value=false} : bool\ncheck %p {exception="ValueError", message="no"}')
    assert equal_extents(before) == before
