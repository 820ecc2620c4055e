"""Loop-invariant operations leave their loops, and only when that is safe."""

from adgen.passes.hoist import hoist
from tests.passes.support import assert_same, parse

LOAD = """function f(%A: f64[:], %B: f64[:], %n: i64, %k: i64) -> (out) {{
  %0 = const {{type="i64", value=0}} : i64
  %3 = const {{type="i64", value=3}} : i64
  %z = const {{type="f64", value=0.0}} : f64
  %s = for %0, {stop}, %z {{exit=false, step=1}} (%i: i64, %t: f64) {{
    {before}
    %a = load %A, %k : f64
    store {target}, %t, %i
    %u = add %t, %a : f64
    yield %u
  }} : f64
  return %s
}}"""


def outside(function: object, row: str) -> bool:
    """True when an operation of a row stands in the body of the function itself."""
    return any(operation.row.name == row for operation in function.body.operations)  # type: ignore[attr-defined]


def test_a_load_leaves_a_loop_that_surely_runs() -> None:
    """Nothing may write to its memory, and nothing may raise before it."""
    cases = [
        ("%3", "", "%B", True),
        ("%n", "", "%B", False),
        ("%3", "", "%A", False),
        ("%3", '%c = lt %k, %3 : bool\ncheck %c {exception="IndexError", message="k"}', "%B", False),
    ]
    for stop, before, target, leaves in cases:
        function = parse(LOAD.format(stop=stop, before=before, target=target))
        after = hoist(function)
        assert outside(after, "load") is leaves, (stop, before, target)
        assert_same(function, after)


def test_nothing_leaves_an_if() -> None:
    """What a branch computes may be expensive and is not needed in the other."""
    before = parse("""function f(%x: f64, %n: i64) -> (out) {
      %0 = const {type="i64", value=0} : i64
      %s = for %0, %n, %x {exit=false, step=1} (%i: i64, %t: f64) {
        %c = lt %t, %x : bool
        %r = if %c {types=["f64"]} () {
          %e = exp %x : f64
          yield %e
        } () {
          yield %t
        } : f64
        yield %r
      } : f64
      return %s
    }""")
    after = hoist(before)
    assert not outside(after, "exp")
    assert_same(before, after)


def test_equal_operations_of_two_loops_become_one() -> None:
    """What leaves the second loop is shared with what left the first."""
    loop = """%{s} = for %0, %n, %x {{exit=false, step=1}} (%i: i64, %t: f64) {{
        %e = exp %x : f64
        %u = mul %e, %t : f64
        yield %u
      }} : f64
    """
    before = parse(
        'function f(%x: f64, %n: i64) -> (a, b) {\n%0 = const {type="i64", value=0} : i64\n'
        + loop.format(s="a")
        + loop.format(s="b")
        + "return %a, %b\n}"
    )
    after = hoist(before)
    assert str(after).count("exp") == 1
    assert_same(before, after)
