"""Steps that compute new contents of a buffer in another one, and copy them: the two buffers change places instead.

Comes in: a function about to be emitted.  Goes out: the function in which a `swap` takes the place of the copy, in
loops over steps of either direction.

Forwards a step fills a part of `B` from `A`, and copies the part back at its end.  What is not in the part never
changes, so it is copied into `B` once, in front of the loop.  Backwards, a step begins by moving a part of the
cotangent `A` to `B`, and goes on adding to `A`.  After the swap only the rest is copied, and of the part only what
is not stored into next is cleared.

Guaranteed: the same contents of `A` after each step.  `B` is private to a step, so nobody can tell what else it holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

from adgen.ir import core
from adgen.ir.builder import Builder
from adgen.ir.nodes import Function, Operation, Region, Value
from adgen.ir.types import Buffer
from adgen.passes.box_nests import box_nest, outside_nest
from adgen.passes.boxes import (
    Box,
    Interval,
    box_of,
    chains,
    contains,
    defined,
    fills_box,
    only_accesses,
    stored_boxes,
    walk_one,
)
from adgen.passes.indices import Definitions, Indices
from adgen.passes.uses import Uses

SMALLEST = 64  # elements; fewer may live in registers


def rotations(function: Function) -> Function:
    """Swap instead of copying.

    Before:  function f(%out: f64[:], %n: i64, %x: f64) -> () {
               %zero = const {type="i64", value=0} : i64
               %A = alloc %n {element="f64", zero=true} : f64[:]
               for %zero, %n {exit=false, step=1} (%t: i64) {
                 %B = alloc %n {element="f64", zero=false} : f64[:]
                 for %zero, %n {exit=false, step=1} (%i: i64) {
                   %a = load %A, %i : f64
                   %b = add %a, %x : f64
                   store %B, %b, %i
                   yield
                 }
                 for %zero, %n {exit=false, step=1} (%i_1: i64) {
                   %b_1 = load %B, %i_1 : f64
                   store %A, %b_1, %i_1
                   yield
                 }
                 yield
               }
               for %zero, %n {exit=false, step=1} (%j: i64) {
                 %c = load %A, %j : f64
                 store %out, %c, %j
                 yield
               }
               return
             }
    After:   function f(%out: f64[:], %n: i64, %x: f64) -> () {
               %zero = const {type="i64", value=0} : i64
               %A = alloc %n {element="f64", zero=true} : f64[:]
               %B = alloc %n {element="f64", zero=false} : f64[:]
               for %zero, %n {exit=false, step=1} (%t: i64) {
                 for %zero, %n {exit=false, step=1} (%i: i64) {
                   %a = load %A, %i : f64
                   %b = add %a, %x : f64
                   store %B, %b, %i
                   yield
                 }
                 swap %A, %B
                 yield
               }
               for %zero, %n {exit=false, step=1} (%j: i64) {
                 %c = load %A, %j : f64
                 store %out, %c, %j
                 yield
               }
               return
             }
    """
    while True:  # one pair of buffers of a loop at a time
        body = _Search(function).region(function.body)
        if body is function.body:
            return function
        function = replace(function, body=body)


@dataclass(frozen=True)
class Move:
    """A nest that copies a box of one buffer to the same place in another, and may clear it."""

    nest: Operation
    source: Value
    target: Value
    box: Box
    clears: bool


@dataclass(frozen=True)
class Change:
    """What becomes of a loop: operations in front of it, its new body."""

    before: list[Operation]
    operations: list[Operation]


class _Search:
    def __init__(self, function: Function) -> None:
        self.definitions = Definitions(function)
        self.indices = Indices(self.definitions)
        self.uses = Uses(function)
        roots = self.uses.root
        self.results = {roots[value] for value in function.results if value in roots}
        self.renamed = {root for handle, root in roots.items() if handle is not root}  # has two handles

    def region(self, region: Region) -> Region:
        operations: list[Operation] = []
        made: set[Value] = set()
        for operation in region.operations:
            if operation.row is core.FOR:
                operations.extend(self.loop(operation, made))
            else:
                operations.append(self.owner(operation))
            made.update(operation.results)
        same = len(operations) == len(region.operations) and all(a is b for a, b in zip(operations, region.operations))
        return region if same else replace(region, operations=tuple(operations))

    def owner(self, operation: Operation) -> Operation:
        regions = tuple(self.region(inner) for inner in operation.regions)
        same = all(a is b for a, b in zip(regions, operation.regions))
        return operation if same else replace(operation, regions=regions)

    def loop(self, loop: Operation, made: set[Value]) -> list[Operation]:
        """A loop with what comes before it; `made` is what the region around it has made so far."""
        (body,) = loop.regions
        for alloc in body.operations:
            if alloc.row is core.ALLOC and self.is_free(alloc):
                change = self.forwards(loop, alloc, made) or self.backwards(loop, alloc, made)
                if change is not None:
                    inner = replace(body, operations=tuple(change.operations))
                    return [*change.before, replace(loop, regions=(inner,))]
        return [self.owner(loop)]

    def is_free(self, alloc: Operation) -> bool:
        """True for a buffer that may be used for something else between steps, and is worth it."""
        extents = [self.definitions.known(extent) for extent in alloc.operands]
        small = None not in extents and prod(int(extent or 0) for extent in extents) <= SMALLEST
        return not small and not alloc.attributes["zero"] and alloc.result not in self.renamed

    def is_state(self, value: Value, like: Operation, made: set[Value]) -> bool:
        """True for a buffer of the region around the loop, of the extents of another one, that is no result."""
        alloc = self.definitions.definitions.get(value)
        if alloc is None or alloc.row is not core.ALLOC or value not in made:
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
            elif operation.row is not core.FOR and not operation.row.pure:
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

    # -- forwards --------------------------------------------------------------------------------------------------

    def forwards(self, loop: Operation, alloc: Operation, made: set[Value]) -> Change | None:
        """A loop whose last use of two buffers is to copy a part of the fresh one into the other."""
        (body,) = loop.regions
        fresh = alloc.result
        users = self.uses.inside(body, fresh)
        move = self.move(users[-1]) if users else None
        if move is None or move.clears or move.source is not fresh or not self.is_state(move.target, alloc, made):
            return None
        state = move.target
        inside = defined(loop)
        if any(end in inside for each in move.box for end in (each.low[0], each.high[0])):
            return None
        others = self.uses.inside(body, state)
        if others[-1] is not move.nest or not all(self.only_reads(each, state) for each in others[:-1]):
            return None
        if not all(self.writes_within(each, fresh, move.box) for each in users[:-1] if each is not alloc):
            return None
        builder = self.builder(move.nest)
        extents = self.definitions.definitions[state].operands
        with builder.block() as before:
            if not contains(move.box, self.whole(state)):
                builder.nest(extents, lambda *index: builder.store(fresh, builder.load(state, index), index))
        swap = Operation(core.SWAP, (state, fresh), (), span=move.nest.span)
        operations = [swap if each is move.nest else each for each in body.operations if each is not alloc]
        return Change([self.outside(alloc, state), *before.operations], operations)

    def only_reads(self, operation: Operation, memory: Value) -> bool:
        return only_accesses(operation, memory) and all(
            chain[-1].row is core.LOAD for chain in chains(operation, memory)
        )

    def writes_within(self, operation: Operation, memory: Value, box: Box) -> bool:
        """True when an operation changes elements of a box alone."""
        if not only_accesses(operation, memory):
            return False
        written = [box_of(self.indices, chain) for chain in chains(operation, memory) if chain[-1].row is not core.LOAD]
        return all(each is not None and contains(box, each) for each in written)

    # -- backwards -------------------------------------------------------------------------------------------------

    def backwards(self, loop: Operation, alloc: Operation, made: set[Value]) -> Change | None:
        """A loop whose first use of two buffers is to move a part of one into the fresh one."""
        (body,) = loop.regions
        fresh = alloc.result
        users = [each for each in self.uses.inside(body, fresh) if each is not alloc]
        move = self.move(users[0]) if users else None
        if move is None or not move.clears or move.target is not fresh or not self.is_state(move.source, alloc, made):
            return None
        state = move.source
        others = self.uses.inside(body, state)
        if others[0] is not move.nest:
            return None
        if not all(
            only_accesses(each, handle) for handle, found in ((state, others), (fresh, users)) for each in found
        ):
            return None
        builder = self.builder(move.nest)
        with builder.block() as prepared:
            assert isinstance(fresh.type, Buffer)
            zero = builder.const(0, fresh.type.element)
            outside_nest(
                builder,
                self.whole(state),
                move.box,
                lambda index: builder.store(state, builder.load(fresh, index), index),
            )
            filled = self.filled(others[1:], state)
            if filled is None:
                box_nest(builder, move.box, lambda index: builder.store(state, zero, index))
            else:
                outside_nest(builder, move.box, filled, lambda index: builder.store(state, zero, index))
        swap = Operation(core.SWAP, (state, fresh), (), span=move.nest.span)
        operations: list[Operation] = []
        for each in body.operations:
            if each is move.nest:
                operations += [swap, *prepared.operations]
            elif each is not alloc:
                operations.append(each)
        return Change([self.outside(alloc, state)], operations)

    def filled(self, others: Sequence[Operation], state: Value) -> Box | None:
        """The box that the next operation stores into without reading anything of the buffer."""
        if not others or any(chain[-1].row is not core.STORE for chain in chains(others[0], state)):
            return None
        return next(iter(stored_boxes(self.indices, others[0], state)), None)

    def whole(self, state: Value) -> Box:
        """All elements of a local buffer."""
        extents = self.definitions.definitions[state].operands
        return tuple(Interval((None, 0), self.indices.split(extent)) for extent in extents)

    # -- operations ------------------------------------------------------------------------------------------------

    def builder(self, like: Operation) -> Builder:
        builder = Builder()
        builder.definitions = dict(self.definitions.definitions)
        builder.span = like.span
        return builder

    def outside(self, alloc: Operation, state: Value) -> Operation:
        """The fresh buffer, made in front of the loop."""
        return replace(alloc, operands=self.definitions.definitions[state].operands)
