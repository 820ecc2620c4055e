"""Loops over steps that compute in a fresh buffer and copy, and what may be done about it.

Comes in: a function.  Goes out: answers about its buffers, and the nests in it that copy a part of one to another.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import prod

from adgen.ir import core
from adgen.ir.builder import Builder
from adgen.ir.nodes import Function, Operation, Region, Value, walk_one
from adgen.passes.boxes import Box, Interval, box_of, chains, contains, defined, fills_box, only_accesses
from adgen.passes.indices import Definitions, Indices
from adgen.passes.uses import Uses

SMALLEST = 64  # elements; fewer may live in registers


@dataclass(frozen=True)
class Move:
    """A nest that copies a box of one buffer to the same place in another, and may clear it."""

    nest: Operation
    source: Value
    target: Value
    box: Box
    clears: bool


class Moves:
    """The buffers of a function."""

    def __init__(self, function: Function) -> None:
        self.definitions = Definitions(function)
        self.indices = Indices(self.definitions)
        self.uses = Uses(function)
        roots = self.uses.root
        self.results = {roots[value] for value in function.results if value in roots}
        self.renamed = {root for handle, root in roots.items() if handle is not root}  # has two handles

    def is_free(self, alloc: Operation) -> bool:
        """True for a buffer that may be used for something else between steps, and is worth it."""
        extents = [self.definitions.known(extent) for extent in alloc.operands]
        small = None not in extents and prod(int(extent or 0) for extent in extents) <= SMALLEST
        return not small and not alloc.attributes["zero"] and alloc.result not in self.renamed

    def is_state(self, value: Value, like: Operation, loop: Operation) -> bool:
        """True for a buffer from outside of a loop, of the extents of another one, that is no result."""
        alloc = self.definitions.definitions.get(value)
        if alloc is None or alloc.row is not core.ALLOC or value in defined(loop):
            return False
        if value in self.results or value in self.renamed or value.type != like.result.type:
            return False
        pairs = zip(alloc.operands, like.operands)
        return all(self.indices.split(a) == self.indices.split(b) for a, b in pairs)

    def move(self, nest: Operation) -> Move | None:
        """The move that a nest makes and nothing else, if it does."""
        loads, stores = [], []
        for operation in walk_one(nest):
            if operation.row is core.LOAD:
                loads.append(operation)
            elif operation.row is core.STORE:
                stores.append(operation)
            elif not operation.row.pure and (operation.row is not core.FOR or operation.results):
                return None
        moved = [store for store in stores if loads and store.operands[1] is loads[0].result]
        if len(loads) != 1 or len(moved) != 1 or len(stores) > 2:
            return None
        (load,), (store,) = loads, moved
        cleared = [each for each in stores if each is not store]
        index = [self.indices.split(value) for value in load.operands[1:]]
        for each in stores:
            if [self.indices.split(value) for value in each.operands[2:]] != index:
                return None
        if any(self.definitions.known(e.operands[1]) != 0 or e.operands[0] is not load.operands[0] for e in cleared):
            return None
        (chain,) = chains(nest, store.operands[0])
        box = box_of(self.indices, chain) if fills_box(self.indices, chain) else None
        return None if box is None else Move(nest, load.operands[0], store.operands[0], box, bool(cleared))

    def stepped(self, loop: Operation, alloc: Operation) -> Move | None:
        """The copy by which each iteration ends with a fresh buffer and a state, the target of the copy.

        Of the state, which is only read before, the same part changes in every iteration, and the fresh buffer is
        written there alone.
        """
        (body,) = loop.regions
        fresh = alloc.result
        users = [each for each in self.uses.inside(body, fresh) if each is not alloc]
        move = self.move(users[-1]) if users and self.is_free(alloc) else None
        if move is None or move.clears or move.source is not fresh or not self.is_state(move.target, alloc, loop):
            return None
        inside = defined(loop)
        if any(end in inside for each in move.box for end in (each.low[0], each.high[0])):
            return None
        others = self.uses.inside(body, move.target)
        if others[-1] is not move.nest or not all(self.only_reads(each, move.target) for each in others[:-1]):
            return None
        if contains(move.box, self.whole(move.target)):
            return move if all(only_accesses(each, fresh) for each in users) else None
        return move if all(self.writes_within(each, fresh, move.box) for each in users[:-1]) else None

    def only_reads(self, operation: Operation, memory: Value) -> bool:
        """True when an operation does nothing with a buffer but load elements."""
        return only_accesses(operation, memory) and all(
            chain[-1].row is core.LOAD for chain in chains(operation, memory)
        )

    def writes_within(self, operation: Operation, memory: Value, box: Box) -> bool:
        """True when an operation changes elements of a box alone."""
        if not only_accesses(operation, memory):
            return False
        written = [box_of(self.indices, chain) for chain in chains(operation, memory) if chain[-1].row is not core.LOAD]
        return all(each is not None and contains(box, each) for each in written)

    def whole(self, state: Value) -> Box:
        """All elements of a local buffer."""
        extents = self.definitions.definitions[state].operands
        return tuple(Interval((None, 0), self.indices.split(extent)) for extent in extents)

    def extents(self, buffer: Value) -> tuple[Value, ...]:
        """The extents of a local buffer."""
        return self.definitions.definitions[buffer].operands

    def builder(self, like: Operation) -> Builder:
        """A builder that knows what makes each value, for operations from the line of another."""
        builder = Builder()
        builder.definitions = dict(self.definitions.definitions)
        builder.span = like.span
        return builder


Rewrite = Callable[[Operation], "list[Operation] | None"]


def with_loops(region: Region, rewrite: Rewrite) -> Region:
    """The region with some `for` loops replaced; what is inside such a loop is left for another time.

    `rewrite` gives None for a loop that stays.
    """
    operations: list[Operation] = []
    for operation in region.operations:
        new = rewrite(operation) if operation.row is core.FOR else None
        if new is None:
            regions = tuple(with_loops(inner, rewrite) for inner in operation.regions)
            same = all(a is b for a, b in zip(regions, operation.regions))
            new = [operation if same else replace(operation, regions=regions)]
        operations.extend(new)
    same = len(operations) == len(region.operations) and all(a is b for a, b in zip(operations, region.operations))
    return region if same else replace(region, operations=tuple(operations))
