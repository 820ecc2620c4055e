"""Checks leave loops, proved ones disappear, and every call raises or returns as before."""

import pytest

from adgen.ir.nodes import Function
from adgen.passes.hoist_checks import hoist_checks
from tests.passes.support import arguments, assert_same, behaviour, parse, rows

FRAME = """function f(%A: f64[:], %I: i64[:], %n: i64, %m: i64, %x: f64) -> () {{
  %0 = const {{type="i64", value=0}} : i64
  %1 = const {{type="i64", value=1}} : i64
  %2 = const {{type="i64", value=2}} : i64
  %4 = const {{type="i64", value=4}} : i64
  %d = dim %A {{axis=0}} : i64
  {body}
  return
}}"""
OUTSIDE = '{{exception="IndexError", message="index {{0}} of {{1}}"}}\n'
HIGH = "%high = lt %{k}, %d : bool\ncheck %high, %{k}, %d " + OUTSIDE
BOTH = (
    "%low = ge %{k}, %0 : bool\n%high = lt %{k}, %d : bool\n%both = and %low, %high : bool\n"
    "check %both, %{k}, %d " + OUTSIDE
)


def loop(
    body: str, bounds: str = "%0, %n", step: int = 1, index: str = "i", exit: str = "false", flag: str = ""
) -> str:
    return f"for {bounds} {{exit={exit}, step={step}}} (%{index}: i64) {{\n{body}\nyield {flag}\n}}\n"


def framed(body: str) -> Function:
    return parse(FRAME.format(body=body))


def in_loops(function: Function) -> int:
    """How many checks are left in loops."""
    return rows(function)["check"] - sum(o.row.name == "check" for o in function.body.operations)


def touch(k: str) -> str:
    return f"accumulate %A, %x, %{k}\n"


LEAVES = {
    "the index": loop(BOTH.format(k="i") + touch("i")),
    "behind the index": loop("%k = sub %i, %1 : i64\n" + BOTH.format(k="k") + touch("k")),
    "before the index": loop("%k = add %i, %2 : i64\n" + BOTH.format(k="k") + touch("k")),
    "twice the index": loop("%k = mul %i, %2 : i64\n" + BOTH.format(k="k") + touch("k")),
    "from the end": loop("%k = sub %m, %i : i64\n" + BOTH.format(k="k") + touch("k")),
    "backwards": loop("%k = add %i, %m : i64\n" + BOTH.format(k="k") + touch("k"), bounds="%n, %0", step=-1),
    "every second": loop(BOTH.format(k="i") + touch("i"), step=2),
    "every third, backwards": loop(
        "%k = mul %i, %2 : i64\n" + BOTH.format(k="k") + touch("k"), bounds="%n, %0", step=-3
    ),
    "invariant": loop(BOTH.format(k="m") + touch("m")),
    "invariant, may stop early": loop(
        BOTH.format(k="m") + touch("m") + "%c = lt %i, %1 : bool", exit="true", flag="%c"
    ),
    "a nest": loop(loop("%k = add %i, %j : i64\n" + BOTH.format(k="k") + touch("k"), index="j", bounds="%0, %m")),
    "a triangle": loop("%s = add %i, %1 : i64\n" + loop(BOTH.format(k="j") + touch("j"), index="j", bounds="%s, %n")),
    "flattened": loop(
        loop(
            "%r = mul %i, %m : i64\n%k = add %r, %j : i64\n" + BOTH.format(k="k") + touch("k"),
            index="j",
            bounds="%0, %m",
        )
    ),
    "an opaque condition": '%z = const {type="f64", value=0.0} : f64\n'
    + "%c = lt %x, %z : bool\n"
    + loop('check %c {exception="ValueError", message="x"}\n'),
}


@pytest.mark.parametrize("extent", [1, 3, 12])
@pytest.mark.parametrize("name", LEAVES)
def test_leaves_all_loops(name: str, extent: int) -> None:
    """One test before the loops stands for all iterations, and names the index that fails first."""
    before = framed(LEAVES[name])
    after = hoist_checks(before)
    assert in_loops(after) == 0
    for seed in range(12):
        inputs = arguments(before, seed, extent)
        first, second = behaviour(before, inputs), behaviour(after, inputs)
        assert first == second or (first[0] == second[0] == "raises"), f"{after}"
        if name not in ("a nest", "flattened"):
            assert first == second


STAYS = {
    "gathered": loop("%k = load %I, %i : i64\n" + BOTH.format(k="k") + touch("k")),
    "in a branch": loop(
        "%c = lt %i, %m : bool\nif %c {types=[]} () {\n" + BOTH.format(k="i") + touch("i") + "yield\n} () {\nyield\n}"
    ),
    "may stop early": loop(HIGH.format(k="i") + touch("i") + "%c = lt %i, %1 : bool", exit="true", flag="%c"),
    "another exception first": loop(
        "%w = load %I, %0 : i64\n%c = lt %w, %i : bool\n"
        'check %c {exception="ValueError", message="w"}\n' + HIGH.format(k="i") + touch("i")
    ),
}


@pytest.mark.parametrize("name", STAYS)
def test_stays_in_the_loop(name: str) -> None:
    """Not every iteration makes the test, or nobody knows which one fails."""
    before = framed(STAYS[name])
    after = hoist_checks(before)
    assert in_loops(after) >= 1
    assert_same(before, after, seeds=12, extent=3)


PROVED = {
    "within the extent": loop(BOTH.format(k="i") + touch("i"), bounds="%0, %d"),
    "shifted within": loop("%k = sub %i, %1 : i64\n" + BOTH.format(k="k") + touch("k"), bounds="%1, %d"),
    "mirrored": loop(
        "%l = sub %d, %1 : i64\n%k = sub %l, %i : i64\n" + BOTH.format(k="k") + touch("k"), bounds="%0, %d"
    ),
    "wrapped if negative": loop(
        "%neg = lt %i, %0 : bool\n%w = add %i, %d : i64\n%k = select %neg, %w, %i : i64\n"
        + BOTH.format(k="k")
        + touch("k"),
        bounds="%0, %d",
    ),
    "periodic": loop(
        "%s = add %i, %1 : i64\n%k = mod %s, %d : i64\n" + BOTH.format(k="k") + touch("k"), bounds="%0, %d"
    ),
    "periodic by selection": loop(
        "%s = add %i, %1 : i64\n%l = lt %s, %d : bool\n%k = select %l, %s, %0 : i64\n"
        + BOTH.format(k="k")
        + touch("k"),
        bounds="%0, %d",
    ),
    "guarded": loop(
        "%c = gt %i, %0 : bool\nif %c {types=[]} () {\n%k = sub %i, %1 : i64\n"
        + BOTH.format(k="k")
        + touch("k")
        + "yield\n} () {\nyield\n}",
        bounds="%0, %d",
    ),
    "the smaller of two": "%b = minimum %n, %d : i64\n" + loop(BOTH.format(k="i") + touch("i"), bounds="%0, %b"),
    "triangle": loop(
        "%s = add %i, %1 : i64\n" + loop(BOTH.format(k="j") + touch("j"), index="j", bounds="%s, %d"), bounds="%0, %d"
    ),
}


@pytest.mark.parametrize("name", PROVED)
def test_proved_checks_are_dropped(name: str) -> None:
    """The range of the loop's index settles it."""
    before = framed(PROVED[name])
    after = hoist_checks(before)
    assert rows(after)["check"] == 0
    assert_same(before, after, extent=3)


def test_the_sign_of_an_index_is_settled() -> None:
    """Wrapping a negative index costs nothing where the index cannot be negative."""
    after = hoist_checks(framed(PROVED["wrapped if negative"]))
    assert rows(after)["select"] == 0


def test_a_check_is_made_once() -> None:
    """Two loops over the same range make one test."""
    before = framed(loop(BOTH.format(k="i") + touch("i")) + loop(BOTH.format(k="i") + touch("i")))
    after = hoist_checks(before)
    assert rows(after)["check"] == 1
    assert_same(before, after, seeds=12, extent=3)


def test_an_earlier_check_implies_a_later_one() -> None:
    """What was checked is known."""
    later = HIGH.format(k="k").replace("%high", "%less")
    before = framed(BOTH.format(k="n") + touch("n") + "%k = sub %n, %1 : i64\n" + later)
    after = hoist_checks(before)
    assert rows(after)["check"] == 1
    assert_same(before, after, seeds=12, extent=3)
