"""A determinant by expansion along the first row, minors by recursion: `n!` terms."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from benchmarks.workload import Array, Dialect, Workload


@lru_cache
def determinant(size: int) -> Callable[[Array], float]:
    """The determinant of a matrix of this many rows, given flat."""

    def minor(a: Array, columns: Any, order: int) -> float:
        """The determinant of the last `order` rows, of which `columns` are left."""
        first = a[(size - order) * size :]
        if order == 1:
            return first[columns[0]]
        total = 0.0
        sign = 1.0
        rest = columns[1:].copy()
        for j in range(order):
            total += sign * first[columns[j]] * minor(a, rest, order - 1)
            sign = -sign
            if j < order - 1:
                rest[j] = columns[j]
        return total

    def det(a: Array) -> float:
        return minor(a, np.arange(size), size)

    return det


def arrays(dialect: Dialect, a: Array) -> Any:
    """The same recursion, unrolled."""

    def minor(row: int, columns: list[int]) -> Any:
        terms = [
            (-1.0) ** k * a[row * SIZE + column] * minor(row + 1, columns[:k] + columns[k + 1 :])
            for k, column in enumerate(columns)
        ]
        return sum(terms) if terms else 1.0

    return minor(0, list(range(SIZE)))


SIZE = 5

WORKLOADS = {
    "determinant": Workload(
        determinant(SIZE),
        lambda count: {"a": np.random.default_rng(0).random(count)},
        {"l5": SIZE * SIZE},
        wrt=("a",),
        arrays=arrays,
        symbolic=True,
    )
}
