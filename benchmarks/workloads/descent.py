"""Gradient descent whose step grows after successes and shrinks after failures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.workload import Array

SMALL = 1e-5


def norm(x: Array) -> float:
    """The Euclidean norm."""
    return np.sqrt(np.sum(x * x))


def argmin(f: Callable[..., float], slope: Callable[..., Array], start: Array, *rest: Any) -> Array:
    """Where descent on `f(x, *rest)` from `start` ends: at a small slope or a small step."""
    x = start.copy()
    value = f(x, *rest)
    g = slope(x, *rest)
    step = SMALL
    successes = 0
    while norm(g) > SMALL and norm(step * g) > SMALL:
        candidate = x - step * g
        lower = f(candidate, *rest)
        if lower < value:
            x = candidate
            value = lower
            g = slope(x, *rest)
            successes += 1
        else:
            step *= 0.5
            successes = 0
        if successes == 10:
            step *= 2.0
            successes = 0
    return x
