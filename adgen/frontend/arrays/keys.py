"""A subscript taken apart: integers, slices, new axes, index arrays, masks, one item for every axis or group of axes.

Comes in: what stands between the brackets.  Goes out: a `Key` whose items cover all axes of the array.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from adgen.frontend.arrays.build import as_array
from adgen.frontend.arrays.elementwise import astype
from adgen.frontend.arrays.integers import Int
from adgen.frontend.arrays.model import Array, Axis, Frame, Lazy, View
from adgen.frontend.arrays.slicing import integer, normalised, sliced
from adgen.frontend.values import Number, describe
from adgen.ir.nodes import Value
from adgen.ir.types import BOOL, I64

if TYPE_CHECKING:
    from adgen.frontend.context import Context


@dataclass(frozen=True)
class Item:
    """One part of a subscript; `axis` is the first axis of the array that it is about, `covers` how many."""

    kind: str  # "integer", "slice", "new", "array", "mask"
    content: Any
    axis: int
    covers: int


def parse(ctx: Context, key: Any, rank: int) -> list[Item]:
    """The items of a subscript, completed with full slices."""
    parts = [_classified(ctx, part) for part in (key if isinstance(key, tuple) else (key,))]
    covered = sum(covers for _, _, covers in parts)
    if covered > rank:
        ctx.fail("AD337", f"too many indices: the array has {rank} dimensions, but {covered} were indexed")
    if sum(kind == "ellipsis" for kind, _, _ in parts) > 1:
        ctx.fail("AD337", "an index can have only one ellipsis")
    if not any(kind == "ellipsis" for kind, _, _ in parts):
        parts.append(("ellipsis", None, 0))
    items: list[Item] = []
    axis = 0
    for kind, content, covers in parts:
        if kind == "ellipsis":
            for _ in range(rank - covered):
                items.append(Item("slice", slice(None), axis, 1))
                axis += 1
            continue
        items.append(Item(kind, content, axis, covers))
        axis += covers
    return items


def _classified(ctx: Context, part: Any) -> tuple[str, Any, int]:
    if part is None:
        return "new", None, 0
    if part is Ellipsis:
        return "ellipsis", None, 0
    if isinstance(part, slice):
        return "slice", part, 1
    if isinstance(part, list) and not part:
        return "array", as_array(ctx, np.zeros(0, np.int64)), 1
    if isinstance(part, list | Array) or (isinstance(part, np.ndarray) and part.ndim):
        array = as_array(ctx, part)
        if array.element == BOOL:
            return "mask", array, array.rank
        if not array.element.is_integer:
            ctx.fail("AD304", "an index array must hold integers or booleans, not floats")
        return "array", array if array.element == I64 else astype(ctx, array, I64), 1
    if isinstance(part, bool | np.bool_) or (isinstance(part, Number) and part.element == BOOL):
        ctx.fail("AD304", "a single boolean is not a subscript", "use `if`")
    if isinstance(part, str | tuple | dict):
        ctx.fail("AD304", f"{describe(part)} is not a subscript of an array")
    return "integer", integer(ctx, part), 1


def is_basic(items: Sequence[Item]) -> bool:
    """True when the subscript selects a view."""
    return all(item.kind in ("integer", "slice", "new") for item in items)


def frame_of(ctx: Context, items: Sequence[Item], extents: Sequence[Value]) -> Frame:
    """The frame that integers, slices and new axes select; axes under arrays and masks stay whole."""
    shape: list[Value] = []
    axes: list[Axis] = []
    for item in items:
        if item.kind == "new":
            shape.append(ctx.builder.index(1))
        elif item.kind == "integer":
            index: Int = normalised(ctx, item.content, extents[item.axis], item.axis)
            axes.append(Axis(index))
        elif item.kind == "slice":
            offset, step, extent = _slice(ctx, item.content, extents[item.axis])
            axes.append(Axis(offset, ((len(shape), step),)))
            shape.append(extent)
        else:
            for axis in range(item.axis, item.axis + item.covers):
                axes.append(Axis(0, ((len(shape), 1),)))
                shape.append(extents[axis])
    return Frame(tuple(shape), tuple(axes))


def _slice(ctx: Context, key: slice, extent: Value) -> tuple[Int, int, Value]:
    return (0, 1, extent) if key == slice(None) else sliced(ctx, key, extent)


def framed(ctx: Context, array: Array, frame: Frame) -> View | Lazy:
    """The part of an array that a frame selects."""
    if not isinstance(array, View | Lazy):
        _ = array.extents  # a selection says here that its shape is not known
    assert isinstance(array, View | Lazy)
    return array.framed(ctx, frame)
