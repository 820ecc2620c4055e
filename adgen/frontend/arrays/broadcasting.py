"""Arrays broadcast to extents, as operands and as sources of assignments.

Comes in: an array and the extents it has to fit.  Goes out: an array with these extents.  Guaranteed: an
expression that takes work is computed once, not once for each time that its elements are repeated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adgen import ops
from adgen.frontend.arrays.agreement import agree
from adgen.frontend.arrays.checks import compare, either, require
from adgen.frontend.arrays.model import Array, Axis, Frame, Lazy, View
from adgen.frontend.arrays.shapes import Extents, equal, is_one, stretch_frame
from adgen.frontend.arrays.storage import fill_from, separate, settle, writable

if TYPE_CHECKING:
    from adgen.frontend.context import Context

CHEAP = 2  # operations an element: what costs more is computed once before it is broadcast


def stretch(ctx: Context, array: Array, extents: Extents) -> View | Lazy:
    """The array broadcast to extents that it is known to fit."""
    assert isinstance(array, View | Lazy)
    if array.rank == len(extents) and all(equal(ctx, a, b) for a, b in zip(array.extents, extents)):
        return array
    once = settle(ctx, array, CHEAP)
    assert isinstance(once, View | Lazy)
    return once.framed(ctx, stretch_frame(ctx, once.extents, extents))


def assignable(ctx: Context, source: Array, extents: Extents, operator: bool = False) -> View | Lazy:
    """The source of an assignment broadcast to the target's extents, with the checks that NumPy makes.

    A plain assignment drops leading axes of length one, an in-place `operator` does not.
    """
    if not isinstance(source, View | Lazy):
        _ = source.extents  # a selection says here that its shape is not known
    assert isinstance(source, View | Lazy)
    message = f"an array of rank {source.rank} cannot be assigned to an array of rank {len(extents)}"
    if source.rank > len(extents) and operator:
        ctx.fail("AD331", message)
    while source.rank > len(extents):
        if not is_one(ctx, source.extents[0]):
            if ctx.builder.known(source.extents[0]) is not None:
                ctx.fail("AD331", message)
            require(ctx, compare(ctx, ops.EQ, source.extents[0], 1), "ValueError", message)
        source = source.framed(ctx, Frame(source.extents[1:], _without_first(source.rank)))
    shift = len(extents) - source.rank
    for k, extent in enumerate(source.extents):
        target = extents[k + shift]
        if is_one(ctx, extent) or agree(ctx, extent, target):
            continue
        message = "could not broadcast input array from shape ({0},) into shape ({1},)"
        if len(extents) > 1:
            message = "could not broadcast an input axis of length {0} into an axis of length {1}"
        conditions = [compare(ctx, ops.EQ, extent, target)]
        if ctx.builder.known(extent) is None:
            conditions.append(compare(ctx, ops.EQ, extent, 1))
        require(ctx, either(ctx, *conditions), "ValueError", message, (extent, target))
    return stretch(ctx, source, extents)


def _without_first(rank: int) -> tuple[Axis, ...]:
    return (Axis(0), *(Axis(0, ((k, 1),)) for k in range(rank - 1)))


def copy_into(ctx: Context, target: Array, source: Any) -> None:
    """`target[...] = source`: broadcast, converted, and as if the source were computed first."""
    view = writable(ctx, target)
    if isinstance(source, Lazy) and source.fill == "none":
        return
    fill_from(ctx, view, separate(ctx, view, assignable(ctx, source, view.extents)))
