"""Recursion whose depth is known at run time only.  Defaults are sample arguments."""

import math

import numpy as np


def power(x=1.1, n=5):
    return 1.0 if n == 0 else x * power(x, n - 1)


def shrink(x=1.7):
    if x < 0.1:
        return x
    return x * shrink(x * 0.5)


def two_calls(x=0.6, n=7):
    if n < 2:
        return x if n else 1.0
    return math.sin(two_calls(x, n - 1)) + two_calls(x, n - 2) * x


def _even(x, n):
    return x if n == 0 else _odd(x * 1.1, n - 1)


def _odd(x, n):
    return 2 * x if n == 0 else _even(math.sin(x), n - 1)


def mutual(x=0.7, n=5):
    return _even(x, n) + _odd(x, n)


def reads_outer_numbers(x=0.8, n=3):
    scale = 0.9

    def go(t, k):
        if k == 0:
            return t * x
        return go(t / 2 + x, k - 1) * scale

    first = go(x * x, n)
    scale = x
    return first + go(x, n + 1)


def two_results(x=0.8, n=3):
    def step(a, b, k):
        if k == 0:
            return a, b
        p, q = step(b * x, a + b, k - 1)
        return q, math.sin(p) * a

    a, b = step(x, 1.0, n)
    return a * b


def _halvings(n):
    return 0 if n <= 0 else 1 + _halvings(n // 2)


def integer_result(x=1.2, n=17):
    return x * _halvings(n)


def _is_even(n):
    return True if n == 0 else not _is_even(n - 1)


def truth_result(x=1.2, n=5):
    return x if _is_even(n) else 3.0 * x


def _bisect(f, low, high):
    middle = (low + high) / 2
    if high - low < 1e-3:
        return middle
    if f(middle) > 0:
        return _bisect(f, low, middle)
    return _bisect(f, middle, high)


def bisection(x=2.0):
    return _bisect(lambda t: t * t - x, 0.0, x + 1.0)


def _simpson(f, a, b, fa, fm, fb, depth):
    m = (a + b) / 2
    fl, fr = f((a + m) / 2), f((m + b) / 2)
    whole = (b - a) / 6 * (fa + 4 * fm + fb)
    halves = (b - a) / 12 * (fa + 4 * fl + 2 * fm + 4 * fr + fb)
    if abs(whole - halves) < 1e-5 or depth > 20:
        return halves
    return _simpson(f, a, m, fa, fl, fm, depth + 1) + _simpson(f, m, b, fm, fr, fb, depth + 1)


def adaptive_quadrature(x=1.5, w=0.7):
    def bell(t):
        return math.exp(-w * t * t)

    return _simpson(bell, 0.0, x, bell(0.0), bell(x / 2), bell(x), 0)


def calls_in_a_loop(x=0.6, n=3):
    if n == 0:
        return x
    total = 0.0
    for i in range(n):
        total += math.cos(calls_in_a_loop(x * 0.5, n - 1)) * i
    return total + x


def called_in_a_loop(x=0.9, n=4):
    total = 0.0
    for i in range(n):
        total += power(x, i) * total + power(x, 2)
    return total


def on_each_element(v=np.array([0.5, 1.2, 0.05])):
    total = 0.0
    for i in range(len(v)):
        total += shrink(v[i]) * v[i]
    return total


def two_integers(x=0.6, m=2, n=3):
    if m == 0:
        return x + n
    if n == 0:
        return two_integers(x * 0.9, m - 1, 1)
    return two_integers(math.sin(x), m - 1, n - 1) + two_integers(x, m, n - 1)


def with_memory(x=0.5, n=3):
    if n == 0:
        return x
    a = np.zeros(5)
    for i in range(5):
        a[i] = math.sin(x * i) * with_memory(x * 0.7, n - 1)
    return np.sum(a * a)


def with_memory_of_run_time_size(x=0.5, n=3):
    if n == 0:
        return x
    a = np.zeros(n)
    for i in range(n):
        a[i] = math.sin(x * i)
    for i in range(1, n):
        a[i] = a[i - 1] * a[i] + x
    return np.sum(a * a) * with_memory_of_run_time_size(x * 0.7, n - 1)


def _levels(x, k):
    if x < 0.1:
        return x * k
    return _levels(x * 0.5, k + 1) + _levels(x * 0.3, k + 2)


def counts_from_a_constant(x=1.3):
    return _levels(x, 0)
