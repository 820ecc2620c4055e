"""One derivative mode of a function from the rule for the other: both are linear, and each is the other's transpose.

A rule that is C has no text to transpose.  It is called with one unit vector after the other: once for each element of
the results where cotangents are wanted for tangents, once for each element of the arguments the other way round.
`moves` tells which arguments are floating-point numbers or arrays of them, `carries` which parts of the result.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def jvp_of(vjp: Any, moves: Any, carries: Any, bare: bool) -> Any:
    """The jvp rule, from a vjp rule."""

    def jvp(*given: Any) -> Any:
        out, tangent = given[-2], given[-1]
        outs = (out,) if bare else out
        tangents = (tangent,) if len(moves) == 1 else tangent
        dots = tuple(along(vjp, given[:-2], outs, k, tangents, moves, carries, bare) for k in range(len(outs)))
        return dots[0] if bare else dots

    return jvp


def along(vjp: Any, given: Any, outs: Any, place: int, tangents: Any, moves: Any, carries: Any, bare: bool) -> Any:
    """The tangent of one part of the result."""
    if not carries[place]:
        return None
    seeds = [np.zeros_like(part) if carries[k] else None for k, part in enumerate(outs)]
    if np.ndim(outs[place]) == 0:
        seeds[place] = 1.0
        bars = vjp(*given, outs[0] if bare else outs, seeds[0] if bare else tuple(seeds))
        return products(bars, tangents, moves)
    dot = np.zeros_like(outs[place])
    seed = np.zeros_like(outs[place])
    seeds[place] = seed
    unit, items = seed.reshape(-1), dot.reshape(-1)
    for k in range(seed.size):
        unit[k] = 1.0
        bars = vjp(*given, outs[0] if bare else outs, seeds[0] if bare else tuple(seeds))
        unit[k] = 0.0
        items[k] = products(bars, tangents, moves)
    return dot


def vjp_of(jvp: Any, moves: Any, carries: Any, bare: bool) -> Any:
    """The vjp rule, from a jvp rule."""

    def vjp(*given: Any) -> Any:
        out, cotangent = given[-2], given[-1]
        cotangents = (cotangent,) if bare else cotangent
        return tuple(across(jvp, given[:-2], out, k, cotangents, moves, carries, bare) for k in range(len(moves)))

    return vjp


def across(jvp: Any, given: Any, out: Any, place: int, cotangents: Any, moves: Any, carries: Any, bare: bool) -> Any:
    """The cotangent of one argument."""
    if not moves[place]:
        return None
    seeds = [np.zeros_like(part) if moves[k] else None for k, part in enumerate(given)]
    if np.ndim(given[place]) == 0:
        seeds[place] = 1.0
        dots = jvp(*given, out, seeds[0] if len(moves) == 1 else tuple(seeds))
        return products((dots,) if bare else dots, cotangents, carries)
    bar = np.zeros_like(given[place])
    seed = np.zeros_like(given[place])
    seeds[place] = seed
    unit, items = seed.reshape(-1), bar.reshape(-1)
    for k in range(seed.size):
        unit[k] = 1.0
        dots = jvp(*given, out, seeds[0] if len(moves) == 1 else tuple(seeds))
        unit[k] = 0.0
        items[k] = products((dots,) if bare else dots, cotangents, carries)
    return bar


def products(first: Any, second: Any, counted: Any) -> Any:
    """The sum of the products of corresponding parts."""
    total = 0.0
    for k, counts in enumerate(counted):
        if counts:
            total = total + np.sum(first[k] * second[k])
    return total
