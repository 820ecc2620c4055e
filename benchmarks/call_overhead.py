"""What a call of a compiled gradient costs beside the C function itself.

Prints nanoseconds a call, best of several runs, all in one process: an empty function called through cffi (the least
that any call into C costs here), gradients of three and of ten numbers, and gradients of arrays.
"""

from __future__ import annotations

import importlib.util
import tempfile
import timeit
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import adgen

CALLS = 2_000  # in windows that are short beside what else a machine does
RUNS = 400


def product(x, y, z):
    return x * y * z


def sum_of_squares(a, b, c, d, e, f, g, h, i, j):
    return a * a + b * b + c * c + d * d + e * e + f * f + g * g + h * h + i * i + j * j


def squares(a):
    total = 0.0
    for i in range(a.shape[0]):
        total += a[i] * a[i]
    return total


def weighted(a, w):
    total = 0.0
    for i in range(a.shape[0]):
        total += w[i] * a[i] * a[i]
    return total


def empty() -> Callable[[], None]:
    """A C function that does nothing, compiled through cffi as adgen's code is."""
    import cffi

    builder = cffi.FFI()
    builder.cdef("void empty(void);")
    builder.set_source("_empty", "void empty(void) {}")
    path = builder.compile(tmpdir=tempfile.mkdtemp())
    spec = importlib.util.spec_from_file_location("_empty", Path(path))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    function: Callable[[], None] = module.lib.empty
    return function


def nanoseconds(call: Callable[..., Any], *args: Any) -> float:
    """The time of one call, without that of the loop around it."""
    names = {"call": call, **{f"a{k}": value for k, value in enumerate(args)}}
    text = f"call({', '.join(f'a{k}' for k in range(len(args)))})"
    return min(timeit.repeat(text, globals=names, number=CALLS, repeat=RUNS)) / CALLS * 1e9


def main() -> None:
    """Measure and print."""
    least = nanoseconds(empty())
    print(f"{'empty cffi call':<26}{least:8.0f} ns")
    for name, function, arguments in [
        ("grad of three numbers", product, (1.0, 2.0, 3.0)),
        ("grad of ten numbers", sum_of_squares, tuple(map(float, range(10)))),
        ("grad of an array of 10", squares, (np.ones(10),)),
        ("grad of two arrays of 8", weighted, (np.ones(8), np.ones(8))),
    ]:
        gradient = adgen.grad(function)
        gradient(*arguments)
        time = nanoseconds(gradient, *arguments)
        print(f"{name:<26}{time:8.0f} ns{time - least:8.0f} ns above")


if __name__ == "__main__":
    main()
