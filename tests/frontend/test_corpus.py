"""Every function of the corpus computes in the IR what it computes in Python, in-place writes to arguments included."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from tests.frontend import harness

CASES = [(name, function) for name in harness.COMPUTED for function in harness.corpus(name)]


VARIANTS = [
    pytest.param(function, stretching, id=f"{name}.{function.__name__}{'.stretching' * stretching}")
    for name, function in CASES
    for stretching in (False, True)
    if not stretching or sum(isinstance(x, np.ndarray) for x in harness.samples(function).values()) > 1
]


@pytest.mark.parametrize(("function", "stretching"), VARIANTS)
def test_agrees_with_python(function: Any, stretching: bool) -> None:
    """The result and the arguments after the call are Python's."""
    mine = harness.samples(function)
    got, after = harness.run(function, mine, stretching)
    theirs = harness.samples(function)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        want = function(**theirs)
    assert harness.agree(got, want), f"got {got}, want {want}"
    arrays = [value for value in theirs.values() if isinstance(value, np.ndarray)]
    if len(arrays) == sum(isinstance(value, np.ndarray) for value in after):
        for value, array in zip([v for v in after if isinstance(v, np.ndarray)], arrays):
            assert harness.agree(value, array)
