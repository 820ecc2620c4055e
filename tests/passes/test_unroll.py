"""Small loops over small arrays become straight lines, and the arrays scalars."""

from adgen.passes.dead_code import dead_code
from adgen.passes.forward_stores import forward_stores
from adgen.passes.unroll import unroll
from tests.passes.support import assert_same, parse, rows

NORM = """function f(%A: f64[:], %n: i64) -> (out) {{
  %0 = const {{type="i64", value=0}} : i64
  %k = const {{type="i64", value={trips}}} : i64
  %z = const {{type="f64", value=0.0}} : f64
  %v = alloc {extent} {{element="f64", zero=true}} : f64[:]
  for %0, {extent} {{exit=false, step=1}} (%i: i64) {{
    %a = load %A, %i : f64
    %b = sin %a : f64
    store %v, %b, %i
    yield
  }}
  %s = for %0, {extent}, %z {{exit=false, step=1}} (%i: i64, %t: f64) {{
    %a = load %v, %i : f64
    %b = mul %a, %a : f64
    %u = add %t, %b : f64
    yield %u
  }} : f64
  return %s
}}"""


def test_a_vector_in_space_becomes_scalars() -> None:
    """No memory and no loop is left."""
    before = parse(NORM.format(trips=3, extent="%k"))
    after = dead_code(forward_stores(unroll(before)))
    assert rows(after)["for"] == rows(after)["alloc"] == rows(after)["store"] == 0
    assert rows(after)["load"] == 3
    assert_same(before, after)


def test_other_loops_stay_loops() -> None:
    """Text must not grow with trip counts."""
    for trips, extent in ((5, "%k"), (3, "%n")):
        before = parse(NORM.format(trips=trips, extent=extent))
        assert rows(unroll(before))["for"] == 2


def test_a_small_matrix() -> None:
    """Nested loops are written out from the inside."""
    before = parse("""function f(%A: f64[:,:], %x: f64) -> (out) {
      %0 = const {type="i64", value=0} : i64
      %2 = const {type="i64", value=2} : i64
      %z = const {type="f64", value=0.0} : f64
      %M = alloc %2, %2 {element="f64", zero=false} : f64[:,:]
      for %0, %2 {exit=false, step=1} (%i: i64) {
        for %0, %2 {exit=false, step=1} (%j: i64) {
          %a = load %A, %j, %i : f64
          store %M, %a, %i, %j
          yield
        }
        yield
      }
      %s = for %0, %2, %z {exit=false, step=1} (%i: i64, %t: f64) {
        %a = load %M, %i, %i : f64
        %u = add %t, %a : f64
        yield %u
      } : f64
      return %s
    }""")
    after = dead_code(forward_stores(unroll(before)))
    assert rows(after)["for"] == rows(after)["alloc"] == 0 and rows(after)["load"] == 2
    assert_same(before, after)
