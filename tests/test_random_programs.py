"""Random programs: Python, the interpreter, both derivative modes, compiled C, and equivalent rewrites all agree.

`ADGEN_PROGRAMS` sets how many programs are tried; the default keeps the test short.
"""

from __future__ import annotations

import importlib.util
import itertools
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings

from adgen.frontend.lower import lower
from adgen.frontend.specs import ArraySpec, ScalarSpec
from adgen.ir.interpret import run
from adgen.ir.nodes import Function
from adgen.ir.types import F64
from adgen.ir.verify import verify
from adgen.passes.adjoint import adjoint
from adgen.passes.forward import forward
from adgen.passes.pipeline import optimise, simplify
from tests.native import Native
from tests.programs import STYLES, Node, programs, render

COUNT = int(os.environ.get("ADGEN_PROGRAMS", "12"))
BATCH = 25
PARTS = 4  # a test each, so that the cores share them
SPECS = {"x": ScalarSpec(F64), "y": ScalarSpec(F64), "a": ArraySpec(F64, 1)}
POINT = (0.3, -0.4, np.array([0.2, -0.5, 0.7, 1.1]))
DIRECTION = (0.7, -0.2, np.array([0.3, 1.0, -0.6, 0.4]))


def imported(source: str, folder: Path, name: str) -> Callable[..., Any]:
    """The function `f` of a source text, imported from a file."""
    path = folder / f"{name}.py"
    path.write_text(source)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    function: Callable[..., Any] = module.f
    return function


def value_and_gradient(function: Function) -> tuple[float, np.ndarray]:
    """By the interpreter; asserts the dot-product identity on the way."""
    pulled = optimise(adjoint(function, (0, 1, 2), "one"))
    pushed = optimise(forward(function, (0, 1, 2)))
    verify(pulled)
    verify(pushed)
    value, *gradient = run(pulled, POINT).results
    tangent = run(pushed, [*POINT, *DIRECTION]).results[1]
    slope = gradient[0] * DIRECTION[0] + gradient[1] * DIRECTION[1] + gradient[2] @ DIRECTION[2]
    assert abs(slope - tangent) <= 1e-10 * max(1.0, abs(tangent), float(np.abs(gradient[2]).max()))
    return float(value), np.concatenate([[gradient[0], gradient[1]], gradient[2]])


@pytest.mark.parametrize("part", range(PARTS))
def test_programs_and_their_rewrites_agree(part: int, tmp_path: Path) -> None:
    """Value to 1e-12, gradient to 1e-9, for every way of writing a program; then the same from compiled C."""
    seen: list[tuple[Function, float, np.ndarray]] = []
    numbers = itertools.count()

    @seed(part)
    @settings(
        max_examples=COUNT // PARTS,
        deadline=None,
        database=None,
        phases=[Phase.generate],  # a failing program is short enough to read; shrinking takes minutes
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
    )
    @given(programs())
    def check(program: tuple[Node, ...]) -> None:
        first = None
        number = next(numbers)
        for style in STYLES:
            function = imported(render(program, style), tmp_path, f"program_{part}_{number}_{style}")
            expected = function(*(np.copy(p) if isinstance(p, np.ndarray) else p for p in POINT))
            lowered = simplify(lower(function, SPECS).function)
            value, gradient = value_and_gradient(lowered)
            assert value == pytest.approx(float(expected), rel=1e-12, abs=1e-12), render(program, style)
            if first is None:
                first = gradient
                seen.append((lowered, value, gradient))
            assert np.allclose(gradient, first, rtol=1e-9, atol=1e-10), render(program, style)

    check()
    for start in range(0, len(seen), BATCH):
        compare_with_c(seen[start : start + BATCH])


def compare_with_c(batch: list[tuple[Function, float, np.ndarray]]) -> None:
    """Compile the gradients of several programs into one library and compare with the interpreter."""
    from dataclasses import replace

    functions = [
        optimise(replace(adjoint(function, (0, 1, 2), "one"), name=f"f{k}")) for k, (function, _, _) in enumerate(batch)
    ]
    native = Native(functions, "batch")
    for function, (_, value, gradient) in zip(functions, batch, strict=True):
        status, (found, *parts) = native.call(function.name, POINT)
        assert status == 0
        assert found == pytest.approx(value, rel=1e-12, abs=1e-12)
        assert np.allclose(np.concatenate([[parts[0], parts[1]], parts[2]]), gradient, rtol=1e-10, atol=1e-12)
