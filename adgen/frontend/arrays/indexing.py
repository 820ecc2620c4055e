"""`a[key]`, `a[key] = v`, `a[key] op= v` and `a op= v` with NumPy's meaning.

Comes in: arrays and subscripts as the program writes them.  Goes out: numbers, views, expressions, stores.  Guaranteed:
an assignment is as if its right-hand side were computed first, whatever overlaps.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from adgen.frontend import scalars
from adgen.frontend.arrays import masks
from adgen.frontend.arrays.broadcasting import assignable, copy_into
from adgen.frontend.arrays.build import as_array, item_of
from adgen.frontend.arrays.elementwise import elementwise
from adgen.frontend.arrays.gather import Gathering, gathering, has_repeats, without_known_masks
from adgen.frontend.arrays.keys import Item, frame_of, framed, is_basic, parse
from adgen.frontend.arrays.loops import nest
from adgen.frontend.arrays.model import Array, View, footprint
from adgen.frontend.arrays.selection import Selection
from adgen.frontend.arrays.shapes import same_extent
from adgen.frontend.arrays.storage import copy, finish, separate, writable
from adgen.frontend.arrays.updates import allow_cast, change
from adgen.frontend.values import Number, is_number
from adgen.ir.nodes import Value

if TYPE_CHECKING:
    from adgen.frontend.context import Context

PLAIN: dict[Any, Any] = {
    operator.iadd: operator.add,
    operator.isub: operator.sub,
    operator.imul: operator.mul,
    operator.itruediv: operator.truediv,
    operator.ifloordiv: operator.floordiv,
    operator.imod: operator.mod,
    operator.ipow: operator.pow,
    operator.iand: operator.and_,
    operator.ior: operator.or_,
    operator.ixor: operator.xor,
    operator.ilshift: operator.lshift,
    operator.irshift: operator.rshift,
}


def getitem(ctx: Context, array: Array, key: Any) -> Any:
    """`array[key]`: a number, a view, or an expression."""
    if isinstance(array, Selection):
        array.refuse("it is indexed")
    items = _items(ctx, array, key)
    if is_basic(items):
        return finish(ctx, framed(ctx, array, frame_of(ctx, items, array.extents)))
    if any(item.kind == "mask" for item in items):
        return masks.read(ctx, array, items)
    return finish(ctx, gathering(ctx, array, items).read(ctx))


def _items(ctx: Context, array: Array, key: Any) -> list[Item]:
    """The parts of a subscript; masks that are known now are index arrays."""
    return without_known_masks(ctx, parse(ctx, key, array.rank), array.extents)


def setitem(ctx: Context, array: Array, key: Any, value: Any) -> None:
    """`array[key] = value`."""
    target = writable(ctx, array)
    value = item_of(ctx, value, target.element)
    items = _items(ctx, target, key)
    if any(item.kind == "mask" for item in items):
        masks.assign(ctx, target, items, value)
    elif is_basic(items):
        place = target.framed(ctx, frame_of(ctx, items, target.extents))
        if place.rank:
            copy_into(ctx, place, as_array(ctx, value))
        else:
            _store(ctx, place, _single(ctx, value, _has_ellipsis(key)))
    else:
        _scatter(ctx, gathering(ctx, target, items), as_array(ctx, value))


def augment(ctx: Context, array: Array, key: Any, operator_: Callable[..., Any], value: Any) -> None:
    """`array[key] op= value`."""
    target = writable(ctx, array)
    operator_ = PLAIN.get(operator_, operator_)
    items = _items(ctx, target, key)
    if any(item.kind == "mask" for item in items):
        masks.update(ctx, target, items, operator_, value)
    elif is_basic(items):
        _update(ctx, target.framed(ctx, frame_of(ctx, items, target.extents)), operator_, value)
    else:
        _update_gathered(ctx, target, items, operator_, value)


def inplace(ctx: Context, array: Array, operator_: Callable[..., Any], value: Any) -> None:
    """`array op= value` for a whole array."""
    _update(ctx, writable(ctx, array), PLAIN.get(operator_, operator_), value)


# -- single elements and views -----------------------------------------------------------------------------------


def _has_ellipsis(key: Any) -> bool:
    return any(part is Ellipsis for part in (key if isinstance(key, tuple) else (key,)))


def _single(ctx: Context, value: Any, part: bool) -> Any:
    """The number that is stored into one element.

    An array of one element will do where the target is a part of the array (`a[..., 0]`) rather than an item.
    """
    array = as_array(ctx, value)
    if not array.rank:
        return value
    one = ctx.builder.index(1)
    if not part or any(ctx.builder.known(extent) not in (None, 1) for extent in array.extents):
        ctx.fail("AD331", "setting an array element with a sequence", "the value must be a number")
    for extent in array.extents:
        same_extent(ctx, extent, one, "setting an array element with a sequence of {0} items")
    return Number(array.read(ctx, [ctx.builder.index(0)] * array.rank), weak=False)


def _store(ctx: Context, place: View, number: Any) -> None:
    if isinstance(number, Array):
        number = Number(number.read(ctx, ()), weak=False)
    ctx.builder.store(place.base, scalars.to(ctx, number, place.element), place.frame.locate(ctx, ()))
    ctx.writes.written(place.base)


def _update(ctx: Context, place: View, operator_: Any, value: Any) -> None:
    """Every element of a view combined with the value's."""
    source = as_array(ctx, value)
    if isinstance(source, Selection):
        source.refuse("it is added to an array")
    source = separate(ctx, place, assignable(ctx, source, place.extents, operator=True))
    weak = _is_weak(ctx, value)

    def body(indices: tuple[Value, ...]) -> None:
        number = Number(source.read(ctx, indices), weak)
        change(ctx, place.base, place.frame.locate(ctx, indices), operator_, number, item=not place.rank)

    nest(ctx, place.extents, body)
    ctx.writes.written(place.base)


def _is_weak(ctx: Context, value: Any) -> bool:
    return is_number(value) and scalars.kind(ctx, value)[1]


# -- index arrays ------------------------------------------------------------------------------------------------


def _scatter(ctx: Context, plan: Gathering, value: Array) -> None:
    """Store in the order of the index arrays, so that the last of several values stays."""
    target = writable(ctx, plan.inner)
    source = _apart(ctx, target, assignable(ctx, value, plan.extents))

    def body(indices: tuple[Value, ...]) -> None:
        number = scalars.convert(ctx, source.read(ctx, indices), target.element)
        place = plan.locate(ctx, indices)
        ctx.builder.store(target.base, number, target.frame.locate(ctx, place))

    nest(ctx, plan.extents, body)
    ctx.writes.written(target.base)


def _apart(ctx: Context, target: View, source: Array) -> Array:
    """The source, copied first when it reads any of the memory that is written."""
    return copy(ctx, source) if ctx.writes.root(target.base) in footprint(ctx, source) else source


def _update_gathered(ctx: Context, target: View, items: list[Item], operator_: Any, value: Any) -> None:
    """`a[index array] op= value`: new values are made from the old contents, then stored."""
    plan = gathering(ctx, target, items)
    new = elementwise(ctx, operator_, [plan.read(ctx), value])
    if not isinstance(new, Array):
        new = as_array(ctx, new)
    allow_cast(ctx, new.element, target.element)
    if has_repeats(ctx, plan):
        new = copy(ctx, new)
    _scatter(ctx, plan, new)


def add_at(ctx: Context, array: Array, key: Any, value: Any, operator_: Any = operator.add) -> None:
    """`np.add.at`: every occurrence of an index counts."""
    target = writable(ctx, array)
    items = _items(ctx, target, key)
    if is_basic(items):
        _update(ctx, target.framed(ctx, frame_of(ctx, items, target.extents)), operator_, value)
        return
    if any(item.kind == "mask" for item in items):
        masks.update(ctx, target, items, operator_, value)
        return
    plan = gathering(ctx, target, items)
    place = writable(ctx, plan.inner)
    source = _apart(ctx, place, assignable(ctx, as_array(ctx, value), plan.extents))

    def body(indices: tuple[Value, ...]) -> None:
        number = Number(source.read(ctx, indices), _is_weak(ctx, value))
        change(ctx, place.base, place.frame.locate(ctx, plan.locate(ctx, indices)), operator_, number)

    nest(ctx, plan.extents, body)
    ctx.writes.written(place.base)
