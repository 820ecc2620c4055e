"""What a call of a compiled gradient costs beside the C function itself.

Prints nanoseconds a call, best of several runs, all in one process: the C function called from a loop in C, and the
same from Python by a plain call and by a bound one, for gradients of numbers and of arrays.
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
LOOP = """
#include <stdint.h>
#include <time.h>
double nanoseconds(intptr_t function, const void *cells, void *work, int64_t *detail, int64_t calls)
{
    int (*call)(const void *, void *, int64_t *) = (int (*)(const void *, void *, int64_t *))function;
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (int64_t k = 0; k < calls; ++k) call(cells, work, detail);
    clock_gettime(CLOCK_MONOTONIC, &end);
    return ((double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec)) / (double)calls;
}
"""


def product(x, y, z):
    return x * y * z


def mixed(a, b, c, d, e):
    return a * b * np.exp(-c) + d * e * e


def sum_of_squares(a, b, c, d, e, f, g, h, i, j):
    return a * a + b * b + c * c + d * d + e * e + f * f + g * g + h * h + i * i + j * j


def rosenbrock(x):
    total = 0.0
    for i in range(x.shape[0] - 1):
        total += 100.0 * (x[i + 1] - x[i] ** 2) ** 2 + (1.0 - x[i]) ** 2
    return total


def weighted(a, w):
    total = 0.0
    for i in range(a.shape[0]):
        total += w[i] * a[i] * a[i]
    return total


def compiled_loop() -> Any:
    """The library with the loop, compiled through cffi, and its ffi."""
    import cffi

    builder = cffi.FFI()
    builder.cdef("double nanoseconds(intptr_t, const void *, void *, int64_t *, int64_t);")
    builder.set_source("_loop", LOOP)
    path = builder.compile(tmpdir=tempfile.mkdtemp())
    spec = importlib.util.spec_from_file_location("_loop", Path(path))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def raw(loop: Any, entry: Any, arguments: tuple[Any, ...]) -> float:
    """The time of the C function of an entry, called from C; results are as large as the arguments here."""
    lib, ffi = entry.library.lib, loop.ffi
    function = int(entry.library.ffi.cast("intptr_t", getattr(lib, f"adgen_calls_{entry.program.name}")[0]))
    results = [np.empty_like(value) for value in arguments]
    held: list[bytes] = []
    for value in arguments:
        address = value.ctypes.data if isinstance(value, np.ndarray) else value
        held.append(np.array(address).tobytes())
        held += [np.array(extent).tobytes() for extent in np.shape(value)]
    held += [np.array(result.ctypes.data).tobytes() for result in results]
    cells, work, detail = ffi.from_buffer(b"".join(held)), ffi.new("char[65536]"), ffi.new("int64_t[4]")
    return min(loop.lib.nanoseconds(function, cells, work, detail, CALLS) for _ in range(RUNS))


def nanoseconds(call: Callable[..., Any], *args: Any) -> float:
    """The time of one call from Python."""
    names = {"call": call, **{f"a{k}": value for k, value in enumerate(args)}}
    text = f"call({', '.join(f'a{k}' for k in range(len(args)))})"
    return min(timeit.repeat(text, globals=names, number=CALLS, repeat=RUNS)) / CALLS * 1e9


def main() -> None:
    """Measure and print."""
    loop = compiled_loop()
    print(f"{'gradient of':<20}{'C':>8}{'plain':>8}{'above':>8}{'bound':>8}{'above':>8}  ns")
    for name, function, arguments in [
        ("three numbers", product, (1.0, 2.0, 3.0)),
        ("five numbers", mixed, (1.0, 2.0, 3.0, 4.0, 5.0)),
        ("ten numbers", sum_of_squares, tuple(map(float, range(10)))),
        ("an array of 10", rosenbrock, (np.ones(10),)),
        ("two arrays of 8", weighted, (np.ones(8), np.ones(8))),
    ]:
        gradient = adgen.grad(function)
        gradient(*arguments)
        (entry,) = gradient.__adgen__.entries.values()
        c, plain = raw(loop, entry, arguments), nanoseconds(gradient, *arguments)
        bound = nanoseconds(gradient.bind(*arguments))
        print(f"{name:<20}{c:8.0f}{plain:8.0f}{plain - c:8.0f}{bound:8.0f}{bound - c:8.0f}")


if __name__ == "__main__":
    main()
