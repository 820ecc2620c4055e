"""Independent checks of derivative functions, run by the interpreter: the dot-product identity and differences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adgen.ir.interpret import run
from adgen.ir.nodes import Function, Value
from adgen.ir.types import Buffer, is_float
from adgen.ir.verify import verify
from adgen.passes.adjoint import adjoint
from adgen.passes.forward import forward
from adgen.passes.localise import localise

Arguments = Sequence[Any]


def fresh(arguments: Arguments) -> list[Any]:
    """Copies of arguments, so that a call cannot change the next one's."""
    return [argument.copy() if isinstance(argument, np.ndarray) else argument for argument in arguments]


def flat(values: Sequence[Any]) -> np.ndarray:
    """All numbers of a sequence of scalars and arrays."""
    parts = [np.asarray(value, dtype=float).ravel() for value in values]
    return np.concatenate(parts) if parts else np.zeros(0)


def floats(function: Function) -> list[int]:
    """The positions of the floating-point parameters."""
    return [k for k, value in enumerate(function.parameters) if is_float(value.type)]


def like(value: Value, argument: Any, generator: np.random.Generator) -> Any:
    """A random direction for a value."""
    if isinstance(value.type, Buffer):
        return generator.standard_normal(np.shape(argument)).astype(np.asarray(argument).dtype)
    return float(generator.standard_normal())


def check_derivatives(
    function: Function,
    arguments: Arguments,
    simplify: Callable[[Function], Function] = lambda function: function,
    differences: bool = True,
    tolerance: float = 1e-10,
) -> None:
    """Assert that both modes agree with each other, and with central differences of the interpreter."""
    function = localise(function)
    wrt = floats(function)
    generator = np.random.default_rng(0)
    results = run(function, fresh(arguments)).results
    live = [k for k, value in enumerate(function.results) if is_float(value.type)]
    directions = [like(function.parameters[k], arguments[k], generator) for k in wrt]
    seeds = [like(function.results[k], results[k], generator) for k in live]
    pushed, pulled = simplify(forward(function, wrt)), simplify(adjoint(function, wrt))
    verify(pushed)
    verify(pulled)
    outcome = run(pushed, [*fresh(arguments), *fresh(directions)]).results
    tangents = outcome[len(results) :]
    gradients = run(pulled, [*fresh(arguments), *fresh(seeds)]).results[len(results) :]
    left = float(flat(seeds) @ flat(tangents))
    right = float(flat(gradients) @ flat(directions))
    scale = max(1.0, abs(left), float(np.abs(flat(gradients)).max(initial=0.0)))
    assert abs(left - right) <= tolerance * scale, f"dot-product identity: {left} and {right}"
    if differences:
        estimate = central(function, arguments, wrt, directions, live)
        assert np.allclose(flat(tangents), estimate, rtol=1e-5, atol=1e-6), f"{flat(tangents)} against {estimate}"


def central(
    function: Function, arguments: Arguments, wrt: list[int], directions: Sequence[Any], live: list[int]
) -> np.ndarray:
    """The directional derivative by central differences."""

    def at(step: float) -> np.ndarray:
        moved = fresh(arguments)
        for k, direction in zip(wrt, directions, strict=True):
            moved[k] = moved[k] + step * direction
        outcome = run(function, moved).results
        return flat([outcome[k] for k in live])

    step = 1e-6
    return (at(step) - at(-step)) / (2 * step)
