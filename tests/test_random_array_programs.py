"""Random array programs: Python, the interpreter, both derivative modes, differences, compiled C and rewrites agree.

`ADGEN_ARRAY_PROGRAMS` sets how many programs are tried, `ADGEN_ARRAY_SEED` where to begin.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adgen.diagnostics import AdgenError
from adgen.emit import emit
from adgen.frontend.lower import lower
from adgen.frontend.specs import ArraySpec, Lowered, OutputTree, ScalarSpec
from adgen.ir.interpret import ProgramError, run
from adgen.ir.nodes import Function
from adgen.ir.types import F64
from adgen.ir.verify import verify
from adgen.passes.adjoint import adjoint
from adgen.passes.forward import forward
from adgen.passes.localise import localise, written_parameters
from adgen.passes.pipeline import optimise, simplify
from tests.array_programs import STYLES, Program, program, render
from tests.frontend.harness import tree_of
from tests.native import Native
from tests.oracles import flat, fresh
from tests.test_random_programs import imported

COUNT = int(os.environ.get("ADGEN_ARRAY_PROGRAMS", "8"))
FIRST = int(os.environ.get("ADGEN_ARRAY_SEED", "0"))
BATCH = 10
COMPILED = 3  # every third program is compiled: the C compiler takes longer than all the rest
ACCEPTED = 0.5  # of the programs, at least
WRT = range(5)
SPECS = {
    **{name: ArraySpec(F64, 1) for name in "abc"},
    "m": ArraySpec(F64, 2),
    "s": ScalarSpec(F64),
}
Arguments = list[Any]


def point(n: int, k: int) -> Arguments:
    """Arguments of given extents."""
    generator = np.random.default_rng(n + 10 * k)
    return [*(generator.uniform(-1, 1, size) for size in (n, n, k, (k, n))), float(generator.uniform(-1, 1))]


POINTS = [point(5, 3), point(2, 1)]


@dataclass
class Checked:
    """A program that adgen took: its functions, and what they gave at each point."""

    source: str
    functions: tuple[Function, Function, Function]  # the value, its tangent, the cotangents
    output: OutputTree
    arguments: list[tuple[Arguments, Arguments, Arguments]]
    results: list[tuple[np.ndarray, np.ndarray, np.ndarray]]
    gradients: list[np.ndarray]  # of all results and of all arguments as they are left
    failing: list[Arguments]  # where Python raises


def python(function: Callable[..., Any], arguments: Arguments) -> np.ndarray:
    """What Python gives, then the arrays given to it as it leaves them."""
    given = fresh(arguments)
    with np.errstate(all="ignore"):
        result = function(*given)
    return flat([*(result if isinstance(result, tuple) else (result,)), *given[:4]])


def interpreted(function: Function, output: OutputTree, arguments: Arguments) -> np.ndarray:
    """What the function with these results gives, then the arrays given to it as it leaves them."""
    given = fresh(arguments)
    result = tree_of(output, run(function, given).results)
    return flat([*(result if isinstance(result, tuple) else (result,)), *given[:4]])


def checked(source: str, function: Callable[..., Any]) -> Checked:
    """The program compared with Python, its derivatives with each other and with differences.

    Raises AdgenError when adgen does not take it.
    """
    whole = lowered(function)
    primal = simplify(whole.function)
    pure = localise(primal)
    pushed, pulled = optimise(forward(pure, WRT)), optimise(adjoint(pure, WRT))
    for each in (primal, pushed, pulled):
        verify(each)
    result = Checked(source, (optimise(primal), pushed, pulled), whole.output, [], [], [], [])
    for number, arguments in enumerate(POINTS):
        generator = np.random.default_rng(number)
        directions = [generator.standard_normal(np.shape(a)) if np.ndim(a) else 0.7 for a in arguments]
        try:
            expected = python(function, arguments)
        except IndexError:
            for each, given in ((primal, arguments), (pushed, [*arguments, *directions])):
                with pytest.raises(ProgramError, match="IndexError"):
                    run(each, fresh(given))
            result.failing.append(arguments)
            continue
        value = interpreted(primal, whole.output, arguments)
        assert close(value, expected, 1e-11), f"value {value}\nPython {expected}\n{source}"
        count = len(pure.results)
        outcome = run(pushed, [*fresh(arguments), *directions]).results
        seeds, rest = cotangents(outcome[: len(primal.results)], arguments, written_parameters(primal))
        tangents = flat(outcome[count:])
        parts = run(pulled, [*fresh(arguments), *seeds]).results[count:]
        gradient = flat(parts)
        left, right = float(flat(seeds) @ tangents), float(gradient @ flat(directions))
        scale = max(1.0, abs(left), float(np.abs(gradient).max()), float(np.abs(tangents).max()))
        assert abs(left - right) <= 1e-10 * scale, f"dot-product identity: {left} and {right}\n{source}"
        compare_with_differences(pure, arguments, directions, tangents, source)
        result.arguments.append((arguments, [*arguments, *directions], [*arguments, *seeds]))
        result.results.append((value, flat(outcome), gradient))
        result.gradients.append(flat([part + other for part, other in zip(parts, rest)]))
    return result


def cotangents(results: Sequence[Any], arguments: Arguments, written: Sequence[int]) -> tuple[list[Any], list[Any]]:
    """For each result and each argument as it is left; the latter apart for arguments that are never written."""
    generator = np.random.default_rng(1)
    seeds = [generator.standard_normal(np.shape(result)) if np.ndim(result) else 0.3 for result in results]
    left = [generator.standard_normal(np.shape(argument)) if np.ndim(argument) else 0.0 for argument in arguments]
    rest = [0.0 if k in written else seed for k, seed in enumerate(left)]
    return [*seeds, *(left[k] for k in written)], rest


def lowered(function: Callable[..., Any]) -> Lowered:
    """The verified IR of a program."""
    found = lower(function, SPECS)
    verify(found.function)
    return found


def close(one: np.ndarray, other: np.ndarray, tolerance: float) -> bool:
    """Equal up to rounding."""
    return one.shape == other.shape and np.allclose(one, other, rtol=tolerance, atol=tolerance, equal_nan=True)


def compare_with_differences(
    pure: Function, arguments: Arguments, directions: Sequence[Any], tangents: np.ndarray, source: str
) -> None:
    """Central differences of the value, where those of two steps agree: elsewhere is a kink, or a branch near by."""

    def at(step: float) -> np.ndarray:
        moved = [argument + step * direction for argument, direction in zip(arguments, directions)]
        return flat(run(pure, moved).results)

    middle = at(0.0)
    ahead, behind = (at(1e-6) - middle) / 1e-6, (middle - at(-1e-6)) / 1e-6
    smooth = np.abs(ahead - behind) <= 1e-3 * (1.0 + np.abs(ahead))
    estimate = (ahead + behind) / 2
    assert np.allclose(tangents[smooth], estimate[smooth], rtol=1e-5, atol=1e-6), (
        f"tangent {tangents}\ndifferences {estimate}\n{source}"
    )


def check_styles(number: int, drawn: Program, folder: Path) -> Checked | None:
    """The program as it is and in two other styles, which must agree; None when adgen does not take it."""
    first = None
    for style in ("plain", STYLES[1 + number % 6], STYLES[1 + (number // 6) % 6]):
        source = render(drawn, style)
        function = imported(source, folder, f"array_program_{number}_{style}")
        try:
            found = checked(f"# program {number}, {style}\n{source}", function)
        except AdgenError:
            continue
        if first is None:
            first = found
        for gradient, other in zip(first.gradients, found.gradients):
            assert close(gradient, other, 1e-8), f"gradient {other}\nas it is {gradient}\n{found.source}"
    return first


def can_be_emitted(each: Checked) -> bool:
    """False when the extents of a result are not known beforehand, which emission refuses."""
    try:
        emit(each.functions[:1], "extents")
    except AdgenError:
        return False
    return True


def compare_with_c(batch: list[Checked]) -> None:
    """Compile several programs into one library and compare with the interpreter."""
    batch = [each for each in batch if can_be_emitted(each)]
    functions = []
    for k, each in enumerate(batch):
        functions += [
            replace(function, name=f"f{k}_{name}") for function, name in zip(each.functions, ("value", "jvp", "vjp"))
        ]
    native = Native(functions, "batch")
    for k, each in enumerate(batch):
        for arguments in each.failing:
            assert native.call(f"f{k}_value", fresh(arguments))[0] != 0, each.source
        for arguments, results in zip(each.arguments, each.results):
            count = len(each.functions[2].results) - len(WRT)
            for name, given, expected in zip(("value", "jvp", "vjp"), map(fresh, arguments), results):
                status, found = native.call(f"f{k}_{name}", given)
                assert status == 0, each.source
                if name == "value":
                    result = tree_of(each.output, tuple(found))
                    found = [*(result if isinstance(result, tuple) else (result,)), *given[:4]]
                elif name == "vjp":
                    found = found[count:]
                assert close(flat(found), expected, 1e-9), f"{name} in C {flat(found)}\n{expected}\n{each.source}"


def test_array_programs_and_their_rewrites_agree(tmp_path: Path) -> None:
    """Value to 1e-11, the dot-product identity to 1e-10, for every way of writing a program; then the same from C."""
    taken = []
    for number in range(FIRST, FIRST + COUNT):
        found = check_styles(number, program(number), tmp_path)
        if found is not None:
            taken.append(found)
    assert len(taken) >= ACCEPTED * COUNT
    compiled = taken[::COMPILED]
    for start in range(0, len(compiled), BATCH):
        compare_with_c(compiled[start : start + BATCH])
