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

Root = Callable[[Value], Value]
WRITES = (core.STORE, core.ACCUMULATE)


class Effects:
    """The memory from outside that one iteration reads and writes."""

    def __init__(self, operations: Sequence[Operation], root: Root) -> None:
        region = Region((), tuple(operations), ())
        own = {o.result for o in walk(region) if o.row in (core.ALLOC, core.STACK)}
        found: dict[object, set[Value]] = {core.LOAD: set(), core.STORE: set(), core.ACCUMULATE: set()}
        self.uses_stack = False
        for operation in walk(region):
            if operation.row in (core.PUSH, core.POP):
                self.uses_stack |= operation.operands[0] not in own
            elif operation.row in found and root(operation.operands[0]) not in own:
                found[operation.row].add(root(operation.operands[0]))
        self.loaded, self.stored, self.added = found[core.LOAD], found[core.STORE], found[core.ACCUMULATE]

    @property
    def commute(self) -> bool:
        """True when iterations only read memory and add to other memory."""
        return not self.uses_stack and not self.stored and not self.loaded & self.added

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
