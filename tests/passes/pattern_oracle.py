"""A sparsity pattern against the entries that products with unit vectors find, both by the interpreter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from adgen.ir.interpret import ProgramError, run
from adgen.ir.nodes import Function
from adgen.ir.types import Buffer
from adgen.ir.verify import verify
from adgen.operators.sparse.loops import reach
from adgen.passes.abreast import abreast
from adgen.passes.adjoint import adjoint
from adgen.passes.custom import inline_custom
from adgen.passes.forward import forward
from adgen.passes.localise import localise
from adgen.passes.pattern import pattern
from adgen.passes.pipeline import optimise, simplify
from adgen.passes.several import several
from adgen.runtime.differentiate import keep
from tests.oracles import floats, fresh

Entries = set[tuple[int, int]]


def tangent_program(function: Function) -> Function:
    """The tangents of all results for tangents of all floating-point parameters, and nothing else."""
    function = localise(function)
    pushed = forward(function, floats(function))
    dots = range(len(function.results), len(pushed.results))
    return simplify(inline_custom(keep(pushed, dots)))


def gradient_program(function: Function) -> Function:
    """The gradient of a function whose first result is a number."""
    function = localise(function)
    wrt = floats(function)
    first = len(function.results)
    return simplify(keep(adjoint(function, wrt, "one"), range(first, first + len(wrt))))


def pattern_of(pushed: Function, arguments: Sequence[Any]) -> Entries:
    """The entries that the pattern program finds, optimised or not, whatever room it is given."""
    own = pushed.parameters[: len(arguments)]
    moving = [value for position, value in enumerate(own) if position in floats_of(own)]
    program = pattern(pushed, dict(zip(pushed.parameters[len(arguments) :], moving, strict=True)))
    verify(program)
    optimised = optimise(program)
    verify(optimised)
    used, entries = _entries(program, own, arguments, 1)
    again, same = _entries(optimised, own, arguments, int(used))
    assert again == used and same == entries
    return entries


def floats_of(values: Sequence[Any]) -> list[int]:
    """The positions of the floating-point values."""
    return [k for k, value in enumerate(values) if "f" in str(value.type)]


def _entries(program: Function, own: Sequence[Any], arguments: Sequence[Any], room: int) -> tuple[int, Entries]:
    inputs = sum(np.size(arguments[k]) for k in floats_of(own))
    edges = np.zeros(max(room, 1), np.int64)
    used, *nodes = run(program, [*fresh(arguments), edges]).results
    if used > len(edges):
        return _entries(program, own, arguments, int(used))
    roots = np.concatenate([np.ravel(part) for part in nodes]).astype(np.int64) if nodes else np.zeros(0, np.int64)
    starts, members = np.zeros(len(roots) + 1, np.int64), np.zeros(len(roots) * inputs, np.int64)
    reach(edges, roots, inputs, 10**9, starts, members, *np.zeros((2, len(edges) + inputs + 1), np.int64))
    rows = np.repeat(np.arange(len(roots)), np.diff(starts))
    return int(used), set(zip(rows.tolist(), members.tolist()))


def nonzeros(pushed: Function, arguments: Sequence[Any]) -> Entries:
    """The entries that are other than zero at these arguments."""
    own = pushed.parameters[: len(arguments)]
    zeros = [np.zeros_like(arguments[k]) if isinstance(own[k].type, Buffer) else 0.0 for k in floats_of(own)]
    found: Entries = set()
    column = 0
    for k, zero in enumerate(zeros):
        for place in range(np.size(zero)):
            unit: Any = 1.0
            if isinstance(zero, np.ndarray):
                unit = zero.copy()
                unit.reshape(-1)[place] = 1.0
            results = run(pushed, [*fresh(arguments), *zeros[:k], unit, *zeros[k + 1 :]]).results
            numbers = np.concatenate([np.ravel(part) for part in results]) if results else np.zeros(0)
            found |= {(int(row), column) for row in np.flatnonzero((numbers != 0) & ~np.isnan(numbers))}
            column += 1
    return found


def check_pattern(pushed: Function, points: Sequence[Sequence[Any]]) -> Entries:
    """Assert that the pattern holds every entry other than zero at these points; they differ in floats alone."""
    found = None
    for arguments in points:
        try:
            actual = nonzeros(pushed, arguments)
        except ProgramError:
            continue
        if found is None:
            found = pattern_of(pushed, arguments)
        assert actual <= found, f"missing: {sorted(actual - found)}"
    return found or set()


WIDTH = 8  # directions together


def check_several(pushed: Function, arguments: Sequence[Any]) -> None:
    """Assert that directions taken together give what each gives alone, bit for bit."""
    for wide in (several, abreast):
        wider = wide(pushed, pushed.parameters[len(arguments) :], WIDTH)
        if wider is not None:
            _check_wider(wider, pushed, arguments)


def _check_wider(wider: Function, pushed: Function, arguments: Sequence[Any]) -> None:
    verify(wider)
    generator = np.random.default_rng(0)
    own = pushed.parameters[: len(arguments)]
    numbers = [np.asarray(arguments[k]) for k in floats_of(own)]
    together = [generator.standard_normal((*number.shape, WIDTH)).astype(number.dtype) for number in numbers]
    try:
        found = run(wider, [*fresh(arguments), *fresh(together)]).results
    except ProgramError:
        return
    for lane in range(WIDTH):
        alone = [part[..., lane].copy() if part.ndim > 1 else float(part[lane]) for part in together]
        for part, expected in zip(found, run(pushed, [*fresh(arguments), *alone]).results, strict=True):
            assert np.array_equal(part[..., lane], expected, equal_nan=True)


def moved(arguments: Sequence[Any], seed: int) -> list[Any]:
    """The arguments with other floating-point numbers; single ones keep their sign, as a tolerance has to."""
    generator = np.random.default_rng(seed)

    def change(value: Any) -> Any:
        if isinstance(value, np.ndarray) and value.dtype.kind == "f":
            return (value * generator.uniform(-1.5, 1.5, value.shape)).astype(value.dtype)
        return value * generator.uniform(0.2, 1.5) if type(value) is float else value

    return [change(value) for value in arguments]
