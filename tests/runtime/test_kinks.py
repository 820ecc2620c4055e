"""`kinks`: which operations are near a place without a derivative, for given arguments."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import adgen
from adgen.ahead.at_kinks import nearby, remarks_on
from adgen.ahead.compile import failed
from adgen.ahead.options import Options
from adgen.ahead.report import CheckReport, FunctionReport, Report
from adgen.ahead.units import subject
from adgen.diagnostics import AdgenError
from adgen.frontend.specs import ScalarSpec

X = np.array([0.5, -1.25, 2.0])


def near(function: Any, *arguments: Any, **options: Any) -> dict[str, tuple[Any, ...]]:
    """What is found, by operation: operands, distance, count, index."""
    found = adgen.kinks(function, **options)(*arguments)
    assert len({kink.operation for kink in found}) == len(found)
    return {kink.operation: (kink.operands, kink.distance, kink.count, kink.index) for kink in found}


def relu(x):
    return np.sum(np.maximum(x, 0.0))


def branch(x, y):
    if x > y:
        return x * y
    return y


def largest(x):
    return np.max(x) * 2.0 + x[int(np.argmin(x))]


def length(x):
    return np.linalg.norm(x) + np.std(x)


def rounded(x):
    return math.floor(x) + x // 0.5 + x % 0.25


def loop(x, n):
    total = 0.0
    for i in range(2, n):
        for j in range(i):
            total += abs(x - i - 0.25 * j)
    return total


def chosen(x):
    return np.sum(np.where(x < 2.0, x**2, 4.0 * x - 4.0))


def clipped(x):
    return np.sum(np.clip(x, -1.25, 3.0))


def test_rows() -> None:
    """Operands, distance, how often, where."""
    assert near(relu, X) == {}
    assert near(relu, X * 0.0) == {"maximum": ((0.0, 0.0), 0.0, 3, (0,))}
    assert near(relu, X + 2.0**-30 - 2.0) == {"maximum": ((2.0**-30, 0.0), 2.0**-30, 1, (2,))}
    assert near(branch, 1.0, 1.0) == {"greater": ((1.0, 1.0), 0.0, 1, ())}
    assert near(chosen, X) == {"less": ((2.0, 2.0), 0.0, 1, (2,))}
    assert near(clipped, X) == {"less": ((-1.25, -1.25), 0.0, 1, (1,))}
    assert near(rounded, 1.5) == {
        "floor_divide": ((1.5, 0.5), 0.0, 1, ()),
        "remainder": ((1.5, 0.25), 0.0, 1, ()),
    }
    assert set(near(rounded, 2.0)) == {"floor", "floor_divide", "remainder"}
    assert near(loop, 3.25, 5) == {"absolute": ((0.0,), 0.0, 1, (3, 1))}
    assert near(loop, 3.26, 5) == {}


def test_what_is_composed() -> None:
    """Extremes tell of ties with the extreme element alone, norms of their length."""
    assert near(largest, np.array([3.0, 1.0, 1.0, 2.0])) == {"min": ((1.0, 1.0), 0.0, 1, ())}
    assert near(largest, np.array([3.0, 1.5, 1.5, 1.0])) == {}
    assert near(largest, np.array([3.0])) == {}
    assert near(largest, np.array([[1.0, 3.0], [3.0, 0.0]]).ravel()) == {"max": ((3.0, 3.0), 0.0, 1, ())}
    assert near(lambda x: np.sum(np.max(x, axis=1)), np.array([[1.0, 3.0], [2.0, 2.0]])) == {
        "max": ((2.0, 2.0), 0.0, 1, (1,))
    }
    assert near(length, X) == {}
    (kink,) = adgen.kinks(lambda x: np.linalg.norm(x))(np.zeros(2))
    assert kink.operation == "root of a sum of squares" and kink.says == "it is 0" and kink.distance == 0.0
    assert near(lambda x: abs(complex(x, x) - (1.0 + 1.0j)), 1.0) == {"absolute": ((0.0,), 0.0, 1, ())}


def test_what_has_no_kink_is_not_told() -> None:
    """Algorithms compare, and what they compute is smooth; constants do not move; what is not run does not count."""
    a = np.array([[2.0, 1.0], [1.0, 2.0]])
    assert near(lambda a, b: np.sum(np.linalg.solve(a, b)), a, np.ones(2)) == {}
    assert near(lambda z: ((z + 1j) / (1 + 1j) * (1 - 1j)).real, 0.0) == {}
    assert near(lambda x, k: x * abs(k - 1.0), 2.0, 1.0, wrt="x") == {}
    assert near(lambda x: abs(x) if x > 1.0 else x, 0.0) == {}
    assert near(lambda x: np.floor(np.floor(x) * 0.5) * x, 4.5) == {}
    assert near(lambda x: np.prod(x) + np.sinc(x[0]), np.zeros(2)) == {}


def test_the_text_and_the_place() -> None:
    """A record says all of it in words, with the line and a caret."""
    (kink,) = adgen.kinks(branch, tolerance=1e-3)(1.0, 1.0 + 2.0**-12)
    assert kink.line == branch.__code__.co_firstlineno + 1
    assert kink.text == (
        "greater(1.0, 1.000244140625) is 2.4e-04 from a kink; "
        "the derivative there: it is that of the branch which is taken"
    )
    assert str(kink).endswith("     if x > y:\n   |        ^^^^^")


straight = adgen.custom_vjp(lambda x: np.floor(x), lambda x, out, cotangent: cotangent)


def test_operators_methods_and_arguments_that_are_written() -> None:
    """Of a derivative the kinks are those of its function; arguments are not written; a rule hides what it replaces."""

    class Model:
        def energy(self, x: Any) -> Any:
            return abs(x)

    def writes(x: Any) -> None:
        x[0] = abs(x[1])

    assert set(near(Model().energy, 0.0)) == set(near(adgen.grad(adgen.grad(Model().energy)), 0.0)) == {"absolute"}
    assert set(near(adgen.grad(Model().energy, trace_nan=True), 0.0)) == {"absolute"}
    x = np.array([1.0, 0.0])
    assert set(near(writes, x)) == {"absolute"} and np.array_equal(x, [1.0, 0.0])
    assert near(lambda x: straight(x) * 2.0, 1.0) == {}


def deep(x, n):
    return abs(x) if n == 0 else deep(x - 1.0, n - 1)


def test_recursion_is_refused() -> None:
    """Kinks in it would go unnoticed."""
    with pytest.raises(AdgenError, match="calls itself, and kinks in it are not found"):
        adgen.kinks(deep)(1.0, 3)


def test_checks_at_a_kink() -> None:
    """The report of a check says at which kinks its inputs are, and so does the error when it fails."""
    made = subject(branch, Options(products=("jvp", "vjp")), {"x": ScalarSpec(), "y": ScalarSpec()})
    remarks = remarks_on(nearby(made, {"x": 1.0, "y": 1.0}))
    assert [remark.partition(" is at a kink")[0].partition(": ")[2] for remark in remarks] == ["greater(1.0, 1.0)"]
    assert remarks_on(nearby(made, {"x": 1.0, "y": 1.5})) == []
    failing = CheckReport("differences", "jvp, vjp", 0.5, 1e-7, False)
    function = FunctionReport("branch", {}, (), (), {}, (), (failing,), tuple(remarks))
    assert "greater(1.0, 1.0) is at a kink" in failed(Report("", "", "", (function,))).message


def test_gradcheck_tells() -> None:
    """A failure at a kink says which one it is."""
    with pytest.raises(AdgenError, match=r"forward mode is wrong(.|\n)*greater\(1.0, 1.0\) is at a kink"):
        adgen.gradcheck(branch, (1.0, 1.0))
