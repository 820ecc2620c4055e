"""Both derivative modes of every function of the corpus, against each other and, where smooth, differences."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from adgen.ir.types import is_float
from adgen.passes.pipeline import optimise, simplify
from tests.frontend import harness
from tests.oracles import check_derivatives

FILES = (
    "choices",
    "control_flow",
    "generators",
    "language",
    "memory",
    "state",
    "residuals",
    "complex_numbers",
    "integers",
    "numpy_names",
    "scipy_names",
    "library",
    "interpolation",
    "special_functions",
)
SMOOTH = ("residuals", "complex_numbers", "library", "interpolation", "special_functions")


def has_floats(value: Any) -> bool:
    """True when some part of an argument is a floating-point number."""
    if isinstance(value, tuple | list):
        return any(map(has_floats, value))
    if isinstance(value, dict):
        return any(map(has_floats, value.values()))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return any(has_floats(getattr(value, field.name)) for field in dataclasses.fields(value))
    return isinstance(value, float | complex | np.floating | np.complexfloating) or (
        isinstance(value, np.ndarray) and value.dtype.kind in "fc"
    )


CASES = [
    (name, function)
    for name in FILES
    for function in harness.corpus(name)
    if any(map(has_floats, harness.samples(function).values()))
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
    with np.errstate(all="ignore"):
        smooth = name in SMOOTH and not single
        check_derivatives(primal, arguments, optimise, smooth, tolerance=1e-5 if single else 1e-10)
