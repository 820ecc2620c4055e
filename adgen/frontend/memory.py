"""Arrays as the control-flow part of the front end sees them: what is an array, which are one, cells and copies.

A *cell* is a buffer made before a loop or a branch that holds an array whose name is bound to other memory inside.
Where a cell takes a copy, Python has one array under two names; the copies are noted in `ctx.moves`, and
`aliasing.verify` later refuses programs that could tell the difference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from collections.abc import Sequence as Row
from typing import TYPE_CHECKING, Any

import numpy as np

from adgen import ops
from adgen.frontend import aliasing, arrays, scalars, state
from adgen.frontend.aliasing import Move
from adgen.frontend.arrays.model import Array, View
from adgen.frontend.complexes.types import memory_of
from adgen.frontend.state import State
from adgen.frontend.values import Choice, Closure, Generator, Loop, Maybe, Number, Sequence, Yielding, is_number
from adgen.ir import core
from adgen.ir.builder import Block
from adgen.ir.nodes import Value
from adgen.ir.types import I64, Scalar

if TYPE_CHECKING:
    from adgen.frontend.context import Context


def is_array(value: Any) -> bool:
    """True for dynamic arrays and for NumPy arrays of module level."""
    return isinstance(value, Array | np.ndarray)


def wrap(ctx: Context, value: Any) -> Array:
    """A NumPy array as a dynamic one (a constant table)."""
    return arrays.constant(ctx, value) if isinstance(value, np.ndarray) else value


def settle(ctx: Context, value: Any, name: str = "") -> Any:
    """A value that is given a name: array expressions get memory of their own, views stay views."""
    if isinstance(value, Array):
        return arrays.materialise(ctx, value, name)
    if type(value) is tuple and any(isinstance(item, Array | tuple) for item in value):
        return tuple(settle(ctx, item, f"{name}_{k}" if name else "") for k, item in enumerate(value))
    if type(value) is list and id(value) in ctx.owned:
        value[:] = [settle(ctx, item, f"{name}_{k}" if name else "") for k, item in enumerate(value)]
    return value


def identical(a: Any, b: Any) -> bool:
    """True when two arrays are the same elements of the same memory in the same order."""
    return a is b or (isinstance(a, Array) and isinstance(b, Array) and arrays.identical(a, b))


def allocate(ctx: Context, element: Scalar, extents: Row[Value], name: str, zero: bool = True) -> Array:
    """A fresh buffer as an array."""
    return arrays.allocate(ctx, element, tuple(extents), name, zero)


def base_of(array: Array) -> Value | None:
    """The buffer of the IR that holds the memory of a view; None for an expression."""
    base: Value | None = arrays.base(array)
    return None if base is None else memory_of(base)


def move(ctx: Context, moves: Iterable[tuple[Array, Array, str]], checked: bool = False) -> None:
    """Let cells take the contents of arrays, all at once: a source may be one of the cells.

    `checked` compares the extents at run time where they are not known to agree.
    """
    moves = [(cell, source, name) for cell, source, name in moves if not identical(cell, source)]
    first = len(ctx.builder.blocks[-1].operations)
    overwritten = {base_of(cell) for cell, _, _ in moves}
    ready = []
    for cell, source, name in moves:
        own = base_of(source) in overwritten
        ready.append((cell, arrays.copy(ctx, source, "") if own else source, name))
    for cell, source, name in ready:
        if checked:
            for axis, (mine, other) in enumerate(zip(cell.extents, source.extents)):
                agree(ctx, mine, other, f"`{name}` changes its extent along axis {axis} from {{0}} to {{1}}")
        arrays.copy_into(ctx, cell, source)
    aliasing.note(ctx, first, [Move(base_of(cell), base_of(source), name) for cell, source, name in moves])


def agree(ctx: Context, a: Value, b: Value, message: str) -> None:
    """Check that two extents are equal, at run time unless it is known now."""
    builder = ctx.builder
    if ctx.ranges.equal(a, b):
        return
    known = builder.known(a), builder.known(b)
    if None not in known:
        ctx.fail("AD312", message.format(*known), "make a new array instead, under another name")
    builder.check(builder.op(ops.EQ, a, b), "ValueError", message, (a, b))


def tabulate(ctx: Context, count: Value, item: Callable[[Any], Any]) -> Array:
    """The array of `item(0)`, `item(1)` ... whose items are numbers, or arrays of one shape, which are its rows."""
    builder = ctx.builder
    before = State.capture(ctx)
    with builder.block([Value(I64, "k")]) as probe:
        ctx.ranges.declare(probe.arguments[0], builder.index(0), count)
        sample = item(Number(probe.arguments[0]))
    before.restore()
    inner: list[Value] = []
    if isinstance(sample, Array) and (base_of(sample) is None or base_of(sample) in defined_in(probe)):
        inside = defined_in(probe)
        inner = [x for x in (hoist(ctx, extent, inside) for extent in sample.extents) if x is not None]
    if not is_number(sample) and (not inner or len(inner) < sample.rank):
        ctx.fail_dynamic(
            "AD227",
            "this comprehension gives a list whose length is known at run time only, of what is neither a number nor a "
            "fresh array of a shape that is known before",
            "fill an array in a loop",
        )
    element = sample.element if inner else scalars.kind(ctx, sample)[0]
    extent = builder.op(ops.MAXIMUM, count, builder.index(0))
    array = allocate(ctx, element, (extent, *inner), "items")
    base = arrays.base(array)
    assert base is not None

    def iteration(index: Value) -> tuple[Value, ...]:
        ctx.ranges.declare(index, builder.index(0), count)
        if inner:
            arrays.copy_into(ctx, arrays.getitem(ctx, array, (Number(index),)), wrap(ctx, item(Number(index))))
        else:
            builder.store(base, scalars.to(ctx, item(Number(index)), element), (index,))
        return ()

    builder.loop(builder.index(0), count, (), iteration, name="k")
    return array


def defined_in(block: Block) -> set[Value]:
    """The values that an (open or closed) block defines."""
    inside = set(block.arguments)
    for operation in block.operations:
        inside.update(operation.results)
    return inside


def outlives(ctx: Context, value: Any) -> bool:
    """True for a view that needs nothing but what the open blocks define, so that it means the same outside."""
    if not isinstance(value, View) or base_of(value) in ctx.renewed:
        return False
    needed = {memory_of(value.base), *value.extents}
    for axis in value.frame.axes:
        needed.update(part for part in (axis.offset, *(step for _, step in axis.terms)) if isinstance(part, Value))
    return needed <= defined_here(ctx)


def defined_here(ctx: Context) -> set[Value]:
    """The values that the open blocks define."""
    return set().union(*(defined_in(block) for block in ctx.builder.blocks))


def settled(ctx: Context, value: Any) -> bool:
    """True for a value that needs nothing but what the open blocks define, so that it means the same outside."""
    if isinstance(value, Number):
        return set(ctx.builder.flat([value.value])) <= defined_here(ctx)
    if isinstance(value, Array):
        return outlives(ctx, value)
    inner = state.bound_to(value)
    if isinstance(value, Closure) and value.frame not in ctx.frames:  # its variables are not joined any more
        inner = (*inner, *value.frame.names.values())
    if isinstance(inner, tuple | list | dict):
        return all(settled(ctx, item) for item in state.items_of(inner).values())
    if isinstance(inner, Loop):
        return inner.what == "range" and settled(ctx, (inner.start, inner.stop))
    return not isinstance(inner, Generator | Yielding | Sequence | Maybe | Choice)


def liftable(ctx: Context, value: Any, items: state.Items) -> bool:
    """True when the extents of the arrays in a value can be computed from what the open blocks define."""
    here = defined_here(ctx)

    def lifted(extent: Value) -> bool:
        operation = ctx.builder.definitions.get(extent)
        if extent in here or operation is None:
            return extent in here
        return operation.row.pure and operation.row is not core.TABLE and all(map(lifted, operation.operands))

    if is_array(value):
        return all(map(lifted, wrap(ctx, value).extents))
    return not isinstance(value, tuple | list | dict) or all(
        liftable(ctx, item, items) for item in items(value).values()
    )


def hoist(ctx: Context, value: Value, inside: set[Value]) -> Value | None:
    """The value, recomputed outside of the block that defines `inside`; None when that is not possible."""
    if value not in inside:
        return value
    operation = ctx.builder.definitions.get(value)
    if operation is None or not operation.row.pure or operation.row is core.TABLE:
        return None
    if operation.row is core.DIM:
        known = ctx.builder.dim(operation.operands[0], operation.attributes["axis"])  # what an `alloc` was made with
        if known is not value:
            return hoist(ctx, known, inside)
    operands = [hoist(ctx, operand, inside) for operand in operation.operands]
    if any(operand is None for operand in operands):
        return None
    results = ctx.builder.emit(operation.row, [o for o in operands if o is not None], operation.attributes)
    return results[operation.results.index(value)] if len(results) == len(operation.results) else results[0]


def static_extent(ctx: Context, extent: Any) -> Any:
    """An extent as an int when it is known now, else as a dynamic number."""
    if isinstance(extent, Value):
        known = ctx.builder.known(extent)
        return Number(extent) if known is None else int(known)
    assert not isinstance(extent, Value) or extent.type == I64
    return extent
