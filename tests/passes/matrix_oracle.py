"""Whole matrices of derivatives against products with unit vectors, both by the interpreter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adgen.ir.interpret import ProgramError, run
from adgen.ir.nodes import Function
from adgen.ir.verify import verify
from adgen.passes.matrices import columns, rows
from adgen.passes.pipeline import optimise, simplify
from tests.oracles import floats, fresh
from tests.passes.pattern_oracle import tangent_program

Array = np.ndarray[Any, Any]


def matrix(function: Function, arguments: Sequence[Any]) -> list[list[Array]]:
    """The tangents of the results along unit directions, for each result and parameter."""
    pushed = tangent_program(function)
    wrt = floats(function)
    zeros: list[Any] = [np.zeros_like(arguments[k]) if np.ndim(arguments[k]) else 0.0 for k in wrt]
    blocks: list[list[Array]] = []
    for k, zero in enumerate(zeros):
        found = []
        for place in range(np.size(zero)):
            unit: Any = 1.0
            if isinstance(zero, np.ndarray):
                unit = zero.copy()
                unit.reshape(-1)[place] = 1.0
            found.append(run(pushed, [*fresh(arguments), *zeros[:k], unit, *zeros[k + 1 :]]).results)
        blocks.append([np.stack([np.ravel(part) for part in column], axis=-1) for column in zip(*found)])
    return [list(row) for row in zip(*blocks)]


def check_matrix(function: Function, arguments: Sequence[Any], exact: bool = True) -> None:
    """Assert that both modes give the tangents along unit directions: by columns bit for bit."""
    function = simplify(function)
    wrt = floats(function)
    if not wrt or not all(np.size(arguments[k]) for k in wrt):
        return
    try:
        expected = matrix(function, arguments)
    except ProgramError:
        return
    ways: list[Callable[[Function, Sequence[int]], Function]] = [columns, rows]
    for way in ways:
        made = way(function, wrt)
        verify(made)
        for program in (made, optimise(made)):
            verify(program)
            found = iter(run(program, fresh(arguments)).results)
            for row in expected:
                for block in row:
                    own = np.asarray(next(found)).reshape(block.shape)
                    sound = np.isfinite(block) & np.isfinite(own)
                    tolerance = 0.0 if exact and way is columns else 1e-8
                    np.testing.assert_allclose(own[sound], block[sound], rtol=tolerance, atol=tolerance * 1e-3)
                    if exact:
                        assert np.all(sound)
