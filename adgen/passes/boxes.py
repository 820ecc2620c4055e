"""Boxes of elements: what an access in a nest of loops gets to, as one interval of indices an axis.

Comes in: accesses of the form loop index plus constant, in loops of step 1 or -1.  Goes out: intervals whose ends are a
value plus a constant, so that one box can be shown to lie in another.  Guaranteed: where a box is given, the access
touches nothing outside of it, and, when it is made whenever its loops run, everything in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from adgen.ir import core
from adgen.ir.nodes import Operation, Value, walk_one
from adgen.passes.indices import Indices

Bound = tuple[Value | None, int]  # a value, None for zero, plus a constant
Chain = tuple[Operation, ...]  # the owners around an access, outermost first, and the access itself


@dataclass(frozen=True)
class Interval:
    """Integers from `low` up to, but without, `high`."""

    low: Bound
    high: Bound

    def shifted(self, first: int, last: int | None = None) -> Interval:
        """Both ends moved by constants."""
        low, high = self.low, self.high
        return Interval((low[0], low[1] + first), (high[0], high[1] + (first if last is None else last)))


Box = tuple[Interval, ...]


def contains(outer: Box, inner: Box) -> bool:
    """True when one box surely lies in another."""
    return len(outer) == len(inner) and all(
        a.low[0] is b.low[0] and a.low[1] <= b.low[1] and a.high[0] is b.high[0] and a.high[1] >= b.high[1]
        for a, b in zip(outer, inner)
    )


def chains(operation: Operation, memory: Value) -> Iterator[Chain]:
    """The accesses of a buffer by a handle, with what is around them inside the operation."""
    return _paths(operation, lambda each: each.row in core.ACCESSES and each.operands[0] is memory)


def store_chains(operation: Operation) -> Iterator[Chain]:
    """All that store or add inside an operation, each with what is around it."""
    return _paths(operation, lambda each: each.row in (core.STORE, core.ACCUMULATE))


def _paths(operation: Operation, wanted: Callable[[Operation], bool]) -> Iterator[Chain]:
    if wanted(operation):
        yield (operation,)
    for region in operation.regions:
        for inner in region.operations:
            for chain in _paths(inner, wanted):
                yield (operation, *chain)


def only_accesses(operation: Operation, memory: Value) -> bool:
    """True when an operation does nothing with a buffer but load, store and add elements, or ask for extents."""
    return all(
        each.row is core.DIM or (each.row in core.ACCESSES and memory not in each.operands[1:])
        for each in walk_one(operation)
        if memory in each.operands
    )


def defined(operation: Operation) -> set[Value]:
    """What an operation makes, inside and out."""
    found: set[Value] = set()
    for each in walk_one(operation):
        found.update(each.results)
        for region in each.regions:
            found.update(region.arguments)
    return found


def trips(indices: Indices, loop: Operation) -> Interval | None:
    """The indices of a loop of step 1 or -1."""
    start, stop = (indices.split(value) for value in loop.operands[:2])
    if loop.attributes["step"] == 1:
        return Interval(start, stop)
    return Interval((stop[0], stop[1] + 1), (start[0], start[1] + 1)) if loop.attributes["step"] == -1 else None


def box_of(indices: Indices, chain: Chain) -> Box | None:
    """The elements that an access gets to while the outermost of its owners runs once."""
    *owners, access = chain
    inside = defined(chain[0]) if owners else set[Value]()
    loops = {owner.regions[0].arguments[0]: owner for owner in owners if owner.row is core.FOR}
    found = []
    for index in core.indices_of(access):
        base, offset = indices.split(index)
        if base in loops:
            run = trips(indices, loops[base])
            if run is None or run.low[0] in inside or run.high[0] in inside:
                return None
            found.append(run.shifted(offset))
        elif base in inside:
            return None
        else:
            found.append(Interval((base, offset), (base, offset + 1)))
    return tuple(found)


def fills_box(indices: Indices, chain: Chain) -> bool:
    """True when the access is made for every element of its box exactly once."""
    *owners, access = chain
    bases = [indices.split(index)[0] for index in core.indices_of(access)]
    return all(
        owner.row is core.FOR
        and not owner.attributes.get("exit")
        and abs(owner.attributes["step"]) == 1
        and bases.count(owner.regions[0].arguments[0]) == 1
        for owner in owners
    )


def stored_boxes(indices: Indices, operation: Operation, memory: Value) -> list[Box]:
    """The boxes that an operation surely stores into as a whole."""
    stores = [chain for chain in chains(operation, memory) if chain[-1].row is core.STORE and fills_box(indices, chain)]
    return [box for box in (box_of(indices, chain) for chain in stores) if box is not None]


def reads_within(indices: Indices, operation: Operation, memory: Value, boxes: Sequence[Box]) -> bool:
    """True when an operation reads nothing of a buffer that is not in one of some boxes."""
    if not only_accesses(operation, memory):
        return False
    reads = [box_of(indices, chain) for chain in chains(operation, memory) if chain[-1].row is not core.STORE]
    return all(box is not None and any(contains(outer, box) for outer in boxes) for box in reads)
