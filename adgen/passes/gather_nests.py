"""The loops that add up what goes to each element: those with all terms, and those near the borders.

Comes in: increments `A[i + c]` of one nest of loops.  Goes out: operations in its place.

Along an axis on which `i` runs from `low` up to `high`, and `c` from `first` to `last`, an element from `low + last` up
to `high + first` gets every term.  The others, at most `last - first` at each end, get those whose `i` is in range.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial, reduce

from adgen import ops
from adgen.ir import core
from adgen.ir.builder import Builder
from adgen.ir.nodes import Operation, Value
from adgen.ir.rebuild import Mapping, clone, mapped
from adgen.ir.types import I64, Scalar
from adgen.passes.boxes import Bound, Box, Interval
from adgen.passes.factors import sum_of
from adgen.passes.indices import Definitions, Indices


@dataclass(frozen=True)
class Term:
    """An increment: the constants that are added to the loops' indices, and what its value is computed by."""

    operation: Operation
    offsets: tuple[int, ...]
    needed: tuple[Operation, ...]


@dataclass(frozen=True)
class Gather:
    """The increments of one buffer in a nest; `axes` are the loops that count along its axes, None: a fixed index."""

    handle: Value
    axes: tuple[int | None, ...]
    loops: tuple[Operation, ...]
    runs: tuple[Interval, ...]
    terms: tuple[Term, ...]
    kept: tuple[tuple[Operation, tuple[Operation, ...]], ...] = ()  # computed once, with what it is computed by
    is_zero: bool = False  # the elements that get all terms are zero before

    def ends(self, loop: int) -> tuple[int, int]:
        """The least and the greatest constant."""
        offsets = [term.offsets[loop] for term in self.terms]
        return min(offsets), max(offsets)

    def all_terms(self, loop: int) -> Interval:
        """The indices that get all terms."""
        first, last = self.ends(loop)
        return self.runs[loop].shifted(last, first)

    def inner(self, indices: Indices) -> Box:
        """The elements that get all terms."""
        fixed = self.terms[0].operation.operands[2:]
        found = []
        for axis, loop in enumerate(self.axes):
            base, offset = indices.split(fixed[axis])
            found.append(Interval((base, offset), (base, offset + 1)) if loop is None else self.all_terms(loop))
        return tuple(found)


def gather_nests(definitions: Definitions, indices: Indices, gather: Gather, whole: bool) -> list[Operation]:
    """The operations in place of the increments; `whole`: in one nest."""
    builder = Builder()
    builder.definitions = dict(definitions.definitions)
    builder.span = gather.terms[0].operation.span
    with builder.block() as block:
        writer = _Writer(builder, indices, gather)
        writer.keep()
        if whole and writer.depth > 1:  # a border of one axis is a few elements
            writer.all_at_once()
        else:
            writer.inner_first()
    return block.operations


WRITTEN_OUT = 4  # elements at an end of a row that are treated one by one, where the row has others between them


class _Writer:
    def __init__(self, builder: Builder, indices: Indices, gather: Gather) -> None:
        self.builder, self.indices, self.gather = builder, indices, gather
        self.arguments = {loop.regions[0].arguments[0]: k for k, loop in enumerate(gather.loops)}
        self.depth = len(gather.loops)
        self.kept: dict[Operation, Value] = {}
        self.outside = set(builder.definitions)
        self.low = [self.bound(run.low) for run in gather.runs]
        self.high = [self.bound(run.high) for run in gather.runs]

    def all_at_once(self) -> None:
        """One nest, in which elements that do not get all terms look at each of them."""
        gather = self.gather

        def element(places: tuple[Value, ...]) -> None:
            conditions = []
            for level, place in enumerate(places):
                first, last = gather.ends(level)
                if first != last:
                    inner = gather.all_terms(level)
                    conditions.append(self.builder.op(ops.GE, place, self.bound(inner.low)))
                    conditions.append(self.builder.op(ops.LT, place, self.bound(inner.high)))

            def inside() -> tuple[Value, ...]:
                self.add(gather.terms, places, gather.is_zero)
                return ()

            def near() -> tuple[Value, ...]:
                self.in_range(0, gather.terms, places)
                return ()

            self.builder.branch(reduce(self.both, conditions), inside, near)

        ends = [gather.ends(level) for level in range(self.depth)]
        self.nest([run.shifted(*each) for run, each in zip(gather.runs, ends, strict=True)], element)

    def in_range(self, level: int, terms: Sequence[Term], places: tuple[Value, ...]) -> None:
        """Those of some terms that come from iterations which there are."""
        if level == self.depth:
            self.add(terms, places, False)
            return
        for offset, group in _by_offset(terms, level):
            rest = partial(self.in_range, level + 1, group, places)
            self.where_in_range(offset, level, places[level], True, rest)

    def inner_first(self) -> None:
        """The elements that get all terms, then the others."""
        self.nest(
            [self.gather.all_terms(level) for level in range(self.depth)],
            lambda places: self.add(self.gather.terms, places, self.gather.is_zero),
        )
        self.border(0, ())

    def keep(self) -> None:
        """Compute what is kept, for each iteration."""
        builder = self.builder
        zero = builder.index(0)
        for operation, _ in self.gather.kept:
            kind = operation.result.type
            assert isinstance(kind, Scalar)
            spans = [builder.op(ops.SUB, high, low) for low, high in zip(self.low, self.high)]
            extents = [builder.op(ops.MAXIMUM, span, zero) for span in spans]
            self.kept[operation] = builder.alloc(kind, extents, operation.result.name or "kept", zero=False)

        def compute(places: tuple[Value, ...]) -> None:
            mapping: Mapping = {argument: places[k] for argument, k in self.arguments.items()}
            for operation, needed in self.gather.kept:
                clone(builder, [each for each in needed if each.results[0] not in mapping], mapping)
                number = [self.since_low(places[k], 0, k) for k in range(self.depth)]
                builder.store(self.kept[operation], mapping[operation.result], number)

        if self.gather.kept:
            self.nest(self.gather.runs, compute)

    def since_low(self, place: Value, offset: int, level: int) -> Value:
        """The number of the iteration that adds a constant to its index and so gets to a place."""
        base, low = self.gather.runs[level].low
        place = self.plus(place, -offset - low)
        return place if base is None else self.builder.op(ops.SUB, place, base)

    # -- numbers -----------------------------------------------------------------------------------------------------

    def bound(self, bound: Bound) -> Value:
        base, offset = bound
        return self.builder.index(offset) if base is None else self.plus(base, offset)

    def plus(self, value: Value, number: int) -> Value:
        return value if number == 0 else self.builder.op(ops.ADD, value, self.builder.index(number))

    # -- loops -------------------------------------------------------------------------------------------------------

    def loop(self, level: int, low: Value, high: Value, body: Callable[[Value], None]) -> None:
        def iteration(index: Value) -> tuple[Value, ...]:
            body(index)
            return ()

        name = self.gather.loops[level].regions[0].arguments[0].name
        self.builder.loop(low, high, (), iteration, name=name, unordered=True)

    def nest(self, runs: Sequence[Interval], body: Callable[[tuple[Value, ...]], None]) -> None:
        """All loops, over some intervals."""

        def level(places: tuple[Value, ...]) -> None:
            if len(places) == self.depth:
                body(places)
                return
            run = runs[len(places)]
            self.loop(len(places), self.bound(run.low), self.bound(run.high), lambda x: level((*places, x)))

        level(())

    def border(self, level: int, places: tuple[Value, ...]) -> None:
        """The elements that do not get all terms, of those that do as far as the first axes go."""
        first, last = self.gather.ends(level)
        inner, low, high = self.gather.all_terms(level), self.low[level], self.high[level]
        start, end = self.bound(inner.low), self.bound(inner.high)
        if level < self.depth - 1:
            self.loop(level, self.plus(low, first), self.plus(high, last), lambda x: self.row(level, places, x))
            return
        if first == last:
            return

        def near() -> tuple[Value, ...]:
            for k in range(last - first):
                self.add(self.between(level, first, first + k), (*places, self.plus(low, first + k)), False)
            for k in range(last - first):
                self.add(self.between(level, first + k + 1, last), (*places, self.plus(high, first + k)), False)
            return ()

        def anywhere() -> tuple[Value, ...]:
            self.loop(level, self.plus(low, first), start, lambda x: self.guarded(level, places, x, True))
            rest = self.builder.op(ops.MAXIMUM, start, end)
            self.loop(level, rest, self.plus(high, last), lambda x: self.guarded(level, places, x, False))
            return ()

        if level == 0 or last - first > WRITTEN_OUT:
            anywhere()
        else:
            self.builder.branch(self.builder.op(ops.LE, start, end), near, anywhere)

    def between(self, level: int, first: int, last: int) -> list[Term]:
        """The terms that add a constant in some range to an index."""
        return [term for term in self.gather.terms if first <= term.offsets[level] <= last]

    def row(self, level: int, places: tuple[Value, ...], x: Value) -> None:
        """Elements that share their first indices."""
        inner = self.gather.all_terms(level)
        inside = self.both(
            self.builder.op(ops.GE, x, self.bound(inner.low)), self.builder.op(ops.LT, x, self.bound(inner.high))
        )

        def rest() -> tuple[Value, ...]:
            self.border(level + 1, (*places, x))
            return ()

        def few() -> tuple[Value, ...]:
            for offset, terms in _by_offset(self.gather.terms, level):
                self.where_in_range(offset, level, x, True, partial(self.scattered, terms, (*places, x)))
            return ()

        first, last = self.gather.ends(level)
        if first == last:
            rest()
        else:
            self.builder.branch(inside, rest, few)

    def guarded(self, level: int, places: tuple[Value, ...], x: Value, lower: bool) -> None:
        """An element near a border of the last axis, which one term is too far away for."""
        missing = self.gather.ends(level)[lower]
        for offset, terms in _by_offset(self.gather.terms, level):
            if offset != missing:
                self.where_in_range(offset, level, x, lower, partial(self.add, terms, (*places, x), False))

    def where_in_range(self, offset: int, level: int, x: Value, lower: bool, emit: Callable[[], None]) -> None:
        """Emit something where there is an iteration that adds to `x`; without `lower` it is far from the lower end."""
        first, last = self.gather.ends(level)
        conditions = []
        if lower and offset != first:
            conditions.append(self.builder.op(ops.GE, x, self.plus(self.low[level], offset)))
        if offset != last:
            conditions.append(self.builder.op(ops.LT, x, self.plus(self.high[level], offset)))

        def then() -> tuple[Value, ...]:
            emit()
            return ()

        if conditions:
            self.builder.branch(reduce(self.both, conditions), then)
        else:
            emit()

    def both(self, first: Value, second: Value) -> Value:
        return self.builder.op(ops.AND, first, second)

    def scattered(self, terms: Sequence[Term], places: tuple[Value, ...]) -> None:
        """Terms for all elements that they get to, the first indices given."""
        level = len(places)
        if level == self.depth:
            self.add(terms, places, False)
            return
        for offset, group in _by_offset(terms, level):
            low, high = self.plus(self.low[level], offset), self.plus(self.high[level], offset)
            self.loop(level, low, high, partial(self.scattered_at, group, places))

    def scattered_at(self, terms: Sequence[Term], places: tuple[Value, ...], x: Value) -> None:
        """The same at one more index."""
        self.scattered(terms, (*places, x))

    # -- sums --------------------------------------------------------------------------------------------------------

    def add(self, terms: Sequence[Term], places: tuple[Value, ...], is_zero: bool) -> None:
        """Add terms to one element."""
        loads: dict[object, Value] = {}
        values = [self.value(term, places, loads) for term in terms]
        total = sum_of(self.builder, values, self.is_fixed)
        fixed = terms[0].operation.operands[2:]
        index = [fixed[axis] if loop is None else places[loop] for axis, loop in enumerate(self.gather.axes)]
        (self.builder.store if is_zero else self.builder.accumulate)(self.gather.handle, total, index)

    def is_fixed(self, value: Value) -> bool:
        """True for what no iteration changes."""
        return self.builder.known(value) is not None or value in self.outside or value not in self.builder.definitions

    def value(self, term: Term, places: tuple[Value, ...], loads: dict[object, Value]) -> Value:
        """What a term adds to an element."""
        mapping: Mapping = {argument: self.plus(places[k], -term.offsets[k]) for argument, k in self.arguments.items()}

        def shifted(builder: Builder, operation: Operation, mapping: Mapping) -> bool:
            (result,) = operation.results
            if operation in self.kept:
                number = [self.since_low(places[k], offset, k) for k, offset in enumerate(term.offsets)]
                mapping[result] = self.once((self.kept[operation], *number), result.name, loads)
                return True
            if result.type == I64 and operation.row in (ops.ADD, ops.SUB):
                base, offset = self.indices.split(result)
                if base in self.arguments:
                    k = self.arguments[base]
                    mapping[result] = self.plus(places[k], offset - term.offsets[k])
                    return True
            if operation.row is core.LOAD:  # of memory that does not change here: each element once
                mapping[result] = self.once(mapped(operation.operands, mapping), result.name, loads)
                return True
            return False

        clone(self.builder, term.needed, mapping, shifted)
        value = term.operation.operands[1]
        return mapping.get(value, value)

    def once(self, operands: tuple[Value, ...], name: str, loads: dict[object, Value]) -> Value:
        """An element, loaded once for each sum."""
        if operands not in loads:
            loads[operands] = self.builder.load(operands[0], operands[1:], name)
        return loads[operands]


def _by_offset(terms: Sequence[Term], level: int) -> list[tuple[int, list[Term]]]:
    """The terms, those together that add the same constant to an index."""
    groups: dict[int, list[Term]] = {}
    for term in terms:
        groups.setdefault(term.offsets[level], []).append(term)
    return sorted(groups.items())
