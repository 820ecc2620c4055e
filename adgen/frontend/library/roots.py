"""Zeros of functions of one number: bracketing methods (Brent, Algorithms for Minimization without Derivatives, 1973;
Ridders, A new algorithm for computing a single root, 1979) and Newton's, the secant and Halley's.

Each gives the root and whether the method converged.  The steps are those that SciPy documents, so the roots agree to
rounding.
"""

from __future__ import annotations

from typing import Any

import numpy as np

SIGNS = "f(a) and f(b) must have different signs"
NAN = "the function value is NaN; solver cannot continue."


def checked(value: Any) -> Any:
    """A value of the function, which must be a number."""
    if np.isnan(value):
        raise ValueError(NAN)
    return value


def _differ(a: Any, b: Any) -> Any:
    return np.signbit(a) != np.signbit(b)


def _ends(f: Any, args: Any, a: Any, b: Any) -> Any:
    """The ends of an interval and the values there, of different signs unless one is zero."""
    low, high = a * 1.0, b * 1.0
    f_low, f_high = checked(f(low, *args)), checked(f(high, *args))
    if f_low != 0.0 and f_high != 0.0 and not _differ(f_low, f_high):
        raise ValueError(SIGNS)
    return low, high, f_low, f_high


def brent(f: Any, args: Any, a: Any, b: Any, xtol: Any, rtol: Any, maxiter: Any, hyperbolic: Any) -> Any:
    """Bisection, replaced by interpolation where that is fast."""
    before, now, f_before, f_now = _ends(f, args, a, b)
    if f_before == 0.0:
        return before, True
    if f_now == 0.0:
        return now, True
    across, f_across = 0.0, 0.0
    last = step = 0.0
    for _ in range(maxiter):
        if f_before != 0.0 and f_now != 0.0 and _differ(f_before, f_now):
            across, f_across = before, f_before
            last = step = now - before
        if abs(f_across) < abs(f_now):
            before, now, across = now, across, now
            f_before, f_now, f_across = f_now, f_across, f_now
        delta = (xtol + rtol * abs(now)) / 2.0
        half = (across - now) / 2.0
        if f_now == 0.0 or abs(half) < delta:
            return now, True
        if abs(last) > delta and abs(f_now) < abs(f_before):
            if before == across:
                attempt = -f_now * (now - before) / (f_now - f_before)
            else:
                slope = (f_before - f_now) / (before - now)
                chord = (f_across - f_now) / (across - now)
                if hyperbolic:
                    attempt = -f_now * (f_across - f_before) / (f_across * slope - f_before * chord)
                else:
                    attempt = -f_now * (f_across * chord - f_before * slope) / (chord * slope * (f_across - f_before))
            if 2.0 * abs(attempt) < min(abs(last), 3.0 * abs(half) - delta):
                last, step = step, attempt
            else:
                last = step = half
        else:
            last = step = half
        before, f_before = now, f_now
        if abs(step) > delta:
            now += step
        else:
            now += delta if half > 0.0 else -delta
        f_now = checked(f(now, *args))
    return now, False


def bisection(f: Any, args: Any, a: Any, b: Any, xtol: Any, rtol: Any, maxiter: Any) -> Any:
    """Halving the interval."""
    low, high, f_low, f_high = _ends(f, args, a, b)
    if f_low == 0.0:
        return low, True
    if f_high == 0.0:
        return high, True
    width = high - low
    for _ in range(maxiter):
        width *= 0.5
        middle = low + width
        f_middle = checked(f(middle, *args))
        if not _differ(f_middle, f_low):
            low = middle
        if f_middle == 0.0 or abs(width) < xtol + rtol * abs(middle):
            return middle, True
    return low, False


def ridders(f: Any, args: Any, a: Any, b: Any, xtol: Any, rtol: Any, maxiter: Any) -> Any:
    """False position after an exponential has been taken out."""
    low, high, f_low, f_high = _ends(f, args, a, b)
    tolerance = xtol + rtol * min(abs(low), abs(high))
    if f_low == 0.0:
        return low, True
    if f_high == 0.0:
        return high, True
    x = 0.0
    for _ in range(maxiter):
        half = 0.5 * (high - low)
        middle = low + half
        f_middle = checked(f(middle, *args))
        shift = np.copysign(1.0, f_high - f_low) * half * f_middle / np.sqrt(f_middle * f_middle - f_low * f_high)
        x = middle - np.copysign(min(abs(shift), abs(half) - 0.5 * tolerance), shift)
        f_x = checked(f(x, *args))
        if _differ(f_x, f_middle):
            low, f_low = x, f_x
            high, f_high = middle, f_middle
        elif _differ(f_x, f_low):
            high, f_high = x, f_x
        else:
            low, f_low = x, f_x
        tolerance = xtol + rtol * x
        if f_x == 0.0 or abs(high - low) < tolerance:
            return x, True
    return x, False


def _close(p: Any, q: Any, tol: Any, rtol: Any) -> Any:
    return p == q or abs(p - q) <= tol + rtol * abs(q)


def newton(f: Any, slope: Any, bend: Any, args: Any, x0: Any, tol: Any, rtol: Any, maxiter: Any, disp: Any) -> Any:
    """Newton's method; with a second derivative Halley's."""
    now = x0 * 1.0
    for _ in range(maxiter):
        value = f(now, *args)
        if value == 0.0:
            return now, True
        steep = slope(now, *args)
        if steep == 0.0:
            if disp:
                raise RuntimeError("Derivative was zero. Failed to converge.")
            return now, False
        step = value / steep
        if bend is not None:
            correction = step * bend(now, *args) / steep / 2.0
            if abs(correction) < 1.0:
                step /= 1.0 - correction
        after = now - step
        if _close(after, now, tol, rtol):
            return after, True
        now = after
    return now, False


def secant(f: Any, args: Any, x0: Any, x1: Any, tol: Any, rtol: Any, maxiter: Any, disp: Any) -> Any:
    """Newton's method with the slope through the last two points."""
    p0 = x0 * 1.0
    if x1 is None:
        p1 = p0 * (1.0 + 1e-4)
        p1 += 1e-4 if p1 >= 0.0 else -1e-4
    else:
        if x1 == x0:
            raise ValueError("x1 and x0 must be different")
        p1 = x1 * 1.0
    q0 = f(p0, *args)
    q1 = f(p1, *args)
    if abs(q1) < abs(q0):
        p0, p1, q0, q1 = p1, p0, q1, q0
    for _ in range(maxiter):
        if q1 == q0:
            if p1 != p0 and disp:
                raise RuntimeError("Tolerance reached. Failed to converge.")
            return (p1 + p0) / 2.0, False
        if abs(q1) > abs(q0):
            p = (-q0 / q1 * p1 + p0) / (1.0 - q0 / q1)
        else:
            p = (-q1 / q0 * p0 + p1) / (1.0 - q1 / q0)
        if _close(p, p1, tol, rtol):
            return p, True
        p0, q0 = p1, q1
        p1 = p
        q1 = f(p1, *args)
    return p1, False
