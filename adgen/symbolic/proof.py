"""Proofs that derivatives of straight-line code are those that sympy finds.

Comes in: a function's formulas and those of a derivative of it.  Goes out: whether they are equal: proved, equal to 30
digits at random points only, or different.  Guaranteed: `proved` was decided by algebra alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from adgen.symbolic.formulas import Formulas

POINTS = 8
DIGITS = 30
TOLERANCE = 1e-13  # constants are folded in floats
LARGE = 250  # operations of an expression that would take too long


def is_straight(found: Formulas) -> bool:
    """True for formulas of numbers alone, without sums and choices."""
    import sympy

    arrays = [symbol for symbol in found.parameters.values() if isinstance(symbol, sympy.IndexedBase)]
    return not arrays and not any(result.has(sympy.Sum, sympy.Product, sympy.Piecewise) for result in found.results)


def partial(expression: Any, symbol: Any) -> Any:
    """The derivative."""
    import sympy

    return sympy.diff(expression, symbol)


def by_unit(expressions: Sequence[Any], seeds: Sequence[Any]) -> list[Any]:
    """The expressions, which are linear in the seeds, for each seed being one and the others zero."""
    import sympy

    units = ({other: sympy.Integer(other == seed) for other in seeds} for seed in seeds)
    return [expression.xreplace(unit) for unit in units for expression in expressions]


@dataclass(frozen=True)
class Equality:
    """The largest relative difference at random points, and whether it was proved to be zero everywhere."""

    difference: float
    proved: bool
    points: int


def compare(found: Sequence[Any], wanted: Sequence[Any], ranges: Mapping[Any, tuple[float, float]]) -> Equality:
    """Whether expressions are equal, as sequences; `ranges` says where to draw each symbol."""
    worst, points = 0.0, 0
    for number in range(POINTS):
        point = _point(ranges, number)
        pairs = [(_value(a, point), _value(b, point)) for a, b in zip(found, wanted, strict=True)]
        known = [(a, b) for a, b in pairs if a is not None and b is not None]
        points += bool(known)
        worst = max([worst, *(float(abs(a - b) / max(1, abs(b))) for a, b in known)])
    proved = worst <= TOLERANCE and all(is_zero(a - b) for a, b in zip(found, wanted, strict=True))
    return Equality(worst, proved, points)


def _point(ranges: Mapping[Any, tuple[float, float]], seed: int) -> dict[Any, Any]:
    import sympy

    random = Random(seed)
    return {
        symbol: sympy.Integer(random.randint(1, 3))
        if symbol.is_integer
        else sympy.Float(low + (high - low) * random.random(), DIGITS)
        for symbol, (low, high) in ranges.items()
    }


def _value(expression: Any, point: Mapping[Any, Any]) -> Any:
    """The value at a point; None where it is not a finite real number."""
    import sympy

    value = sympy.N(expression.subs(point), DIGITS)
    return value if value.is_real and value.is_finite else None


def is_zero(expression: Any) -> bool:
    """True when algebra shows that an expression is zero, taking functions for independent of each other."""
    import sympy

    if expression == 0:
        return True
    if sympy.count_ops(expression) > LARGE or expression.has(sympy.Piecewise):
        return False
    return bool(sympy.expand(expression) == 0 or sympy.numer(sympy.together(expression)).expand() == 0)
