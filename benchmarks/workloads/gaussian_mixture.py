"""The logarithm of the posterior density of a Gaussian mixture with a Wishart prior.

`icf[k]` holds the inverse Cholesky factor of a component: the logarithms of its diagonal, then its columns below.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from benchmarks.workload import Array, Dialect, Inputs, Workload


def likelihood(alphas: Array, means: Array, icf: Array, x: Array) -> float:
    """The logarithm of the density of the points."""
    k_max, d = means.shape
    n_max = x.shape[0]
    total = 0.0
    term = np.zeros(k_max)
    centred = np.zeros(d)
    y = np.zeros(d)
    for n in range(n_max):
        for k in range(k_max):
            log_det = 0.0
            for i in range(d):
                centred[i] = x[n, i] - means[k, i]
                y[i] = np.exp(icf[k, i]) * centred[i]
                log_det += icf[k, i]
            entry = d
            for i in range(d):
                for j in range(i + 1, d):
                    y[j] += icf[k, entry] * centred[i]
                    entry += 1
            square = 0.0
            for i in range(d):
                square += y[i] * y[i]
            term[k] = alphas[k] + log_det - 0.5 * square
        largest = np.max(term)
        total += np.log(np.sum(np.exp(term - largest))) + largest
    largest = np.max(alphas)
    log_weights = np.log(np.sum(np.exp(alphas - largest))) + largest
    return total - n_max * log_weights - 0.5 * n_max * d * math.log(2.0 * math.pi)


def log_prior(icf: Array, d: int, gamma: float, wm: int) -> float:
    """The logarithm of the Wishart density of the factors."""
    prior = 0.0
    for k in range(icf.shape[0]):
        square = 0.0
        log_det = 0.0
        for i in range(d):
            square += np.exp(icf[k, i]) ** 2
            log_det += icf[k, i]
        for i in range(d, icf.shape[1]):
            square += icf[k, i] ** 2
        prior += wm * log_det - 0.5 * gamma * gamma * square
    return prior + icf.shape[0] * wishart(d, gamma, wm)


def wishart(d: int, gamma: float, wm: int) -> float:
    """What of that density depends on sizes only."""
    freedom = d + wm + 1
    log_gamma = 0.25 * d * (d - 1) * math.log(math.pi)
    for j in range(d):
        log_gamma += math.lgamma(0.5 * (freedom - j))
    return freedom * d * (math.log(gamma) - 0.5 * math.log(2.0)) - log_gamma


def posterior(alphas: Array, means: Array, icf: Array, x: Array, gamma: float, wm: int) -> float:
    """The log posterior of weights, means and factors."""
    return likelihood(alphas, means, icf, x) + log_prior(icf, means.shape[1], gamma, wm)


def gmm(alphas: Array, means: Array, icf: Array, x: Array, gamma: float, wm: int) -> float:
    """The same as ADBench has it, which subtracts the prior."""
    return likelihood(alphas, means, icf, x) - log_prior(icf, means.shape[1], gamma, wm)


def arrays(dialect: Dialect, alphas: Array, means: Array, icf: Array, x: Array, gamma: float, wm: int) -> Any:
    """`gmm` by products of whole arrays: every factor as a matrix."""
    xp, d = dialect.np, means.shape[1]
    entry = np.zeros((d, d), dtype=int)
    entry.T[np.triu_indices(d, 1)] = np.arange(d, icf.shape[1])
    scale = xp.exp(icf[:, :d])
    below = np.tril(np.ones((d, d)), -1)
    factors = icf[:, entry] * dialect.constant(below) + scale[:, :, None] * dialect.constant(np.eye(d))
    y = xp.einsum("kij,nkj->nki", factors, x[:, None, :] - means[None])
    log_det = xp.sum(icf[:, :d], 1)
    density = xp.sum(log_sum_exp(xp, alphas + log_det - 0.5 * xp.sum(y * y, 2)))
    norm = xp.sum(scale**2) + xp.sum(icf[:, d:] ** 2)
    prior = wm * xp.sum(log_det) - 0.5 * gamma**2 * norm + len(alphas) * wishart(d, gamma, wm)
    constant = len(x) * d * 0.5 * math.log(2.0 * math.pi)
    return density - len(x) * log_sum_exp(xp, alphas[None])[0] - constant - prior


def log_sum_exp(xp: Any, x: Array) -> Any:
    """Of each row."""
    largest = xp.amax(x, 1)
    return largest + xp.log(xp.sum(xp.exp(x - largest[:, None]), 1))


def inputs(size: tuple[int, int, int]) -> Inputs:
    """A mixture of `k` components in `d` dimensions, and `n` points."""
    d, k, n = size
    rng = np.random.default_rng(1)
    icf = rng.normal(size=(k, d * (d + 1) // 2)) * (1.0 if d <= 10 else 0.3)
    points = {"alphas": rng.normal(size=k), "means": rng.uniform(size=(k, d)), "icf": icf, "x": rng.normal(size=(n, d))}
    return {**points, "gamma": 1.0, "wm": 0}


WORKLOADS = {
    "gaussian-mixture": Workload(
        gmm,
        inputs,
        {
            "d10k25n1000": (10, 25, 1000),
            "d10k25n10000": (10, 25, 10000),
            "d64k25n1000": (64, 25, 1000),
            "tiny": (2, 3, 5),
        },
        wrt=("alphas", "means", "icf"),
        arrays=arrays,
        hand="gmm",
    )
}
