"""Maxima, products and the like of one long array, in parts.

Comes in: a function and loops of it that a host would leave to one thread.  Goes out: the same, where such a loop only
folds elements into carried values, with two rounds of parts before it.  Guaranteed: the same values, a product up to
the order of its factors; of a maximum also the same first place, the same number of ties and the same not-a-number.

A fold is one of

- a product, or an `or` or `and` of conditions;
- `maximum` or `minimum`;
- what NumPy's reductions are lowered to: the largest element so far, whether a not-a-number or larger, beside it the
  place where it stands, and how many elements are equal to it.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass

from adgen import ops
from adgen.ir import core
from adgen.ir.builder import Builder
from adgen.ir.nodes import NO_ATTRIBUTES, Attributes, Function, Operation, Region, Row, Value
from adgen.ir.rebuild import Transform, clone, mapped, rebuild, record
from adgen.ir.sizes import PARTS
from adgen.ir.types import Scalar
from adgen.passes.extents import index_of, trip_count
from adgen.passes.partial import APART, FEW, moved, needed

ROUNDS = (256, 65_536)  # elements that a part's memory is taken for: 65,536 parts, then 256
NEUTRAL: dict[Row, int] = {ops.MUL: 1, ops.OR: 0, ops.AND: 1}
EXTREMES = (ops.MAXIMUM, ops.MINIMUM)

State = Sequence[Value]


@dataclass(frozen=True)
class Fold:
    """How a loop folds elements: the first carried value by a row; for extremes with what is beside it, `picks`.

    `element` are the values of one iteration: the number, and for each other carried value what a new extreme sets it
    to; `counts` are the places of those that count ties.
    """

    row: Row
    element: tuple[Value, ...]
    order: tuple[int, ...]  # which carried value each of the element's is for
    counts: frozenset[int] = frozenset()
    picks: bool = False
    once: bool = False  # the first not-a-number stays, else the last

    @property
    def neutral(self) -> int | None:
        """The number that changes nothing, where a part may begin with it."""
        return NEUTRAL.get(self.row)


def folds(function: Function, wanted: Container[Operation]) -> Function:
    """Take wanted loops that are folds in parts."""

    def transform(builder: Builder, operation: Operation, mapping: dict[Value, Value]) -> bool:
        found = fold_of(operation) if operation in wanted else None
        if found is None:
            return False
        record(builder, operation, tuple(_emit(builder, operation, found, mapping)), mapping)
        return True

    return rebuild(function, transform)


def fold_of(loop: Operation) -> Fold | None:
    """How a loop folds its elements; None for another loop."""
    if loop.row is not core.FOR or loop.attributes.get("exit"):
        return None
    region = loop.regions[0]
    if any(o.regions or not (o.row.pure or o.row is core.LOAD) for o in region.operations):
        return None
    carried, made = region.arguments[1:], {v: o for o in region.operations for v in o.results}
    tied = _depends(region)
    if len(carried) == 1:
        found = _single(carried[0], region.results[0], made, tied)
        if found is not None:
            return found
    return _picking(carried, region.results, made, tied)


def _depends(region: Region) -> set[Value]:
    """The values that depend on what is carried."""
    found = set(region.arguments[1:])
    for operation in region.operations:
        if found.intersection(operation.operands):
            found.update(operation.results)
    return found


def _single(carried: Value, result: Value, made: dict[Value, Operation], tied: set[Value]) -> Fold | None:
    operation = made.get(result)
    if operation is None or operation.row not in (*NEUTRAL, *EXTREMES):
        return None
    others = [value for value in operation.operands if value is not carried]
    if len(others) != 1 or others[0] in tied:
        return None
    return Fold(operation.row, (others[0],), (0,))


def _picking(
    carried: Sequence[Value], results: Sequence[Value], made: dict[Value, Operation], tied: set[Value]
) -> Fold | None:
    """A new extreme is chosen under one condition, and what is beside it with it."""
    choices = [made.get(result) for result in results]
    if not choices or any(choice is None or choice.row is not ops.SELECT for choice in choices):
        return None
    chosen = [choice for choice in choices if choice is not None]
    condition = chosen[0].operands[0]
    if any(choice.operands[0] is not condition for choice in chosen):
        return None
    either = made.get(condition)
    if either is None or either.row is not ops.OR:
        return None
    parts = [made.get(value) for value in either.operands]
    compared = next((o for o in parts if o is not None and o.row in (ops.GT, ops.LT)), None)
    unknown = next((o for o in parts if o is not None and o.row in (ops.ISNAN, ops.AND)), None)
    if compared is None or unknown is None:
        return None
    number, best = compared.operands
    once = unknown.row is ops.AND
    fits = _is_first(unknown, number, best, made) if once else unknown.operands[0] is number
    if number in tied or best not in carried or not fits:
        return None
    place = list(carried).index(best)
    if chosen[place].operands[1] is not number or chosen[place].operands[2] is not best:
        return None
    element, order, counts = [number], [place], set()
    for k, choice in enumerate(chosen):
        if k == place:
            continue
        _, new, old = choice.operands
        if new in tied:
            return None
        if old is not carried[k]:
            if not _counts(old, carried[k], new, number, best, made):
                return None
            counts.add(k)
        element.append(new)
        order.append(k)
    row = ops.MAXIMUM if compared.row is ops.GT else ops.MINIMUM
    return Fold(row, tuple(element), tuple(order), frozenset(counts), True, once)


def _is_first(both: Operation, number: Value, best: Value, made: dict[Value, Operation]) -> bool:
    """True for `isnan(number) and not isnan(best)`."""
    for one, other in (both.operands, both.operands[::-1]):
        new, opposite = made.get(one), made.get(other)
        if new is None or opposite is None or new.row is not ops.ISNAN or opposite.row is not ops.NOT:
            continue
        old = made.get(opposite.operands[0])
        if new.operands[0] is number and old is not None and old.row is ops.ISNAN and old.operands[0] is best:
            return True
    return False


def _counts(old: Value, carried: Value, new: Value, number: Value, best: Value, made: dict[Value, Operation]) -> bool:
    """True for `number == best ? carried + new : carried`."""
    choice = made.get(old)
    if choice is None or choice.row is not ops.SELECT or choice.operands[2] is not carried:
        return False
    equal, more = (made.get(value) for value in choice.operands[:2])
    if equal is None or equal.row is not ops.EQ or set(equal.operands) != {number, best}:
        return False
    return more is not None and more.row is ops.ADD and set(more.operands) == {carried, new}


def _emit(builder: Builder, loop: Operation, fold: Fold, mapping: dict[Value, Value]) -> State:
    """Two rounds of parts, and what is left of the loop."""
    loop = moved(loop, mapping)
    state = [loop.operands[2 + k] for k in fold.order]
    count, read = trip_count(builder, loop), elements(builder, loop, fold, mapping)
    for size in ROUNDS:
        count, read = _round(builder, fold, count, read, size)
    return by_place(fold, _folded(builder, fold, (builder.index(0), count), state, read, FEW))


def elements(
    builder: Builder, loop: Operation, fold: Fold, mapping: dict[Value, Value], transform: Transform | None = None
) -> Callable[[Value], State]:
    """What a loop folds in its iteration of a number; `loop` has been moved to where it is asked for."""
    region = loop.regions[0]
    wanted = needed(region.operations, fold.element)

    def element(number: Value) -> State:
        local = {**mapping, region.arguments[0]: index_of(builder, loop, number)}
        clone(builder, wanted, local, transform)
        return mapped(fold.element, local)

    return element


def by_place(fold: Fold, state: State) -> State:
    """What a fold gives, in the order in which its loop carries it."""
    found = dict(zip(fold.order, state, strict=True))
    return [found[k] for k in range(len(found))]


def _round(
    builder: Builder, fold: Fold, count: Value, read: Callable[[Value], State], size: int
) -> tuple[Value, Callable[[Value], State]]:
    """Fold parts of the elements; how many there are, and what reads the result of one."""
    one = builder.index(1)
    parts = builder.op(PARTS, count, one, builder.index(size), name="parts")
    zero = builder.index(0)
    kinds = [_kind(value) for value in fold.element]
    memory = [
        builder.alloc(kind, (parts,), f"{value.name or 'fold'}_parts", zero=False)
        for kind, value in zip(kinds, fold.element, strict=True)
    ]

    def part(number: Value) -> Sequence[Value]:
        ends = portion(builder, count, number, parts)
        for buffer, value in zip(memory, folded_part(builder, fold, ends, read), strict=True):
            builder.store(buffer, value, (number,))
        return ()

    builder.loop(zero, parts, (), part, name="part", attributes=APART)
    return parts, lambda number: [builder.load(buffer, (number,)) for buffer in memory]


def portion(builder: Builder, count: Value, number: Value, parts: Value) -> tuple[Value, Value]:
    """The ends of one part of some elements; none is empty where there are no more parts than elements."""
    following = builder.op(ops.ADD, number, builder.index(1))
    first, last = (builder.op(ops.FLOORDIV, builder.op(ops.MUL, count, n), parts) for n in (number, following))
    return first, last


def folded_part(builder: Builder, fold: Fold, ends: tuple[Value, Value], read: Callable[[Value], State]) -> State:
    """Some elements folded, at least one."""
    begin, end = ends
    if fold.neutral is not None:
        state: State = [builder.const(fold.neutral, fold.element[0].type)]
    else:
        state, begin = read(begin), builder.op(ops.ADD, begin, builder.index(1))
    return _folded(builder, fold, (begin, end), state, read)


def _folded(
    builder: Builder,
    fold: Fold,
    ends: tuple[Value, Value],
    state: State,
    read: Callable[[Value], State],
    attributes: Attributes = NO_ATTRIBUTES,
) -> State:
    """The loop itself."""

    def iteration(index: Value, *carried: Value) -> State:
        return combined(builder, fold, carried, read(index))

    names = [value.name for value in state]
    return builder.loop(*ends, state, iteration, names=names, unordered=True, attributes=attributes)


def combined(builder: Builder, fold: Fold, carried: State, element: State) -> State:
    """What is carried on after an element, or after a part."""
    if not fold.picks:
        return [builder.op(fold.row, carried[0], element[0])]
    number, best = element[0], carried[0]
    better = builder.op(ops.GT if fold.row is ops.MAXIMUM else ops.LT, number, best)
    unknown = builder.op(ops.ISNAN, number)
    if fold.once:
        unknown = builder.op(ops.AND, unknown, builder.op(ops.NOT, builder.op(ops.ISNAN, best)))
    taken = builder.op(ops.OR, better, unknown)
    equal = builder.op(ops.EQ, number, best)
    found = [builder.op(ops.SELECT, taken, number, best)]
    for place, old, new in zip(fold.order[1:], carried[1:], element[1:], strict=True):
        if place in fold.counts:
            old = builder.op(ops.SELECT, equal, builder.op(ops.ADD, old, new), old)
        found.append(builder.op(ops.SELECT, taken, new, old))
    return found


def _kind(value: Value) -> Scalar:
    assert isinstance(value.type, Scalar)
    return value.type
