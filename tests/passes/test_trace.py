"""Traced derivatives of sound programs are those without tracing, to the last bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from adgen.driver import lower_function
from adgen.frontend.specs import Lowered
from adgen.ir.interpret import run
from adgen.ir.verify import verify
from adgen.runtime.differentiate import differentiate
from adgen.runtime.faults import NotScalar
from adgen.runtime.wrt import resolve
from tests.frontend import harness


def seeds(derived: Lowered, primal: Lowered, values: list[Any]) -> list[Any]:
    """Tangents of one."""
    given = {leaf.path: value for leaf, value in zip(primal.leaves, values)}
    return [np.ones_like(given[leaf.path[1:]]) for leaf in derived.leaves[len(primal.leaves) :]]


@pytest.mark.parametrize("function", harness.corpus("residuals"), ids=lambda function: function.__name__)
def test_traced_is_the_same(function: Any) -> None:
    """Gradients where there are any, products with tangents, and those of gradients."""
    arguments = harness.samples(function)
    specs = {name: harness.spec_of(value) for name, value in arguments.items()}
    wrt = resolve(None, specs, function.__name__)
    plain, traced = (lower_function(function, specs, traced=traced) for traced in (False, True))
    for product in ("jvp", "grad", "hvp"):
        try:
            wanted, got = (differentiate(primal, product, wrt) for primal in (plain, traced))
        except NotScalar:
            continue
        verify(got.function)
        given = [
            harness.inputs_of(plain, arguments) + seeds(wanted, plain, harness.inputs_of(plain, arguments))
            for _ in range(2)
        ]
        for ours, theirs in zip(run(got.function, given[0]).results, run(wanted.function, given[1]).results):
            assert np.array_equal(ours, theirs)
