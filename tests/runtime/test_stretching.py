"""Axes that NumPy stretches: code is compiled for extents that are equal, and other code serves the rest."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adgen
from adgen.diagnostics import AdgenError
from adgen.frontend.lower import lower
from adgen.frontend.specs import OTHER_EXTENTS, ArraySpec
from adgen.ir.types import F64

BANK = """
def plain(x: "f64[:]", y: "f64[:]"):
    return (x * y).sum()


def marked(x: "f64[*]", y: "f64[*]"):
    return (x * y).sum()
"""
VECTOR, MATRIX = ArraySpec(F64, 1), ArraySpec(F64, 2)
RNG = np.random.default_rng(5)


def product(x: Any, y: Any) -> Any:
    return np.sum(x * y * y)


def outer(x: Any, y: Any) -> Any:
    return np.sum(np.sin(x + y) * x)


def filled(x: Any, y: Any) -> Any:
    x[:] = x * 2.0
    x[1:-1] = y[1:-1] * x[2:]
    return np.sum(x * x)


def guarded(x: Any, y: Any) -> Any:
    if len(x) == len(y):
        return np.sum(x * y)
    return np.sum(x * y[:1])


def cut(x: Any, y: Any) -> Any:
    x[:, :1] += 1.0
    return np.sum(x[:, 0:1] * x[:, 1:2].T) * np.sum(y[1:3]) + np.sum(x[2::-1])


def counted(x: Any, n: int) -> Any:
    return np.sum(x * np.arange(n))


SHAPES = [
    (product, (4,), (4,)),
    (product, (1,), (4,)),
    (product, (4,), (1,)),
    (product, (0,), (1,)),
    (outer, (4, 1), (1, 3)),
    (outer, (1, 3), (4, 3)),
    (outer, (4, 3), (4, 3)),
    (outer, (4, 3), (1, 1)),
    (filled, (5,), (5,)),
    (filled, (5,), (3,)),
    (cut, (4, 3), (3, 1)),
    (cut, (4, 2), (5, 4)),
    (cut, (1, 1), (1, 1)),
    (cut, (1, 5), (4, 7)),
    (guarded, (4,), (4,)),
    (guarded, (4,), (7,)),
]


@pytest.mark.parametrize(("function", "first", "second"), SHAPES)
def test_every_shape_is_served(function: Any, first: tuple[int, ...], second: tuple[int, ...]) -> None:
    """Value, gradient and pullback are Python's for shapes that are equal and for those that are stretched."""
    x, y = RNG.normal(size=first), RNG.normal(size=second)
    assert adgen.jit(function)(x.copy(), y.copy()) == pytest.approx(function(x.copy(), y.copy()), rel=1e-13)
    gradient = adgen.grad(function)(x.copy(), y.copy())
    directions = RNG.normal(size=first), RNG.normal(size=second)
    step = 1e-6
    moved = [function(*(v + sign * step * d for v, d in zip((x, y), directions))) for sign in (1.0, -1.0)]
    expected = (moved[0] - moved[1]) / (2.0 * step)
    got = sum(np.sum(g * d) for g, d in zip(gradient, directions))
    assert got == pytest.approx(expected, rel=1e-6, abs=1e-9)
    _, pullback = adgen.vjp(function)(x.copy(), y.copy())
    for pulled, known in zip(pullback(2.0), gradient):
        np.testing.assert_allclose(pulled, 2.0 * known)


def test_written_arguments_are_written_once() -> None:
    """The check comes before the first write, so the other code starts from what the caller passed."""
    x, y = np.arange(5.0), np.arange(3.0) + 1.0
    mine, theirs = x.copy(), x.copy()
    assert adgen.jit(filled)(mine, y) == filled(theirs, y)
    np.testing.assert_array_equal(mine, theirs)


def test_differing_extents_raise_as_in_python() -> None:
    """What does not fit is NumPy's error."""
    with pytest.raises(ValueError, match=r"shapes \(3,\) \(4,\)"):
        adgen.grad(product)(np.ones(3), np.ones(4))


def test_numbers_and_extents_meet() -> None:
    """An extent that is a number meets that of an argument."""
    assert adgen.jit(counted)(np.ones(4), 4) == 6.0
    assert adgen.jit(counted)(np.ones(1), 4) == 6.0
    with pytest.raises(ValueError, match="broadcast"):
        adgen.jit(counted)(np.ones(3), 4)


def test_a_pullback_outlives_its_function() -> None:
    """Other code can be compiled when only the pullback holds the function."""
    _, pullback = adgen.vjp(lambda a, b: a * b)(np.ones(1), np.arange(3.0))
    np.testing.assert_array_equal(pullback(np.ones(3))[0], [3.0])


def checks(function: Any, *specs: ArraySpec) -> list[str]:
    """The exceptions of the checks that the function begins with."""
    lowered = lower(function, dict(zip(("x", "y"), specs)))
    return [op.attributes["exception"] for op in lowered.function.body.operations if op.row.name == "check"]


def test_one_check_serves_all_meetings() -> None:
    """`x + y` and `x[1:] * y[1:]` need one check, and none where types say that extents are equal or stretched."""

    def twice(x: Any, y: Any) -> Any:
        return np.sum(x + y) + np.sum(x[1:] * y[1:])

    assert checks(twice, VECTOR, VECTOR) == [OTHER_EXTENTS]
    assert OTHER_EXTENTS not in checks(twice, *(ArraySpec(F64, 1, ("*",)) for _ in range(2)))
    assert checks(outer, MATRIX, MATRIX) == [OTHER_EXTENTS, OTHER_EXTENTS]
    named = ArraySpec(F64, 2, ("n", "d"))
    assert checks(outer, named, named) == [OTHER_EXTENTS, OTHER_EXTENTS]


def test_only_the_longest_slice_is_checked() -> None:
    """What ends earlier on the same axis is inside as well; a slice that ends before the end always is."""

    def sums(x: Any) -> Any:
        return np.sum(x[:2]) + np.sum(x[1:5]) + np.sum(x[:3] * x[2:5]) + np.sum(x[1:-1])

    assert checks(sums, VECTOR) == [OTHER_EXTENTS]
    assert OTHER_EXTENTS not in checks(sums, ArraySpec(F64, 1, ("*",)))


def test_fixed_axes_need_no_checks() -> None:
    """Where types say that an axis has length one, it is stretched without a question."""
    found = checks(outer, ArraySpec(F64, 2, (":", 1)), ArraySpec(F64, 2, (1, ":")))
    assert OTHER_EXTENTS not in found


def test_a_branch_on_extents_takes_nothing_for_equal() -> None:
    """Where a program asks for extents, what runs in one case says nothing about the others."""
    assert OTHER_EXTENTS not in checks(guarded, VECTOR, VECTOR)


def test_compiled_ahead_it_is_an_error(tmp_path: Path) -> None:
    """A package holds one code; for other extents it says how to compile it."""
    (tmp_path / "bank.py").write_text(BANK)
    command = [sys.executable, "-m", "adgen", "compile", "bank.py", "--emit", "value"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    package = adgen.load(tmp_path / "build" / "bank_ad")
    assert package.plain(np.ones(3), np.ones(3)) == package.marked(np.ones(3), np.ones(1)) == 3.0
    with pytest.raises(ValueError, match="taken for equal") as caught:
        package.plain(np.ones(3), np.ones(1))
    assert isinstance(caught.value, AdgenError) and "f64[*]" in str(caught.value)
