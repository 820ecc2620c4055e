"""The same mathematical function of several numbers becomes a loop, which a vector unit takes several steps of at once.

Comes in: an optimised function.  Goes out: the same, where four or more applications of one function, none of which
needs the result of another, stand one after the other as a loop over small arrays.  Guaranteed: the same operations on
the same operands; nothing moves but what is total, and only upwards.

Small functions of a few angles, as of a robot's joints, spend most of their time in sines and cosines.  A loop that is
a vector's anyway is left alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from adgen.ir import core
from adgen.ir.builder import Block, Builder
from adgen.ir.nodes import Function, Operation, Region, Value, walk, walk_inside
from adgen.ir.rebuild import Mapping as Renamed
from adgen.ir.rebuild import mapped, rebuild, record
from adgen.ir.types import F64, I64
from adgen.ops.vectors import VECTORISED
from adgen.passes.activity import roots
from adgen.passes.independence import Independence, independence

FEWEST = 4  # numbers in a vector of most processors
MOST = 64  # in one loop
MOVED = (core.CONST, core.TABLE, core.DIM)
STILL = (*MOVED, core.ALLOC, core.RESHAPE, *core.ACCESSES)  # what cannot leave the function


def packs(function: Function) -> Function:
    """Make loops of applications of one function.

    Before:  function f(%x: f64[:]) -> (out) {
               %0 = const {type="i64", value=0} : i64
               %1 = const {type="i64", value=1} : i64
               %2 = const {type="i64", value=2} : i64
               %3 = const {type="i64", value=3} : i64
               %a = load %x, %0 : f64
               %s = sin %a : f64
               %b = load %x, %1 : f64
               %t = sin %b : f64
               %p = mul %s, %t : f64
               %c = load %x, %2 : f64
               %u = sin %c : f64
               %q = mul %p, %u : f64
               %d = load %x, %3 : f64
               %v = sin %d : f64
               %r = mul %q, %v : f64
               return %r
             }
    After:   function f(%x: f64[:]) -> (out) {
               %0 = const {type="i64", value=0} : i64
               %1 = const {type="i64", value=1} : i64
               %2 = const {type="i64", value=2} : i64
               %3 = const {type="i64", value=3} : i64
               %a = load %x, %0 : f64
               %b = load %x, %1 : f64
               %c = load %x, %2 : f64
               %d = load %x, %3 : f64
               %4 = const {type="i64", value=4} : i64
               %of = alloc %4 {element="f64", zero=false} : f64[:]
               store %of, %a, %0
               store %of, %b, %1
               store %of, %c, %2
               store %of, %d, %3
               %sin = alloc %4 {element="f64", zero=false} : f64[:]
               for %0, %4 {exit=false, simd=true, step=1, unordered=true} (%p: i64) {
                 %5 = load %of, %p : f64
                 %6 = sin %5 : f64
                 store %sin, %6, %p
                 yield
               }
               %s = load %sin, %0 : f64
               %t = load %sin, %1 : f64
               %u = load %sin, %2 : f64
               %v = load %sin, %3 : f64
               %p_1 = mul %s, %t : f64
               %q = mul %p_1, %u : f64
               %r = mul %q, %v : f64
               return %r
             }
    """
    chosen = _Choice(function)
    body = chosen.region(function.body, None)
    if not chosen.groups:
        return function
    return rebuild(replace(function, body=body), _Writer(chosen.groups))


class _Choice:
    """Which operations are taken together; regions are ordered so that each group stands together."""

    def __init__(self, function: Function) -> None:
        self.root = roots(function)
        self.written = {self.root[o.operands[0]] for o in walk(function.body) if o.row in core.WRITES}
        self.groups: dict[Operation, list[Operation]] = {}

    def region(self, region: Region, loop: Operation | None) -> Region:
        """The region in its new order; `loop` is the innermost one around it."""
        inner = {id(o): self._inside(o, loop) for o in region.operations if o.regions}
        operations = [inner.get(id(operation), operation) for operation in region.operations]
        groups = [] if self._is_vector(loop) else list(_groups(operations, self._is_still))
        self.groups.update((operation, group) for group in groups for operation in group)
        return replace(region, operations=_ordered(operations, groups))

    def _inside(self, operation: Operation, loop: Operation | None) -> Operation:
        around = operation if operation.row in core.LOOPS else loop
        return replace(operation, regions=tuple(self.region(region, around) for region in operation.regions))

    def _is_vector(self, loop: Operation | None) -> bool:
        """True for an innermost loop whose iterations can run side by side."""
        if loop is None or loop.row is not core.FOR or any(o.row in core.LOOPS for o in walk_inside(loop)):
            return False
        return bool(loop.attributes.get("simd")) or isinstance(independence(loop, self.root), Independence)

    def _is_still(self, operation: Operation) -> bool:
        """True for a load of what nothing writes."""
        return operation.row is core.LOAD and self.root[operation.operands[0]] not in self.written


def _groups(operations: Sequence[Operation], unchanging: Callable[[Operation], bool]) -> Iterator[list[Operation]]:
    """Applications of one function that can all stand where the first of them does."""
    depth: dict[Value, int] = {}  # applications of vector functions behind a value
    ready: dict[Value, int] = {}  # the last place before which a value cannot be made
    found: dict[tuple[str, int], list[tuple[int, Operation]]] = {}
    barrier = -1
    for place, operation in enumerate(operations):
        row, operands = operation.row, operation.operands
        deepest = max((depth.get(value, 0) for value in operands), default=0)
        earliest = max((ready.get(value, -1) for value in operands), default=-1)
        if _is_packed(operation):
            found.setdefault((row.name, deepest), []).append((place, operation))
            deepest += 1
        elif unchanging(operation):
            earliest = max(earliest, barrier)
        elif not (row.pure or row in MOVED) or operation.regions:
            earliest = place
        if not (row.pure or row in STILL):
            barrier = place
        depth.update((value, deepest) for value in operation.results)
        ready.update((value, earliest) for value in operation.results)
    for members in found.values():
        while len(members) >= FEWEST:
            first = members[0][0]
            near = [m for m in members if max(ready.get(v, -1) for v in m[1].operands) < first][:MOST]
            if len(near) >= FEWEST:
                yield [operation for _, operation in near]
            members = [member for member in members[1:] if member not in near]


def _is_packed(operation: Operation) -> bool:
    return VECTORISED.get(operation.row.name) == 1 and operation.result.type == F64


def _ordered(operations: Sequence[Operation], groups: Sequence[Sequence[Operation]]) -> tuple[Operation, ...]:
    """The operations, those of a group where its first one stands, and what they need before."""
    place = {id(operation): k for k, operation in enumerate(operations)}
    made = {value: operation for operation in operations for value in operation.results}
    together = {id(operation): group for group in groups for operation in group}
    order: list[Operation] = []
    done: set[int] = set()

    def needed(group: Sequence[Operation]) -> list[Operation]:
        found: dict[int, Operation] = {}
        values = [value for operation in group for value in operation.operands]
        while values:
            operation = made.get(values.pop())
            if operation is not None and id(operation) not in done and id(operation) not in found:
                found[id(operation)] = operation
                values += operation.operands
        return sorted(found.values(), key=lambda operation: place[id(operation)])

    def emit(operation: Operation) -> None:
        if id(operation) in done:
            return
        group = together.get(id(operation), (operation,))
        done.update(map(id, group))
        for other in needed(group) if len(group) > 1 else ():
            emit(other)
        order.extend(group)

    for operation in operations:
        emit(operation)
    return tuple(order)


class _Writer:
    """The transform: the first of a group becomes the loop, the others what it left for them."""

    def __init__(self, groups: Mapping[Operation, list[Operation]]) -> None:
        self.groups = groups
        self.written: set[int] = set()
        self.given: dict[tuple[Block, tuple[Value, ...]], Value] = {}  # operands that stand in an array of a block

    def __call__(self, builder: Builder, operation: Operation, mapping: Renamed) -> bool:
        group = self.groups.get(operation)
        if group is None:
            return False
        if id(group) not in self.written:
            self.written.add(id(group))
            self.write(builder, group, mapping)
        return True

    def write(self, builder: Builder, group: Sequence[Operation], mapping: Renamed) -> None:
        """The loop, over whole vectors: the last number stands in for those that are missing."""
        count = builder.index(-(-len(group) // FEWEST) * FEWEST)
        operands = mapped([operation.operands[0] for operation in group], mapping)
        key = builder.blocks[-1], operands
        arguments = self.given.get(key)
        if arguments is None:
            arguments = self.given[key] = builder.alloc(F64, [count], "of", zero=False)
            for k in range(builder.known(count) or 0):
                builder.store(arguments, operands[min(k, len(operands) - 1)], [builder.index(k)])
        results = builder.alloc(F64, [count], group[0].row.name, zero=False)
        place = Value(I64, "p")
        with builder.block((place,)) as block:
            builder.store(results, builder.op(group[0].row, builder.load(arguments, [place])), [place])
        attributes = {"step": 1, "exit": False, "simd": True, "unordered": True}
        builder.emit(core.FOR, (builder.index(0), count), attributes, (block.region(),))
        for k, operation in enumerate(group):
            record(builder, operation, (builder.load(results, [builder.index(k)]),), mapping)
