"""The steps of a loop of few iterations, written out.

Comes in: what `rows` has found.  Goes out: the loop as it was for where it has many iterations, beside its steps for
where it has few: the host chooses.  Guaranteed: the same up to the order of sums; how many parts there are follows from
extents, so the bits are the same in every run.  Loops say for how many iterations they are, `few` or `many`, as `rows`.

A long loop that adds up is taken in parts, a thread for each; neighbouring threads take neighbouring terms, as they are
in memory.  In a maximum, whose first place counts, each takes neighbouring ones.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial, reduce
from types import MappingProxyType

from adgen import ops
from adgen.ir import core
from adgen.ir.builder import Builder
from adgen.ir.nodes import Operation, Value
from adgen.ir.rebuild import Mapping as Known
from adgen.ir.rebuild import clone, clone_operation, mapped, record
from adgen.ir.sizes import PARTS
from adgen.ir.translate import free_values
from adgen.ir.types import I64, Buffer, Scalar
from adgen.passes.extents import index_of, number_of, trip_count
from adgen.passes.folds import Fold, by_place, combined, elements, fold_of, folded_part, portion
from adgen.passes.partial import APART, moved
from adgen.passes.rows import Rows, has_effects, without_starts

APIECE = 8  # terms that are worth a thread of their own
UNKNOWN = 256  # terms that a row is taken for where a host does not know how many there are
FEWEST = 4  # threads for a row that are worth the steps


def emit_rows(builder: Builder, plan: Rows, hosted: Container[Value], mapping: Known) -> None:
    """Both forms of a loop; `hosted` are the scalars from outside that a host knows."""
    loop = moved(plan.loop, mapping)
    count = trip_count(builder, loop)
    size = builder.op(ops.MAXIMUM, count, builder.index(1))
    parts = {}
    for row in plan.long:
        apiece = builder.op(ops.FLOORDIV, _terms(builder, plan, row, hosted, mapping, count), builder.index(APIECE))
        parts[row] = builder.op(PARTS, apiece, count, size, name="parts")
    fewest, most = (reduce(partial(builder.op, row), parts.values()) for row in (ops.MINIMUM, ops.MAXIMUM))
    several = builder.op(ops.GE, most, builder.index(FEWEST))
    if fewest is not most:  # a maximum of nothing is none
        several = builder.op(ops.AND, several, builder.op(ops.GT, fewest, builder.index(0)))

    def few() -> tuple[Value, ...]:
        held = builder.op(ops.SELECT, several, count, builder.index(0), name="rows")  # no memory where there are many
        return _Few(builder, plan, parts, held, dict(mapping)).emit()

    def many() -> tuple[Value, ...]:
        local = dict(mapping)
        attributes = MappingProxyType({**plan.loop.attributes, "rows": "many"})
        clone_operation(builder, replace(plan.loop, attributes=attributes), local)
        return mapped(plan.loop.results, local)

    names = [value.name for value in plan.loop.results]
    record(builder, plan.loop, builder.branch(several, few, many, names), mapping)


def _terms(
    builder: Builder, plan: Rows, row: Operation, hosted: Container[Value], mapping: Known, count: Value
) -> Value:
    """How many terms a row has, at most if that is linear in the index; a guess where a host does not know."""
    index = plan.loop.regions[0].arguments[0]
    needed: set[Operation] = set()
    pending = list(row.operands[:2])
    while pending:
        value = pending.pop()
        maker = plan.makers.get(value)
        if maker is None and value is not index and value not in hosted:
            return builder.index(UNKNOWN)
        if maker is not None and (not maker.row.pure or maker.regions):
            return builder.index(UNKNOWN)
        if maker is not None and maker not in needed:
            needed.add(maker)
            pending += maker.operands
    found = []
    for number in (builder.index(0), builder.op(ops.SUB, count, builder.index(1))):
        local = {**mapping, index: index_of(builder, moved(plan.loop, mapping), number)}
        clone(builder, [o for o in plan.loop.regions[0].operations if o in needed], local)
        found.append(trip_count(builder, moved(row, local)))
    return builder.op(ops.MAXIMUM, *found)


class _Few:
    """Writes the steps."""

    def __init__(
        self, builder: Builder, plan: Rows, parts: Mapping[Operation, Value], count: Value, mapping: Known
    ) -> None:
        self.builder = builder
        self.plan = plan
        self.parts = parts
        self.count = count
        self.mapping = mapping
        self.loop = moved(plan.loop, mapping)
        self.index = plan.loop.regions[0].arguments[0]
        self.private = {value: self.apiece(value) for value in plan.private}
        self.kept = {value: self.memory(value, (count,), "rows") for value in plan.kept}
        self.totals: dict[Operation, Sequence[Value]] = {}

    def apiece(self, value: Value) -> Value:
        """Memory that each iteration has, for all of them."""
        maker = self.plan.makers[value]
        assert isinstance(value.type, Buffer)
        extents = (self.count, *mapped(maker.operands, self.mapping))
        zero: bool = maker.attributes["zero"]
        return self.builder.alloc(value.type.element, extents, f"{value.name or 'buffer'}_rows", zero)

    def memory(self, value: Value, extents: Sequence[Value], name: str, zero: bool = False) -> Value:
        """An array for one of the numbers of each row, or of each part."""
        assert isinstance(value.type, Scalar)
        return self.builder.alloc(value.type, extents, f"{value.name or 'number'}_{name}", zero)

    def emit(self) -> tuple[Value, ...]:
        """One step after the other; what the loop carries."""
        for step in self.plan.steps:
            if step[0] not in self.plan.long:
                self.between(step)
            elif step[0].results:
                self.totals[step[0]] = self.reduced(step[0])
            else:
                self.each(partial(self.spread, step[0]))
        return self.carried() if self.plan.loop.results else ()

    def each(self, work: Callable[[_Iteration], None]) -> None:
        """A step: the same for all iterations."""

        builder, number = self.builder, Value(I64, self.index.name or "i")
        with builder.block((number,)) as block:
            work(_Iteration(self, number))
        attributes = {"step": 1, "exit": False, "rows": "few"}
        builder.emit(core.FOR, (builder.index(0), self.count), attributes, (block.region(),), span=self.loop.span)

    def between(self, step: Sequence[Operation]) -> None:
        """What stands between long loops, by a thread for each iteration."""
        kept = [value for operation in step for value in operation.results if value in self.kept]

        def work(iteration: _Iteration) -> None:
            iteration.run(step)
            for value in kept:
                self.builder.store(self.kept[value], iteration.local[value], (iteration.number,))

        if kept or has_effects(step):
            self.each(work)

    def spread(self, row: Operation, iteration: _Iteration) -> None:
        """A long loop of which each iteration stands for itself."""
        iteration.run([row])

    def carried(self) -> tuple[Value, ...]:
        """What the loop adds up itself."""
        builder, region = self.builder, self.plan.loop.regions[0]
        arguments = [Value(value.type, value.name) for value in region.arguments]
        with builder.block(arguments) as block:
            iteration = _Iteration(self, number_of(builder, self.loop, arguments[0]))
            iteration.local.update(zip(region.arguments, arguments, strict=True))
            iteration.run(self.plan.last)
            iteration.bring(region.results)
            block.results = mapped(region.results, iteration.local)
        names = [value.name for value in self.plan.loop.results]
        attributes = {**self.loop.attributes, "rows": "few"}
        return builder.emit(core.FOR, self.loop.operands, attributes, (block.region(),), names, self.loop.span)

    # -- long loops ------------------------------------------------------------------------------------------------

    def reduced(self, row: Operation) -> Sequence[Value]:
        """What each row comes to without what it begins with, in the order of a fold's elements."""
        builder, fold, parts = self.builder, fold_of(row), self.parts[row]
        values = row.results if fold is None else [row.results[k] for k in fold.order]
        memory = [self.memory(value, (self.count, parts), "parts") for value in values]
        work = self.summed if fold is None else partial(self.folded, fold)
        outer, builder.span = builder.span, row.span or builder.span

        def apiece(iteration: _Iteration) -> None:
            iteration.bring(free_values(without_starts(row)))

            def one(part: Value) -> tuple[Value, ...]:
                for buffer, value in zip(memory, work(row, iteration, part), strict=True):
                    builder.store(buffer, value, (iteration.number, part))
                return ()

            # what the iterations of a row write does not meet either
            builder.loop(builder.index(0), parts, (), one, name="part", attributes=APART)

        self.each(apiece)
        totals = [self.memory(value, (self.count,), "rows", fold is None) for value in values]
        if fold is None:
            for total, buffer in zip(totals, memory, strict=True):
                builder.emit(core.ADD_UP, (total, buffer))
        else:
            self.each(partial(self.brought_together, fold, totals, memory, parts))
        builder.span = outer
        return totals

    def summed(self, row: Operation, iteration: _Iteration, part: Value) -> Sequence[Value]:
        """What one thread adds up: every so many-th term."""
        builder, here, region, parts = self.builder, moved(row, iteration.local), row.regions[0], self.parts[row]
        left = builder.op(ops.SUB, trip_count(builder, here), part)
        rounded = builder.op(ops.SUB, builder.op(ops.ADD, left, parts), builder.index(1))
        rounds = builder.op(ops.FLOORDIV, rounded, parts)

        def term(turn: Value, *carried: Value) -> tuple[Value, ...]:
            place = builder.op(ops.ADD, part, builder.op(ops.MUL, turn, parts))
            local = {**iteration.local, region.arguments[0]: index_of(builder, here, place)}
            local.update(zip(region.arguments[1:], carried, strict=True))
            clone(builder, region.operations, local, iteration.moved)
            return mapped(region.results, local)

        zeros = [builder.const(0, value.type) for value in row.results]
        names = [value.name for value in row.results]
        return builder.loop(builder.index(0), rounds, zeros, term, name="turn", names=names, unordered=True)

    def folded(self, fold: Fold, row: Operation, iteration: _Iteration, part: Value) -> Sequence[Value]:
        """What one thread finds in neighbouring elements, of which there are some."""
        builder, here = self.builder, moved(row, iteration.local)
        ends = portion(builder, trip_count(builder, here), part, self.parts[row])
        return folded_part(builder, fold, ends, elements(builder, here, fold, iteration.local, iteration.moved))

    def brought_together(
        self, fold: Fold, totals: Sequence[Value], memory: Sequence[Value], parts: Value, iteration: _Iteration
    ) -> None:
        """The parts of a row."""
        builder, number = self.builder, iteration.number

        def read(part: Value) -> Sequence[Value]:
            return [builder.load(buffer, (number, part)) for buffer in memory]

        found = folded_part(builder, fold, (builder.index(0), parts), read)
        for total, value in zip(totals, found, strict=True):
            builder.store(total, value, (number,))


class _Iteration:
    """One iteration of the loop in one of its steps: what its values have become."""

    def __init__(self, few: _Few, number: Value) -> None:
        self.few = few
        self.number = number
        self.local: Known = {**few.mapping, few.index: index_of(few.builder, few.loop, number)}

    def run(self, operations: Iterable[Operation]) -> None:
        """Operations of the loop's body, with all that they need."""
        for operation in operations:
            self.bring(free_values(operation))
            clone(self.few.builder, [operation], self.local, self.moved)

    def bring(self, values: Iterable[Value]) -> None:
        """What other steps have made: from memory, or worked out again."""
        for value in values:
            maker = self.few.plan.makers.get(value)
            if value in self.local or maker is None or value in self.few.private:
                continue
            if value in self.few.kept:
                self.local[value] = self.few.builder.load(self.few.kept[value], (self.number,), value.name)
            elif maker in self.few.totals:
                self.total(maker)
            else:
                assert maker in self.few.plan.again, maker
                self.run([maker])

    def total(self, row: Operation) -> None:
        """What a row comes to, with what it begins with."""
        builder, fold = self.few.builder, fold_of(row)
        self.bring(row.operands[2:])
        starts = mapped(row.operands[2:], self.local)
        found = [builder.load(total, (self.number,)) for total in self.few.totals[row]]
        if fold is None:
            pairs = zip(starts, found, strict=True)
            sums = [total if builder.known(start) == 0 else builder.op(ops.ADD, start, total) for start, total in pairs]
            record(builder, row, tuple(sums), self.local)
        else:
            state = combined(builder, fold, [starts[k] for k in fold.order], found)
            record(builder, row, tuple(by_place(fold, state)), self.local)

    def moved(self, builder: Builder, operation: Operation, mapping: Known) -> bool:
        """Accesses of memory that all iterations have at the same time."""
        private = self.few.private
        if operation.row is core.DIM and operation.operands[0] in private:
            extents = self.few.plan.makers[operation.operands[0]].operands
            mapping[operation.result] = mapped(extents, self.few.mapping)[operation.attributes["axis"]]
            return True
        if operation.row not in core.ACCESSES or operation.operands[0] not in private:
            return False
        start = core.ACCESSES[operation.row]
        operands = mapped(operation.operands, mapping)
        given = (private[operation.operands[0]], *operands[1:start], self.number, *operands[start:])
        names = [value.name for value in operation.results]
        record(
            builder,
            operation,
            builder.emit(operation.row, given, operation.attributes, (), names, operation.span),
            mapping,
        )
        return True
