"""Single precision: no `f64` is left, and what is computed is what was, as far as a `float` goes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.special

from adgen.ir.interpret import run
from adgen.ir.nodes import walk
from adgen.ir.types import F64, Buffer, Stack
from adgen.ir.verify import verify
from adgen.passes.pipeline import optimise
from adgen.passes.single import narrowed, single
from adgen.runtime.differentiate import differentiate
from adgen.runtime.single import singled
from adgen.runtime.wrt import resolve
from tests.frontend import harness

TABLE = np.array([0.1, 0.7, -0.3])


def mixed(x, n):
    total = 0.0
    steps = 0
    while total < 2.0:
        total += 0.3 * np.exp(-x[0]) + 0.1
        steps += 1
    for k in range(n):
        total += TABLE[k] * x[k] / (k + 1) + float(n) ** 0.5
    return total * np.mean(x) + np.float32(0.1) * steps


ARGUMENTS: dict[str, Any] = {"x": np.array([0.3, -1.2, 2.0]), "n": 3}


@pytest.mark.parametrize("product", ["value", "grad", "jvp"])
def test_no_double_is_left(product: str) -> None:
    """Parameters, memory, stacks, tables, regions, results: of the function and of its derivatives."""
    lowered = singled(harness.lowered_for(mixed, ARGUMENTS))
    wrt = None if product == "value" else resolve(None, lowered.specs, "mixed")
    made = differentiate(lowered, product, wrt).function
    for function in (lowered.function, made, optimise(made)):
        verify(function)
        values = [*function.parameters, *function.results]
        for operation in walk(function.body):
            values += [*operation.results, *(value for region in operation.regions for value in region.arguments)]
        kinds = {value.type.element if isinstance(value.type, Buffer | Stack) else value.type for value in values}
        assert F64 not in kinds
        assert all(narrowed(value.type) == value.type for value in values)


def special(x, n):
    return scipy.special.erfinv(x) + scipy.special.jv(n, x) * scipy.special.ellipk(x)


def test_what_is_there_in_double_alone() -> None:
    """It is converted before and behind."""
    lowered = harness.lowered_for(special, {"x": 0.3, "n": 2})
    made = single(lowered.function)
    verify(made)
    (result,) = run(made, [0.3, 2]).results
    assert result.dtype == np.float32 and result == pytest.approx(special(0.3, 2), rel=1e-6)


def test_same_up_to_rounding() -> None:
    """The numbers are those of double precision, rounded on the way."""
    lowered = harness.lowered_for(mixed, ARGUMENTS)
    (exact,) = run(lowered.function, [ARGUMENTS["x"].copy(), 3]).results
    (rough,) = run(single(lowered.function), [ARGUMENTS["x"].astype(np.float32), 3]).results
    assert rough.dtype == np.float32 and rough == pytest.approx(exact, rel=1e-5)
