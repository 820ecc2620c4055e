"""What differs between the iterations of an independent loop, and what is the same in all of them.

Comes in: a `for` and what is known of its independence.  Goes out: the values and the private memory that vary with the
iteration, and how each operation of the body can run for several iterations at once.  Guaranteed: what is not said to
vary is the same in every iteration, from the same operations on the same operands.

- *uniform*: once for all iterations;
- *around*: control that all iterations take the same way, around operations of which some vary;
- *side by side*: an operation on numbers, or an access, one for each iteration;
- *agreed*: a branch worth running side by side where all iterations of a block take it the same way;
- *one by one*: control that iterations take different ways; it runs for one iteration after the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto

from adgen.ir import core
from adgen.ir.nodes import Operation, Region, Value, walk_one
from adgen.ir.types import is_float
from adgen.passes.independence import Independence

LEAST_AGREED = 12  # floating-point operations of a branch that are worth looking whether all iterations take it
MOST_CHOSEN = 24  # operations that both branches of an `if` may have to run side by side


class Kind(Enum):
    """How an operation runs for several iterations."""

    UNIFORM = auto()
    AROUND = auto()
    SIDE_BY_SIDE = auto()
    AGREED = auto()
    ONE_BY_ONE = auto()


class Variance:
    """What varies between iterations.  `root` names memory by its root."""

    def __init__(self, loop: Operation, found: Independence, root: Mapping[Value, Value]) -> None:
        self.found = found
        self.root = root
        self.index = loop.regions[0].arguments[0]
        self.values: set[Value] = set(loop.regions[0].arguments)
        self.memory: set[Value] = set(found.own)
        self.kinds: dict[Operation, Kind] = {}
        self.conditional = False  # inside a branch that not all iterations take
        size = -1
        while size != len(self.values) + len(self.memory):
            size = len(self.values) + len(self.memory)
            self._region(loop.regions[0])

    def _region(self, region: Region) -> bool:
        """Classify the operations of a region that all iterations run; True when any of them varies."""
        found = [self._classify(operation) for operation in region.operations]
        return any(kind is not Kind.UNIFORM for kind in found)

    def _classify(self, operation: Operation) -> Kind:
        kind = self.kinds[operation] = self._kind(operation)
        return kind

    def _kind(self, operation: Operation) -> Kind:
        row = operation.row
        if row in core.ACCESSES:
            return self._access(operation)
        if row in (core.ALLOC, core.RESHAPE):
            return Kind.SIDE_BY_SIDE if self.root[operation.result] in self.memory - self.found.own else Kind.UNIFORM
        if row is core.FOR:
            return self._loop(operation)
        if row is core.IF:
            return self._branch(operation)
        if operation.regions:
            return self._apart(operation)
        if any(value in self.values for value in operation.operands):
            self.values.update(operation.results)
            return Kind.SIDE_BY_SIDE
        return Kind.UNIFORM

    def _access(self, operation: Operation) -> Kind:
        buffer = self.root[operation.operands[0]]
        varying = any(value in self.values for value in operation.operands[1:])
        if operation.row is core.LOAD:
            varying |= buffer in self.memory
            if varying:
                self.values.add(operation.result)
            return Kind.SIDE_BY_SIDE if varying else Kind.UNIFORM
        if buffer in self.found.private and not (varying or self.conditional or buffer in self.memory):
            return Kind.UNIFORM
        if buffer in self.found.private:
            self.memory.add(buffer)
        return Kind.SIDE_BY_SIDE

    def _loop(self, operation: Operation) -> Kind:
        if operation.attributes.get("exit") or any(value in self.values for value in operation.operands[:2]):
            return self._apart(operation)
        region = operation.regions[0]
        flows = zip(operation.operands[2:], region.arguments[1:], region.results, operation.results, strict=True)
        varies = self._region(region)
        for start, argument, following, result in flows:
            if self.values & {start, argument, following, result}:
                self.values |= {argument, result}
                varies = True
        return Kind.AROUND if varies else Kind.UNIFORM

    def _branch(self, operation: Operation) -> Kind:
        if operation.operands[0] in self.values:
            if chosen(operation):
                self.values.update(operation.results)
                for inner in walk_one(operation):
                    self.values.update(inner.results)
                return Kind.SIDE_BY_SIDE
            return self._agreed(operation) if self._is_worth(operation) else self._apart(operation)
        varies = False
        for region in operation.regions:
            varies |= self._region(region)
        for k, result in enumerate(operation.results):
            if any(region.results[k] in self.values for region in operation.regions):
                self.values.add(result)
                varies = True
        return Kind.AROUND if varies else Kind.UNIFORM

    def _is_worth(self, operation: Operation) -> bool:
        """True for a branch with much to do, and no branch of that kind around it."""
        numbers = sum(o.row.pure and is_float(o.result.type) for o in walk_one(operation) if len(o.results) == 1)
        return numbers >= LEAST_AGREED and not self.conditional

    def _agreed(self, operation: Operation) -> Kind:
        """Everything in it is classified as if all iterations ran it; what comes out of it varies."""
        self.conditional = True
        for region in operation.regions:
            self._region(region)
        self.conditional = False
        self.values.update(operation.results)
        return Kind.AGREED

    def _apart(self, operation: Operation) -> Kind:
        """Everything in it varies, and so does the memory that it writes; its own is made in it."""
        self.values.update(operation.results)
        made = {o.result for o in walk_one(operation) if o.row is core.ALLOC}
        for inner in walk_one(operation):
            self.values.update(inner.results)
            for region in inner.regions:
                self.values.update(region.arguments)
            if inner.row in (core.STORE, core.ACCUMULATE):
                buffer = self.root[inner.operands[0]]
                if buffer in self.found.private and buffer not in made:
                    self.memory.add(buffer)
        return Kind.ONE_BY_ONE


def chosen(operation: Operation) -> bool:
    """True for an `if` whose branches only compute: both can be, and one of the results chosen."""
    inside = [inner for region in operation.regions for inner in region.operations]
    return len(inside) <= MOST_CHOSEN and all(inner.row.pure and inner.row is not core.TABLE for inner in inside)
