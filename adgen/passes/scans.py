"""Running sums that a loop looks at on its way, in parts.

Comes in: a function and loops of it that a host would leave to one thread, since each iteration needs what those before
it have added up, as in a cumulative sum or a path of a random walk.  Goes out: the same, where nothing else ties the
iterations together, in three rounds: the sums of parts, where each part begins, and the loop in parts.  Guaranteed: the
same up to the order of sums, which follows from extents; memory is written by the last round alone.

    s = s0                                    for part: for i of the part: sums[part] += f(i)
    for i:                        becomes     starts = s0, s0 + sums[0], s0 + sums[0] + sums[1], ...
        s += f(i)                             for part: s = starts[part]; for i of the part: s += f(i); g(i, s)
        g(i, s)

There are many parts, so their sums are scanned in the same way.  After G. E. Blelloch, Prefix sums and their
applications, 1990.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass

from adgen import ops
from adgen.ir import core
from adgen.ir.builder import Builder
from adgen.ir.nodes import NO_ATTRIBUTES, Attributes, Operation, Value, walk, walk_one
from adgen.ir.rebuild import clone, clone_region, record
from adgen.ir.sizes import PARTS
from adgen.ir.translate import free_values
from adgen.ir.types import Scalar
from adgen.passes.extents import trip_count
from adgen.passes.folds import portion
from adgen.passes.forms import Forms
from adgen.passes.independence import STRANGE
from adgen.passes.partial import APART, FEW, chunk, moved, needed
from adgen.passes.sharing import Sharing, sharing

ROUNDS = (256, 65_536)  # elements that a part's memory is taken for: 65,536 parts, then 256
APIECE = 16  # iterations that are worth a thread of their own


@dataclass(frozen=True)
class Scan:
    """A loop with running sums: which of the values that it carries, what is added to each in an iteration, and the
    operations that this takes."""

    loop: Operation
    running: tuple[int, ...]
    terms: tuple[tuple[bool, Value], ...]  # whether it is taken away, and what it is
    before: tuple[Operation, ...]


def scan_of(loop: Operation, root: Mapping[Value, Value], forms: Forms) -> Scan | None:
    """The running sums of a loop whose iterations depend on each other by nothing else; None for another loop."""
    if loop.row is not core.FOR or loop.attributes.get("exit"):
        return None
    region = loop.regions[0]
    inside = list(walk(region))
    if any(operation.row in (core.CHECK, *STRANGE) for operation in inside):
        return None
    tied = _tied(region.operations, region.arguments[1:])
    written = {root[value] for operation in inside for value in core.writes_of(operation)}
    running, terms = [], []
    for place, (argument, result) in enumerate(zip(region.arguments[1:], region.results, strict=True)):
        term = _term(region.operations, argument, result, tied)
        if term is not None:
            running.append(place)
            terms.append(term)
    before = needed(region.operations, [value for _, value in terms])
    if not running or any(_touches(operation, root, written) for operation in before):
        return None
    arguments = {region.arguments[1 + place] for place in running}
    found = sharing(loop, root, forms, arguments)
    if not isinstance(found, Sharing) or found.added:
        return None
    return Scan(loop, tuple(running), tuple(terms), tuple(before))


def _tied(operations: Sequence[Operation], carried: Sequence[Value]) -> set[Value]:
    """What depends on the values that a loop carries."""
    found = set(carried)
    for operation in operations:
        if found.intersection(free_values(operation)):
            found.update(operation.results)
    return found


def _term(
    operations: Sequence[Operation], argument: Value, result: Value, tied: Container[Value]
) -> tuple[bool, Value] | None:
    """What an iteration adds to a value, or takes away from it, where that does not depend on what is carried."""
    maker = next((operation for operation in operations if result in operation.results), None)
    if maker is None or maker.row not in (ops.ADD, ops.SUB) or argument not in maker.operands:
        return None
    first, second = maker.operands
    other = second if first is argument else first
    if other in tied or (maker.row is ops.SUB and first is not argument):
        return None
    return maker.row is ops.SUB, other


def _touches(operation: Operation, root: Mapping[Value, Value], written: Container[Value]) -> bool:
    """True when an operation has effects, or reads what the loop writes."""
    return any(
        core.writes_of(each) or each.row is core.ALLOC or (each.row is core.LOAD and root[each.operands[0]] in written)
        for each in walk_one(operation)
    )


def emit_scan(builder: Builder, scan: Scan, mapping: dict[Value, Value]) -> None:
    """The three rounds."""
    loop, region = moved(scan.loop, mapping), scan.loop.regions[0]
    count = trip_count(builder, loop)
    starts = [loop.operands[2 + place] for place in scan.running]
    names = [region.arguments[1 + place].name or "sum" for place in scan.running]
    parts = _division(builder, count, ROUNDS[0])

    def ends(part: Value) -> tuple[Value, Value]:
        return chunk(builder, loop, count, part, parts)

    def added(part: Value) -> Sequence[Value]:
        def iteration(index: Value, *sums: Value) -> Sequence[Value]:
            local = {**mapping, region.arguments[0]: index}
            clone(builder, scan.before, local)
            given = zip(sums, scan.terms, strict=True)
            return [builder.op(ops.SUB if away else ops.ADD, s, local.get(term, term)) for s, (away, term) in given]

        zeros = [builder.const(0, start.type) for start in starts]
        step: int = loop.attributes["step"]
        name = region.arguments[0].name
        return builder.loop(*ends(part), zeros, iteration, step, name=name, names=names, unordered=True)

    sums = _each(builder, parts, starts, names, added)
    begins, totals = _prefix(builder, sums, parts, starts, names, ROUNDS[1:])
    rest = [place for place in range(len(loop.results)) if place not in scan.running]

    def last(part: Value, *carried: Value) -> Sequence[Value]:
        values = dict(zip(scan.running, [builder.load(begin, (part,)) for begin in begins], strict=True))
        values.update(zip(rest, carried, strict=True))
        inner = clone_region(builder, region, dict(mapping))
        operands = (*ends(part), *(values[place] for place in range(len(values))))
        left = builder.emit(
            core.FOR, operands, loop.attributes, (inner,), [value.name for value in loop.results], loop.span
        )
        return [left[place] for place in rest]

    found = dict(zip(scan.running, totals, strict=True))
    given = [loop.operands[2 + place] for place in rest]
    kept = [loop.results[place].name for place in rest]
    found.update(zip(rest, _each_part(builder, parts, last, given, kept), strict=True))
    record(builder, scan.loop, tuple(found[place] for place in range(len(found))), mapping)


def _each_part(
    builder: Builder,
    count: Value,
    work: Callable[..., Sequence[Value]],
    carried: Sequence[Value] = (),
    names: Sequence[str] = (),
) -> tuple[Value, ...]:
    """The same for each part; parts are neighbours and meet nowhere."""
    zero = builder.index(0)
    return builder.loop(zero, count, carried, work, name="part", names=names, unordered=True, attributes=APART)


def _division(builder: Builder, count: Value, size: int) -> Value:
    more = builder.op(ops.FLOORDIV, builder.op(ops.ADD, count, builder.index(APIECE - 1)), builder.index(APIECE))
    return builder.op(PARTS, more, builder.index(1), builder.index(size), name="parts")


def _memory(builder: Builder, values: Sequence[Value], names: Sequence[str], ending: str, count: Value) -> list[Value]:
    """An array for each of some values."""
    found = []
    for value, name in zip(values, names, strict=True):
        assert isinstance(value.type, Scalar)
        found.append(builder.alloc(value.type, (count,), f"{name}_{ending}", zero=False))
    return found


def _each(
    builder: Builder,
    count: Value,
    kinds: Sequence[Value],
    names: Sequence[str],
    work: Callable[[Value], Sequence[Value]],
) -> list[Value]:
    """Arrays of what each part comes to."""
    memory = _memory(builder, kinds, names, "parts", count)

    def iteration(part: Value) -> tuple[Value, ...]:
        for buffer, value in zip(memory, work(part), strict=True):
            builder.store(buffer, value, (part,))
        return ()

    _each_part(builder, count, iteration)
    return memory


def _prefix(
    builder: Builder,
    sums: Sequence[Value],
    count: Value,
    starts: Sequence[Value],
    names: Sequence[str],
    rounds: Sequence[int],
) -> tuple[list[Value], Sequence[Value]]:
    """Arrays of what comes before each of some sums, and what comes after all of them."""
    begins = _memory(builder, starts, names, "before", count)

    def added(place: Value, *before: Value) -> Sequence[Value]:
        found = [builder.load(buffer, (place,)) for buffer in sums]
        return [builder.op(ops.ADD, one, other) for one, other in zip(before, found, strict=True)]

    def step(place: Value, *before: Value) -> Sequence[Value]:
        for begin, value in zip(begins, before, strict=True):
            builder.store(begin, value, (place,))
        return added(place, *before)

    def along(
        ends: tuple[Value, Value],
        values: Sequence[Value],
        body: Callable[..., Sequence[Value]],
        attributes: Attributes = NO_ATTRIBUTES,
    ) -> tuple[Value, ...]:
        return builder.loop(*ends, values, body, name="part", names=names, attributes=attributes)

    if not rounds:
        return begins, along((builder.index(0), count), starts, step, FEW)
    parts = _division(builder, count, rounds[0])
    zeros = [builder.const(0, start.type) for start in starts]

    def ends(group: Value) -> tuple[Value, Value]:
        return portion(builder, count, group, parts)

    groups = _each(builder, parts, starts, names, lambda group: along(ends(group), zeros, added))
    above, totals = _prefix(builder, groups, parts, starts, names, rounds[1:])

    def group_by_group(group: Value) -> Sequence[Value]:
        along(ends(group), [builder.load(buffer, (group,)) for buffer in above], step)
        return ()

    _each_part(builder, parts, group_by_group)
    return begins, totals
