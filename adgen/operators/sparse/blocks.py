"""A sparse matrix in the making: its pattern, its products, and its blocks.

Comes in: a pattern.  Goes out: a `Matrix`, made once, which any number of evaluations share and none changes.

All entries stand in one vector, block after block: a block's entries are a stretch of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from adgen.diagnostics import AdgenError
from adgen.operators.sparse.colouring import Plan, Products, cheapest, symmetric
from adgen.operators.sparse.loops import Integers
from adgen.operators.sparse.patterns import Pattern, size


class Matrix:
    """A pattern with its plan, and where the blocks of results and parameters are in it.

    `modes` are those that products may be of; None for a Hessian.
    """

    def __init__(self, pattern: Pattern, modes: Sequence[str] | None) -> None:
        self.pattern = pattern
        self.modes = modes
        self._plan: Plan | None = None
        self._lists: dict[int, list[Any]] = {}
        self.rows = np.cumsum([0, *map(size, pattern.results)])
        self.columns = np.cumsum([0, *map(size, pattern.inputs)])
        self.blocks = [[Block(self, k, j) for j in range(len(pattern.inputs))] for k in range(len(pattern.results))]
        self.places = np.empty(len(pattern.columns), np.int64)
        first = 0
        for block in (block for row in self.blocks for block in row):
            block.span = slice(first, first := first + len(block.rows))
            self.places[block.entries] = np.arange(block.span.start, block.span.stop)

    @property
    def plan(self) -> Plan:
        """The products to compute it with, coloured when they are first needed."""
        if self._plan is None:
            self._plan = symmetric(self.pattern) if self.modes is None else cheapest(self.pattern, self.modes)
        return self._plan

    def lists(self, width: int) -> list[Any]:
        """What `passes.compressed` asks for, for the products with a tangent, so many of them at once."""
        found = self._lists.get(width)
        if found is None:
            found = self._lists[width] = list(self._listed(self.plan.forward, width))
        return found

    def _listed(self, products: Products, width: int) -> Iterator[Any]:
        entries, places = _all(products.entries), self.places
        by_seeds = _Batches(products.seeds, width, len(products))
        by_elements = _Batches(products.elements, width, len(products))
        for first, end in zip(self.columns, self.columns[1:]):
            yield from by_seeds.within(first, end)
        for first, end in zip(self.rows, self.rows[1:]):
            yield from by_elements.within(first, end, places[entries])
        yield len(places)


class _Batches:
    """Elements of products, so many of which are taken at once, with one more axis, the last one, for these."""

    def __init__(self, elements: Sequence[Integers], width: int, count: int) -> None:
        product = np.repeat(np.arange(count), [len(part) for part in elements])
        self.width = width
        self.batch, self.lane = np.divmod(product, width)
        self.elements = _all(elements)
        self.ends = np.arange(-(-count // width) + 1)

    def within(self, first: int, end: int, *others: Integers) -> Iterator[Integers]:
        """Where each batch begins, the elements of one part, and what else belongs to them and sorts them."""
        mine = (self.elements >= first) & (self.elements < end)
        batch, flat = self.batch[mine], (self.elements[mine] - first) * self.width + self.lane[mine]
        parts = [flat, *(other[mine] for other in others)]
        order = np.lexsort((parts[-1], batch))
        yield np.searchsorted(batch[order], self.ends)
        yield from (part[order] for part in parts)


def _all(parts: Sequence[Integers]) -> Integers:
    return np.concatenate([np.empty(0, np.int64), *parts])


class Block:
    """The entries of one result and one parameter: which ones of the whole, and their rows and columns.

    They stand at `span` in the vector of all entries.
    """

    def __init__(self, matrix: Matrix, result: int, parameter: int) -> None:
        pattern = matrix.pattern
        top, bottom, left, right = (
            int(n) for n in (*matrix.rows[result : result + 2], *matrix.columns[parameter : parameter + 2])
        )
        self.shape = bottom - top, right - left
        self.span = slice(0)
        span = slice(pattern.starts[top], pattern.starts[bottom])
        columns = pattern.columns[span] - left
        inside = (columns >= 0) & (columns < self.shape[1])
        lengths = np.diff(pattern.starts[top : bottom + 1])
        narrow = np.int32 if max(*self.shape, int(np.count_nonzero(inside))) < 2**31 else np.int64
        self.entries = np.flatnonzero(inside) + int(pattern.starts[top])
        self.columns = columns[inside].astype(narrow)
        self.rows = np.repeat(np.arange(self.shape[0], dtype=narrow), lengths)[inside]
        self.starts = np.concatenate([[0], np.cumsum(np.bincount(self.rows, minlength=self.shape[0]))]).astype(narrow)

    def filled(self, vector: np.ndarray[Any, Any], dtype: Any) -> Any:
        """The CSR array, whose entries are among these: it shares their memory, if they are of its type."""
        try:
            from scipy.sparse import csr_array
        except ImportError:
            raise AdgenError("AD164", "sparse matrices need SciPy", help="pip install 'adgen[sparse]'") from None
        own = vector[self.span].astype(dtype, copy=False)
        made = csr_array((own, self.columns.copy(), self.starts.copy()), shape=self.shape)
        made.data = own  # SciPy copies what is a small part of something larger
        return made
