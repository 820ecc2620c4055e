"""Derivatives up to the third order, every way to combine the modes, against exact ones."""

from __future__ import annotations

import inspect
from functools import cache
from types import FunctionType
from typing import Any

import numpy as np
import pytest

from adgen.ir.interpret import run
from adgen.ir.nodes import Function
from adgen.ir.verify import verify
from adgen.passes.adjoint import adjoint
from adgen.passes.forward import forward
from adgen.passes.localise import localise
from adgen.passes.pipeline import optimise, simplify
from adgen.runtime.differentiate import keep
from tests import exact, higher_functions
from tests.frontend import harness
from tests.native import Native

TOLERANCE = 1e-9
SYMBOLIC = {"quotient", "powers", "angles"}
CHAINS = ("r", "f", "rr", "rf", "fr", "ff", "frr", "rrr")  # the innermost mode is the last
FEW = ("r", "f", "rr", "fr", "frr")
# Third derivatives of these take long to be made.
LONG = {"likelihood", "smallest", "quadratic_form", "curvature", "trajectory", "descent", "network"}

FUNCTIONS = {
    name: value
    for name, value in vars(higher_functions).items()
    if isinstance(value, FunctionType) and value.__module__ == higher_functions.__name__
    if [p.default is not p.empty for p in inspect.signature(value).parameters.values()] == [True]
}


def point_of(name: str) -> Any:
    """Where a function is differentiated."""
    return next(iter(harness.samples(FUNCTIONS[name]).values()))


@cache
def exactly(name: str) -> tuple[Any, ...]:
    """Value, gradient, Hessian and third derivatives."""
    return exact.derivatives(name, point_of(name), name in SYMBOLIC)


@cache
def derivative(name: str, chain: str) -> Function:
    """The derivative of a function by a chain of modes.

    Its parameters are the point and, for each mode but a first reverse one, a direction; its result is the derivative
    along these: with all modes forward a number, else a vector, that of the index that is left.
    """
    if not chain:
        lowered = harness.lowered_for(FUNCTIONS[name], harness.samples(FUNCTIONS[name]))
        return simplify(localise(lowered.function))
    inner = derivative(name, chain[1:])
    made = forward(inner, [0]) if chain[0] == "f" else adjoint(inner, [0])
    return simplify(keep(made, [1]))


@cache
def finished(name: str, chain: str) -> Function:
    """The same, as it is emitted."""
    made = optimise(derivative(name, chain))
    verify(made)
    return made


def directions(name: str, chain: str) -> list[np.ndarray]:
    """Directions for all modes but a first reverse one."""
    size = np.size(point_of(name))
    count = len(chain) - ("r" in chain)
    return [np.random.default_rng(k).uniform(0.5, 1.5, size) for k in range(count)]


def arguments(name: str, chain: str) -> list[Any]:
    """The point and the directions, as the derivative takes them; the cotangent of a number is one."""
    point = point_of(name)
    given = directions(name, chain)
    seeds: list[Any] = []
    for k in range(len(chain), 0, -1):
        number = "r" not in chain[k:]  # what is differentiated is a number still
        seeds.append(1.0 if chain[k - 1] == "r" and number else given.pop(0))
    own = [point, *seeds]
    return own if isinstance(point, np.ndarray) else [float(np.ravel(x)[0]) for x in own]


def wanted(name: str, chain: str) -> np.ndarray:
    """The exact derivative along the directions."""
    tensor = exactly(name)[len(chain)]
    for direction in directions(name, chain):
        tensor = np.tensordot(tensor, direction, 1)
    return tensor


def close(got: Any, want: Any) -> bool:
    """Equal to nine digits of the largest number."""
    want = np.asarray(want)
    return np.allclose(np.reshape(got, want.shape), want, rtol=TOLERANCE, atol=TOLERANCE * np.max(np.abs(want)))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_chain_of_modes_gives_the_exact_derivative(name: str) -> None:
    """Reverse and forward over each other, up to three times."""
    assert close(FUNCTIONS[name](point_of(name)), exactly(name)[0])
    for chain in FEW if name in LONG else CHAINS:
        (got,) = run(finished(name, chain), arguments(name, chain)).results
        assert close(got, wanted(name, chain)), (chain, got, wanted(name, chain))


def test_the_c_of_third_derivatives_is_exact() -> None:
    """One library with forward over reverse over reverse of every second function that is short."""
    functions = {name: finished(name, "frr") for name in [name for name in FUNCTIONS if name not in LONG][::2]}
    native = Native(list(functions.values()), "third")
    for name, function in functions.items():
        status, (got,) = native.call(function.name, arguments(name, "frr"))
        assert status == 0
        assert close(got, wanted(name, "frr")), name
