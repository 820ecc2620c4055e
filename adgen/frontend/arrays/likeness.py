"""Whether two expressions are the same computation, so that their elements are equal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adgen.frontend.arrays.model import Array, Lazy, View
from adgen.frontend.arrays.shapes import equal
from adgen.frontend.values import Number

if TYPE_CHECKING:
    from adgen.frontend.context import Context


def alike(ctx: Context, a: Any, b: Any) -> bool:
    """True when two expressions are the same computation on the same memory, so that their elements are equal."""
    if a is b:
        return True
    if isinstance(a, Number) and isinstance(b, Number):
        return a.value is b.value
    if isinstance(a, View) and isinstance(b, View):
        same_shape = a.rank == b.rank and all(equal(ctx, x, y) for x, y in zip(a.extents, b.extents))
        return a.base is b.base and same_shape and a.frame.axes == b.frame.axes
    if isinstance(a, Lazy) and isinstance(b, Lazy):
        same_memory = a.roots == b.roots and a.rank == b.rank and bool(a.recipe) and len(a.recipe) == len(b.recipe)
        return same_memory and all(alike(ctx, x, y) for x, y in zip(a.recipe, b.recipe))
    if isinstance(a, Array | Number) or isinstance(b, Array | Number):
        return False
    return type(a) is type(b) and bool(a == b)
