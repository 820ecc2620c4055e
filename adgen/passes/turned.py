"""Additions that meet, by the thread that owns the element: two loops that change places.

Comes in: a loop whose iterations are independent but for what they add to memory, as in the forces between all pairs of
particles.  Goes out: for the additions that a loop inside of it owns, that loop outside and the other one inside.
Guaranteed: every addition is made once; what it needs is worked out again, from memory that the loop does not write.

    for i:                                    for i:                        for j:
        for j in range(i + 1, n):                 for j in range(i + 1, n):     for i:
            A[i] += f(i, j)           becomes         A[i] += f(i, j)  and          if i + 1 <= j < n:
            A[j] += g(i, j)                                                             A[j] += g(i, j)

The iterations over `i` on the right are taken in parts, so that there are threads enough, and the parts added up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from adgen import ops
from adgen.ir import core
from adgen.ir.builder import Builder
from adgen.ir.nodes import Operation, Value, walk, walk_one
from adgen.ir.rebuild import Transform, clone, clone_operation, mapped
from adgen.ir.translate import free_values
from adgen.ir.types import I64
from adgen.passes.extents import trip_count
from adgen.passes.forms import Forms
from adgen.passes.partial import chunk, copies, division, moved
from adgen.passes.sharing import Sharing, arguments_of, is_own

Known = Callable[[Value], bool]
Makers = Mapping[Value, Operation]


@dataclass(frozen=True)
class Turned:
    """Additions of a loop inside of another, which are to be made with the two exchanged."""

    outer: Operation
    inner: Operation
    additions: tuple[Operation, ...]


def turned(
    loop: Operation, found: Sharing, root: Mapping[Value, Value], forms: Forms, known: Known
) -> tuple[Turned, ...] | None:
    """For all additions that iterations of a loop share: those that it does not own itself; None where that is no way.

    `known` tells of a scalar outside of the loop whether a host knows it.
    """
    region = loop.regions[0]
    inside = {value for operation in walk(region) for value in operation.results} | arguments_of(loop)
    left = [
        operation
        for touching in found.added.values()
        for operation in touching
        if not is_own([operation], region.arguments[0], inside, forms)
    ]
    for touching in found.added.values():
        kept = [operation for operation in touching if operation not in left]
        if kept and not is_own(kept, region.arguments[0], inside, forms):
            return None
    written = {root[value] for operation in walk(region) for value in core.writes_of(operation)}
    plans = []
    for inner in region.operations:
        if inner.row is not core.FOR:
            continue
        mine = tuple(operation for operation in left if any(operation is each for each in walk_one(inner)))
        if mine and not _turns(loop, inner, mine, written, root, forms, known):
            return None
        if mine:
            plans.append(Turned(loop, inner, mine))
            left = [operation for operation in left if operation not in mine]
    return tuple(plans) if not left and plans else None


def _turns(
    loop: Operation,
    inner: Operation,
    additions: Sequence[Operation],
    written: set[Value],
    root: Mapping[Value, Value],
    forms: Forms,
    known: Known,
) -> bool:
    """True when the two loops can change places for some additions."""
    region, body = loop.regions[0], inner.regions[0]
    if inner.attributes.get("exit") or abs(inner.attributes["step"]) != 1 or abs(loop.attributes["step"]) != 1:
        return False
    inside = {value for operation in walk(body) for value in operation.results} | arguments_of(inner)
    groups: dict[Value, list[Operation]] = {}
    for operation in additions:
        groups.setdefault(root[operation.operands[0]], []).append(operation)
    if not all(is_own(touching, body.arguments[0], inside, forms) for touching in groups.values()):
        return False
    fresh = {o.result for o in walk(body) if o.row is core.ALLOC}
    needed = _needed(inner, additions, fresh)
    if needed & set(body.arguments[1:]):
        return False  # what the loop carries
    makers = {value: operation for operation in region.operations for value in operation.results}
    for value in _closed([*needed, *inner.operands[:2]], makers):
        maker = makers.get(value)
        if maker is not None and (maker.regions or not (maker.row.pure or _reads(maker, written, root))):
            return False
    loads = [o for o in walk(body) if o.row is core.LOAD and root[o.operands[0]] not in fresh]
    if any(root[o.operands[0]] in written for o in loads):
        return False
    return all(_affine(value, region.arguments[0], makers, forms, known) for value in inner.operands[:2])


def _reads(operation: Operation, written: set[Value], root: Mapping[Value, Value]) -> bool:
    return operation.row is core.LOAD and root[operation.operands[0]] not in written


def _closed(values: Sequence[Value], makers: Mapping[Value, Operation]) -> set[Value]:
    """Values with all that they are computed from in one region."""
    found: set[Value] = set()
    pending = list(values)
    while pending:
        value = pending.pop()
        if value not in found:
            found.add(value)
            if value in makers:
                pending += makers[value].operands
    return found


def _needed(inner: Operation, additions: Sequence[Operation], fresh: set[Value]) -> set[Value]:
    """What some additions in a loop need that the operations of its body do not make, with all that is beside them."""
    operations = inner.regions[0].operations
    makers = {value: operation for operation in operations for value in operation.results}
    wanted = [
        operation
        for operation in operations
        if any(
            each in additions or (each.row in (core.STORE, core.ACCUMULATE) and each.operands[0] in fresh)
            for each in walk_one(operation)
        )
    ]
    found: set[Value] = set()
    seen: set[Operation] = set()
    while wanted:
        operation = wanted.pop()
        if operation in seen:
            continue
        seen.add(operation)
        for value in free_values(operation):
            if value in makers:
                wanted.append(makers[value])
            else:
                found.add(value)
    return found


def _affine(value: Value, index: Value, makers: Mapping[Value, Operation], forms: Forms, known: Known) -> bool:
    """True when an end of the inner loop is linear in the outer index, and a host knows the rest."""
    form = forms.of(value)
    split = form.split(forms.atom(index))
    if split is None or split[0].constant is None:
        return False
    return all(forms.atoms[atom] not in makers and known(forms.atoms[atom]) for atom in split[1].atoms)


def emit_turned(builder: Builder, plan: Turned, mapping: dict[Value, Value]) -> None:
    """The loops exchanged: `x` over what was inside, `y` over parts of what was outside."""
    loop, inner = plan.outer, plan.inner
    makers = {value: operation for operation in loop.regions[0].operations for value in operation.results}
    low, high = _range(builder, plan, makers, mapping)
    count = trip_count(builder, moved(loop, mapping))
    width = builder.op(ops.SUB, high, low)
    handles = mapped(dict.fromkeys(addition.operands[0] for addition in plan.additions), mapping)
    parts = division(builder, count, width, handles)
    apiece = {handle: copies(builder, handle, parts) for handle in handles}
    number, column = Value(I64, "part"), Value(I64, inner.regions[0].arguments[0].name)
    with builder.block((number,)) as outside:
        with builder.block((column,)) as block:
            ends = chunk(builder, moved(loop, mapping), count, number, parts)
            _column(builder, plan, makers, ends, column, mapping, lambda handle: (apiece[handle], (number,)))
        attributes = {"step": 1, "exit": False}
        builder.emit(core.FOR, (low, high), attributes, (block.region(),), span=inner.span)
    builder.emit(
        core.FOR, (builder.index(0), parts), {**attributes, "parts": True}, (outside.region(),), span=loop.span
    )
    for handle, copy in apiece.items():
        builder.emit(core.ADD_UP, (handle, copy), span=loop.span)


def _range(builder: Builder, plan: Turned, makers: Makers, mapping: dict[Value, Value]) -> tuple[Value, Value]:
    """The lowest index of the inner loop in all iterations of the outer one, and the one after the highest."""
    loop, inner = plan.outer, plan.inner
    index = loop.regions[0].arguments[0]
    start, stop = mapped(loop.operands[:2], mapping)
    forward = loop.attributes["step"] > 0
    last = builder.op(ops.SUB if forward else ops.ADD, stop, builder.index(1))
    (a, b), (c, d) = (_low_high(builder, inner, makers, {**mapping, index: i}) for i in (start, last))
    if a is c and b is d:
        return a, b
    low = builder.op(ops.MINIMUM, a, c, name="first")
    empty = builder.op(ops.LE, *((stop, start) if forward else (start, stop)))
    return low, builder.op(ops.SELECT, empty, low, builder.op(ops.MAXIMUM, b, d), name="last")


def _column(
    builder: Builder,
    plan: Turned,
    makers: Makers,
    ends: tuple[Value, Value],
    column: Value,
    mapping: dict[Value, Value],
    apiece: Callable[[Value], tuple[Value, tuple[Value, ...]]],
) -> None:
    """The iterations of one part of the outer loop for one index of the inner one."""
    loop, inner = plan.outer, plan.inner
    region, body = loop.regions[0], inner.regions[0]
    index = region.arguments[0]
    sums = running(inner, plan.additions, loop)
    before = region.operations[: _place(loop, inner)]
    fresh = {o.result for o in walk(body) if o.row is core.ALLOC}
    wanted = _closed([*inner.operands[:2], *_needed(inner, plan.additions, fresh)], makers)

    def added(local: dict[Value, Value], carried: Sequence[Value]) -> Sequence[Value]:
        local[body.arguments[0]] = column
        local.update((argument, builder.const(0, argument.type)) for argument in body.arguments[1:])
        clone(builder, body.operations, local, _only(plan, sums, fresh, apiece))
        return [builder.op(ops.ADD, c, mapped(a.operands, local)[1]) for c, a in zip(carried, sums, strict=True)]

    def iteration(i: Value, *carried: Value) -> Sequence[Value]:
        local = {**mapping, index: i}
        clone(builder, [o for o in before if set(o.results) & wanted], local)
        if not _closed(inner.operands[:2], makers) & {index, *makers}:
            return added(local, carried)
        first, last = _low_high(builder, inner, makers, local)
        here = builder.op(ops.AND, builder.op(ops.LE, first, column), builder.op(ops.LT, column, last))
        names = [value.name for value in carried]
        return builder.branch(here, lambda: added(local, carried), lambda: carried, names)

    zeros = [builder.const(0, addition.operands[1].type) for addition in sums]
    names = [addition.operands[0].name for addition in sums]
    totals = builder.loop(*ends, zeros, iteration, loop.attributes["step"], name=index.name, names=names)
    for addition, total in zip(sums, totals, strict=True):
        handle, _, *indices = mapped(addition.operands, {**mapping, body.arguments[0]: column})
        copy, number = apiece(handle)
        builder.accumulate(copy, total, (*indices, *number))


def _only(
    plan: Turned,
    sums: Sequence[Operation],
    fresh: set[Value],
    apiece: Callable[[Value], tuple[Value, tuple[Value, ...]]],
) -> Transform:
    """Leaves out what has an effect outside, but for additions, which go to copies."""

    def transform(builder: Builder, operation: Operation, mapping: dict[Value, Value]) -> bool:
        if operation.row is core.CHECK or operation in sums:
            return True
        if operation in plan.additions:
            handle, value, *indices = mapped(operation.operands, mapping)
            copy, number = apiece(handle)
            builder.accumulate(copy, value, (*indices, *number))
            return True
        return operation.row in (core.STORE, core.ACCUMULATE) and operation.operands[0] not in fresh

    return transform


def running(inner: Operation, additions: Sequence[Operation], loop: Operation) -> list[Operation]:
    """The additions to one element for each index of the inner loop, which a thread can sum up before it adds."""
    inside = {value for operation in walk(loop.regions[0]) for value in operation.results} | arguments_of(loop)
    inside.discard(inner.regions[0].arguments[0])
    return [
        operation
        for operation in inner.regions[0].operations
        if operation in additions and not inside & {operation.operands[0], *operation.operands[2:]}
    ]


def _place(loop: Operation, inner: Operation) -> int:
    return next(k for k, operation in enumerate(loop.regions[0].operations) if operation is inner)


def _low_high(
    builder: Builder, inner: Operation, makers: Mapping[Value, Operation], mapping: dict[Value, Value]
) -> tuple[Value, Value]:
    """The lowest index of the inner loop, and the one after the highest."""
    local = dict(mapping)

    def made(value: Value) -> Value:
        if value not in local and value in makers:
            maker = makers[value]
            for operand in maker.operands:
                made(operand)
            clone_operation(builder, maker, local)
        return local.get(value, value)

    start, stop = (made(value) for value in inner.operands[:2])
    if inner.attributes["step"] > 0:
        return start, stop
    one = builder.index(1)
    return builder.op(ops.ADD, stop, one), builder.op(ops.ADD, start, one)
