"""What is dead is dropped, what has an effect stays."""

import pytest

from adgen.passes.dead_code import dead_code, keep_results
from tests.passes.support import assert_same, parse, rows


def test_unused_branch_results_are_dropped() -> None:
    """An `if` loses the results that nobody uses and what only they need."""
    before = parse("""function f(%c: bool, %x: f64) -> (out) {
      %a, %b = if %c {types=["f64", "f64"]} () {
        %s = sin %x : f64
        %e = exp %x : f64
        yield %s, %e
      } () {
        yield %x, %x
      } : f64, f64
      return %a
    }""")
    after = dead_code(before)
    assert rows(after)["exp"] == 0 and rows(after)["sin"] == 1
    assert_same(before, after)


def test_a_store_through_a_reshape_keeps_its_memory() -> None:
    """Handles of one memory live and die together."""
    before = parse("""function f(%x: f64, %n: i64) -> (out) {
      %one = const {type="i64", value=1} : i64
      %zero = const {type="i64", value=0} : i64
      %A = alloc %one {element="f64", zero=true} : f64[:]
      %B = reshape %A, %one, %one : f64[:,:]
      %D = alloc %one {element="f64", zero=true} : f64[:]
      %E = reshape %D, %one, %one : f64[:,:]
      store %B, %x, %zero, %zero
      store %E, %x, %zero, %zero
      %y = load %A, %zero : f64
      return %y
    }""")
    after = dead_code(before)
    assert rows(after)["store"] == 1 and rows(after)["alloc"] == 1
    assert_same(before, after)


def test_memory_that_only_feeds_itself_is_dead() -> None:
    """Loads whose values go nowhere but into the same dead buffer keep nothing alive."""
    before = parse("""function f(%x: f64, %n: i64) -> (out) {
      %zero = const {type="i64", value=0} : i64
      %one = const {type="i64", value=1} : i64
      %A = alloc %one {element="f64", zero=true} : f64[:]
      for %zero, %n {exit=false, step=1} (%i: i64) {
        %a = load %A, %zero : f64
        %b = add %a, %x : f64
        store %A, %b, %zero
        yield
      }
      return %x
    }""")
    assert rows(dead_code(before)).total() == 0


def test_checks_and_the_callers_memory_stay() -> None:
    """A loop that only raises or writes to a parameter is not dead."""
    before = parse("""function f(%A: f64[:], %n: i64, %x: f64) -> () {
      %zero = const {type="i64", value=0} : i64
      for %zero, %n {exit=false, step=1} (%i: i64) {
        %d = dim %A {axis=0} : i64
        %c = lt %i, %d : bool
        check %c, %i {exception="IndexError", message="{0}"}
        yield
      }
      accumulate %A, %x, %zero
      return
    }""")
    assert dead_code(before) is before


def test_a_while_without_effects_is_dropped() -> None:
    """Termination is not an effect."""
    before = parse("""function f(%x: f64) -> (out) {
      %y = while %x (%a: f64) {
        %c = lt %a, %x : bool
        yield %c
      } (%b: f64) {
        %d = add %b, %x : f64
        yield %d
      } : f64
      return %x
    }""")
    assert rows(dead_code(before)).total() == 0


def test_keep_results() -> None:
    """Only what the named results need is kept; an unknown name is an error."""
    before = parse("""function f(%x: f64) -> (a, b) {
      %a = sin %x : f64
      %b = cos %x : f64
      return %a, %b
    }""")
    after = keep_results(before, ["b"])
    assert after.result_names == ("b",) and rows(after) == {"cos": 1}
    with pytest.raises(KeyError, match="f has no result z"):
        keep_results(before, ["z"])
