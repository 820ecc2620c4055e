"""Loads of known elements disappear, and so do stores that nobody can see."""

import numpy as np
import pytest

from adgen.ir.interpret import run
from adgen.ir.nodes import Function
from adgen.passes.dead_code import dead_code
from adgen.passes.forward_stores import forward_stores
from tests.passes.support import assert_same, parse, rows


def test_constant_indices_are_told_apart() -> None:
    """A small local array at constant indices becomes scalars; what was not stored is the zero it was made with."""
    before = parse("""function f(%x: f64, %y: f64) -> (out) {
      %0 = const {type="i64", value=0} : i64
      %1 = const {type="i64", value=1} : i64
      %2 = const {type="i64", value=2} : i64
      %3 = const {type="i64", value=3} : i64
      %v = alloc %3 {element="f64", zero=true} : f64[:]
      store %v, %x, %0
      store %v, %y, %1
      %a = load %v, %0 : f64
      %b = load %v, %1 : f64
      %c = load %v, %2 : f64
      %d = mul %a, %b : f64
      %e = add %d, %c : f64
      return %e
    }""")
    after = dead_code(forward_stores(before))
    assert rows(after)["load"] == rows(after)["store"] == rows(after)["alloc"] == 0
    assert_same(before, after)


def test_indices_of_one_base_are_told_apart() -> None:
    """`A[i]` is not `A[i + 1]`, but may be `A[j]`."""
    before = parse("""function f(%A: f64[:], %i: i64, %j: i64, %x: f64) -> (a, b) {
      %1 = const {type="i64", value=1} : i64
      %k = add %i, %1 : i64
      store %A, %x, %i
      %s = sin %x : f64
      store %A, %s, %k
      %a = load %A, %i : f64
      store %A, %s, %j
      %b = load %A, %i : f64
      return %a, %b
    }""")
    after = forward_stores(before)
    assert rows(after)["load"] == 1 and after.results[0] is after.parameters[3]
    assert_same(before, after)


def test_nothing_is_known_after_a_loop_that_writes() -> None:
    """What a loop writes is unknown in it and after it; what it only reads stays known."""
    before = parse("""function f(%A: f64[:], %B: f64[:], %n: i64, %x: f64) -> (a, b) {
      %0 = const {type="i64", value=0} : i64
      store %A, %x, %0
      store %B, %x, %0
      %s = for %0, %n, %x {exit=false, step=1} (%i: i64, %t: f64) {
        %a = load %A, %0 : f64
        %b = load %B, %0 : f64
        %c = add %a, %b : f64
        %u = mul %c, %t : f64
        store %B, %u, %i
        yield %u
      } : f64
      %e = load %A, %0 : f64
      %g = load %B, %0 : f64
      return %e, %g
    }""")
    after = forward_stores(before)
    assert rows(after)["load"] == 2
    assert_same(before, after)


def test_what_a_branch_learns_is_forgotten() -> None:
    """A load in one branch is no load in the other."""
    before = parse("""function f(%A: f64[:], %c: bool) -> (a, b) {
      %0 = const {type="i64", value=0} : i64
      %a = if %c {types=["f64"]} () {
        %x = load %A, %0 : f64
        %y = load %A, %0 : f64
        %z = add %x, %y : f64
        yield %z
      } () {
        %x = load %A, %0 : f64
        yield %x
      } : f64
      %b = load %A, %0 : f64
      return %a, %b
    }""")
    after = forward_stores(before)
    assert rows(after)["load"] == 3
    assert_same(before, after)


def test_overwritten_stores_are_dropped() -> None:
    """A store that is overwritten before anything may read it is dead; one that may be read in between is not."""
    text = """function f(%A: f64[:], %B: f64[:], %i: i64, %j: i64, %x: f64) -> (out) {{
      %s = sin %x : f64
      store %A, %x, %i
      {between}
      store %A, %s, %i
      return %s
    }}"""
    kept = {
        "%y = load %B, %j : f64": 1,
        "%y = load %A, %j : f64": 2,
        "accumulate %A, %x, %j": 2,
        "store %A, %x, %j": 2,
        "for %i, %j {exit=false, step=1} (%k: i64) {\n%y = load %A, %j : f64\nyield\n}": 2,
        "for %i, %j {exit=false, step=1} (%k: i64) {\n%y = load %B, %j : f64\nyield\n}": 1,
    }
    for between, stores in kept.items():
        before = parse(text.format(between=between))
        after = forward_stores(before)
        expected = stores + between.startswith("store")
        assert rows(after)["store"] == expected - (between == "store %A, %x, %j"), between
        assert_same(before, after)


def test_storing_what_is_there() -> None:
    """Writing back a value just read does nothing."""
    before = parse("""function f(%A: f64[:], %i: i64) -> () {
      %x = load %A, %i : f64
      store %A, %x, %i
      return
    }""")
    assert rows(forward_stores(before))["store"] == 0


def test_elements_of_tables_are_constants() -> None:
    """A constant index into a constant array is a constant."""
    before = parse("""function f(%x: f64) -> (out) {
      %1 = const {type="i64", value=1} : i64
      %t = table {data=array("float64", [2], [1.5, -2.5]), element="f64"} : f64[:]
      %a = load %t, %1 : f64
      %b = mul %a, %x : f64
      return %b
    }""")
    after = forward_stores(before)
    assert rows(after)["load"] == 0
    assert_same(before, after)


FRESH = """function f(%A: f64[:], %n: i64, %x: f64) -> (t) {{
  %0 = const {{type="i64", value=0}} : i64
  %t = alloc %n {{element="f64", zero=true}} : f64[:]
  {before}
  for %0, %n {{exit=false, step=1{unordered}}} (%i: i64) {{
    %a = load %A, %i : f64
    {body}
    yield
  }}
  return %t
}}"""


def fresh(body: str, before: str = "", unordered: str = "") -> Function:
    return parse(FRESH.format(body=body, before=before, unordered=unordered))


def test_an_iteration_finds_zeros() -> None:
    """Elements of zero memory that no other iteration touches are zero where one begins."""
    before = fresh("%b = load %t, %i : f64\n%c = sub %a, %b : f64\nstore %A, %c, %i\naccumulate %t, %a, %i")
    after = forward_stores(before)
    assert rows(after)["load"] == 1 and rows(after)["accumulate"] == 0
    assert_same(before, after)


@pytest.mark.parametrize(
    "body, first",
    [
        ("accumulate %t, %a, %0", ""),
        ("accumulate %t, %a, %i\naccumulate %t, %a, %0", ""),
        ("accumulate %t, %a, %i", "store %t, %x, %0"),
        ("for %0, %n {exit=false, step=1} (%j: i64) {\naccumulate %t, %a, %i\nyield\n}", ""),
    ],
)
def test_an_iteration_finds_what_was_left(body: str, first: str) -> None:
    """Other iterations, or the code before, may have left something."""
    before = fresh(body, first)
    after = forward_stores(before)
    assert rows(after)["accumulate"] == rows(before)["accumulate"]
    assert_same(before, after)


def test_a_sum_without_order_begins_with_its_first_term() -> None:
    """Otherwise it begins with zero, which makes a negative zero positive."""
    body = "accumulate %t, %a, %i\naccumulate %t, %x, %i"
    assert rows(forward_stores(fresh(body)))["add"] == 2
    after = forward_stores(fresh(body, unordered=", unordered=true"))
    assert rows(after)["add"] == 1
    given = np.array([1.0, -0.0, 2.5])
    assert np.array_equal(run(after, [given, 3, 0.5]).results[0], given + 0.5)
