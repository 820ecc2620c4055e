"""Sums along rows of which there are few, in parts, so that there are threads enough.

Comes in: loops that would be kernels with a thread for each iteration, whose iterations add up long rows, as in a
product of a matrix and a vector.  Goes out: the same loops for where they have many iterations, beside a form for where they
have few: threads for parts of each row, whose sums are brought together first.  Guaranteed: the same up to the order of
sums; how many parts there are follows from extents, so the bits are the same in every run.

    for i:                                    for i: for part: for j of the part: parts[i, part] += f(i, j)
        s = 0.0                               total[i] = sum of parts[i, :]
        for j:                    becomes     for i:
            s += f(i, j)                          g(i, total[i])
        g(i, s)

Neighbouring threads take neighbouring `j`, as they are in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from adgen import ops
from adgen.ir import core
from adgen.ir.builder import Builder
from adgen.ir.nodes import Operation, Value, walk
from adgen.ir.rebuild import Mapping as Known
from adgen.ir.rebuild import clone, clone_operation, clone_region, mapped, record
from adgen.ir.sizes import PARTS
from adgen.ir.translate import free_values
from adgen.ir.types import Scalar
from adgen.passes.extents import index_of, number_of, trip_count
from adgen.passes.independence import Tie, accesses_of
from adgen.passes.indices import Definitions
from adgen.passes.partial import moved
from adgen.passes.sharing import is_sum

APIECE = 8  # terms that are worth a thread of their own
SHORTEST = 64  # rows that are known to be shorter are left to one thread
UNKNOWN = 256  # terms that a row is taken for where a host does not know how many there are
LARGEST = 200  # operations of a loop that is worth another form


@dataclass(frozen=True)
class Rows:
    """A loop, the loops in it that add up rows, and for each what is to be worked out before it."""

    loop: Operation
    before: Mapping[Operation, tuple[Operation, ...]]


def rows_of(loop: Operation, root: Mapping[Value, Value], known: Definitions) -> Rows | None:
    """The sums along rows in a loop, those that can be taken before all else; None where there are none."""
    region = loop.regions[0]
    inside = list(walk(region))
    if len(inside) > LARGEST or any(operation.row is core.CHECK for operation in inside):
        return None
    written = {root[value] for operation in inside for value in core.writes_of(operation)}
    here = {value for operation in region.operations for value in operation.results} | set(region.arguments[1:])
    makers: dict[Value, Operation] = {}
    before = {}
    for operation in region.operations:
        if _is_row(operation, root, written, known):
            needed = _closed(free_values(_without_starts(operation)), makers, here)
            if needed is None:
                continue
            before[operation] = tuple(each for each in region.operations if each in needed)
        elif operation.regions or not (operation.row.pure or _reads(operation, root, written)):
            continue
        makers.update((value, operation) for value in operation.results)
    return Rows(loop, before) if before else None


def _is_row(operation: Operation, root: Mapping[Value, Value], written: set[Value], known: Definitions) -> bool:
    """True for a loop that only adds up, from memory that nothing around it writes."""
    if operation.row is not core.FOR or operation.attributes.get("exit"):
        return False
    region = operation.regions[0]
    pairs = list(zip(region.arguments[1:], region.results, strict=True))
    if not pairs or not all(is_sum(region, argument, result) for argument, result in pairs):
        return False
    start, stop = (known.known(value) for value in operation.operands[:2])
    if start is not None and stop is not None and len(range(start, stop, operation.attributes["step"])) < SHORTEST:
        return False
    private: set[Value] = set()
    accesses = accesses_of(region, root, private)
    if isinstance(accesses, Tie):
        return False
    return all(
        buffer in private or (buffer not in written and {each.row for each in touching} == {core.LOAD})
        for buffer, touching in accesses.items()
    )


def _reads(operation: Operation, root: Mapping[Value, Value], written: set[Value]) -> bool:
    return operation.row is core.RESHAPE or (operation.row is core.LOAD and root[operation.operands[0]] not in written)


def _without_starts(loop: Operation) -> Operation:
    """A loop without what it carries into its first iteration."""
    return replace(loop, operands=loop.operands[:2])


def _closed(values: Iterable[Value], makers: Mapping[Value, Operation], here: set[Value]) -> set[Operation] | None:
    """What has to be worked out for some values; None where that is not possible."""
    found: set[Operation] = set()
    pending = list(values)
    while pending:
        value = pending.pop()
        operation = makers.get(value)
        if operation is None and value in here:
            return None
        if operation is not None and operation not in found:
            found.add(operation)
            pending += operation.operands[2:] if operation.row is core.FOR else operation.operands
    return found


def emit_rows(builder: Builder, plan: Rows, hosted: Callable[[Value], bool], mapping: Known) -> None:
    """Both forms of a loop, of which the host chooses one by how many iterations there are."""
    loop = moved(plan.loop, mapping)
    count = trip_count(builder, loop)
    longest = [_terms(builder, plan, operation, hosted, mapping, count) for operation in plan.before]
    terms = longest[0]
    for other in longest[1:]:
        terms = builder.op(ops.MAXIMUM, terms, other)
    apiece = builder.op(ops.FLOORDIV, terms, builder.index(APIECE))
    parts = builder.op(PARTS, apiece, count, builder.op(ops.MAXIMUM, count, builder.index(1)), name="parts")
    several = builder.op(ops.GT, parts, builder.index(1))

    def few() -> tuple[Value, ...]:
        return _Few(builder, plan, parts, count, dict(mapping)).emit()

    def many() -> tuple[Value, ...]:
        local = dict(mapping)
        clone_operation(builder, plan.loop, local)
        return mapped(plan.loop.results, local)

    names = [value.name for value in plan.loop.results]
    record(builder, plan.loop, builder.branch(several, few, many, names), mapping)


def _terms(
    builder: Builder, plan: Rows, row: Operation, hosted: Callable[[Value], bool], mapping: Known, count: Value
) -> Value:
    """How many terms a row has, at most if that is linear in the index; a guess where a host does not know."""
    index = plan.loop.regions[0].arguments[0]
    needed = _closed(row.operands[:2], {v: o for o in plan.before[row] for v in o.results}, set())
    values = {value for operation in needed or () for value in operation.operands} | set(row.operands[:2])
    made = {value for operation in needed or () for value in operation.results}
    if not all(value in made or value is index or hosted(value) for value in values):
        return builder.index(UNKNOWN)
    found = []
    for number in (builder.index(0), builder.op(ops.SUB, count, builder.index(1))):
        local = {**mapping, index: index_of(builder, moved(plan.loop, mapping), number)}
        clone(builder, [operation for operation in plan.before[row] if operation in (needed or ())], local)
        found.append(trip_count(builder, moved(row, local)))
    return builder.op(ops.MAXIMUM, *found)


class _Few:
    """Writes the form for few rows."""

    def __init__(self, builder: Builder, plan: Rows, parts: Value, count: Value, mapping: Known) -> None:
        self.builder = builder
        self.plan = plan
        self.parts = parts
        self.count = count
        self.mapping = mapping
        self.loop = moved(plan.loop, mapping)
        self.totals: dict[Operation, list[Value]] = {}

    def emit(self) -> tuple[Value, ...]:
        """The sums of the rows, then the loop without them; what it carries."""
        builder, loop = self.builder, self.plan.loop
        for row in self.plan.before:
            self.totals[row] = self.row(row)
        local = dict(self.mapping)
        region = clone_region(builder, loop.regions[0], local, self.taken)
        names = [value.name for value in loop.results]
        return builder.emit(core.FOR, self.loop.operands, loop.attributes, (region,), names, loop.span)

    def taken(self, builder: Builder, operation: Operation, mapping: Known) -> bool:
        """A row whose sums have been taken."""
        if operation not in self.totals:
            return False
        index = mapping[self.plan.loop.regions[0].arguments[0]]
        place = number_of(builder, self.loop, index)
        starts = mapped(operation.operands[2:], mapping)
        sums = [builder.load(total, (place,)) for total in self.totals[operation]]
        pairs = zip(starts, sums, strict=True)
        added = [total if builder.known(start) == 0 else builder.op(ops.ADD, start, total) for start, total in pairs]
        record(builder, operation, tuple(added), mapping)
        return True

    def row(self, row: Operation) -> list[Value]:
        """The sums of one row in each iteration, without what it begins with."""
        builder = self.builder
        kinds = [_scalar(value) for value in row.results]
        names = [value.name or "sum" for value in row.results]
        memory = [
            builder.alloc(kind, (self.count, self.parts), f"{name}_parts", zero=False)
            for kind, name in zip(kinds, names, strict=True)
        ]

        def iteration(number: Value) -> tuple[Value, ...]:
            local = dict(self.mapping)
            local[self.plan.loop.regions[0].arguments[0]] = index_of(builder, self.loop, number)
            clone(builder, self.plan.before[row], local, self.taken)
            builder.loop(
                builder.index(0), self.parts, (), lambda part: self.part(row, local, number, part, memory), name="part"
            )
            return ()

        name = self.plan.loop.regions[0].arguments[0].name
        builder.loop(builder.index(0), self.count, (), iteration, name=name or "i")
        totals = [builder.alloc(kind, (self.count,), f"{name}_rows") for kind, name in zip(kinds, names, strict=True)]
        for total, partial in zip(totals, memory, strict=True):
            builder.emit(core.ADD_UP, (total, partial), span=row.span)
        return totals

    def part(self, row: Operation, outside: Known, number: Value, part: Value, memory: Sequence[Value]) -> tuple[()]:
        """What one thread adds up: every so many-th term."""
        builder, here, region = self.builder, moved(row, outside), row.regions[0]
        left = builder.op(ops.SUB, trip_count(builder, here), part)
        rounded = builder.op(ops.SUB, builder.op(ops.ADD, left, self.parts), builder.index(1))
        rounds = builder.op(ops.FLOORDIV, rounded, self.parts)

        def term(turn: Value, *carried: Value) -> tuple[Value, ...]:
            place = builder.op(ops.ADD, part, builder.op(ops.MUL, turn, self.parts))
            local = {**outside, region.arguments[0]: index_of(builder, here, place)}
            local.update(zip(region.arguments[1:], carried, strict=True))
            clone(builder, region.operations, local)
            return mapped(region.results, local)

        zeros = [builder.const(0, value.type) for value in row.results]
        names = [value.name for value in row.results]
        sums = builder.loop(builder.index(0), rounds, zeros, term, name="turn", names=names, unordered=True)
        for partial, value in zip(memory, sums, strict=True):
            builder.store(partial, value, (number, part))
        return ()


def _scalar(value: Value) -> Scalar:
    assert isinstance(value.type, Scalar)
    return value.type
