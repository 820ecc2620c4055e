"""Maxima and the like in parts: the interpreter gives the same before and after, whatever the lengths of parts are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from adgen.driver import lower_product
from adgen.frontend.specs import ArraySpec
from adgen.ir import core, sizes
from adgen.ir.interpret import run
from adgen.ir.nodes import walk
from adgen.ir.types import F64
from adgen.passes.folds import fold_of, folds
from adgen.passes.pipeline import optimise

pytestmark = pytest.mark.quick

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "max": lambda x: np.max(x),
    "min": lambda x: np.min(x),
    "argmax": lambda x: np.argmax(x),
    "argmin": lambda x: np.argmin(x),
    "prod": lambda x: np.prod(x),
    "any": lambda x: np.any(x > 1.5),
    "all": lambda x: np.all(x > -1.5),
}
INPUTS = [
    np.array([0.5]),
    np.array([1.0, 2.0, 2.0, 0.5, 2.0, -1.0, -1.0]),
    np.linspace(-1.0, 1.0, 23),
    np.array([0.0, 1.0, np.nan, 3.0, np.nan, 3.0, 4.0, 4.0]),
    np.array([np.inf, np.inf, 1.0, -np.inf, -np.inf]),
    np.array([0.0, -0.0, 0.0, 0.0]),
]


@pytest.mark.parametrize("elements", [512, 1024, 65_536 * 3])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_same_values(name: str, elements: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two to four parts in the first round, one to three in the second, and the loop itself."""
    monkeypatch.setattr(sizes, "ELEMENTS", elements)
    before = optimise(lower_product(FUNCTIONS[name], {"x": ArraySpec(F64, 1)}, "value", None).function, plain=True)
    loops = {operation for operation in walk(before.body) if fold_of(operation) is not None}
    after = folds(before, loops)
    assert sum(o.row is core.FOR for o in walk(after.body)) >= sum(o.row is core.FOR for o in walk(before.body)) + 4
    for given in INPUTS:
        with np.errstate(all="ignore"):
            expected, found = (run(each, [given.copy()]).results for each in (before, after))
        if name == "prod":
            assert np.allclose(expected, found, rtol=1e-15, equal_nan=True)
        else:
            assert np.array_equal(expected, found, equal_nan=True)
            assert np.array_equal(np.signbit(expected), np.signbit(found))


def test_other_loops_are_left() -> None:
    """What is carried in another way, or looked at on the way, is no fold."""

    def recurrence(x):
        total = 1.0
        for k in range(len(x)):
            total = total * x[k] + 1.0
        return total

    def running(x, y):
        best = x[0]
        for k in range(len(x)):
            best = max(best, x[k])
            y[k] = best
        return best

    for function, arguments in ((recurrence, ["x"]), (running, ["x", "y"])):
        lowered = lower_product(function, {name: ArraySpec(F64, 1) for name in arguments}, "value", None)
        made = optimise(lowered.function, plain=True)
        assert not any(fold_of(operation) for operation in walk(made.body))
