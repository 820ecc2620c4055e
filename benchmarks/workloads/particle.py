"""A charged particle flies past two fixed charges; a parameter is sought for which it hits the origin.

The force is a gradient, so the cost has a derivative inside, and descent on the cost takes derivatives of that.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

import adgen
from benchmarks.workload import Array, Calls, Inputs, Workload
from benchmarks.workloads.descent import argmin, norm

STEP = 0.1


def potential(x: Array, w: Array) -> float:
    """Of the charges at (10, 0) and (10, 10 - w)."""
    return 1.0 / norm(x - np.array([10.0, 0.0])) + 1.0 / norm(x - np.array([10.0, 10.0 - w[0]]))


def missed(w: Array, slope: Callable[..., Array]) -> float:
    """The square of where the particle meets the axis, by Euler's method and a line through the last step."""
    x = np.array([0.0, 8.0])
    v = np.array([0.75, 0.0])
    new = x + STEP * v
    while new[1] > 0.0:
        v = v - STEP * slope(x, w)
        x = new
        new = x + STEP * v
    return (x[0] - x[1] / v[1] * v[0]) ** 2


def missed_forward(w: Array) -> float:
    """With the force by forward mode."""
    return missed(w, adgen.jacfwd(potential, wrt="x"))


def missed_reverse(w: Array) -> float:
    """With the force by reverse mode."""
    return missed(w, adgen.grad(potential, wrt="x"))


def rr(w: float) -> float:
    """The parameter that descent finds from `w`: reverse over reverse mode."""
    return argmin(missed_reverse, adgen.grad(missed_reverse), np.array([w]))[0]


def rf(w: float) -> float:
    """The same by reverse over forward mode."""
    return argmin(missed_forward, adgen.grad(missed_forward), np.array([w]))[0]


def fr(w: float) -> float:
    """The same by forward over reverse mode."""
    return argmin(missed_reverse, adgen.jacfwd(missed_reverse), np.array([w]))[0]


def ff(w: float) -> float:
    """The same by forward over forward mode."""
    return argmin(missed_forward, adgen.jacfwd(missed_forward), np.array([w]))[0]


def compiled(inputs: Inputs) -> Calls:
    """One flight and the search, both derivatives by reverse mode."""
    return Calls(partial(adgen.jit(missed_reverse), np.array([inputs["w"]])), partial(adgen.jit(rr), inputs["w"]))


WORKLOADS = {"particle": Workload(missed_reverse, lambda w: {"w": w}, {"w0": 0.0}, wrt=("w",), own={"adgen": compiled})}
