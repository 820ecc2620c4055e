"""Products of the cases on a target, with arrays that are on its device; results as arrays of NumPy.

As a script, `python tests/gpu/calls.py cuda`, it makes some calls for NVIDIA's checkers to watch.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import adgen
from benchmarks.gpu.device import device_of
from benchmarks.workload import Array, flat
from tests.gpu.cases import CASES, PICKED, Case

PRODUCTS = ("value", "derivative", "jvp")
MANY = 1000  # items: several blocks of threads
Place = Callable[[Any], Any]


def itself(value: Any) -> Any:
    """Where an argument of the host is."""
    return value


@cache
def operator(case: Case, product: str, target: str, deterministic: bool = False) -> Callable[..., Any]:
    """A function or a product of it, compiled at its first call; the derivative of many results is a pullback."""
    make = {"value": adgen.jit, "derivative": adgen.vjp if case.matrix else adgen.grad, "jvp": adgen.jvp}[product]
    with adgen.target(target, deterministic=deterministic):
        made: Callable[..., Any] = make(case.function)
    return made


def direction(arguments: tuple[Any, ...]) -> Any:
    """One for what derivatives are taken for: of the only argument, or of each."""
    rng = np.random.default_rng(11)
    found = []
    for value in arguments:
        if isinstance(value, float):
            found.append(0.7)
        elif isinstance(value, np.ndarray) and value.dtype == float:
            found.append(rng.normal(size=value.shape))
    return tuple(found)


def results(
    case: Case, product: str, target: str, count: int, place: Place = itself, deterministic: bool = False
) -> list[Any]:
    """What a call gives for so many items, and what it leaves in its arguments."""
    given = case.arguments(count)
    arguments = [place(value) for value in given]
    call = operator(case, product, target, deterministic)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of a derivative that is zero, and of what copies cost
        if product == "jvp":
            along = tuple(place(value) for value in direction(given))
            found = call(*arguments, tangent=along if len(along) > 1 else along[0])
        else:
            found = call(*arguments)
            if product == "derivative" and case.matrix:
                value, pullback = found
                found = value, pullback(cotangent(value, place))
    return [found, arguments]


def cotangent(value: Any, place: Place) -> Any:
    """Weights for the results of a function; with equal ones, derivatives may be zero but for rounding."""
    return place(np.random.default_rng(12).normal(size=value.shape))


def leaves(value: Any) -> list[Array]:
    """The arrays and numbers of a result."""
    if value is None:
        return []
    if isinstance(value, tuple | list):
        return [leaf for part in value for leaf in leaves(part)]
    return [flat(value)]


WATCHED = (
    *((PICKED, product, True) for product in PRODUCTS),
    *(
        (case, "derivative", False)
        for case in CASES
        if case.name in ("picked", "layer", "spread", "repulsion", "mixture")
    ),
)


def main(target: str, most: int, count: int) -> None:
    """The first of these calls, and their results as in C."""
    device = device_of(target)
    for case, product, deterministic in WATCHED[:most]:
        found = leaves(results(case, product, target, count, device.place, deterministic))
        print(case, product, *(f"{leaf.sum():.6g}" for leaf in found[:2]))


if __name__ == "__main__":
    main(sys.argv[1], *([int(text) for text in sys.argv[2:]] or [len(WATCHED), MANY]))
