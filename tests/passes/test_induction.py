"""Counters become functions of the loop's index."""

import pytest

from adgen.ir.nodes import Function, walk
from adgen.passes.induction import induction
from tests.passes.support import assert_same, parse

FRAME = """function f(%A: f64[:], %n: i64, %m: i64, %x: f64, %start: i64) -> (out) {{
  %0 = const {{type="i64", value=0}} : i64
  %1 = const {{type="i64", value=1}} : i64
  %e = for {bounds}, %start {{exit=false, step={step}}} (%i: i64, %k: i64) {{
    %r = to_f64 %k : f64
    %y = mul %r, %x : f64
    accumulate %A, %y, %0
    {body}
    yield {next}
  }} : i64
  return {result}
}}"""


def carried(function: Function) -> int:
    """How many values the loops of a function carry."""
    return sum(len(o.results) for o in walk(function.body) if o.row.name == "for")


def framed(body: str, following: str, bounds: str = "%0, %n", step: int = 1, result: str = "%e") -> Function:
    return parse(FRAME.format(body=body, next=following, bounds=bounds, step=step, result=result))


INNER = (
    "%{r} = for {bounds}, {init} {{exit=false, step=1}} (%j: i64, %q: i64) {{\n"
    "%p = add %q, %1 : i64\nyield %p\n}} : i64\n"
)
CLOSED = {
    "constant step": ("%t = add %k, %1 : i64", "%t", "%0, %n", 1),
    "invariant amount": ("%t = sub %k, %m : i64", "%t", "%0, %n", 1),
    "from another start": ("%t = add %k, %1 : i64", "%t", "%1, %n", 1),
    "backwards": ("%t = add %k, %1 : i64", "%t", "%n, %0", -1),
    "every third": ("%t = add %k, %1 : i64", "%t", "%0, %n", 3),
    "the index": ("%t = add %k, %i : i64", "%t", "%0, %n", 1),
    "the index, backwards": ("%t = add %k, %i : i64", "%t", "%n, %0", -2),
    "twice": ("%t = add %k, %1 : i64\n%u = add %t, %m : i64", "%u", "%0, %n", 1),
    "triangular": ("%b = add %i, %1 : i64\n" + INNER.format(r="t", bounds="%b, %n", init="%k"), "%t", "%0, %n", 1),
    "square": (INNER.format(r="t", bounds="%0, %n", init="%k"), "%t", "%0, %n", 1),
}
OPEN = {
    "data": ("%v = load %A, %i : f64\n%w = to_i64 %v : i64\n%t = add %k, %w : i64", "%t"),
    "doubling": ("%t = add %k, %k : i64", "%t"),
    "under a condition": (
        '%c = lt %i, %m : bool\n%t = if %c {types=["i64"]} () {\n'
        "%p = add %k, %1 : i64\nyield %p\n} () {\nyield %k\n} : i64",
        "%t",
    ),
    "maybe no iteration": (INNER.format(r="t", bounds="%m, %i", init="%k"), "%t"),
}


@pytest.mark.parametrize("name", CLOSED)
def test_becomes_a_closed_form(name: str) -> None:
    """Nothing is carried any more, and the counter is the same in and after the loop."""
    body, following, bounds, step = CLOSED[name]
    before = framed(body, following, bounds, step)
    after = induction(before)
    assert carried(after) == 0
    assert_same(before, after, seeds=12)


@pytest.mark.parametrize("name", OPEN)
def test_stays_carried(name: str) -> None:
    """The amount must be known before the loop."""
    before = framed(*OPEN[name])
    after = induction(before)
    assert carried(after) >= 1
    assert_same(before, after)


def test_a_loop_with_an_exit() -> None:
    """How often it runs is unknown, so its result stays; without use of the result the counter goes."""
    text = """function f(%A: f64[:], %n: i64, %x: f64) -> (out) {{
      %0 = const {{type="i64", value=0}} : i64
      %1 = const {{type="i64", value=1}} : i64
      %e = for %0, %n, %1 {{exit=true, step=1}} (%i: i64, %k: i64) {{
        accumulate %A, %x, %k
        %c = lt %i, %1 : bool
        %t = add %k, %1 : i64
        yield %c, %t
      }} : i64
      return {result}
    }}"""
    for result, left in (("%e", 1), ("%n", 0)):
        before = parse(text.format(result=result))
        after = induction(before)
        assert carried(after) == left
        assert_same(before, after)
