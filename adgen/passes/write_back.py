"""A private copy that is changed in places and copied back: only the changed places need copying.

Comes in: a function.  Goes out: the function in which, where a loop body copies `A` into a fresh `B`, stores into parts
of `B`, and copies `B` back into `A`, the first copy is gone and the last one covers the stored parts only.  Guaranteed:
the same contents of `A` afterwards; at most as many elements are copied.

This is what `new = old.copy(); new[1:-1] = ...; old = new` in a time loop becomes.  The stores must be unconditional,
in loops that all occur in their indices, and nothing else may look at `B`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from adgen.ir import core
from adgen.ir.builder import Builder
from adgen.ir.nodes import Function, Operation, Region, Value
from adgen.ir.rebuild import clone, mapped
from adgen.passes.copy_nests import Copy, copy_nest, fills, same_extents
from adgen.passes.indices import Definitions
from adgen.passes.uses import Uses

Chain = tuple[Operation, ...]


def write_back(function: Function) -> Function:
    """Copy back what was changed.

    Before:  function f(%A: f64[:], %x: f64, %m: i64) -> () {
               %zero = const {type="i64", value=0} : i64
               %n = dim %A {axis=0} : i64
               %B = alloc %n {element="f64", zero=false} : f64[:]
               for %zero, %n {exit=false, step=1} (%i: i64) {
                 %a = load %A, %i : f64
                 store %B, %a, %i
                 yield
               }
               for %zero, %m {exit=false, step=1} (%k: i64) {
                 %b = load %A, %k : f64
                 %c = mul %b, %x : f64
                 store %B, %c, %k
                 yield
               }
               for %zero, %n {exit=false, step=1} (%j: i64) {
                 %d = load %B, %j : f64
                 store %A, %d, %j
                 yield
               }
               return
             }
    After:   function f(%A: f64[:], %x: f64, %m: i64) -> () {
               %zero = const {type="i64", value=0} : i64
               %n = dim %A {axis=0} : i64
               %B = alloc %n {element="f64", zero=false} : f64[:]
               for %zero, %m {exit=false, step=1} (%k: i64) {
                 %b = load %A, %k : f64
                 %c = mul %b, %x : f64
                 store %B, %c, %k
                 yield
               }
               for %zero, %m {exit=false, step=1} (%k_1: i64) {
                 %0 = load %B, %k_1 : f64
                 store %A, %0, %k_1
                 yield
               }
               return
             }
    """
    uses = Uses(function)
    search = _Search(uses, Definitions(function))
    changes: dict[int, Sequence[Operation]] = {}
    for alloc, path in uses.allocs:
        region = path[-1][0].regions[path[-1][1]] if path else function.body
        if alloc.result not in (uses.root.get(value) for value in function.results):
            changes.update(search.changes(alloc, region))
    return replace(function, body=_applied(function.body, changes)) if changes else function


class _Search:
    def __init__(self, uses: Uses, definitions: Definitions) -> None:
        self.uses = uses
        self.definitions = definitions

    def changes(self, alloc: Operation, region: Region) -> dict[int, Sequence[Operation]]:
        """What operations of the region become, by identity; empty when the buffer is used in another way."""
        touching = self.uses.inside(region, alloc.result)
        if len(touching) < 3:
            return {}
        first, *middle, last = touching
        into, back = copy_nest(first, self.definitions), copy_nest(last, self.definitions)
        if (
            into is None
            or back is None
            or into.clears
            or back.clears
            or not self._there_and_back(into, back, alloc, region)
        ):
            return {}
        chains: list[Chain] = []
        for operation in middle:
            found = store_chains(operation, alloc.result)
            if found is None:
                return {}
            chains.extend(found)
        copied: list[Operation] = []
        for chain in chains:
            needed = _computed(chain)
            if needed is None:
                return {}
            copied.extend(_copied_back(chain, needed, back))
        return {id(first): (), id(last): copied}

    def _there_and_back(self, into: Copy, back: Copy, alloc: Operation, region: Region) -> bool:
        """True when the copies are of the whole buffer, from and to memory that nothing writes in between."""
        if into.target is not alloc.result or back.source is not alloc.result or back.target is not into.source:
            return False
        if not fills(into, self.definitions) or not same_extents(self.definitions, back.extents, alloc.operands):
            return False
        root = self.uses.root[into.source]
        between = False
        for operation in self.uses.inside(region, root):
            if operation is back.nest:
                return True
            if between and (operation.row not in (core.LOAD, core.DIM) and not operation.regions):
                return False
            if between and root in self.uses.memory.written(operation):
                return False
            between |= operation is into.nest
        return False


def store_chains(operation: Operation, target: Value) -> list[Chain] | None:
    """The stores into a buffer inside an operation, each as the loops around it and itself.

    None when the buffer is touched in another way, or not every time.
    """
    if operation.row is core.STORE and operation.operands[0] is target:
        return [(operation,)]
    if target in operation.operands or operation.row is core.WHILE:
        return None
    chains: list[Chain] = []
    for region in operation.regions:
        for inner in region.operations:
            if inner.regions or target in inner.operands:
                found = store_chains(inner, target)
                if found is None:
                    return None
                chains.extend((operation, *chain) for chain in found)
    if chains and (operation.row is not core.FOR or operation.attributes["exit"]):
        return None
    return chains


def _computed(chain: Chain) -> set[Value] | None:
    """What the loops of a chain compute for their bounds and the indices of the store.

    None when that needs more than loop indices and arithmetic, or when a loop only repeats the store.
    """
    *loops, store = chain
    made = {value: o for loop in loops for o in loop.regions[0].operations for value in o.results}
    carried = {value for loop in loops for value in loop.regions[0].arguments[1:]}
    repeated = {loop.regions[0].arguments[0] for loop in loops}
    needed: set[Value] = set()
    bounds = [value for loop in loops[1:] for value in loop.operands[:2]]
    for first, counts in ((store.operands[2:], True), (bounds, False)):
        pending = list(first)
        while pending:
            value = pending.pop()
            if value in carried or (value in made and not made[value].row.pure):
                return None
            if counts:
                repeated.discard(value)
            if value in made and value not in needed:
                needed.add(value)
                pending.extend(made[value].operands)
    return None if repeated else needed


def _copied_back(chain: Chain, needed: set[Value], back: Copy) -> list[Operation]:
    """A nest that copies back what one store has stored."""
    builder = Builder()
    builder.span = back.nest.span
    mapping: dict[Value, Value] = {}

    def level(depth: int) -> None:
        operation = chain[depth]
        if operation.row is core.STORE:
            indices = mapped(operation.operands[2:], mapping)
            builder.store(back.target, builder.load(back.source, indices), indices)
            return
        (region,) = operation.regions

        def body(index: Value) -> tuple[Value, ...]:
            mapping[region.arguments[0]] = index
            clone(builder, (o for o in region.operations if needed.intersection(o.results)), mapping)
            level(depth + 1)
            return ()

        start, stop = mapped(operation.operands[:2], mapping)
        builder.loop(start, stop, (), body, operation.attributes["step"], name=region.arguments[0].name)

    with builder.block() as block:
        level(0)
    return block.operations


def _applied(region: Region, changes: Mapping[int, Sequence[Operation]]) -> Region:
    operations: list[Operation] = []
    for operation in region.operations:
        if id(operation) in changes:
            operations.extend(changes[id(operation)])
            continue
        regions = tuple(_applied(inner, changes) for inner in operation.regions)
        same = all(a is b for a, b in zip(regions, operation.regions))
        operations.append(operation if same else replace(operation, regions=regions))
    same = len(operations) == len(region.operations) and all(a is b for a, b in zip(operations, region.operations))
    return region if same else replace(region, operations=tuple(operations))
