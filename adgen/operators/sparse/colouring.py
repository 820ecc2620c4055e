"""Which products give all entries of a sparse matrix, and where in them each entry stands.

Comes in: a pattern.  Goes out: `Products`.  Guaranteed: every entry stands alone in its place: it is read, not solved
for.  The number of products is that of a greedy colouring, and the cheapest of a few ways to take rows by reverse mode
and the others by columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from adgen.operators.sparse.loops import Integers, colour_apart, colour_stars, loop
from adgen.operators.sparse.patterns import Pattern
from adgen.passes.matrices import ROW_COST

SPLITS = 64  # ways to divide rows by their length that are looked at
TRIED = 3  # those that are coloured
LOOKED_THROUGH = 10**9  # steps that a star colouring may take


@dataclass(frozen=True)
class Products:
    """Products of one kind: number c is with the sum of the unit vectors of `seeds[c]`.

    It gives the entries `entries[c]` of the matrix, which are its elements `elements[c]`.
    """

    seeds: tuple[Integers, ...]
    entries: tuple[Integers, ...]
    elements: tuple[Integers, ...]

    def __len__(self) -> int:
        return len(self.seeds)

    def __iter__(self) -> Iterator[tuple[Integers, Integers, Integers]]:
        """The seeds, elements and entries of each."""
        return zip(self.seeds, self.elements, self.entries)


@dataclass(frozen=True)
class Plan:
    """How a matrix is computed: products with tangents, and with cotangents."""

    forward: Products
    reverse: Products

    def __str__(self) -> str:
        return f"{len(self.forward)} products with a tangent, {len(self.reverse)} with a cotangent"


@dataclass(frozen=True)
class Coloured:
    """Colours of what a matrix is compressed along (-1: none needed)."""

    colours: Integers
    count: int


# -- Jacobians ---------------------------------------------------------------------------------------------------


def cheapest(pattern: Pattern, modes: Sequence[str] = ("forward", "reverse")) -> Plan:
    """The plan for a Jacobian.

    Long rows go to reverse mode and the others to forward mode, where `modes` allows both: a column is then coloured
    for the short rows alone.
    """
    lengths = np.diff(pattern.starts)
    best: tuple[float, Plan] | None = None
    for bound, longest in _splits(pattern, lengths, modes)[:TRIED]:
        if best is not None and best[0] <= bound:
            break
        plan = _split(pattern, lengths[pattern.rows] > longest)
        cost = len(plan.forward) + ROW_COST * len(plan.reverse)
        if best is None or cost < best[0]:
            best = cost, plan
    assert best is not None
    return best[1]


def _splits(pattern: Pattern, lengths: Integers, modes: Sequence[str]) -> list[tuple[int, int]]:
    """Lengths of the longest row to take by columns, each after what it costs at least; the cheapest first."""
    limits = np.unique(np.concatenate([[0], lengths]))
    if len(limits) > SPLITS:
        limits = limits[np.unique(np.geomspace(1, len(limits), SPLITS).astype(int)) - 1]
    limits = limits[:1] if "forward" not in modes else limits[-1:] if "reverse" not in modes else limits
    by_length = lengths[pattern.rows]
    found = []
    for limit in map(int, limits):
        longer = pattern.columns[by_length > limit]
        rows = int(np.bincount(longer).max()) if len(longer) else 0
        found.append((limit + ROW_COST * rows, limit))
    return sorted(found)


def _split(pattern: Pattern, reverse: np.ndarray[Any, np.dtype[np.bool_]]) -> Plan:
    """The plan in which these entries come from products with cotangents."""
    (far,), (near,) = np.nonzero(reverse), np.nonzero(~reverse)
    m, n = pattern.shape
    rows, columns = pattern.rows, pattern.columns
    by_columns = apart(rows[near], columns[near], m, n)
    by_rows = apart(columns[far], rows[far], n, m)
    return Plan(
        _products(by_columns, by_columns.colours[columns[near]], near, rows[near]),
        _products(by_rows, by_rows.colours[rows[far]], far, columns[far]),
    )


def apart(groups: Integers, members: Integers, count: int, size: int) -> Coloured:
    """Colour `size` members so that two in one of `count` groups differ."""
    starts, lists = listed(groups, members, count)
    back_starts, back_lists = listed(members, groups, size)
    lengths = np.diff(starts)
    present = np.diff(back_starts) > 0
    if lengths.max(initial=0) == np.count_nonzero(present):  # a group of all
        return Coloured(np.where(present, np.cumsum(present) - 1, -1), int(lengths.max(initial=0)))
    colours, taken = np.full((2, size), -1, np.int64)
    steps = int(np.square(lengths).sum())
    found = loop(colour_apart, steps)(starts, lists, back_starts, back_lists, colours, taken)
    return Coloured(colours, found)


def listed(groups: Integers, members: Integers, count: int) -> tuple[Integers, Integers]:
    """The members of each group, as lists one after the other."""
    starts = np.concatenate([[0], np.cumsum(np.bincount(groups, minlength=count))]).astype(np.int64)
    return starts, members[np.argsort(groups, kind="stable")]


def _products(coloured: Coloured, colour: Integers, entries: Integers, elements: Integers) -> Products:
    """The products of a colouring; `colour` says from which one an entry comes."""
    order = np.argsort(colour, kind="stable")
    ends = np.cumsum(np.bincount(colour, minlength=coloured.count))[:-1]
    seeds, seed_ends = np.argsort(coloured.colours, kind="stable"), np.cumsum(np.bincount(coloured.colours + 1))[:-1]
    if coloured.count == 0:
        return Products((), (), ())
    return Products(
        tuple(np.split(seeds, seed_ends)[-coloured.count :]),
        tuple(np.split(entries[order], ends)),
        tuple(np.split(elements[order], ends)),
    )


# -- Hessians ----------------------------------------------------------------------------------------------------


def symmetric(pattern: Pattern) -> Plan:
    """The plan for a Hessian: by a star colouring, which reads an entry above or below the diagonal.

    A pattern that is not symmetric is that of a matrix whose symmetry is not known: it is taken as a Jacobian.
    """
    n = len(pattern.starts) - 1
    rows, columns = pattern.rows, pattern.columns
    mirror = np.lexsort((rows, columns))
    if not (np.array_equal(rows[mirror], columns) and np.array_equal(columns[mirror], rows)):
        return cheapest(pattern, ["forward"])
    coloured = stars(rows, columns, n)
    key = rows * (coloured.count + 1) + coloured.colours[columns]
    _, which, often = np.unique(key, return_inverse=True, return_counts=True)
    alone = often[which] == 1
    assert alone[mirror[~alone]].all(), "an entry and its mirror image stand beside others"
    colour = np.where(alone, coloured.colours[columns], coloured.colours[rows])
    elements = np.where(alone, rows, columns)
    return Plan(_products(coloured, colour, np.arange(len(rows)), elements), Products((), (), ()))


def stars(rows: Integers, columns: Integers, n: int) -> Coloured:
    """A star colouring of the graph of a symmetric pattern."""
    used = np.zeros(n, np.bool_)
    used[rows] = True
    alone = _crowded(rows, columns, n)  # each has a colour of its own, so no path through it matters
    kept = ~(alone[rows] | alone[columns]) & (rows != columns)
    starts, neighbours = listed(rows[kept], columns[kept], n)
    colours, taken, first, first_edge, treated = np.full((5, n), -1, np.int64)
    star, hub = np.full((2, len(neighbours)), -1, np.int64)
    mirror = np.lexsort((rows[kept], columns[kept]))
    steps = int(np.square(np.diff(starts)).sum()) + len(rows)
    count = loop(colour_stars, steps)(starts, neighbours, mirror, colours, taken, first, first_edge, treated, star, hub)
    colours[~used] = -1
    shift = np.cumsum(alone)
    colours[alone] = count - 1 + shift[alone]
    return Coloured(*_renumbered(colours))


def _crowded(rows: Integers, columns: Integers, n: int) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """The vertices with so many neighbours that looking through these again and again would take too long."""
    degrees = np.bincount(rows, minlength=n)
    order = np.argsort(-degrees, kind="stable")
    steps = np.cumsum(np.square(degrees[order])[::-1])[::-1]  # without the vertices before
    crowded = np.zeros(n, np.bool_)
    crowded[order[: np.count_nonzero(steps > LOOKED_THROUGH)]] = True
    return crowded


def _renumbered(colours: Integers) -> tuple[Integers, int]:
    """The colours without gaps, and their number."""
    present = np.unique(colours[colours >= 0])
    return np.where(colours >= 0, np.searchsorted(present, colours), -1), len(present)
