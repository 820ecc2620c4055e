"""Copies that nobody needs disappear; those that somebody needs stay."""

import pytest

from adgen.ir.nodes import Function, walk
from adgen.passes.copies import copies
from adgen.passes.write_back import write_back
from tests.passes.support import assert_same, parse, rows

FRAME = """function f(%A: f64[:], %C: f64[:], %m: i64, %x: f64) -> ({names}) {{
  %0 = const {{type="i64", value=0}} : i64
  %1 = const {{type="i64", value=1}} : i64
  %2 = const {{type="i64", value=2}} : i64
  %n = dim %A {{axis=0}} : i64
  %last = sub %n, %1 : i64
  {body}
  return {results}
}}"""


def copy(source: str, target: str, extent: str = "%n") -> str:
    return (
        f"for %0, {extent} {{exit=false, step=1}} (%i: i64) {{\n"
        f"%v = load %{source}, %i : f64\nstore %{target}, %v, %i\nyield\n}}\n"
    )


def alloc(name: str, extent: str = "%n") -> str:
    return f'%{name} = alloc {extent} {{element="f64", zero=true}} : f64[:]\n'


def framed(body: str, result: str = "") -> Function:
    return parse(FRAME.format(body=body, names=result, results=f"%{result}" if result else ""))


GONE = {
    "only read": (alloc("B") + copy("A", "B") + "%y = load %B, %0 : f64\nstore %C, %y, %0\n", ""),
    "written after the last use": (
        alloc("B") + copy("A", "B") + "%y = load %B, %0 : f64\nstore %A, %x, %0\nstore %C, %y, %0\n",
        "",
    ),
    "goes on": (
        alloc("T") + copy("A", "T") + "store %T, %x, %1\n" + alloc("B") + copy("T", "B") + "store %B, %x, %0\n",
        "B",
    ),
    "two in a row": (
        alloc("T") + copy("A", "T") + "store %T, %x, %1\n" + alloc("S") + copy("T", "S") + alloc("B") + copy("S", "B"),
        "B",
    ),
}


@pytest.mark.parametrize("name", GONE)
def test_needless_copies(name: str) -> None:
    """One name for the memory is enough."""
    before = framed(*GONE[name])
    after = copies(before)
    assert rows(after)["alloc"] < rows(before)["alloc"]
    assert_same(before, after)


NEEDED = {
    "the source changes": (
        alloc("B") + copy("A", "B") + "store %A, %x, %0\n%y = load %B, %0 : f64\nstore %C, %y, %0\n",
        "",
    ),
    "the copy changes": (
        alloc("B") + copy("A", "B") + "store %B, %x, %0\n%y = load %B, %0 : f64\nstore %C, %y, %0\n",
        "",
    ),
    "both are used": (
        alloc("T")
        + copy("A", "T")
        + "store %T, %x, %1\n"
        + alloc("B")
        + copy("T", "B")
        + "store %B, %x, %0\n%y = load %T, %0 : f64\nstore %C, %y, %0\n",
        "B",
    ),
    "a result": (alloc("B") + copy("A", "B"), "B"),
    "a part": (alloc("B") + copy("A", "B", "%last") + "%y = load %B, %0 : f64\nstore %C, %y, %0\n", ""),
    "another extent": (alloc("B", "%2") + copy("A", "B", "%2") + "store %B, %x, %1\n", "B"),
}


@pytest.mark.parametrize("name", NEEDED)
def test_needed_copies(name: str) -> None:
    """Two memories with different contents stay two."""
    before = framed(*NEEDED[name])
    after = copies(before)
    assert rows(after)["alloc"] == rows(before)["alloc"]
    assert_same(before, after)


def interior(body: str = "store %B, %x, %k\n") -> str:
    return f"for %1, %last {{exit=false, step=1}} (%k: i64) {{\n{body}yield\n}}\n"


def step(body: str) -> Function:
    """A private copy, something in between, and back."""
    return framed(alloc("B") + copy("A", "B") + body + copy("B", "A"))


NARROWED = {
    "a range": interior(),
    "two places": interior() + "store %B, %x, %0\n",
    "computed places": interior("%p = sub %last, %k : i64\nstore %B, %x, %p\n"),
    "reads of the source": interior("%p = sub %k, %1 : i64\n%w = load %A, %p : f64\nstore %B, %w, %k\n"),
}
WHOLE = {
    "the copy is read": interior("%p = sub %k, %1 : i64\n%w = load %B, %p : f64\nstore %B, %w, %k\n"),
    "under a condition": interior(
        "%c = lt %k, %m : bool\nif %c {types=[]} () {\nstore %B, %x, %k\nyield\n} () {\nyield\n}\n"
    ),
    "the source is written": interior("store %B, %x, %k\nstore %A, %x, %0\n"),
    "again and again": interior("store %B, %x, %0\n"),
    "at places from memory": interior(
        "%w = load %C, %k : f64\n%p = to_i64 %w : i64\n%q = abs %p : i64\nstore %B, %x, %q\n"
    ),
    "added to": interior("accumulate %B, %x, %k\n"),
}


@pytest.mark.parametrize("name", NARROWED)
def test_only_changes_are_copied_back(name: str) -> None:
    """The first copy goes, the last one covers what was stored."""
    before = step(NARROWED[name])
    after = write_back(before)
    stops = [o.operands[1].name for o in walk(after.body) if o.row.name == "for"]
    assert "n" not in stops
    assert_same(before, after)


@pytest.mark.parametrize("name", WHOLE)
def test_everything_is_copied_back(name: str) -> None:
    """Where it is unknown what was stored, or it is looked at, all stays as it is."""
    before = step(WHOLE[name])
    assert write_back(before) is before


def move(source: str, target: str) -> str:
    """A copy that leaves zeros behind."""
    zero = '%z = const {type="f64", value=0.0} : f64\n'
    return zero + copy(source, target).replace("yield", f"store %{source}, %z, %i\nyield")


def fill(target: str) -> str:
    return f"for %0, %n {{exit=false, step=1}} (%i: i64) {{\nstore %{target}, %x, %i\nyield\n}}\n"


USED = "%y = load %B, %1 : f64\n%w = mul %y, %x : f64\nstore %B, %w, %1\n"
READ = "%q = load %T, %2 : f64\nstore %C, %q, %2\n"
OWN = alloc("T") + copy("A", "T") + "store %T, %x, %0\n"  # a local buffer to start from
BACK = {
    "there and back": copy("T", "B") + USED + copy("B", "T"),
    "moved there": move("T", "B") + USED + copy("B", "T"),
    "moved back": copy("T", "B") + USED + move("B", "T"),
    "overwritten in between": move("T", "B") + USED + fill("T") + copy("B", "T"),
}
NOT_BACK = {
    "the source is read in between": move("T", "B")
    + USED
    + "%q = load %T, %2 : f64\nstore %C, %q, %2\n"
    + copy("B", "T"),
    "the source changes in between": copy("T", "B") + USED + "store %T, %x, %2\n" + copy("B", "T"),
    "a sum is taken beside": move("T", "B")
    + USED
    + "%s = for %0, %n, %x {exit=false, step=1} (%i: i64, %t: f64) {\nstore %T, %x, %i\n%u = add %t, %x : f64\n"
    + "yield %u\n} : f64\nstore %C, %s, %2\n"
    + copy("B", "T"),
    "the target is used again": move("T", "B") + USED + copy("B", "T") + "%q = load %B, %2 : f64\nstore %C, %q, %2\n",
    "a part comes back": move("T", "B") + USED + copy("B", "T", "%last"),
}


@pytest.mark.parametrize("name", BACK)
def test_there_and_back(name: str) -> None:
    """What goes back as a whole was never away."""
    before = framed(OWN + alloc("B") + BACK[name], "T")
    after = copies(before)
    assert rows(after)["alloc"] == 1
    assert_same(before, after)


@pytest.mark.parametrize("name", NOT_BACK)
def test_not_back(name: str) -> None:
    """Something looks at one of them while the other is in use."""
    before = framed(OWN + alloc("B") + NOT_BACK[name], "T")
    after = copies(before)
    assert rows(after)["alloc"] == 2
    assert_same(before, after)
