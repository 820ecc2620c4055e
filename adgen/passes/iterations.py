"""What the iterations of a reverse loop do to each other.

Comes in: the operations of one iteration.  Goes out: whether the iterations may run in any order, and the same
iteration with what it adds to one and the same element kept in a carried sum.  Sums of cotangents are not ordered: an
adjoint may add up in the order that is best.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from adgen import ops
from adgen.ir import core
from adgen.ir.nodes import Operation, Region, Value, walk
from adgen.ir.types import Buffer
from adgen.passes.indices import Indices

Root = Callable[[Value], Value]
WRITES = (core.STORE, core.ACCUMULATE)


class Effects:
    """The memory from outside that one iteration reads and writes."""

    def __init__(self, operations: Sequence[Operation], root: Root) -> None:
        self.region = region = Region((), tuple(operations), ())
        self.root = root
        own = {o.result for o in walk(region) if o.row in (core.ALLOC, core.STACK)}
        found: dict[object, set[Value]] = {core.LOAD: set(), core.STORE: set(), core.ACCUMULATE: set()}
        self.uses_stack = False
        for operation in walk(region):
            if operation.row in (core.PUSH, core.POP):
                self.uses_stack |= operation.operands[0] not in own
            elif operation.row in found and root(operation.operands[0]) not in own:
                found[operation.row].add(root(operation.operands[0]))
        self.loaded, self.stored, self.added = found[core.LOAD], found[core.STORE], found[core.ACCUMULATE]

    def commute(self, index: Value, indices: Indices) -> bool:
        """True when iterations read memory, add to other memory, and store where no other iteration gets to."""
        shared = self.stored | (self.loaded & self.added)
        return not self.uses_stack and all(self._apart(memory, index, indices) for memory in shared)

    def _apart(self, memory: Value, index: Value, indices: Indices) -> bool:
        """True when every access of some memory has, at one and the same axis, the loop's index plus one constant."""
        base, _ = indices.split(index)
        handles: set[Value] = set()
        places: list[set[tuple[int, int]]] = []
        for operation in walk(self.region):
            touches = any(isinstance(v.type, Buffer) and self.root(v) is memory for v in operation.operands)
            if touches and operation.row in core.ACCESSES:
                handles.add(operation.operands[0])
                parts = [indices.split(value) for value in core.indices_of(operation)]
                places.append({(axis, offset) for axis, (own, offset) in enumerate(parts) if own is base})
            elif touches and operation.row is not core.DIM:
                return False
        return len(handles) == 1 and base is not None and bool(set.intersection(*places))

    def only_added(self, root: Value) -> bool:
        """True when the iterations do nothing to some memory but add to it."""
        return root not in self.loaded and root not in self.stored


@dataclass
class Gathered:
    """An iteration whose increments of fixed elements became sums: `sums[k]` starts at zero and ends as `totals[k]`."""

    operations: list[Operation]
    sums: list[Value] = field(default_factory=list)
    totals: list[Value] = field(default_factory=list)
    places: list[tuple[Value, ...]] = field(default_factory=list)  # buffer and indices


def gather(operations: Sequence[Operation], arguments: Sequence[Value], root: Root) -> Gathered:
    """Keep what an iteration adds to an element that is the same in every iteration in a sum."""
    effects = Effects(operations, root)
    inside = {value for operation in operations for value in operation.results} | set(arguments)
    found = Gathered([])
    positions: dict[tuple[Value, ...], int] = {}
    for operation in operations:
        if operation.row is core.ACCUMULATE and not inside & {operation.operands[0], *operation.operands[2:]}:
            buffer, value, *index = operation.operands
            if effects.only_added(root(buffer)):
                place = (buffer, *index)
                if place not in positions:
                    positions[place] = len(found.sums)
                    found.places.append(place)
                    found.sums.append(Value(value.type, buffer.name))
                    found.totals.append(found.sums[-1])
                position = positions[place]
                total = Value(value.type, buffer.name)
                operands = (found.totals[position], value)
                found.operations.append(replace(operation, row=ops.ADD, operands=operands, results=(total,)))
                found.totals[position] = total
                continue
        found.operations.append(operation)
    return found
