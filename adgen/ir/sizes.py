"""How the work of a device is divided: rows whose values follow from extents alone.

Comes in: integers that a host knows.  Goes out: how many threads, parts or blocks there are.  Guaranteed: the same
extents give the same division, so sums that are taken in parts have the same bits in every run.
"""

from __future__ import annotations

from adgen.ir.nodes import Attributes, Row
from adgen.ir.types import I64, Type

THREADS = 1 << 17  # as many as a large device runs at once
ELEMENTS = 1 << 24  # of all copies together that threads add to
BLOCK = 256  # threads
SLICED = 1 << 16  # threads that have memory of their own in slices
TILE = 64  # rows and columns of a product of matrices that a block computes
BLOCKS = 256  # that a product of matrices is to have, where its sums are long enough
LONG = 256  # terms of a sum that are worth a block of their own


def parts(count: int, width: int, size: int) -> int:
    """In how many parts `count` iterations are taken, if a part has `width` threads and `size` elements to add to."""
    most = min(THREADS // max(width, 1), ELEMENTS // max(size, 1))
    return max(min(count, max(most, 1)), 0)


def slices(count: int) -> int:
    """How many threads `count` iterations have, whose memory is in slices: whole blocks."""
    return min(max(-(-count // BLOCK), 1) * BLOCK, SLICED)


def splits(rows: int, columns: int, depth: int) -> int:
    """In how many parts the sums of a product of matrices are taken."""
    tiles = max(-(-rows // TILE), 1) * max(-(-columns // TILE), 1)
    return max(min(BLOCKS // tiles, -(-depth // LONG)), 1)


def room(rows: int, columns: int, depth: int) -> int:
    """The elements that the parts of a product of matrices take: none where there is one part."""
    count = splits(rows, columns, depth)
    return max(rows, 0) * max(columns, 0) * count if count > 1 else 0


def most_room() -> int:
    """What `room` never exceeds."""
    return BLOCKS * TILE * TILE


def _integer(types: tuple[Type, ...], attributes: Attributes) -> tuple[Type, ...]:
    if any(kind != I64 for kind in types):
        raise TypeError("sizes are computed from i64")
    return (I64,)


PARTS = Row("parts", _integer, pure=True, evaluate=parts)
SLICES = Row("slices", _integer, pure=True, evaluate=slices)
SPLITS = Row("splits", _integer, pure=True, evaluate=splits)
ROOM = Row("room", _integer, pure=True, evaluate=room)
SIZES = (PARTS, SLICES, SPLITS, ROOM)
