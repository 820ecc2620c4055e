"""Prices of call options, and the five sensitivities of each."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

import adgen
from benchmarks.workload import Array, Calls, Dialect, Inputs, Workload

HALF_ROOT = math.sqrt(0.5)
BOUNDS = {"S": (50.0, 150.0), "K": (50.0, 150.0), "T": (0.1, 2.0), "r": (0.0, 0.1), "v": (0.1, 0.6)}


def normal(x: float) -> float:
    """The distribution function of the normal distribution."""
    return 0.5 * (1.0 + math.erf(x * HALF_ROOT))


def price(S: float, K: float, T: float, r: float, v: float) -> float:
    """The price for a spot, strike, time, rate and volatility."""
    root = np.sqrt(T)
    d1 = (np.log(S / K) + (r + 0.5 * v * v) * T) / (v * root)
    return S * normal(d1) - K * np.exp(-r * T) * normal(d1 - v * root)


def prices(S: Array, K: Array, T: Array, r: Array, v: Array) -> Array:
    """The prices of many options."""
    out = np.zeros(S.shape[0])
    for i in range(S.shape[0]):
        out[i] = price(S[i], K[i], T[i], r[i], v[i])
    return out


def total(S: Array, K: Array, T: Array, r: Array, v: Array) -> float:
    """Their sum, whose gradient holds the sensitivities of each."""
    return np.sum(prices(S, K, T, r, v))


def arrays(dialect: Dialect, S: Array, K: Array, T: Array, r: Array, v: Array) -> Any:
    """Prices by array operations."""
    xp = dialect.np

    def normal(x: Array) -> Any:
        return 0.5 * (1.0 + dialect.erf(x * HALF_ROOT))

    root = xp.sqrt(T)
    d1 = (xp.log(S / K) + (r + 0.5 * v * v) * T) / (v * root)
    return S * normal(d1) - K * xp.exp(-r * T) * normal(d1 - v * root)


def inputs(n: int) -> Inputs:
    """Options of all kinds."""
    rng = np.random.default_rng(3)
    return {name: rng.uniform(*bounds, size=n) for name, bounds in BOUNDS.items()}


def compiled(inputs: Inputs) -> Calls:
    """Prices and their sensitivities on adgen."""
    arguments = tuple(inputs.values())
    return Calls(partial(adgen.jit(prices), *arguments), partial(adgen.grad(total), *arguments))


WORKLOADS = {
    "black-scholes": Workload(
        prices,
        inputs,
        {"n1e4": 10_000, "n1e6": 1_000_000, "tiny": 5},
        wrt=tuple(BOUNDS),
        product="each",
        arrays=arrays,
        symbolic=True,
        own={"adgen": compiled},
        hand="black_scholes",
    ),
    "call-of-five": Workload(
        price,
        lambda _: dict(zip(BOUNDS, (100.0, 105.0, 0.7, 0.03, 0.25))),
        {"bs5": None},
        wrt=tuple(BOUNDS),
        arrays=arrays,
        symbolic=True,
        hand="small",
        hand_peer="c_fastcall",
        adapt=lambda theirs: dict(zip(BOUNDS, theirs["x"].tolist())),
    ),
}
