"""`len`, `range`, `enumerate`, `zip`, `reversed`, `map`, `filter`: what gives items, static or at run time."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from adgen import ops
from adgen.frontend import calls, memory, operators, scalars
from adgen.frontend import comprehensions as iteration
from adgen.frontend.library import iterators
from adgen.frontend.values import (
    Generator,
    Loop,
    Number,
    Sequence,
    Text,
    Yielding,
    describe,
    is_iterator,
    is_number,
    is_static,
)

if TYPE_CHECKING:
    from adgen.frontend.context import Context


HELP = "make lists of them first"


def length(ctx: Context, x: Any) -> Any:
    """`len`."""
    if isinstance(x, Sequence):
        x = x.array
    if memory.is_array(x):
        array = memory.wrap(ctx, x)
        if array.rank == 0:
            ctx.fail("AD322", "an array without axes has no length")
        return memory.static_extent(ctx, array.extents[0])
    if isinstance(x, Number):
        if ctx.inference is not None:
            ctx.inference.array(ctx, x, 1)
        ctx.fail("AD322", f"{describe(x)} has no length", "is this argument meant to be an array?", raises=TypeError)
    if isinstance(x, Generator | Loop) and is_iterator(x):
        ctx.fail("AD322", f"{describe(x)} has no length", "make a list of it first")
    if isinstance(x, Loop):
        return iteration.normalised(ctx, x).stop
    if isinstance(x, Text):
        ctx.fail("AD230", f"the length of {describe(x)} is not known when compiling")
    method = operators.method_of(x, "__len__")
    if method is not None:
        return calls.call(ctx, method, [x], {})
    return scalars.static(ctx, len, x)


def make_range(ctx: Context, first: Any, second: Any = None, step: Any = 1) -> Any:
    """`range`."""
    start, stop = (0, first) if second is None else (first, second)
    bounds = [_bound(ctx, x) for x in (start, stop, step)]
    if all(isinstance(x, int) for x in bounds):
        return scalars.static(ctx, range, *bounds)
    if not isinstance(bounds[2], int):
        return _stepped(ctx, *bounds)
    if bounds[2] == 0:
        ctx.fail("AD305", "ValueError: range() arg 3 must not be zero", raises=ValueError)
    return Loop(bounds[0], bounds[1], bounds[2], lambda index: index)


def _bound(ctx: Context, x: Any) -> Any:
    if not is_number(x):
        ctx.fail("AD322", f"`range` needs integers, not {describe(x)}")
    if isinstance(x, Number):
        value = scalars.as_index(ctx, x, "a bound of `range`")
        known = ctx.builder.known(value)
        return Number(value) if known is None else int(known)
    if isinstance(x, float):
        ctx.fail("AD304", "a bound of `range` must be an integer, not a float", "convert it with `int(...)`")
    return int(x)


def _stepped(ctx: Context, start: Any, stop: Any, step: Number) -> Loop:
    """A range whose step is known at run time only: `ceil((stop - start) / step)` items, whatever the sign."""
    builder = ctx.builder
    builder.check(builder.op(ops.NE, step.value, builder.index(0)), "ValueError", "range() arg 3 must not be zero")
    back = scalars.binary(ctx, operator.sub, start, stop)
    row = builder.op(ops.FLOORDIV, scalars.as_index(ctx, back), step.value)
    count = builder.op(ops.MAXIMUM, builder.op(ops.NEG, row), builder.index(0))

    def item(index: Any) -> Any:
        return scalars.binary(ctx, operator.add, start, scalars.binary(ctx, operator.mul, index, step))

    return Loop(0, Number(count), 1, item)


def make_enumerate(ctx: Context, iterable: Any, start: Any = 0) -> Any:
    """`enumerate`."""
    if isinstance(iterable, Yielding):
        return calls.call(ctx, iterators.enumerated, [iterable, start], {})
    loop = iteration.normalised(ctx, iteration.iterate(ctx, iterable))

    def item(index: Any) -> Any:
        return (scalars.binary(ctx, operator.add, index, start) if _nonzero(start) else index, loop.item(index))

    return ctx.own(Loop(0, loop.stop, 1, item, "enumerate", loop.unroll))


def _nonzero(start: Any) -> bool:
    return isinstance(start, Number) or start != 0


def make_zip(ctx: Context, *iterables: Any, strict: Any = False) -> Any:
    """`zip`."""
    if any(isinstance(x, Yielding) for x in iterables):
        return _zipped(ctx, iterables, strict)
    loops = [iteration.normalised(ctx, iteration.iterate(ctx, x)) for x in iterables]
    if not loops:
        return iteration.iterator(ctx, iteration.over_items(ctx, ()), "zip")
    stop = loops[0].stop
    for loop in loops[1:]:
        stop = _smaller(ctx, stop, loop.stop, strict is True)
    unroll = isinstance(stop, int) and any(loop.unroll for loop in loops)
    return ctx.own(Loop(0, stop, 1, lambda index: tuple(loop.item(index) for loop in loops), "zip", unroll))


def _zipped(ctx: Context, iterables: tuple[Any, ...], strict: Any) -> Any:
    """`zip` with what a function with `yield` gives."""
    (place, *more) = [k for k, x in enumerate(iterables) if is_iterator(x)]
    if more or strict is not False or not isinstance(iterables[place], Yielding):
        ctx.fail("AD205", "`zip` of several iterators, or a strict one, is not supported here", HELP)
    sides = iterables[:place], iterables[place], iterables[place + 1 :]
    return calls.call(ctx, iterators.zipped, list(sides), {})


def _smaller(ctx: Context, a: Any, b: Any, strict: bool) -> Any:
    if isinstance(a, int) and isinstance(b, int):
        if strict and a != b:
            ctx.fail("AD305", f"ValueError: zip() arguments differ in length: {a} and {b}", raises=ValueError)
        return min(a, b)
    first, second = scalars.as_index(ctx, a), scalars.as_index(ctx, b)
    if strict:
        memory.agree(ctx, first, second, "zip() arguments differ in length: {0} and {1}")
        return a
    if ctx.ranges.equal(first, second):
        return a
    return Number(ctx.builder.op(ops.MINIMUM, first, second))


def make_reversed(ctx: Context, iterable: Any) -> Any:
    """`reversed`."""
    if isinstance(iterable, range):
        return iteration.iterator(ctx, iteration.iterate(ctx, iterable[::-1]), "reversed")
    loop = iteration.normalised(ctx, iteration.iterate(ctx, iterable))
    last = scalars.binary(ctx, operator.sub, loop.stop, 1)

    def item(index: Any) -> Any:
        return loop.item(scalars.binary(ctx, operator.sub, last, index))

    return ctx.own(Loop(0, loop.stop, 1, item, "reversed", loop.unroll))


def make_map(ctx: Context, function: Any, *iterables: Any) -> Any:
    """`map`."""
    if any(isinstance(x, Yielding) for x in iterables):
        if len(iterables) > 1:
            ctx.fail("AD205", "`map` over several iterators is not supported here", HELP)
        return calls.call(ctx, iterators.mapped, [function, *iterables], {})
    loop = iteration.iterate(ctx, make_zip(ctx, *iterables) if len(iterables) > 1 else iterables[0])
    single = len(iterables) == 1

    def apply(item: Any) -> Any:
        return calls.call(ctx, function, [item] if single else list(item), {})

    return ctx.own(Loop(loop.start, loop.stop, loop.step, lambda index: apply(loop.item(index)), "map", loop.unroll))


def make_filter(ctx: Context, function: Any, iterable: Any) -> Any:
    """`filter` with a test that is decided now."""
    if isinstance(iterable, Yielding):
        return calls.call(ctx, iterators.filtered, [function, iterable], {})
    kept = []
    for item in iteration.items_of(ctx, iterable):
        truth = operators.truth(ctx, item if function is None else calls.call(ctx, function, [item], {}))
        if not isinstance(truth, bool):
            ctx.fail_dynamic("AD228", "the test of `filter` is decided at run time, and so is the length of the result")
        if truth:
            kept.append(item)
    return iteration.iterator(ctx, iteration.over_items(ctx, tuple(kept)), "filter")


def make_iterator(ctx: Context, iterable: Any) -> Any:
    """`iter`."""
    return iterable if is_iterator(iterable) else iteration.iterator(ctx, iteration.iterate(ctx, iterable))


# -- itertools -------------------------------------------------------------------------------------------------------

FOREVER = 2**62


def make_count(ctx: Context, start: Any = 0, step: Any = 1) -> Any:
    """`itertools.count`."""

    def item(index: Any) -> Any:
        return scalars.binary(ctx, operator.add, start, scalars.binary(ctx, operator.mul, index, step))

    return iteration.iterator(ctx, Loop(0, FOREVER, 1, item))


def make_repeat(ctx: Context, value: Any, times: Any = FOREVER) -> Any:
    """`itertools.repeat`."""
    return iteration.iterator(ctx, Loop(0, _bound(ctx, times), 1, lambda index: value))


def make_islice(ctx: Context, iterable: Any, *bounds: Any) -> Any:
    """`itertools.islice` of what has a static length."""
    loop = iteration.normalised(ctx, iteration.iterate(ctx, iterable))
    if not is_static(bounds) or loop.trip is None:
        ctx.fail_dynamic("AD227", "the number of items is known at run time only", "use an array and a loop")
    chosen = scalars.static(ctx, lambda: range(*slice(*bounds).indices(loop.trip or 0)))
    if len(chosen) > iteration.LARGEST:
        ctx.fail("AD240", f"{len(chosen)} items are too many to handle one by one", "use an array and a loop")
    return iteration.iterator(ctx, iteration.over_items(ctx, tuple(loop.item(index) for index in chosen)))


def moving(function: Any) -> Any:
    """The rule of a function of `itertools` that moves items about, whatever they are."""

    def apply(ctx: Context, *iterables: Any, **options: Any) -> Any:
        if any(isinstance(x, Yielding) for x in iterables):
            ctx.fail("AD205", f"`{function.__name__}` of a lazy iterator is not supported", "make a list of it first")
        items = [x if is_number(x) else [operators.secure(ctx, v) for v in iteration.spread(ctx, x)] for x in iterables]
        return iteration.adopt(ctx, scalars.static(ctx, function, *items, **options))

    return apply
