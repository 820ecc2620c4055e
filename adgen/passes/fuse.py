"""Loops over the same range, one after the other, that become one loop.

Comes in: a function.  Goes out: the function in which a loop that goes on with what an earlier one left in a local
buffer, element by element, is one loop with it, so that the buffer is a value of an iteration and goes.  Guaranteed:
bit-identical results.

The buffer may be read by several loops, which are made one after the other a part of the loop that fills it.

Two loops may be one when the iterations of that one do not depend on each other: any order of them is then the order
of the two, as long as each iteration does what is the first loop's before what is the second's.  Sums that both add to
keep them apart, and so does a check, which would fail earlier.  Nests are fused as a whole.  A loop that a vector unit
can run is not fused with one that it cannot, nor into one of so many arrays that compilers give up on it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from adgen.ir import core
from adgen.ir.nodes import Function, Operation, Region, Value, walk
from adgen.ir.types import is_float
from adgen.passes.activity import roots
from adgen.passes.dead_code import dead_code
from adgen.passes.forward_stores import forward_stores
from adgen.passes.independence import Independence, independence
from adgen.passes.indices import Definitions, Indices
from adgen.passes.surgery import free_values, substitute

FARTHEST = 64  # operations between two loops that are looked at
MOST = 12  # arrays that the iterations of a fused loop touch


def fuse(function: Function, only: Collection[Value] | None = None) -> Function:
    """Make one loop of two, or only of those that hand one of some buffers on.

    Before:  function f(%x: f64[:], %y: f64[:]) -> () {
               %zero = const {type="i64", value=0} : i64
               %n = dim %x {axis=0} : i64
               %t = alloc %n {element="f64", zero=true} : f64[:]
               for %zero, %n {exit=false, step=1} (%i: i64) {
                 %a = load %x, %i : f64
                 %b = sin %a : f64
                 store %t, %b, %i
                 yield
               }
               for %zero, %n {exit=false, step=1} (%j: i64) {
                 %c = load %t, %j : f64
                 %d = mul %c, %c : f64
                 store %y, %d, %j
                 yield
               }
               return
             }
    After:   function f(%x: f64[:], %y: f64[:]) -> () {
               %zero = const {type="i64", value=0} : i64
               %n = dim %x {axis=0} : i64
               for %zero, %n {exit=false, step=1} (%j: i64) {
                 %a = load %x, %j : f64
                 %b = sin %a : f64
                 %d = mul %b, %b : f64
                 store %y, %d, %j
                 yield
               }
               return
             }
    """
    search = _Search(function, only)
    body = search.region(function.body)
    return function if body is function.body else dead_code(forward_stores(replace(function, body=body)))


class _Search:
    """Finds and fuses the loops of one function."""

    def __init__(self, function: Function, only: Collection[Value] | None) -> None:
        self.only = only
        self.root = roots(function)
        self.local = {o.result for o in walk(function.body) if o.row is core.ALLOC}
        self.indices = Indices(Definitions(function))
        self.results = {self.root[value] for value in function.results if value in self.root}
        self.accesses = self.count(function.body)
        self.within: set[Value] = set()  # buffers that go once all loops of a range are one

    def region(self, region: Region) -> Region:
        """The region with its loops, and those in its operations, fused."""
        done: list[Operation] = []
        changed = False
        outer, self.within = self.within, self.in_one_range(region)
        for operation in region.operations:
            regions = tuple(self.region(inner) for inner in operation.regions)
            if any(a is not b for a, b in zip(regions, operation.regions)):
                operation, changed = replace(operation, regions=regions), True
            while operation.row is core.FOR and (place := self.earlier(done, operation)) is not None:
                fused = self.fused(done[place], operation)
                if fused is None:
                    break
                del done[place]
                operation, changed = fused, True
            done.append(operation)
        self.within = outer
        return replace(region, operations=tuple(done)) if changed else region

    def in_one_range(self, region: Region) -> set[Value]:
        """Local buffers that only loops of one range touch, all of them in this region."""
        owners: dict[Value, list[Operation]] = {}
        counts: Counter[Value] = Counter()
        for operation in region.operations:
            inside = self.count(Region((), (operation,), ()))
            counts.update(inside)
            for memory in inside:
                owners.setdefault(memory, []).append(operation)
        return {
            memory
            for memory, loops in owners.items()
            if self.goes(memory, counts[memory])
            and all(loop.row is core.FOR and self.same_range(loops[0], loop) for loop in loops)
        }

    def earlier(self, done: Sequence[Operation], loop: Operation) -> int | None:
        """The place of the loop before this one, when it hands memory on to this one and may run after all between."""
        for place in range(len(done) - 1, max(len(done) - FARTHEST, 0) - 1, -1):
            first = done[place]
            if first.row is core.FOR:
                between = done[place + 1 :]
                return place if self.hands_on(first, loop) and self.may_wait(first, between) else None
            if not (first.row.pure or first.row in (core.ALLOC, core.LOAD, core.RESHAPE)):
                return None
        return None

    def hands_on(self, first: Operation, second: Operation) -> bool:
        """True when the second loop reads a local buffer that the first one writes, and nothing else looks at it, but
        for other loops of the same range."""
        written = {self.root[o.operands[0]] for o in walk(first.regions[0]) if o.row in (core.STORE, core.ACCUMULATE)}
        read = {self.root[o.operands[0]] for o in walk(second.regions[0]) if o.row is core.LOAD}
        counts = self.count(first.regions[0]) + self.count(second.regions[0])
        handed = written & read if self.only is None else written & read & set(self.only)
        return any(self.goes(memory, counts[memory]) or memory in self.within for memory in handed)

    def goes(self, memory: Value, count: int) -> bool:
        """True for a local buffer that is touched so often and not more."""
        return memory in self.local and memory not in self.results and count == self.accesses[memory]

    def may_wait(self, first: Operation, between: Sequence[Operation]) -> bool:
        """True when a loop may run after the operations between."""
        written = {self.root[o.operands[0]] for o in walk(first.regions[0]) if o.row in (core.STORE, core.ACCUMULATE)}
        return not any(
            any(value in first.results for value in operation.operands)
            or (operation.row is core.LOAD and self.root[operation.operands[0]] in written)
            for operation in between
        )

    def count(self, region: Region) -> Counter[Value]:
        """How often each memory is touched."""
        return Counter(self.root[o.operands[0]] for o in walk(region) if o.row in core.ACCESSES)

    def is_wide(self, loop: Operation) -> bool:
        """True when a loop touches many arrays, not counting those that nothing else looks at."""
        inside = self.count(loop.regions[0])
        return sum(not self.goes(memory, count) for memory, count in inside.items()) > MOST

    def fused(self, first: Operation, second: Operation) -> Operation | None:
        """One loop that does what two did."""
        if not self.same_range(first, second) or set(first.results) & set(free_values([second])):
            return None
        if any(set(loop.attributes) - {"exit", "step", "unordered"} for loop in (first, second)):
            return None
        one, other = first.regions[0], second.regions[0]
        mapping = {one.arguments[0]: other.arguments[0]}
        operations = self.body(substitute(one.operations, mapping), other.operations)
        if operations is None:
            return None
        results = (*(mapping.get(value, value) for value in one.results), *other.results)
        region = Region((*other.arguments[:1], *one.arguments[1:], *other.arguments[1:]), tuple(operations), results)
        attributes = {"exit": False, "step": second.attributes["step"]}
        if all(loop.attributes.get("unordered") or not _adds(loop) for loop in (first, second)):
            attributes |= {"unordered": True} if _adds(first) or _adds(second) else {}
        fused = replace(
            second,
            operands=(*second.operands[:2], *first.operands[2:], *second.operands[2:]),
            results=(*first.results, *second.results),
            regions=(region,),
            attributes=attributes,
        )
        return fused if self.allowed(first, second, fused) else None

    def same_range(self, first: Operation, second: Operation) -> bool:
        """True when two loops surely have the same indices in the same order."""
        split = self.indices.split
        return first.attributes["step"] == second.attributes["step"] and all(
            split(a) == split(b) for a, b in zip(first.operands[:2], second.operands[:2])
        )

    def body(self, first: Sequence[Operation], second: Sequence[Operation]) -> list[Operation] | None:
        """What an iteration of the fused loop does: of nests, one inner loop."""
        loops = [[k for k, o in enumerate(part) if o.row in core.LOOPS] for part in (first, second)]
        if not loops[0] and not loops[1]:
            return [*first, *second]
        ends = [[len(part) - 1] for part in (first, second)]
        if loops != ends or not all(o.row.pure or o.row is core.ALLOC for o in (*first[:-1], *second[:-1])):
            return None
        if first[-1].row is not core.FOR or second[-1].row is not core.FOR:
            return None
        inner = self.fused(first[-1], second[-1])
        return None if inner is None else [*first[:-1], *second[:-1], inner]

    def allowed(self, first: Operation, second: Operation, fused: Operation) -> bool:
        """True when the iterations of the fused loop keep out of each other's way, and it is as fast as both."""
        if self.is_wide(fused) or any(operation.row is core.CHECK for operation in walk(fused.regions[0])):
            return False
        found = independence(fused, self.root)
        if not isinstance(found, Independence):
            return False
        sums = [{self.root[o.operands[0]] for o in _accumulations(loop)} & found.added for loop in (first, second)]
        if sums[0] & sums[1]:
            return False
        return _is_plain(first, self.root, found) == _is_plain(second, self.root, found)


def _accumulations(loop: Operation) -> Iterator[Operation]:
    return (operation for operation in walk(loop.regions[0]) if operation.row is core.ACCUMULATE)


def _adds(loop: Operation) -> bool:
    """True when the order of iterations is an order of additions."""
    return len(loop.operands) > 2 or any(True for _ in _accumulations(loop))


def _is_plain(loop: Operation, root: Mapping[Value, Value], found: Independence) -> bool:
    """True when a vector unit could run several iterations at once."""
    region = loop.regions[0]
    if not loop.attributes.get("unordered") and any(is_float(value.type) for value in loop.operands[2:]):
        return False
    inside = {*region.arguments, *(value for operation in walk(region) for value in operation.results)}

    def hinders(operation: Operation) -> bool:
        if operation.row in (core.IF, core.WHILE):
            return any(o.row in core.ACCESSES or o.row is core.WHILE for part in operation.regions for o in walk(part))
        scatters = operation.row is core.ACCUMULATE and root[operation.operands[0]] in found.added
        return scatters and any(value in inside for value in operation.operands[2:])

    return not any(hinders(operation) for operation in walk(region))
