"""Subscripts with index arrays: reading many elements by number, and writing them in NumPy's order.

The index arrays are broadcast together; their axes stand where the first of them stood when all of them (and the
integers beside them) are neighbours, else in front.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from adgen import ops
from adgen.frontend.arrays.broadcasting import stretch
from adgen.frontend.arrays.checks import compare, require
from adgen.frontend.arrays.integers import value
from adgen.frontend.arrays.keys import Item, frame_of, framed
from adgen.frontend.arrays.model import Array, Lazy, View, expression
from adgen.frontend.arrays.shapes import Extents, broadcast
from adgen.frontend.arrays.slicing import normalised, wrapped_index
from adgen.frontend.arrays.storage import constant, settle
from adgen.ir import core
from adgen.ir.nodes import Value

if TYPE_CHECKING:
    from adgen.frontend.context import Context


@dataclass(frozen=True)
class Pick:
    """An index array over the axes of all of them, for one axis of the array; `safe` ones need no check any more."""

    indices: View | Lazy
    position: int
    axis: int
    safe: bool


@dataclass(frozen=True)
class Gathering:
    """`inner` with axes replaced by index arrays: `extents` of the result, and where its elements are."""

    inner: View | Lazy
    picks: tuple[Pick, ...]
    extents: Extents
    front: int
    width: int

    def locate(self, ctx: Context, indices: Sequence[Value]) -> tuple[Value, ...]:
        """The indices into `inner` of an element of the result."""
        common = tuple(indices[self.front : self.front + self.width])
        others = iter((*indices[: self.front], *indices[self.front + self.width :]))
        chosen = {pick.position: self._chosen(ctx, pick, common) for pick in self.picks}
        return tuple(chosen[k] if k in chosen else next(others) for k in range(self.inner.rank))

    def _chosen(self, ctx: Context, pick: Pick, common: tuple[Value, ...]) -> Value:
        index = pick.indices.read(ctx, common)
        if pick.safe:
            return index
        return value(ctx, normalised(ctx, index, self.inner.extents[pick.position], pick.axis))

    def read(self, ctx: Context) -> Lazy:
        """The elements as an expression."""
        arrays = [self.inner, *(pick.indices for pick in self.picks)]

        def reader(ctx: Context, indices: tuple[Value, ...]) -> Value:
            return self.inner.read(ctx, self.locate(ctx, indices))

        raises = not all(pick.safe for pick in self.picks)
        return expression(ctx, self.inner.element, self.extents, reader, arrays, 3, raises)


def gathering(ctx: Context, array: Array, items: Sequence[Item]) -> Gathering:
    """What a subscript with index arrays selects."""
    inner = framed(ctx, array, frame_of(ctx, items, array.extents))
    shape = broadcast(ctx, [item.content.extents for item in items if item.kind == "array"], "IndexError")
    picks, position = [], 0
    for item in items:
        if item.kind == "array":
            picks.append(_pick(ctx, item, inner.extents[position], position, shape))
        position += item.kind != "integer"
    taken = {pick.position for pick in picks}
    rest = [extent for k, extent in enumerate(inner.extents) if k not in taken]
    front = _front(items)
    extents = (*rest[:front], *shape, *rest[front:])
    return Gathering(inner, tuple(picks), extents, front, len(shape))


def _front(items: Sequence[Item]) -> int:
    """The number of axes before those of the index arrays."""
    advanced = [k for k, item in enumerate(items) if item.kind in ("array", "integer")]
    if advanced[-1] - advanced[0] + 1 != len(advanced):
        return 0
    return advanced[0]


def _pick(ctx: Context, item: Item, extent: Value, position: int, shape: Extents) -> Pick:
    indices, safe = item.content, False
    known = known_array(ctx, indices)
    if known is not None:
        indices, safe = _checked(ctx, known, extent, item.axis), True
    return Pick(stretch(ctx, settle(ctx, indices), shape), position, item.axis, safe)


def without_known_masks(ctx: Context, items: Sequence[Item], extents: Extents) -> list[Item]:
    """The items with every mask that is known now replaced by the positions it picks."""
    result: list[Item] = []
    for item in items:
        known = known_array(ctx, item.content) if item.kind == "mask" else None
        if known is None:
            result.append(item)
            continue
        for k, positions in enumerate(np.nonzero(known)):
            axis, length = item.axis + k, known.shape[k]
            message = (
                f"boolean index did not match indexed array along axis {axis}; size of axis is {{0}} but size of "
                f"corresponding boolean axis is {length}"
            )
            if not ctx.ranges.equal(extents[axis], ctx.builder.index(length)):
                matches = compare(ctx, ops.EQ, extents[axis], length)
                require(ctx, matches, "IndexError", message, (extents[axis],))
            result.append(Item("array", constant(ctx, positions), axis, 1))
    return result


def known_array(ctx: Context, array: Array) -> np.ndarray | None:
    """The elements of an array that is known now."""
    if isinstance(array, Lazy) and len(array.recipe) == 2 and array.recipe[0] == "copy":
        array = array.recipe[1]
    if not isinstance(array, View) or not array.whole(ctx):
        return None
    operation = ctx.builder.definitions.get(array.base)
    if operation is None or operation.row is not core.TABLE:
        return None
    data: np.ndarray = operation.attributes["data"]
    return data


def _checked(ctx: Context, known: np.ndarray, extent: Value, axis: int) -> Array:
    """A known index array, checked once before the loop and counted from the front."""
    if not known.size:
        return constant(ctx, known)
    low, high = int(known.min()), int(known.max())
    message = f"index {{0}} is out of bounds for axis {axis} with size {{1}}"
    if high >= 0 and not ctx.ranges.below(ctx.builder.index(high), extent):
        require(ctx, compare(ctx, ops.LT, high, extent), "IndexError", message, (high, extent))
    if low >= 0:
        return constant(ctx, known)
    if not ctx.ranges.below(ctx.builder.index(-low - 1), extent):
        require(ctx, compare(ctx, ops.LT, -low - 1, extent), "IndexError", message, (low, extent))
    length = ctx.builder.known(extent)
    if length is not None:
        return constant(ctx, np.where(known < 0, known + length, known))
    table = constant(ctx, known)

    def reader(ctx: Context, indices: tuple[Value, ...]) -> Value:
        return wrapped_index(ctx, table.read(ctx, indices), extent)

    return expression(ctx, table.element, table.extents, reader, (table,), 2)


def has_repeats(ctx: Context, plan: Gathering) -> bool:
    """False when it is known that no element is picked twice."""
    if len(plan.picks) != 1:
        return True
    known = known_array(ctx, plan.picks[0].indices)
    return known is None or len(np.unique(known)) != known.size
