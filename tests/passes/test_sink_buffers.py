"""Buffers move into the loops that fill them anew, and only then."""

import pytest

from adgen.ir.nodes import Function, Region, walk
from adgen.passes.sink_buffers import sink_buffers
from tests.passes.support import assert_same, parse

FRAME = """function f(%A: f64[:,:], %n: i64, %d: i64, %x: f64) -> ({names}) {{
  %0 = const {{type="i64", value=0}} : i64
  %1 = const {{type="i64", value=1}} : i64
  %2 = const {{type="i64", value=2}} : i64
  %minus = const {{type="i64", value=-1}} : i64
  %last = sub %d, %1 : i64
  %t = alloc {extent} {{element="f64", zero=true}} : f64[:]
  for %0, %n {{exit=false, step=1}} (%i: i64) {{
    {body}
    yield
  }}
  return {results}
}}"""
FILL = """for {start}, {stop} {{exit={exit}, step={step}}} (%j: i64) {{
  {before}
  store %t, %x, %j
  {after}
  yield {flag}
}}
"""
READ = """for %0, %d {exit=false, step=1} (%j: i64) {
  %b = load %t, %j : f64
  store %A, %b, %i, %j
  yield
}
"""


def fill(start="%0", stop="%d", exit="false", step=1, before="", after="", flag=""):
    return FILL.format(start=start, stop=stop, exit=exit, step=step, before=before, after=after, flag=flag)


def depth(function: Function, row: str = "alloc") -> int:
    """How many regions are around the first operation of a row."""

    def search(region: Region, level: int) -> int | None:
        for operation in region.operations:
            if operation.row.name == row:
                return level
            for inner in operation.regions:
                found = search(inner, level + 1)
                if found is not None:
                    return found
        return None

    found = search(function.body, 0)
    assert found is not None
    return found


def zero(function: Function) -> bool:
    """Whether the alloc is filled with zeros."""
    return next(o for o in walk(function.body) if o.row.name == "alloc").attributes["zero"]


def framed(body: str, extent: str = "%d", result: bool = False) -> Function:
    return parse(FRAME.format(body=body, extent=extent, names="t" if result else "", results="%t" if result else ""))


MOVES = {
    "filled forwards": fill() + READ,
    "filled backwards": fill(start="%last", stop="%minus", step=-1) + READ,
    "first element apart": "store %t, %x, %0\n" + fill(start="%1") + READ,
    "stored in a branch before": "%c = lt %i, %1 : bool\n"
    + "if %c {types=[]} () {\nstore %t, %x, %0\nyield\n} () {\nyield\n}\n"
    + fill()
    + READ,
    "read after its store": fill(after="%b = load %t, %j : f64\nstore %A, %b, %i, %j"),
    "reads earlier elements": "store %t, %x, %0\n"
    + fill(start="%1", before="%p = sub %j, %1 : i64\n%b = load %t, %p : f64\nstore %A, %b, %i, %j")
    + READ,
    "added to after": fill(after="accumulate %t, %x, %j") + READ,
    "only written": fill(),
}
STAYS = {
    "read before": READ + fill(),
    "not from the start": fill(start="%1") + READ,
    "not to the end": fill(stop="%last") + READ,
    "every second": fill(step=2) + READ,
    "may stop early": fill(exit="true", before="%c = lt %j, %i : bool", flag="%c") + READ,
    "added to": fill(before="accumulate %t, %x, %j") + READ,
    "reads later elements": fill(
        stop="%last", before="%p = add %j, %1 : i64\n%b = load %t, %p : f64\nstore %A, %b, %i, %j"
    ),
    "reads another after its store": fill(
        stop="%d", after="%p = sub %last, %j : i64\n%b = load %t, %p : f64\nstore %A, %b, %i, %j"
    ),
    "stored under a condition": "for %0, %d {exit=false, step=1} (%j: i64) {\n%c = lt %j, %i : bool\n"
    "if %c {types=[]} () {\nstore %t, %x, %j\nyield\n} () {\nyield\n}\nyield\n}\n" + READ,
    "another element": "for %0, %d {exit=false, step=1} (%j: i64) {\n"
    "%k = sub %last, %j : i64\n%z = minimum %k, %1 : i64\n"
    "store %t, %x, %z\nyield\n}\n" + READ,
}


@pytest.mark.parametrize("name", MOVES)
def test_moves_into_the_loop(name: str) -> None:
    """Every iteration overwrites what it reads."""
    before = framed(MOVES[name])
    after = sink_buffers(before)
    assert depth(after) >= 1 and not zero(after)
    assert_same(before, after)


@pytest.mark.parametrize("name", STAYS)
def test_stays_outside(name: str) -> None:
    """An iteration may read what an earlier one left, or the zeros."""
    before = framed(STAYS[name])
    after = sink_buffers(before)
    assert depth(after) == 0 and zero(after)
    assert_same(before, after)


def test_a_result_stays() -> None:
    """Memory that is looked at after the loop belongs outside."""
    before = framed(fill() + READ, result=True)
    after = sink_buffers(before)
    assert depth(after) == 0 and zero(after)
    assert_same(before, after)


ROWS = """function f(%x: f64, %n: i64, %m: i64) -> (t) {{
  %0 = const {{type="i64", value=0}} : i64
  %1 = const {{type="i64", value=1}} : i64
  %k = sub %n, %1 : i64
  %l = minimum %k, %m : i64
  %t = alloc %m, %n {{element="f64", zero=true}} : f64[:,:]
  for {start}, {rows} {{exit=false, step=1}} (%i: i64) {{
    for %0, {columns} {{exit=false, step=1}} (%j: i64) {{
      {first}
      store %t, %x, %i, %j
      yield
    }}
    yield
  }}
  return %t
}}"""


def rest(start="%0", rows="%l", columns="%n", first="") -> Function:
    return parse(ROWS.format(start=start, rows=rows, columns=columns, first=first))


def test_only_the_other_rows_are_cleared() -> None:
    """A loop fills the first rows, however many: none, when their number is negative."""
    before = rest()
    after = sink_buffers(before)
    assert not zero(after) and sum(o.row.name == "for" for o in walk(after.body)) == 4
    assert_same(before, after)


@pytest.mark.parametrize("other", [{"start": "%1"}, {"columns": "%l"}, {"first": "accumulate %t, %x, %i, %j"}])
def test_all_is_cleared(other: dict[str, str]) -> None:
    """Rows that are left out at the start, or in part, or looked at before, must be zero."""
    before = rest(**other)
    after = sink_buffers(before)
    assert zero(after)
    assert_same(before, after)


def test_constant_elements() -> None:
    """A small array whose elements are stored one by one is filled too."""
    body = "store %t, %x, %1\nstore %t, %x, %0\n%b = load %t, %1 : f64\nstore %A, %b, %i, %0\n"
    before = framed(body, extent="%2")
    after = sink_buffers(before)
    assert depth(after) == 1 and not zero(after)
    assert_same(before, after)


def test_moves_through_a_nest() -> None:
    """Filled in the inner loop of three, it ends up there."""
    body = "for %0, %n {exit=false, step=1} (%k: i64) {\n" + fill() + READ + "yield\n}\n"
    before = framed(body)
    after = sink_buffers(before)
    assert depth(after) == 2
    assert_same(before, after)


def test_two_axes() -> None:
    """Rows and columns are covered by a nest of loops; a nest that skips a row does not cover."""
    text = """function f(%A: f64[:,:], %n: i64, %d: i64, %x: f64) -> () {{
      %0 = const {{type="i64", value=0}} : i64
      %1 = const {{type="i64", value=1}} : i64
      %t = alloc %d, %n {{element="f64", zero=true}} : f64[:,:]
      for %0, %n {{exit=false, step=1}} (%k: i64) {{
        for {start}, %d {{exit=false, step=1}} (%i: i64) {{
          for %0, %n {{exit=false, step=1}} (%j: i64) {{
            %y = mul %x, %x : f64
            store %t, %y, %i, %j
            yield
          }}
          yield
        }}
        for %0, %d {{exit=false, step=1}} (%i: i64) {{
          %b = load %t, %i, %k : f64
          store %A, %b, %i, %k
          yield
        }}
        yield
      }}
      return
    }}"""
    for start, level in (("%0", 1), ("%1", 0)):
        before = parse(text.format(start=start))
        after = sink_buffers(before)
        assert depth(after) == level
        assert_same(before, after)
