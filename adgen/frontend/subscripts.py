"""Subscripts: reading, writing and deleting items of arrays and containers."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from adgen import ops
from adgen.frontend import arrays, axisless, calls, memory, operators, scalars
from adgen.frontend.choices import distributed
from adgen.frontend.join import number_template
from adgen.frontend.kinds import NUMPY
from adgen.frontend.templates import Scalars
from adgen.frontend.values import NUMERIC_TYPES, Loop, Number, Sequence, describe, is_number, is_static
from adgen.ir.nodes import Value

if TYPE_CHECKING:
    from adgen.frontend.context import Context

LONGEST_CHAIN = 8  # a list of run-time numbers up to this length is indexed by selections, a longer one in memory


@distributed
def get(ctx: Context, value: Any, key: Any) -> Any:
    """`value[key]`."""
    if isinstance(value, Number):
        if ctx.inference is not None and key not in ((), Ellipsis):
            ctx.inference.array(ctx, value, count_indices(key))
        if not value.weak:
            return axisless.get(ctx, value, settled_key(ctx, key))
        message = f"{describe(value)} cannot be indexed"
        ctx.fail("AD319", message, "is this argument meant to be an array?", TypeError)
    if isinstance(value, np.ndarray):
        if is_static(key) and value.ndim > 0:
            item = scalars.static(ctx, operator.getitem, value, key)
            if not isinstance(item, np.ndarray):
                return item
        value = memory.wrap(ctx, value)
    if (value is np.mgrid or value is np.ogrid) and not is_static(key):
        return arrays.grid(ctx, key, value is np.ogrid)
    if memory.is_array(value):
        if ctx.inference is not None:
            ctx.inference.indexed(ctx, value, count_indices(key))
        return arrays.getitem(ctx, value, settled_key(ctx, key))
    if isinstance(value, Sequence):
        item = arrays.getitem(ctx, value.array, settled_key(ctx, key))
        if isinstance(item, Number):
            return Number(item.value, True)
        return item if is_number(key) else Sequence(item)
    if isinstance(value, tuple | list | range | str) and isinstance(key, Number):
        return dynamic_item(ctx, value, key)
    if isinstance(value, Loop):
        ctx.fail("AD319", "a `range` with run-time bounds cannot be indexed")
    if isinstance(value, tuple | list | dict | str | range | bytes):
        if not is_static(key):
            if isinstance(key, Number):
                ctx.decides(key.value)
            what = "the key of a dict" if isinstance(value, dict) else "this index"
            ctx.fail_dynamic("AD222", f"{what} must be known when compiling", "use an array")
        item = scalars.static(ctx, operator.getitem, value, key)
        return ctx.own(item) if isinstance(key, slice) else item
    method = operators.method_of(value, "__getitem__")
    if method is not None:
        return calls.call(ctx, method, [value, key], {})
    if not is_static(value) or not is_static(key):
        ctx.fail("AD319", f"{describe(value)} cannot be indexed")
    return scalars.static(ctx, operator.getitem, value, key)


def count_indices(key: Any) -> int:
    """The number of axes that a subscript speaks about."""
    parts = key if isinstance(key, tuple) else (key,)
    return max(1, sum(part is not None and part is not Ellipsis for part in parts))


def axes_removed(key: Any) -> int:
    """The number of axes that a subscript of integers and slices removes."""
    parts = key if isinstance(key, tuple) else (key,)
    return sum(is_number(part) for part in parts) - sum(part is None for part in parts)


def settled_key(ctx: Context, key: Any) -> Any:
    """A subscript for an array: NumPy arrays of module level as arrays."""
    if isinstance(key, tuple):
        return tuple(settled_key(ctx, part) for part in key)
    if isinstance(key, np.ndarray):
        return memory.wrap(ctx, key) if key.ndim else key[()]
    if isinstance(key, Sequence):
        return key.array
    return key


def dynamic_item(ctx: Context, items: Any, key: Number) -> Any:
    """An item of a static sequence at a run-time index: a table of constants, or a choice between numbers."""
    if key.element.is_float:
        if ctx.inference is not None:
            ctx.inference.integer(ctx, key)
        ctx.fail("AD304", "an index must be an integer, not a float", "convert it with `int(...)`")
    items = tuple(items)
    if not items:
        ctx.fail("AD305", "IndexError: an empty sequence is indexed", raises=IndexError)
    if all(is_number(item) for item in items):
        if all(is_static(item) for item in items):
            return _from_table(ctx, items, key)
        return _chosen(ctx, items, key)
    if all(isinstance(item, tuple | list) and len(item) == len(items[0]) for item in items):
        columns = [dynamic_item(ctx, column, key) for column in zip(*items)]
        if type(items[0]) is not list:
            return tuple(columns)
        chosen = ctx.own(columns)
        ctx.merged.append((chosen, items))
        return chosen
    message = "a list of arrays or of unlike items is indexed by a value that is known at run time only"
    ctx.fail_dynamic("AD229", message, "use an array with one more axis, or a loop whose bounds are constants")


def _from_table(ctx: Context, items: tuple[Any, ...], key: Number) -> Any:
    held = _held(ctx, items)
    data = scalars.static(ctx, np.array, items, NUMPY[held.element])
    return Number(arrays.getitem(ctx, arrays.constant(ctx, data), key).value, held.weak)


def _held(ctx: Context, items: tuple[Any, ...]) -> Scalars:
    """What holds any of these numbers."""
    template = number_template(ctx, items, "")
    if not isinstance(template, Scalars):
        message = "numbers of different types are indexed by a value that is known at run time only"
        ctx.fail_dynamic("AD229", message, "convert them to one type")
    return template


def _chosen(ctx: Context, items: tuple[Any, ...], key: Number) -> Any:
    held = _held(ctx, items)
    if len(items) > LONGEST_CHAIN:
        array = arrays.materialise(ctx, arrays.from_nested(ctx, list(items)), "")
        return Number(arrays.getitem(ctx, array, key).value, held.weak)
    position = wrapped_index(ctx, scalars.as_index(ctx, key), len(items))
    chosen = items[-1]
    for k in range(len(items) - 2, -1, -1):
        here = Number(ctx.builder.op(ops.EQ, position, ctx.builder.index(k)))
        chosen = scalars.select(ctx, here, items[k], chosen)
    return chosen


def wrapped_index(ctx: Context, index: Value, length: int) -> Value:
    """A run-time index of a sequence, checked, and counted from the front when it is negative."""
    builder = ctx.builder
    size = builder.index(length)
    if not (ctx.ranges.nonnegative(index) and ctx.ranges.below(index, size)):
        low = builder.op(ops.GE, index, builder.index(-length))
        inside = builder.op(ops.AND, low, builder.op(ops.LT, index, size))
        builder.check(inside, "IndexError", f"index {{0}} is out of range for a sequence of length {length}", (index,))
        if not ctx.ranges.nonnegative(index):
            negative = builder.op(ops.LT, index, builder.index(0))
            index = builder.op(ops.SELECT, negative, builder.op(ops.ADD, index, size), index)
    return index


@distributed
def put(ctx: Context, owner: Any, key: Any, value: Any) -> None:
    """`owner[key] = value`."""
    if isinstance(owner, np.ndarray):
        operators.refuse_global_write(ctx)
    if isinstance(owner, Number):
        if ctx.inference is not None:
            ctx.inference.array(ctx, owner, count_indices(key))
        ctx.fail(
            "AD319", f"{describe(owner)} cannot be indexed", "is this argument meant to be an array?", raises=TypeError
        )
    if isinstance(owner, Sequence):
        _put_item(ctx, owner, key, value)
        return
    if memory.is_array(owner):
        if ctx.inference is not None:
            ctx.inference.indexed(ctx, owner, count_indices(key))
            ctx.inference.stored(ctx, owner, axes_removed(key), value)
        arrays.setitem(ctx, owner, settled_key(ctx, key), stored(ctx, value))
        return
    if isinstance(owner, list | dict):
        operators.own_check(ctx, owner)
        if not is_static(key):
            ctx.fail_dynamic(
                "AD229",
                "an item of a list or dict is set at an index known at run time only",
                "use an array, or a loop whose bounds are constants",
            )
        scalars.static(ctx, owner.__setitem__, key, operators.secure(ctx, value))
        return
    method = operators.method_of(owner, "__setitem__")
    if method is not None:
        calls.call(ctx, method, [owner, key, value], {})
        return
    certain = TypeError if type(owner) in (str, tuple, type(None), *NUMERIC_TYPES) else None
    ctx.fail("AD319", f"items of {describe(owner)} cannot be set", raises=certain)


def _put_item(ctx: Context, owner: Sequence, key: Any, value: Any) -> None:
    """An item of a list of run-time length, all of whose items are of one type."""
    if not is_number(key) or not is_number(value) or scalars.kind(ctx, value)[0] != owner.array.element:
        help = "use an array"
        ctx.fail("AD302", f"{describe(value)} is set in a list of run-time length of {owner.array.element}", help)
    arrays.setitem(ctx, owner.array, key, value)


def stored(ctx: Context, value: Any) -> Any:
    """A value that is written into an array."""
    if isinstance(value, Sequence):
        return value.array
    if isinstance(value, tuple | list):
        return arrays.from_nested(ctx, value)
    if isinstance(value, np.ndarray):
        return memory.wrap(ctx, value) if value.ndim else value[()]
    if not memory.is_array(value) and not is_number(value):
        ctx.fail("AD302", f"{describe(value)} cannot be stored in an array")
    return value


@distributed
def augment(ctx: Context, owner: Any, key: Any, operator_: Callable[..., Any], value: Any) -> None:
    """`owner[key] op= value`."""
    if isinstance(owner, np.ndarray):
        operators.refuse_global_write(ctx)
    if memory.is_array(owner):
        if ctx.inference is not None:
            ctx.inference.indexed(ctx, owner, count_indices(key))
        arrays.augment(ctx, owner, settled_key(ctx, key), operator_, stored(ctx, value))
        return
    old = get(ctx, owner, key)
    new = operators.augmented(ctx, operator_, old, value)
    if new is not old or not memory.is_array(old):
        put(ctx, owner, key, new)


@distributed
def remove(ctx: Context, owner: Any, key: Any) -> None:
    """`del owner[key]`."""
    if not isinstance(owner, list | dict) or not is_static(key):
        ctx.fail_dynamic("AD229", f"items of {describe(owner)} cannot be deleted")
    operators.own_check(ctx, owner)
    scalars.static(ctx, owner.__delitem__, key)
