"""A sparse matrix in the making: its pattern, its products, and its blocks.

Comes in: a pattern.  Goes out: a `Matrix`, made once, which any number of evaluations share and none changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from adgen.diagnostics import AdgenError
from adgen.operators.sparse.colouring import Plan, Products, cheapest, symmetric
from adgen.operators.sparse.loops import Integers
from adgen.operators.sparse.patterns import Pattern, size

Batch = tuple[Integers, Integers]  # elements of directions, elements of results


class Matrix:
    """A pattern with its plan, and where the blocks of results and parameters are in it.

    `modes` are those that products may be of; None for a Hessian.
    """

    def __init__(self, pattern: Pattern, modes: Sequence[str] | None) -> None:
        self.pattern = pattern
        self.modes = modes
        self._plan: Plan | None = None
        self._schedules: dict[int, Schedule] = {}
        self.blocks = [[Block(pattern, k, j) for j in range(len(pattern.inputs))] for k in range(len(pattern.results))]

    @property
    def plan(self) -> Plan:
        """The products to compute it with, coloured when they are first needed."""
        if self._plan is None:
            self._plan = symmetric(self.pattern) if self.modes is None else cheapest(self.pattern, self.modes)
        return self._plan

    def schedule(self, width: int) -> Schedule:
        """What is computed one after the other, of products with tangents so many at once."""
        found = self._schedules.get(width)
        if found is None:
            found = self._schedules[width] = Schedule(self, width)
        return found


class Schedule:
    """Batches of products, and where their entries are once they stand one after the other.

    With several at once there is one more axis, the last one, of directions and of results.
    """

    def __init__(self, matrix: Matrix, width: int) -> None:
        self.width = width
        plan = matrix.plan
        order: list[Integers] = []
        self.forward, self.reverse = (
            [_batch(products, first, lanes, order) for first in range(0, len(products), lanes)]
            for products, lanes in ((plan.forward, width), (plan.reverse, 1))
        )
        self.size = len(matrix.pattern.columns)
        place = np.empty(self.size, np.int64)
        place[np.concatenate([np.empty(0, np.int64), *order])] = np.arange(self.size)
        self.blocks = [[place[block.entries] for block in row] for row in matrix.blocks]


def _batch(products: Products, first: int, width: int, order: list[Integers]) -> Batch:
    """A few products together; their entries, in the order of the matrix, are appended."""
    several = slice(first, first + width)
    entries = np.concatenate(products.entries[several])
    sorted_ = np.argsort(entries)
    order.append(entries[sorted_])
    return _interleaved(products.seeds[several], width), _interleaved(products.elements[several], width)[sorted_]


def _interleaved(parts: Sequence[Integers], width: int) -> Integers:
    """The elements of each part where they are with one more axis."""
    return np.concatenate([part * width + lane for lane, part in enumerate(parts)])


class Block:
    """The entries of one result and one parameter: which ones of the whole, and their rows and columns."""

    def __init__(self, pattern: Pattern, result: int, parameter: int) -> None:
        sizes, widths = list(map(size, pattern.results)), list(map(size, pattern.inputs))
        top, left = sum(sizes[:result]), sum(widths[:parameter])
        self.shape = sizes[result], widths[parameter]
        span = slice(pattern.starts[top], pattern.starts[top + self.shape[0]])
        columns = pattern.columns[span] - left
        inside = (columns >= 0) & (columns < self.shape[1])
        lengths = np.diff(pattern.starts[top : top + self.shape[0] + 1])
        narrow = np.int32 if max(*self.shape, int(np.count_nonzero(inside))) < 2**31 else np.int64
        self.entries = np.flatnonzero(inside) + int(pattern.starts[top])
        self.columns = columns[inside].astype(narrow)
        self.rows = np.repeat(np.arange(self.shape[0], dtype=narrow), lengths)[inside]
        self.starts = np.concatenate([[0], np.cumsum(np.bincount(self.rows, minlength=self.shape[0]))]).astype(narrow)

    def filled(self, data: np.ndarray[Any, Any], places: Integers, dtype: Any) -> Any:
        """The CSR array, whose entries are at these places."""
        try:
            from scipy.sparse import csr_array
        except ImportError:
            raise AdgenError("AD164", "sparse matrices need SciPy", help="pip install 'adgen[sparse]'") from None
        own = np.take(data, places, mode="clip").astype(dtype, copy=False)
        return csr_array((own, self.columns.copy(), self.starts.copy()), shape=self.shape)
