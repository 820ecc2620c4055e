"""A saddle point by descent on a maximum, which is itself found by ascent."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

import adgen
from benchmarks.workload import Array, Calls, Inputs, Workload
from benchmarks.workloads.descent import argmin


def depth(y: Array, x: Array) -> float:
    """What ascent in `y` makes small: the height, turned over."""
    return np.sum(y * y) - np.sum(x * x)


def highest(x: Array, start: Array, slope: Callable[..., Array]) -> float:
    """The greatest height over `x`, by ascent in `y` from `start`."""
    return -depth(argmin(depth, slope, start, x), x)


def highest_forward(x: Array, start: Array) -> float:
    """By slopes from forward mode."""
    return highest(x, start, adgen.jacfwd(depth, wrt="y"))


def highest_reverse(x: Array, start: Array) -> float:
    """By slopes from reverse mode."""
    return highest(x, start, adgen.grad(depth, wrt="y"))


def point(f: Callable[..., float], outer: Callable[..., Array], last: Callable[..., Array], start: Array) -> Array:
    """The `x` where the maximum is least, and its `y`."""
    x = argmin(f, outer, start, start)
    return np.concatenate([x, argmin(depth, last, start, x)])


def rr(start: Array) -> Array:
    """The saddle point by reverse over reverse mode."""
    return point(highest_reverse, adgen.grad(highest_reverse, wrt="x"), adgen.grad(depth, wrt="y"), start)


def rf(start: Array) -> Array:
    """The same by reverse over forward mode."""
    return point(highest_forward, adgen.grad(highest_forward, wrt="x"), adgen.grad(depth, wrt="y"), start)


def fr(start: Array) -> Array:
    """The same by forward over reverse mode."""
    return point(highest_reverse, adgen.jacfwd(highest_reverse, wrt="x"), adgen.jacfwd(depth, wrt="y"), start)


def ff(start: Array) -> Array:
    """The same by forward over forward mode."""
    return point(highest_forward, adgen.jacfwd(highest_forward, wrt="x"), adgen.jacfwd(depth, wrt="y"), start)


def compiled(inputs: Inputs) -> Calls:
    """One ascent and the search for the point, both derivatives by reverse mode."""
    start = inputs["start"]
    return Calls(partial(adgen.jit(highest_reverse), start, start), partial(adgen.jit(rr), start))


WORKLOADS = {
    "saddle": Workload(
        highest_reverse,
        lambda start: {"start": np.array(start)},
        {"s1": (1.0, 1.0)},
        wrt=("x",),
        own={"adgen": compiled},
    )
}
