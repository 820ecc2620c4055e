"""Both derivative modes of every function of the corpus, against each other and, where smooth, differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from adgen.frontend.specs import spec_leaves
from adgen.ir.nodes import walk
from adgen.ir.types import is_float
from adgen.passes.pipeline import optimise, simplify
from tests.frontend import harness
from tests.oracles import check_derivatives

LARGE = 600  # operations: such a derivative takes the passes seconds, and they have tests of their own
SMOOTH = ("residuals", "complex_numbers", "library", "solvers", "interpolation", "special_functions")


def has_floats(function: Any) -> bool:
    """True when some argument is or holds a floating-point number."""
    specs = {name: harness.spec_of(value) for name, value in harness.samples(function).items()}
    return any(spec.element.is_float for _, spec in spec_leaves(specs))


CASES = [
    (name, function)
    for name in harness.COMPUTED
    for function in harness.corpus(name)
    if name != "recursion" and has_floats(function)
]


@pytest.mark.parametrize(("name", "function"), CASES, ids=[f"{name}.{f.__name__}" for name, f in CASES])
def test_both_modes_agree(name: str, function: Any) -> None:
    """The dot-product identity; where everything is smooth, differences too."""
    samples = harness.samples(function)
    lowered = harness.lowered_for(function, samples)
    arguments = harness.inputs_of(lowered, samples)
    primal = simplify(lowered.function)
    assert any(is_float(value.type) for value in primal.parameters)
    single = any("f32" in str(value.type) for value in primal.parameters)
    large = sum(1 for _ in walk(primal.body)) > LARGE
    with np.errstate(all="ignore"):
        smooth = name in SMOOTH and not single
        passes = (lambda function: function) if large else optimise
        check_derivatives(primal, arguments, passes, smooth, tolerance=1e-5 if single else 1e-10)
