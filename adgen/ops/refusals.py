"""What Python refuses: arguments of a function of `math` that raise where the row gives an IEEE result.

Comes in: nothing.  Goes out: facts for rows.  Only a `try` around a call makes them matter.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from adgen.ir.nodes import Row
from adgen.ops.comparison import EQ, GE, GT, LE, LT


@dataclass(frozen=True)
class Refusal:
    """An argument, or its magnitude, that compares so with a limit raises the exception."""

    comparison: Row
    limit: float
    magnitude: bool
    exception: type[Exception]


Refusals = tuple[Refusal, ...]
NOT_INFINITE: Refusals = (Refusal(EQ, math.inf, True, ValueError),)
NOT_NEGATIVE: Refusals = (Refusal(LT, 0.0, False, ValueError),)
WITHIN_ONE: Refusals = (Refusal(GT, 1.0, True, ValueError),)
INSIDE_ONE: Refusals = (Refusal(GE, 1.0, True, ValueError),)
AT_LEAST_ONE: Refusals = (Refusal(LT, 1.0, False, ValueError),)


def above(limit: float) -> Refusals:
    """Arguments must be greater than a limit."""
    return (Refusal(LE, limit, False, ValueError),)


def overflow(name: str, magnitude: bool = False) -> Refusals:
    """Finite arguments for which the function of `math` is too large."""
    function: Callable[[float], float] = getattr(math, name)
    low, high = 1.0, 1000.0
    while (middle := (low + high) / 2) not in (low, high):
        try:
            function(middle)
            low = middle
        except OverflowError:
            high = middle
    return (Refusal(GT, low, magnitude, OverflowError),)
