"""Running sums: which loops are taken in parts, and that they come to the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from adgen.driver import lower_function
from adgen.ir import core
from adgen.ir.interpret import run
from adgen.ir.nodes import Function, walk
from adgen.passes.adjoint import adjoint
from adgen.passes.pipeline import for_device, simplify
from adgen.runtime.signatures import describe_arguments

R = np.random.default_rng(3)


def cumulative(x):
    return np.cumsum(x * x)


def path(x):
    s, worst = 1.0, 0.0
    for i in range(len(x)):
        s += 0.1 * x[i]
        worst += max(1.0 - s, 0.0)
    return worst + s


def value_of(program: Callable[..., Any], **arguments: Any) -> Function:
    return simplify(lower_function(program, describe_arguments(arguments)).function)


def serial(function: Function) -> list[str]:
    """Why loops are in one thread."""
    return [o.attributes["serial"] for o in walk(function.body) if "serial" in o.attributes]


@pytest.mark.parametrize("program", [cumulative, path])
@pytest.mark.parametrize("count", [0, 1, 15, 16, 17, 4096, 70_001])
def test_the_same_numbers(program: Callable[..., Any], count: int) -> None:
    """For no element, for parts of one, for several groups of parts; the adjoint adds up in the other direction."""
    x = R.normal(size=count)
    value = value_of(program, x=x)
    gradient = adjoint(value, (0,), seeds="one" if program is path else "parameters")
    for function, given in ((value, [x]), (gradient, [x] if program is path else [x, np.ones(count)])):
        made = for_device(function)
        assert set(serial(made)) == {"there are few parts"}
        for one, other in zip(run(made, list(given)).results, run(function, list(given)).results, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("deterministic", [False, True])
def test_in_three_rounds(deterministic: bool) -> None:
    """Kernels: parts, groups of parts, back, the loop; one thread for the few groups.  Nothing is atomic."""
    made = for_device(value_of(cumulative, x=R.normal(size=5)), deterministic)
    assert [o.attributes.get("grid") for o in made.body.operations if o.row is core.FOR] == ["x", "x", None, "x", "x"]
    assert not any("atomic" in o.attributes for o in walk(made.body))


def test_terms_are_worked_out_twice() -> None:
    """And nothing else is: three additions for a term where there was one, few more for groups."""
    x = R.normal(size=5000)
    value = value_of(cumulative, x=x)
    before, after = run(value, [x]).counts.operations, run(for_device(value), [x]).counts.operations
    assert before == 2 * len(x) and after <= 4 * len(x) + len(x) / 4


def product_on_the_way(x):
    s = 1.0
    for i in range(len(x)):
        s *= x[i]
        x[i] = s


def of_what_it_writes(x):
    s = 0.0
    for i in range(1, len(x)):
        s += x[i - 1]
        x[i] = s


def of_another(x):
    v, p = 0.0, 0.0
    for i in range(len(x)):
        v += x[i]
        p += v
        x[i] = p


def checked(x, k):
    s = 0.0
    for i in range(len(k)):
        s += x[k[i]]
        x[i] = s


def ending(x):
    s = 0.0
    for i in range(len(x)):
        s += x[i]
        if s > 1.0:
            break
    return s


@pytest.mark.parametrize("program", [product_on_the_way, of_what_it_writes, of_another, checked, ending])
def test_what_stays_in_one_thread(program: Callable[..., Any]) -> None:
    """Products, recurrences through memory, sums of sums, what may fail or end on its way: as before."""
    x = R.normal(size=40)
    given = [x, np.arange(40)] if program is checked else [x]
    function = value_of(program, **dict(zip(("x", "k"), given)))
    made = for_device(function)
    assert serial(made) and "there are few parts" not in serial(made)
    left = [[a.copy() for a in given] for _ in range(2)]
    found, wanted = (run(each, values).results for each, values in zip((made, function), left, strict=True))
    for one, other in zip([*found, *left[0]], [*wanted, *left[1]], strict=True):
        np.testing.assert_array_equal(one, other)
