"""Subscripts with a boolean mask: `y[m] = v`, `y[m] op= v`, and `y[m]` as a value that can be reduced.

A masked assignment is a loop over the whole array with an `if`; no element of the value is computed where the mask is
false.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from adgen import ops
from adgen.frontend import scalars
from adgen.frontend.arrays.broadcasting import assignable
from adgen.frontend.arrays.build import as_array
from adgen.frontend.arrays.checks import compare, require
from adgen.frontend.arrays.keys import Item, frame_of, framed
from adgen.frontend.arrays.loops import nest, when
from adgen.frontend.arrays.model import Array, Axis, Frame, Lazy, View
from adgen.frontend.arrays.selection import Selection, selection
from adgen.frontend.arrays.shapes import equal
from adgen.frontend.arrays.storage import copy, interferes, separate
from adgen.frontend.arrays.updates import change
from adgen.frontend.values import Number
from adgen.ir.nodes import Value

if TYPE_CHECKING:
    from adgen.frontend.context import Context


def read(ctx: Context, array: Array, items: Sequence[Item]) -> Selection:
    """The elements that the mask picks."""
    inner, mask, first = _split(ctx, array, items)
    return selection(ctx, inner, mask, first)


def snapshot(ctx: Context, picked: Selection, name: str = "") -> Selection:
    """The same elements in memory of their own: what a name is bound to."""
    mask = copy(ctx, picked.mask, f"{name}_mask" if name else "")
    return replace(picked, inner=copy(ctx, picked.inner, name), mask=mask)


def _split(ctx: Context, array: Array, items: Sequence[Item]) -> tuple[View | Lazy, Array, int]:
    """The array with the other subscripts applied, the mask, and the first axis that it covers."""
    if [item.kind for item in items].count("mask") > 1 or any(item.kind == "array" for item in items):
        ctx.fail("AD233", "a boolean mask together with another mask or index array is not supported")
    inner = framed(ctx, array, frame_of(ctx, items, array.extents))
    first = 0
    for item in items:
        if item.kind == "mask":
            break
        first += item.kind != "integer"
    mask: Array = item.content
    for k, extent in enumerate(mask.extents):
        length = inner.extents[first + k]
        if not equal(ctx, extent, length):
            message = (
                f"boolean index did not match indexed array along axis {item.axis + k}; size of axis is {{0}} but size "
                "of corresponding boolean axis is {1}"
            )
            require(ctx, compare(ctx, ops.EQ, length, extent), "IndexError", message, (length, extent))
    return inner, mask, first


def assign(ctx: Context, target: View, items: Sequence[Item], value: Any) -> None:
    """`target[mask] = value`."""
    place, mask, first = _split(ctx, target, items)
    assert isinstance(place, View)
    source = _source(ctx, place, mask, first, value)

    def body(indices: tuple[Value, ...]) -> None:
        number = scalars.convert(ctx, source.read(ctx, indices), place.element)
        ctx.builder.store(place.base, number, place.frame.locate(ctx, indices))

    _masked(ctx, place, mask, first, body)


def update(ctx: Context, target: View, items: Sequence[Item], operator_: Any, value: Any) -> None:
    """`target[mask] op= value`."""
    place, mask, first = _split(ctx, target, items)
    assert isinstance(place, View)
    source = _source(ctx, place, mask, first, value)
    weak = isinstance(value, Number) and value.weak if not isinstance(value, Array) else False
    weak = weak or type(value) in (int, float, complex, bool)

    def body(indices: tuple[Value, ...]) -> None:
        number = Number(source.read(ctx, indices), weak)
        change(ctx, place.base, place.frame.locate(ctx, indices), operator_, number)

    _masked(ctx, place, mask, first, body)


def _masked(ctx: Context, place: View, mask: Array, first: int, body: Callable[[tuple[Value, ...]], None]) -> None:
    if interferes(ctx, place, _over(ctx, mask, first, place.extents)):
        mask = copy(ctx, mask)

    def element(indices: tuple[Value, ...]) -> None:
        def taken() -> Sequence[Value]:
            body(indices)
            return ()

        when(ctx, mask.read(ctx, indices[first : first + mask.rank]), taken)

    nest(ctx, place.extents, element)
    ctx.writes.written(place.base)


def _over(ctx: Context, mask: Array, first: int, extents: Sequence[Value]) -> View | Lazy:
    """The mask as an array with all axes of the place."""
    axes = tuple(Axis(0, ((first + k, 1),)) for k in range(mask.rank))
    return framed(ctx, mask, Frame(tuple(extents), axes))


def _source(ctx: Context, place: View, mask: Array, first: int, value: Any) -> Array:
    """The value for every element of the place."""
    if isinstance(value, Selection):
        mine = selection(ctx, place, mask, first)
        if not mine.alike(ctx, value) or value.inner.rank != place.rank:
            value.refuse("it is assigned through another mask")
        return separate(ctx, place, assignable(ctx, value.inner, place.extents))
    source = as_array(ctx, value)
    trailing = place.extents[first + mask.rank :]
    picked = source.rank > len(trailing)
    if picked and not _is_stretched(ctx, source, len(trailing)):
        ctx.fail(
            "AD233",
            "assigning an array through a boolean mask is not supported: how many elements it picks is not known",
            "assign with `np.where(mask, value, old)`",
        )
    if picked:
        leading = source.rank - len(trailing)
        axes = (*(Axis(0) for _ in range(leading)), *(Axis(0, ((k, 1),)) for k in range(len(trailing))))
        source = framed(ctx, source, Frame(source.extents[leading:], tuple(axes)))
    return separate(ctx, place, assignable(ctx, source, place.extents))


def _is_stretched(ctx: Context, source: Array, trailing: int) -> bool:
    return all(ctx.builder.known(extent) == 1 for extent in source.extents[: source.rank - trailing])
