"""A sparse matrix in the making: its pattern, its products, and its blocks.

Comes in: a pattern.  Goes out: a `Matrix`, made once, which any number of evaluations share and none changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from adgen.operators.sparse.colouring import Plan, cheapest, symmetric
from adgen.operators.sparse.patterns import Pattern, size


class Matrix:
    """A pattern with its plan, and where the blocks of results and parameters are in it.

    `modes` are those that products may be of; None for a Hessian.
    """

    def __init__(self, pattern: Pattern, modes: Sequence[str] | None) -> None:
        self.pattern = pattern
        self.modes = modes
        self._plan: Plan | None = None
        self.blocks = [[Block(pattern, k, j) for j in range(len(pattern.inputs))] for k in range(len(pattern.results))]

    @property
    def plan(self) -> Plan:
        """The products to compute it with, coloured when they are first needed."""
        if self._plan is None:
            self._plan = symmetric(self.pattern) if self.modes is None else cheapest(self.pattern, self.modes)
        return self._plan


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
        self.entries = np.flatnonzero(inside) + int(pattern.starts[top])
        self.columns = columns[inside]
        self.rows = np.repeat(np.arange(self.shape[0]), lengths)[inside]

    def filled(self, data: Array, dtype: Any) -> Any:
        """The CSR array for the entries of the whole."""
        from scipy.sparse import csr_array

        starts = np.concatenate([[0], np.cumsum(np.bincount(self.rows, minlength=self.shape[0]))])
        narrow = np.int32 if max(*self.shape, len(self.rows)) < 2**31 else np.int64
        parts = data[self.entries].astype(dtype), self.columns.astype(narrow), starts.astype(narrow)
        return csr_array(parts, shape=self.shape)
