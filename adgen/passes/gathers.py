"""Increments at several shifts of an index become one sum an element: adjoint stencils as gathers.

Comes in: an optimised function.  Goes out: the function in which a nest that adds to elements `A[i + c]` for several
constants `c` is replaced by a nest over the elements, each of which gets all that is added to it at once, and by the
elements near the borders, which get less.  Guaranteed: the same sums but for the order of their terms, which nobody
chose: only loops that are `unordered` are touched; the same elements are written.

The terms are computed again at each shift, so they must be cheap.  Where memory is known to be zero, the sum is stored.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from adgen.ir import core
from adgen.ir.nodes import Function, Operation, Region, Value, walk
from adgen.passes.activity import roots
from adgen.passes.boxes import Bound, Box, Interval, chains, contains, defined, fills_box, stored_boxes, trips, walk_one
from adgen.passes.gather_nests import Gather, Term, gather_nests
from adgen.passes.indices import Definitions, Indices
from adgen.passes.residuals import RECOMPUTED_COST
from adgen.passes.surgery import prune

Group = tuple[Value, tuple[int | None, ...], tuple[Bound, ...]]  # the buffer, the loops of its axes, the other indices
MOST_TERMS = 16  # the text grows with them


def gathers(function: Function) -> Function:
    """Collect what goes to one element.

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
    return _Search(function).result() if any(op.row is core.ACCUMULATE for op in walk(function.body)) else function


@dataclass(frozen=True)
class _Nest:
    """Loops, each but the last with nothing inside but another one and what may be computed anywhere."""

    loops: tuple[Operation, ...]
    made: tuple[Operation, ...]  # what is computed in them, in order
    runs: tuple[Interval, ...]


class _Search:
    def __init__(self, function: Function) -> None:
        self.function = function
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
        for memory in targets:
            for handle in [each for each in cleared if self.root[each] is memory]:
                del cleared[handle]
            handles = {v for o in inner for v in o.operands if self.root.get(v) is memory}
            stores = [chain for chain in chains(operation, memory) if chain[-1].row is not core.LOAD]
            if handles == {memory} and len(stores) == 1 and self.is_clear(stores[0]):
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
            return [operation if same else replace(operation, regions=regions)]
        taken = {id(term.operation) for gather in found for term in gather.terms}
        rest = prune([_without(operation, taken)], set(operation.results))
        new = [each for gather in found for each in gather_nests(self.definitions, self.indices, gather)]
        return [*(each for left in rest for each in self.gathered(left, {})), *new]

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
        if any(each.row not in (core.LOAD, core.ACCUMULATE) and not each.row.pure for each in made):
            return None
        inside = defined(operation)
        runs = [run for run in (trips(self.indices, loop) for loop in loops) if run is not None]
        if any(run.low[0] in inside or run.high[0] in inside for run in runs):
            return None
        return _Nest(tuple(loops), tuple(made), tuple(runs))

    def gathers(self, nest: _Nest, cleared: dict[Value, list[Box] | None]) -> Iterator[Gather]:
        """The groups of increments that differ in constants alone."""
        read = {self.root[each.operands[0]] for each in nest.made if each.row is core.LOAD}
        adds = [each for each in nest.made if each.row is core.ACCUMULATE]
        written = {self.root[each.operands[0]] for each in adds}
        inside = defined(nest.loops[0])
        numbers = {loop.regions[0].arguments[0]: k for k, loop in enumerate(nest.loops)}
        groups: dict[Group, list[Term]] = {}
        for each in adds:
            parts = [self.indices.split(index) for index in each.operands[2:]]
            axes = tuple(numbers.get(base) if base is not None else None for base, _ in parts)
            fixed = [index for index, axis in zip(each.operands[2:], axes) if axis is None]
            if sorted(axis for axis in axes if axis is not None) != list(range(len(nest.loops))):
                continue
            if inside.intersection(fixed) or self.root[each.operands[0]] in read:
                continue
            needed = self.needed(each.operands[1], nest, inside - set(numbers), written)
            if needed is None:
                continue
            offsets = {axis: offset for (_, offset), axis in zip(parts, axes)}
            term = Term(each, tuple(offsets[axis] for axis in range(len(nest.loops))), tuple(needed))
            same = tuple(part for part, axis in zip(parts, axes) if axis is None)
            groups.setdefault((each.operands[0], axes, same), []).append(term)
        for (handle, axes, _), terms in groups.items():
            shifts = {term.offsets for term in terms}
            if len(shifts) > 1 and len(terms) <= MOST_TERMS and not _is_dear(terms):
                gather = Gather(handle, axes, nest.loops, nest.runs, tuple(terms))
                yield replace(gather, is_zero=self.is_zero(gather, cleared))

    def needed(self, value: Value, nest: _Nest, inside: set[Value], written: set[Value]) -> list[Operation] | None:
        """The operations of a nest that a value is computed by; None when it cannot be computed elsewhere."""
        wanted = {value}
        found = []
        for operation in reversed(nest.made):
            if wanted.isdisjoint(operation.results):
                continue
            if operation.row is core.LOAD and self.root[operation.operands[0]] in written:
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


def _is_dear(terms: Sequence[Term]) -> bool:
    """True when something that costs much would be computed at several shifts."""
    shifts: dict[int, set[tuple[int, ...]]] = {}
    for term in terms:
        for operation in term.needed:
            if operation.row.cost > RECOMPUTED_COST:
                shifts.setdefault(id(operation), set()).add(term.offsets)
    return any(len(found) > 1 for found in shifts.values())


def _without(operation: Operation, taken: set[int]) -> Operation:
    regions = []
    for region in operation.regions:
        kept = tuple(_without(each, taken) for each in region.operations if id(each) not in taken)
        regions.append(replace(region, operations=kept))
    return replace(operation, regions=tuple(regions)) if regions else operation
