"""Increments at several shifts of an index become one sum an element: adjoint stencils as gathers.

Comes in: an optimised function.  Goes out: the function in which a nest that adds to elements `A[i + c]` for several
constants `c` is replaced by a nest over the elements, each of which gets all that is added to it at once, and by the
elements near the borders, which get less.  Guaranteed: the same sums but for the order of their terms, which nobody
chose: only loops that are `unordered` are touched; the same elements are written.

The terms are computed again at each shift, but for what is dear: that is computed once and kept in a buffer.  A factor
that they share is multiplied once.  Where memory is known to be zero, the sum is stored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from adgen.ir import core
from adgen.ir.nodes import Function, Operation, Region, Value, walk, walk_one
from adgen.passes.activity import roots
from adgen.passes.boxes import (
    Bound,
    Box,
    Chain,
    Interval,
    box_of,
    chains,
    contains,
    defined,
    fills_box,
    store_chains,
    stored_boxes,
    trips,
)
from adgen.passes.gather_nests import Gather, Term, gather_nests
from adgen.passes.indices import Definitions, Indices
from adgen.passes.residuals import RECOMPUTED_COST
from adgen.passes.surgery import prune, rewrite

Group = tuple[Value, tuple[int | None, ...], tuple[Bound, ...]]  # the buffer, the loops of its axes, the other indices
MOST_KEPT = 4  # buffers for what is dear
MOST_TERMS = 16  # the text grows with them


def gathers(function: Function, whole: bool = False) -> Function:
    """Collect what goes to one element; `whole`: borders too in one nest, in which each element looks what it gets.

    Before:  function f(%A: f64[:], %v: f64[:], %n: i64) -> () {
               %zero = const {type="i64", value=0} : i64
               %two = const {type="i64", value=2} : i64
               for %zero, %n {exit=false, step=1, unordered=true} (%i: i64) {
                 %v_i = load %v, %i : f64
                 accumulate %A, %v_i, %i
                 %k = add %i, %two : i64
                 accumulate %A, %v_i, %k
                 yield
               }
               return
             }
    After:   function f(%A: f64[:], %v: f64[:], %n: i64) -> () {
               %zero = const {type="i64", value=0} : i64
               %two = const {type="i64", value=2} : i64
               %0 = const {type="i64", value=0} : i64
               %1 = const {type="i64", value=2} : i64
               for %1, %n {exit=false, step=1, unordered=true} (%i: i64) {
                 %v_i = load %v, %i : f64
                 %2 = const {type="i64", value=-2} : i64
                 %3 = add %i, %2 : i64
                 %v_i_1 = load %v, %3 : f64
                 %4 = add %v_i, %v_i_1 : f64
                 accumulate %A, %4, %i
                 yield
               }
               for %0, %1 {exit=false, step=1, unordered=true} (%i_1: i64) {
                 %5 = lt %i_1, %n : bool
                 if %5 {types=[]} () {
                   %v_i_2 = load %v, %i_1 : f64
                   accumulate %A, %v_i_2, %i_1
                   yield
                 } () {
                   yield
                 }
                 yield
               }
               %6 = maximum %n, %1 : i64
               %7 = add %n, %1 : i64
               for %6, %7 {exit=false, step=1, unordered=true} (%i_2: i64) {
                 %8 = const {type="i64", value=-2} : i64
                 %9 = add %i_2, %8 : i64
                 %v_i_3 = load %v, %9 : f64
                 accumulate %A, %v_i_3, %i_2
                 yield
               }
               return
             }
    """
    adding = any(operation.row is core.ACCUMULATE for operation in walk(function.body))
    return _Search(function, whole).result() if adding else function


@dataclass(frozen=True)
class _Nest:
    """Loops, each but the last with nothing inside but another one and what may be computed anywhere."""

    loops: tuple[Operation, ...]
    made: tuple[Operation, ...]  # what is computed in them, in order
    runs: tuple[Interval, ...]


class _Search:
    def __init__(self, function: Function, whole: bool) -> None:
        self.function = function
        self.whole = whole
        self.root = roots(function)
        self.definitions = Definitions(function)
        self.indices = Indices(self.definitions)

    def result(self) -> Function:
        body = self.region(self.function.body)
        return self.function if body is self.function.body else replace(self.function, body=body)

    def region(self, region: Region) -> Region:
        operations: list[Operation] = []
        cleared: dict[Value, list[Box] | None] = {}  # zero memory, by handle: these boxes, or all of it
        for operation in region.operations:
            new = self.gathered(operation, cleared)
            operations.extend(new)
            self.note(operation, cleared)
        same = len(operations) == len(region.operations) and all(a is b for a, b in zip(operations, region.operations))
        return region if same else replace(region, operations=tuple(operations))

    def note(self, operation: Operation, cleared: dict[Value, list[Box] | None]) -> None:
        """What of the memory that an operation writes is zero afterwards."""
        if operation.row is core.ALLOC and operation.attributes["zero"]:
            cleared[operation.result] = None
        inner = [*walk_one(operation)]
        targets = {self.root[v] for o in inner for v in (*core.writes_of(o), *_whole(o)) if v in self.root}
        stores: dict[Value, list[Chain]] = {}
        for chain in store_chains(operation):
            stores.setdefault(chain[-1].operands[0], []).append(chain)
        reshaped = {self.root[v] for o in inner for v in o.operands if v in self.root and self.root[v] is not v}
        for memory in targets:
            cleared.pop(memory, None)  # what is known to be zero is known by its first handle
            found = stores.get(memory, [])
            if len(found) == 1 and memory not in reshaped and self.is_clear(found[0]):
                cleared[memory] = stored_boxes(self.indices, operation, memory)

    def is_clear(self, chain: tuple[Operation, ...]) -> bool:
        store = chain[-1]
        return (
            store.row is core.STORE
            and self.definitions.known(store.operands[1]) == 0
            and fills_box(self.indices, chain)
        )

    def gathered(self, operation: Operation, cleared: dict[Value, list[Box] | None]) -> list[Operation]:
        """What an operation becomes."""
        if not operation.regions:
            return [operation]
        nest = self.nest(operation)
        found = [*self.gathers(nest, cleared)] if nest else []
        if not found or nest is None:
            regions = tuple(self.region(region) for region in operation.regions)
            same = all(a is b for a, b in zip(regions, operation.regions))
            operation = operation if same else replace(operation, regions=regions)
            return rewrite([operation], {}, self.firsts(operation, cleared)) if nest and cleared else [operation]
        taken = {id(term.operation) for gather in found for term in gather.terms}
        rest = prune([_without(operation, taken)], set(operation.results))
        new = [each for gather in found for each in gather_nests(self.definitions, self.indices, gather, self.whole)]
        return [*new, *(each for left in rest for each in self.gathered(left, {}))]

    def firsts(
        self, operation: Operation, cleared: Mapping[Value, list[Box] | None]
    ) -> Callable[[Operation], list[Operation] | None]:
        """A change of increments of zeros into stores, where a nest has no other access of the memory."""
        only = set()
        for handle in dict.fromkeys(v for each in walk_one(operation) for v in each.operands if v in cleared):
            boxes = cleared[handle]
            memory = self.root[handle]
            accesses = [each for each in walk_one(operation) if any(self.root.get(v) is memory for v in each.operands)]
            for chain in chains(operation, handle):
                if accesses == [chain[-1]] and chain[-1].row is core.ACCUMULATE and fills_box(self.indices, chain):
                    box = box_of(self.indices, chain)
                    if boxes is None or (box is not None and any(contains(outer, box) for outer in boxes)):
                        only.add(chain[-1])
        return lambda each: [replace(each, row=core.STORE)] if each in only else None

    def nest(self, operation: Operation) -> _Nest | None:
        """The nest that an operation is, if its iterations may be taken in any order."""
        loops: list[Operation] = []
        made: list[Operation] = []
        current: Operation | None = operation
        while current is not None:
            run = trips(self.indices, current) if current.row is core.FOR else None
            if run is None or current.attributes.get("exit") or not current.attributes.get("unordered"):
                return None
            loops.append(current)
            inner = [each for each in current.regions[0].operations if each.regions]
            made += [each for each in current.regions[0].operations if not each.regions]
            if any(each.row is not core.FOR for each in inner) or len(inner) > 1:
                return None
            current = inner[0] if inner else None
        if any(each.row not in core.ACCESSES and not each.row.pure for each in made):
            return None
        inside = defined(operation)
        runs = [run for run in (trips(self.indices, loop) for loop in loops) if run is not None]
        if any(run.low[0] in inside or run.high[0] in inside for run in runs):
            return None
        return _Nest(tuple(loops), tuple(made), tuple(runs))

    def gathers(self, nest: _Nest, cleared: dict[Value, list[Box] | None]) -> Iterator[Gather]:
        """The groups of increments that differ in constants alone."""
        used = {self.root[each.operands[0]] for each in nest.made if each.row in (core.LOAD, core.STORE)}
        adds = [each for each in nest.made if each.row is core.ACCUMULATE]
        inside = defined(nest.loops[0])
        numbers = {loop.regions[0].arguments[0]: k for k, loop in enumerate(nest.loops)}
        steady = {memory for memory in used if self.is_steady(memory, nest, numbers)}
        groups: dict[Group, list[Term]] = {}
        for each in adds:
            parts = [self.indices.split(index) for index in each.operands[2:]]
            axes = tuple(numbers.get(base) if base is not None else None for base, _ in parts)
            fixed = [index for index, axis in zip(each.operands[2:], axes) if axis is None]
            if sorted(axis for axis in axes if axis is not None) != list(range(len(nest.loops))):
                continue
            if inside.intersection(fixed) or self.root[each.operands[0]] in used:
                continue
            needed = self.needed(each.operands[1], nest, inside - set(numbers), steady)
            if needed is None:
                continue
            offsets = {axis: offset for (_, offset), axis in zip(parts, axes)}
            term = Term(each, tuple(offsets[axis] for axis in range(len(nest.loops))), tuple(needed))
            same = tuple(part for part, axis in zip(parts, axes) if axis is None)
            groups.setdefault((each.operands[0], axes, same), []).append(term)
        for (handle, axes, _), terms in groups.items():
            shifts = {term.offsets for term in terms}
            kept = _dear(terms)
            if len(shifts) > 1 and len(terms) <= MOST_TERMS and len(kept) <= MOST_KEPT:
                cut = [replace(term, needed=_cut(term, kept)) for term in terms]
                gather = Gather(handle, axes, nest.loops, nest.runs, tuple(cut), tuple(_kept(terms, kept)))
                alone = [each for each in adds if self.root[each.operands[0]] is self.root[handle]]
                yield replace(gather, is_zero=len(alone) == len(terms) and self.is_zero(gather, cleared))

    def is_steady(self, memory: Value, nest: _Nest, numbers: Mapping[Value, int]) -> bool:
        """True when what a nest reads of some memory is what was there before the nest.

        It is not written, or each iteration has an element of its own, which it reads before it writes.
        """
        accesses = [each for each in nest.made if each.row in core.ACCESSES and self.root[each.operands[0]] is memory]
        rows = [each.row for each in accesses]
        if core.STORE not in rows and core.ACCUMULATE not in rows:
            return True
        handles = {each.operands[0] for each in accesses}
        places = {tuple(self.indices.split(i) for i in core.indices_of(each)) for each in accesses}
        bases = {base for place in places for base, _ in place}
        first = next(k for k, row in enumerate(rows) if row is not core.LOAD)
        return len(handles) == len(places) == 1 and set(numbers) <= bases and core.LOAD not in rows[first:]

    def needed(self, value: Value, nest: _Nest, inside: set[Value], steady: set[Value]) -> list[Operation] | None:
        """The operations of a nest that a value is computed by; None when it cannot be computed elsewhere."""
        wanted = {value}
        found = []
        for operation in reversed(nest.made):
            if wanted.isdisjoint(operation.results):
                continue
            if operation.row is core.LOAD and self.root[operation.operands[0]] not in steady:
                return None
            found.append(operation)
            wanted.update(operation.operands)
        made = {result for operation in found for result in operation.results}
        return None if (wanted & inside) - made else found[::-1]

    def is_zero(self, gather: Gather, cleared: dict[Value, list[Box] | None]) -> bool:
        """True when the elements that get all terms are known to be zero before."""
        if gather.handle not in cleared:
            return False
        boxes = cleared[gather.handle]
        return boxes is None or any(contains(outer, gather.inner(self.indices)) for outer in boxes)


def _whole(operation: Operation) -> tuple[Value, ...]:
    """The buffers that an operation takes as wholes."""
    return operation.operands if operation.row in (core.CUSTOM, core.EXTERNAL, core.CONTRACT) else ()


def _dear(terms: Sequence[Term]) -> list[Operation]:
    """What costs much and would be computed at several shifts."""
    shifts: dict[Operation, set[tuple[int, ...]]] = {}
    for term in terms:
        for operation in term.needed:
            if operation.row.cost > RECOMPUTED_COST:
                shifts.setdefault(operation, set()).add(term.offsets)
    return [operation for operation, found in shifts.items() if len(found) > 1]


def _cut(term: Term, kept: Sequence[Operation]) -> tuple[Operation, ...]:
    """What a term is computed by when some results are at hand."""
    return _computing(term.needed, {term.operation.operands[1]}, kept)


def _computing(needed: Sequence[Operation], wanted: set[Value], kept: Sequence[Operation]) -> tuple[Operation, ...]:
    found = []
    for operation in reversed(needed):
        if not wanted.isdisjoint(operation.results):
            found.append(operation)
            if operation not in kept:
                wanted.update(operation.operands)
    return tuple(found[::-1])


def _kept(terms: Sequence[Term], kept: Sequence[Operation]) -> Iterator[tuple[Operation, tuple[Operation, ...]]]:
    """What is computed once an iteration, with what it is computed by, where a term asks for it."""
    asked = {operation for term in terms for operation in _cut(term, kept)}
    for operation in kept:
        if operation in asked:
            needed = next(term.needed for term in terms if operation in term.needed)
            yield operation, _computing(needed, {operation.result}, ())


def _without(operation: Operation, taken: set[int]) -> Operation:
    regions = []
    for region in operation.regions:
        kept = tuple(_without(each, taken) for each in region.operations if id(each) not in taken)
        regions.append(replace(region, operations=kept))
    return replace(operation, regions=tuple(regions)) if regions else operation
