"""Sparsity patterns hold every entry that is other than zero: the corpus, random programs, second derivatives."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings

from adgen.diagnostics import AdgenError
from adgen.frontend.lower import lower
from adgen.passes.pipeline import simplify
from tests import test_random_array_programs as arrays
from tests import test_random_programs as scalars
from tests.array_programs import program
from tests.array_programs import render as render_arrays
from tests.frontend import harness
from tests.passes.pattern_oracle import check_pattern, check_several, gradient_program, moved, tangent_program
from tests.programs import Node, programs, render
from tests.test_corpus_derivatives import CASES

PROGRAMS = 5
FILES = ("control_flow", "memory", "recursion", "integers", "residuals", "generators")
CHOSEN = [case for case in CASES if case[0] in FILES][::6]


@pytest.mark.parametrize(("name", "function"), CHOSEN, ids=[f"{name}.{f.__name__}" for name, f in CHOSEN])
def test_corpus(name: str, function: Any) -> None:
    """At the arguments of the corpus and at others, which take other branches."""
    samples = harness.samples(function)
    lowered = harness.lowered_for(function, samples)
    arguments = harness.inputs_of(lowered, samples)
    pushed = tangent_program(simplify(lowered.function))
    with np.errstate(all="ignore"):
        check_pattern(pushed, [arguments, *(moved(arguments, k) for k in range(3))])
        check_several(pushed, arguments)


@seed(7)
@settings(
    max_examples=PROGRAMS,
    deadline=None,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)
@given(programs())
def test_random_programs(tmp_path_factory: pytest.TempPathFactory, tree: Node) -> None:
    """Jacobian and Hessian."""
    folder = tmp_path_factory.mktemp("programs")
    function = scalars.imported(render(tree, "plain"), folder, f"pattern_{random.getrandbits(60)}")
    primal = simplify(lower(function, scalars.SPECS).function)
    points = [scalars.POINT, *(moved(scalars.POINT, k) for k in range(3))]
    check_pattern(tangent_program(primal), points)
    second = tangent_program(gradient_program(primal))
    check_pattern(second, points)
    check_several(second, scalars.POINT)


@pytest.mark.parametrize("number", range(PROGRAMS))
def test_random_array_programs(number: int, tmp_path: Path) -> None:
    """Views, writes in place, rebinding, branches."""
    function = scalars.imported(render_arrays(program(number), "plain"), tmp_path, f"pattern_{number}")
    try:
        primal = simplify(lower(function, arrays.SPECS).function)
    except AdgenError:
        return
    pushed = tangent_program(primal)
    for point in arrays.POINTS:
        check_pattern(pushed, [point, *(moved(point, k) for k in range(2))])
