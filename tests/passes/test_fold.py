"""Control flow whose course is known disappears."""

from adgen.passes.fold import fold
from tests.passes.support import assert_same, parse, rows


def test_equal_results_of_branches_leave_the_if() -> None:
    """A value that both branches yield does not depend on the condition."""
    before = parse("""function f(%c: bool, %x: f64) -> (a, b, d) {
      %a, %b, %d = if %c {types=["f64", "f64", "f64"]} () {
        %k = const {type="f64", value=-0.0} : f64
        %s = sin %x : f64
        yield %x, %k, %s
      } () {
        %l = const {type="f64", value=-0.0} : f64
        %t = cos %x : f64
        yield %x, %l, %t
      } : f64, f64, f64
      return %a, %b, %d
    }""")
    after = fold(before)
    assert after.results[0] is after.parameters[1] and rows(after)["if"] == 1
    assert_same(before, after)


def test_zeros_of_different_sign_are_not_equal() -> None:
    """`0.0` and `-0.0` stay apart."""
    before = parse("""function f(%c: bool, %x: f64) -> (a) {
      %a = if %c {types=["f64"]} () {
        %k = const {type="f64", value=-0.0} : f64
        yield %k
      } () {
        %l = const {type="f64", value=0.0} : f64
        yield %l
      } : f64
      return %a
    }""")
    after = fold(before)
    assert rows(after)["select"] == 1
    assert_same(before, after)


def test_an_if_that_computes_floats_stays() -> None:
    """Its untaken branch must not reach the derivative."""
    before = parse("""function f(%c: bool, %x: f64) -> (a) {
      %a = if %c {types=["f64"]} () {
        %k = sqrt %x : f64
        yield %k
      } () {
        yield %x
      } : f64
      return %a
    }""")
    assert rows(fold(before))["if"] == 1


def test_unchanging_carried_values() -> None:
    """A carried value that is yielded as it came is its start, inside and after the loop."""
    before = parse("""function f(%x: f64, %n: i64) -> (a, b) {
      %zero = const {type="i64", value=0} : i64
      %a, %b = for %zero, %n, %x, %x {exit=false, step=1} (%i: i64, %s: f64, %t: f64) {
        %u = mul %s, %t : f64
        yield %u, %t
      } : f64, f64
      return %a, %b
    }""")
    after = fold(before)
    assert after.results[1] is after.parameters[0]
    assert_same(before, after)


def test_loops_of_no_or_one_iteration() -> None:
    """They are nothing, or their body; an `exit` makes no difference."""
    before = parse("""function f(%x: f64) -> (a) {
      %zero = const {type="i64", value=0} : i64
      %one = const {type="i64", value=1} : i64
      %a = for %one, %zero, %x {exit=false, step=1} (%i: i64, %s: f64) {
        %u = sin %s : f64
        yield %u
      } : f64
      %b = for %one, %zero, %a {exit=true, step=-1} (%i: i64, %s: f64) {
        %v = cos %s : f64
        %t = const {type="bool", value=true} : bool
        yield %t, %v
      } : f64
      return %b
    }""")
    after = fold(before)
    assert rows(after) == {"cos": 1}
    assert_same(before, after)


def test_a_while_that_never_runs() -> None:
    """Its condition is computed once, for its checks; the carried values are their starts."""
    before = parse("""function f(%x: f64, %n: i64) -> (a) {
      %a = while %x (%s: f64) {
        %zero = const {type="i64", value=0} : i64
        %c = lt %zero, %n : bool
        check %c {exception="ValueError", message="n"}
        %never = lt %zero, %zero : bool
        yield %never
      } (%t: f64) {
        %u = sin %t : f64
        yield %u
      } : f64
      return %a
    }""")
    after = fold(before)
    assert rows(after)["while"] == 0 and rows(after)["check"] == 1
    assert_same(before, after)
