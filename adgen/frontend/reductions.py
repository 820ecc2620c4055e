"""`sum`, `max`, `min`, `any`, `all`, `sorted`: over static sequences now, over run-time ones in a loop."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from adgen import ops
from adgen.diagnostics import AdgenError
from adgen.frontend import arrays, calls, operators, scalars
from adgen.frontend import comprehensions as iteration
from adgen.frontend.join import number_template
from adgen.frontend.state import State
from adgen.frontend.templates import Scalars
from adgen.frontend.values import Generator, Number, Yielding, describe, is_number, is_static
from adgen.ir.types import BOOL, F64, I64

if TYPE_CHECKING:
    from adgen.frontend.context import Context


TRIAL = ".trial"
FEW = 16  # so many items are reduced without a loop


def total(ctx: Context, iterable: Any, start: Any = 0) -> Any:
    """`sum`."""
    reduced, items = _reduced(ctx, "sum", iterable, start)
    if items is None:
        return reduced
    result = start
    for item in items:
        result = operators.binary(ctx, operator.add, result, item)
    return result


def _reduced(ctx: Context, kind: str, iterable: Any, start: Any = 0) -> tuple[Any, list[Any] | None]:
    """A reduction over an iteration of run-time length, as a loop; or the items when their number is known."""
    if isinstance(iterable, Generator) and not _static_generator(ctx, iterable):
        return iteration.reduce(ctx, kind, iterable, start), None
    if isinstance(iterable, Yielding):
        return iteration.reduce(ctx, kind, iteration.generator_over(ctx, iterable), start), None
    source = iteration.iterate(ctx, iterable)
    if source.unroll or (source.trip is not None and source.trip <= FEW):
        return None, list(iteration.items_of(ctx, source))
    return iteration.reduce(ctx, kind, iteration.generator_over(ctx, source), start), None


def _static_generator(ctx: Context, generator: Generator) -> bool:
    """The loops of a generator expression are over static sequences and its conditions are decided now."""
    ctx.frame.names[TRIAL] = generator  # what it changes is seen through a name
    before = State.capture(ctx)
    with ctx.builder.block() as block:
        try:
            iteration.collect(ctx, generator.node, generator.frame, generator.source)
            static = len(block.operations) < 2000
        except AdgenError:
            static = False
    before.restore()
    del ctx.frame.names[TRIAL]
    return static


def extreme(kind: str) -> Callable[..., Any]:
    better = operator.gt if kind == "max" else operator.lt
    row = ops.MAXIMUM if kind == "max" else ops.MINIMUM

    def pick(ctx: Context, a: Any, b: Any, key: Any) -> Any:
        x, y = (a, b) if key is None else (calls.call(ctx, key, [a], {}), calls.call(ctx, key, [b], {}))
        truth = operators.truth(ctx, operators.equality(ctx, better, y, x))
        if isinstance(truth, bool):
            return b if truth else a
        if not is_number(a) or not is_number(b):
            ctx.fail(
                "AD306", f"`{kind}` of {describe(a)} and {describe(b)} is not supported", "use `np.maximum` or a loop"
            )
        meeting = number_template(ctx, [a, b], "")
        if not isinstance(meeting, Scalars):
            ctx.fail("AD310", f"`{kind}` gives {describe(a)} or {describe(b)}: the types differ", "convert one of them")
        if key is None and meeting.element.is_integer:
            x, y = (scalars.to(ctx, value, meeting.element) for value in (a, b))
            return Number(ctx.builder.op(row, x, y), meeting.weak)
        if key is None:
            return scalars.row(ctx, ops.PYMAX if kind == "max" else ops.PYMIN, a, b, numpy=False)
        return scalars.select(ctx, Number(truth), b, a)

    def apply(ctx: Context, *values: Any, key: Any = None, default: Any = NotImplemented) -> Any:
        if len(values) == 1:
            if key is None:
                reduced, items = _reduced(ctx, kind, values[0])
                if items is None:
                    return reduced
                values = tuple(items)
            else:
                values = tuple(iteration.items_of(ctx, values[0]))
        if not values:
            if default is not NotImplemented:
                return default
            ctx.fail("AD305", f"ValueError: {kind}() iterable argument is empty", raises=ValueError)
        best = values[0]
        for value in values[1:]:
            best = pick(ctx, best, value, key)
        return best

    return apply


def quantifier(kind: str) -> Callable[..., Any]:
    row = ops.OR if kind == "any" else ops.AND

    def apply(ctx: Context, iterable: Any) -> Any:
        reduced, items = _reduced(ctx, kind, iterable)
        if items is None:
            return reduced
        result: Any = kind == "all"
        for item in items:
            result = operators.conjunction(ctx, result, operators.truth(ctx, item), row)
        return result

    return apply


def make_sorted(ctx: Context, iterable: Any, *, key: Any = None, reverse: Any = False) -> Any:
    """`sorted` of what is static, and of run-time numbers of one type."""
    items = list(iteration.items_of(ctx, iterable))
    keys = items if key is None else [calls.call(ctx, key, [item], {}) for item in items]
    if key is None and isinstance(reverse, bool) and not is_static(items) and all(is_number(x) for x in items):
        return ctx.own(_sorted_numbers(ctx, items, reverse))
    if not is_static(keys) or not is_static(reverse):
        ctx.fail("AD230", "`sorted` of run-time values is not supported", "use `np.sort`")
    order = scalars.static(ctx, sorted, range(len(items)), key=keys.__getitem__, reverse=bool(reverse))
    return ctx.own([items[k] for k in order])


def _sorted_numbers(ctx: Context, items: list[Any], reverse: bool) -> list[Any]:
    arrays.refuse_complex(ctx, "sorted", items)
    kinds = {scalars.kind(ctx, x) for x in items}
    if len(kinds) > 1:
        ctx.fail("AD230", "`sorted` of run-time numbers of different types is not supported", "convert them to floats")
    ((_, weak),) = kinds
    ordered = arrays.getitem(ctx, arrays.as_array(ctx, items), slice(None))
    ordered = arrays.materialise(ctx, calls.known(ctx, np.sort, [ordered], {})[1])
    found = [Number(arrays.getitem(ctx, ordered, k).value, weak) for k in range(len(items))]
    return found[::-1] if reverse else found


def position(ctx: Context, items: Sequence[Any], value: Any) -> Any:
    """`items.index(value)` of run-time numbers: the first one that is equal."""
    if not all(is_number(x) for x in (*items, value)):
        ctx.fail("AD230", "`.index` of run-time values is supported for numbers", "use a loop")
    found, at = scalars.cast(ctx, False, BOOL, True), scalars.cast(ctx, 0, I64, True)
    for k in range(len(items) - 1, -1, -1):
        here = ctx.number(operators.equality(ctx, operator.eq, items[k], value))
        at = scalars.select(ctx, here, k, at)
        found = ctx.number(operators.conjunction(ctx, here, found, ops.OR))
    ctx.builder.check(found.value, "ValueError", "the value is not in the list")
    return at


def occurrences(ctx: Context, items: Sequence[Any], value: Any) -> Any:
    """`items.count(value)`: how many are equal."""
    total: Any = 0
    for item in items:
        here = operators.as_number(operators.truth(ctx, operators.equality(ctx, operator.eq, item, value)))
        total = operators.binary(ctx, operator.add, total, here)
    return total


def fold(ctx: Context, function: Any, iterable: Any, *initial: Any) -> Any:
    """`functools.reduce` over a static sequence."""
    items = [*initial, *iteration.items_of(ctx, iterable)]
    if not items:
        ctx.fail("AD305", "TypeError: reduce() of empty iterable with no initial value", raises=TypeError)
    result = items[0]
    for item in items[1:]:
        result = calls.call(ctx, function, [result, item], {})
    return result


def product(ctx: Context, iterable: Any, *, start: Any = 1) -> Any:
    """`math.prod`."""
    result = start
    for item in iteration.items_of(ctx, iterable):
        result = operators.binary(ctx, operator.mul, result, item)
    return result


def exact_sum(ctx: Context, iterable: Any) -> Any:
    """`math.fsum`, summed in order."""
    return scalars.cast(ctx, total(ctx, iterable, 0.0), F64, True)


def distance(ctx: Context, p: Any, q: Any) -> Any:
    """`math.dist`."""
    pairs = zip(iteration.items_of(ctx, p), iteration.items_of(ctx, q))
    return scalars.apply(ctx, math.hypot, *[operators.binary(ctx, operator.sub, a, b) for a, b in pairs])
