"""Integrals: of functions that are lowered with the program, and of samples.

An integral of a function is an adaptive Gauss-Kronrod sum (Piessens et al., QUADPACK, 1983).  Which intervals there are
is found out first, without derivatives: they are the same for values near by.  What is differentiated is the sum over
them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

NODES = (
    0.9956571630258081, 0.9739065285171717, 0.9301574913557082, 0.8650633666889845, 0.7808177265864169,
    0.6794095682990244, 0.5627571346686047, 0.4333953941292472, 0.2943928627014602, 0.14887433898163122, 0.0,
)  # fmt: skip
KRONROD = (
    0.011694638867371874, 0.032558162307964725, 0.054755896574351995, 0.07503967481091995, 0.0931254545836976,
    0.10938715880229764, 0.12349197626206584, 0.13470921731147334, 0.14277593857706009, 0.1477391049013385,
    0.1494455540029169,
)  # fmt: skip
GAUSS = (0.06667134430868814, 0.1494513491505806, 0.21908636251598204, 0.26926671930999635, 0.29552422471475287)
PLACES = np.array([0.5 - 0.5 * x for x in NODES] + [0.5 + 0.5 * x for x in NODES[-2::-1]])  # in the unit interval
WEIGHTS = 0.5 * np.array([*KRONROD, *KRONROD[-2::-1]])
COARSE = np.zeros(21)
COARSE[1::2] = 0.5 * np.array([*GAUSS, *GAUSS[::-1]])

MOST = 400  # intervals
FINE, ENOUGH = 1e-13, 1e-11
SPLIT = 0.48792314159  # of an interval, so that no jump at a round number falls between two
TINY = 1e-9  # an interval inside that is shorter holds a jump, whose place would have a derivative that no sum shows


def _scaled(f: Any, args: Any, a: Any, b: Any, u: Any) -> Any:
    """The integrand on the unit interval.  An end that is infinite is None."""
    if a is not None and b is not None:
        return (b - a) * f(a + (b - a) * u, *args)
    far = (1.0 - u) / u
    if a is not None:
        return f(a + far, *args) / (u * u)
    if b is not None:
        return f(b - far, *args) / (u * u)
    return (f(far, *args) + f(-far, *args)) / (u * u)


def _measured(f: Any, args: Any, a: Any, b: Any, left: Any, size: Any) -> Any:
    """The sum over an interval and an estimate of its error."""
    found = np.zeros(21)
    fine = 0.0
    coarse = 0.0
    for k in range(21):
        found[k] = _scaled(f, args, a, b, left + size * PLACES[k])
        fine += WEIGHTS[k] * found[k]
        coarse += COARSE[k] * found[k]
    spread = 0.0
    for k in range(21):
        spread += WEIGHTS[k] * abs(found[k] - fine)
    error = abs(fine - coarse)
    if spread > 0.0 and error > 0.0:
        error = spread * min(1.0, (200.0 * error / spread) ** 1.5)
    return size * fine, size * error


def adaptive(f: Any, args: Any, a: Any, b: Any) -> Any:
    """`scipy.integrate.quad`; RuntimeError where it cannot be had to eleven digits, or where the integrand jumps."""
    lefts, sizes = np.zeros(MOST), np.zeros(MOST)
    sums, errors = np.zeros(MOST), np.zeros(MOST)
    sizes[0] = 1.0
    sums[0], errors[0] = _measured(f, args, a, b, 0.0, 1.0)
    count = 1
    whole = sums[0]
    error = errors[0]
    while error > FINE * (1.0 + abs(whole)) and count < MOST:
        worst = 0
        for k in range(1, count):
            if errors[k] > errors[worst]:
                worst = k
        left, size = lefts[worst], sizes[worst]
        if size < TINY * min(left, 1.0 - left - size):
            raise RuntimeError("the integrand jumps inside the interval: divide the integral where it does")
        lefts[count] = left + SPLIT * size
        sizes[worst] = SPLIT * size
        sizes[count] = size - sizes[worst]
        for side in range(2):
            k = worst if side == 0 else count
            sums[k], errors[k] = _measured(f, args, a, b, lefts[k], sizes[k])
        count += 1
        whole = 0.0
        error = 0.0
        for k in range(count):
            whole += sums[k]
            error += errors[k]
    if error > ENOUGH * (1.0 + abs(whole)):
        raise RuntimeError("the integral does not converge to eleven digits: divide the interval where f is singular")
    total = 0.0
    for k in range(count):
        part = 0.0
        for j in range(21):
            part += WEIGHTS[j] * _scaled(f, args, a, b, lefts[k] + sizes[k] * PLACES[j])
        total += sizes[k] * part
    return total


def weighted(f: Any, args: Any, a: Any, b: Any, nodes: Any, weights: Any) -> Any:
    """`scipy.integrate.fixed_quad`, whose function takes an array of points."""
    points = (b - a) * (nodes + 1.0) / 2.0 + a
    return (b - a) / 2.0 * np.sum(weights * f(points, *args), axis=-1)


def cumulative_trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: Any = -1, initial: Any = None) -> Any:
    """`scipy.integrate.cumulative_trapezoid`."""
    y = np.moveaxis(np.asarray(y), axis, -1)
    if x is None:
        steps = dx
    else:
        x = np.asarray(x)
        steps = np.diff(x if x.ndim == 1 else np.moveaxis(x, axis, -1))
    found = np.cumsum(steps * (y[..., 1:] + y[..., :-1]) / 2.0, axis=-1)
    if initial is not None:
        if initial != 0:
            raise ValueError("`initial` must be `None` or `0`.")
        whole = np.zeros(y.shape)
        whole[..., 1:] = found
        found = whole
    return np.moveaxis(found, -1, axis)


def simpson(y: Any, x: Any = None, dx: Any = 1.0, axis: Any = -1) -> Any:
    """`scipy.integrate.simpson`: parabolas through three points; an odd interval at the end by Cartwright's formula."""
    y = np.moveaxis(np.asarray(y), axis, -1)
    n = y.shape[-1]
    if x is None:
        steps = np.full(n - 1, 1.0 * dx)
    else:
        x = np.asarray(x)
        steps = np.diff(x if x.ndim == 1 else np.moveaxis(x, axis, -1))
        if steps.shape[-1] != n - 1:
            raise ValueError("If given, length of x along axis must be the same as y.")
    if n == 2:
        return 0.5 * steps[..., 0] * (y[..., 0] + y[..., 1])
    pairs = (n - 1) // 2
    total = np.zeros(y.shape[:-1]) if y.ndim > 1 else 0.0
    for k in range(pairs):
        h0, h1 = steps[..., 2 * k], steps[..., 2 * k + 1]
        width = h0 + h1
        first, middle = 2.0 - _ratio(h1, h0), width * _ratio(width, h0 * h1)
        total = total + width / 6.0 * (
            y[..., 2 * k] * first + y[..., 2 * k + 1] * middle + y[..., 2 * k + 2] * (2.0 - _ratio(h0, h1))
        )
    if n % 2 == 0:
        h0, h1 = steps[..., n - 3], steps[..., n - 2]
        last = _ratio(2.0 * h1 * h1 + 3.0 * h0 * h1, 6.0 * (h0 + h1)) * y[..., n - 1]
        middle = _ratio(h1 * h1 + 3.0 * h0 * h1, 6.0 * h0) * y[..., n - 2]
        total = total + last + middle - _ratio(h1 * h1 * h1, 6.0 * h0 * (h0 + h1)) * y[..., n - 3]
    return total


def _ratio(a: Any, b: Any) -> Any:
    """`a / b`, zero where b is."""
    return np.where(b != 0.0, a / np.where(b != 0.0, b, 1.0), 0.0)


def periodic(x: Any, xp: Any, fp: Any, period: Any) -> Any:
    """`np.interp` with a period."""
    if period == 0:
        raise ValueError("period must be a non-zero value")
    period = abs(period)
    places = np.asarray(xp) % period
    order = np.argsort(places)
    places, values = places[order], np.asarray(fp)[order]
    places = np.concatenate((places[-1:] - period, places, places[:1] + period))
    return np.interp(np.asarray(x) % period, places, np.concatenate((values[-1:], values, values[:1])))
