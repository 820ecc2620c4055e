"""Inputs to check a derivative on, when nobody gave any.

Comes in: a Python function and the types of its arguments.  Goes out: arguments on which the function runs and gives
finite numbers.  Guaranteed: the search is deterministic and bounded, in tries and in executed lines; when it finds
nothing it says so with None.
"""

from __future__ import annotations

import copy
import inspect
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from types import FrameType
from typing import Any

import numpy as np

from adgen.frontend.complexes.types import Complex
from adgen.frontend.specs import ArraySpec, ScalarSpec, Spec, StaticSpec, StructSpec, rebuild
from adgen.ir.types import BOOL, F32, Scalar
from adgen.runtime.convert import DTYPES
from adgen.runtime.shapes import Axis, Extents

TRIES = 120
LINES = 200_000
PATIENCE = 3  # so many runs may take too many lines before the search gives up
RANGES = ((0.1, 1.5), (0.1, 0.9), (-1.0, 1.0), (1.1, 3.0), (20.0, 120.0))
INTEGERS = ((1, 4), (0, 2), (2, 6))
STARTS = (5, 12)
SQUARES = (3, 4)


class TooLong(Exception):
    """The function has run more lines than a sample is worth."""


def sample(function: Callable[..., Any], specs: Mapping[str, Spec], seed: int = 0) -> dict[str, Any] | None:
    """Arguments of these types on which the function gives finite numbers, or None."""
    endless = 0
    for strategy in strategies():
        try:
            found = _search(function, specs, seed, strategy)
        except TooLong:
            endless += 1
            if endless == PATIENCE:
                return None
            continue
        if found is not None:
            return found
    return None


@dataclass(frozen=True)
class Strategy:
    """Where to draw numbers from, and the extents to begin with: all different, or all `square`."""

    floats: tuple[float, float]
    integers: tuple[int, int]
    start: int = STARTS[0]
    square: int | None = None


def strategies() -> Iterator[Strategy]:
    """The likeliest first."""
    for integers in INTEGERS:
        for floats in RANGES:
            for start in STARTS:
                yield Strategy(floats, integers, start)
            for square in SQUARES:
                yield Strategy(floats, integers, square=square)


def _search(
    function: Callable[..., Any], specs: Mapping[str, Spec], seed: int, strategy: Strategy
) -> dict[str, Any] | None:
    known = {axis: extent for name, spec in specs.items() for axis, extent in axes(name, spec)}
    extents = Extents.of(known, strategy.start)
    if strategy.square is not None:
        extents.square(strategy.square)
    for _ in range(TRIES):
        rng = np.random.default_rng(seed)
        arguments = {name: draw(name, spec, extents, rng, strategy) for name, spec in specs.items()}
        complaint = trial(function, arguments)
        if complaint is None:
            return arguments
        if not extents.repaired(complaint):
            return None
    return None


def axes(name: str, spec: Spec) -> Iterator[tuple[Axis, str | int]]:
    """Every axis of the arrays in an argument, with what its spec says of the extent."""
    if isinstance(spec, ArraySpec):
        for axis in range(spec.rank):
            yield (name, axis), spec.extents[axis] if spec.extents else ""
    elif isinstance(spec, StructSpec):
        for key, item in spec.items:
            yield from axes(f"{name}.{key}", item)


def draw(
    name: str,
    spec: Spec,
    extents: Extents,
    rng: np.random.Generator,
    strategy: Strategy,
) -> Any:
    """A value for one argument."""
    if isinstance(spec, StaticSpec):
        return spec.value
    if isinstance(spec, StructSpec):
        items = [(key, draw(f"{name}.{key}", item, extents, rng, strategy)) for key, item in spec.items]
        return rebuild(spec.kind, items)
    assert isinstance(spec, ScalarSpec | ArraySpec)
    shape = extents.shape(name, spec.rank) if isinstance(spec, ArraySpec) else ()
    numbers = _numbers(spec.element, shape, rng, strategy)
    if isinstance(spec, ArraySpec):
        return numbers
    return numbers[()] if spec.element == F32 or spec.element.is_narrow else numbers.item()


def _numbers(
    element: Scalar,
    shape: tuple[int, ...],
    rng: np.random.Generator,
    strategy: Strategy,
) -> np.ndarray[Any, Any]:
    if element.is_integer:
        return np.asarray(rng.integers(*strategy.integers, shape)).astype(DTYPES[element])
    if element == BOOL:
        return np.asarray(rng.integers(0, 2, shape)).astype(bool)
    numbers = rng.uniform(*strategy.floats, shape)
    if isinstance(element, Complex):
        numbers = numbers + 1j * rng.uniform(*strategy.floats, shape)
    return np.asarray(numbers).astype(DTYPES[element])


def trial(function: Callable[..., Any], arguments: Mapping[str, Any]) -> str | None:
    """None when the function runs and gives finite numbers, else what was wrong.

    Raises TooLong when it runs too many lines.
    """
    try:
        patience = nullcontext() if hasattr(function, "__adgen__") else limited()  # else compiling would be counted
        with np.errstate(divide="raise", invalid="raise", over="raise"), warnings.catch_warnings(), patience:
            warnings.simplefilter("ignore")
            own = copy.deepcopy(dict(arguments))
            result = apply(function, own)
    except TooLong:
        raise
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None if finite(result) and finite(list(own.values())) else "not finite"


def apply(function: Callable[..., Any], arguments: Mapping[str, Any]) -> Any:
    """Call a function with arguments by parameter name, whatever kinds of parameters it has."""
    bound = inspect.BoundArguments(inspect.signature(function), dict(arguments))
    return function(*bound.args, **bound.kwargs)


def finite(value: Any) -> bool:
    """True when all numbers in a value are finite."""
    if isinstance(value, dict):
        return all(finite(item) for item in value.values())
    if isinstance(value, tuple | list):
        return all(finite(item) for item in value)
    if isinstance(value, float | complex | np.inexact | np.ndarray):
        array = np.asarray(value)
        return array.dtype.kind not in "fc" or bool(np.isfinite(array).all())
    return True


class limited:
    """Within it, Python code that runs too many lines is stopped.  Does nothing when somebody else is tracing."""

    def __init__(self, lines: int = LINES) -> None:
        self.left = lines
        self.active = False

    def __enter__(self) -> None:
        self.active = sys.gettrace() is None
        if self.active:
            sys.settrace(self.trace)

    def __exit__(self, *_: object) -> None:
        if self.active:
            sys.settrace(None)

    def trace(self, frame: FrameType, event: str, argument: Any) -> Any:
        """Called for every line; a trace function as `sys.settrace` wants it."""
        self.left -= 1
        if self.left < 0:
            raise TooLong(f"more than {LINES} lines")
        return self.trace
