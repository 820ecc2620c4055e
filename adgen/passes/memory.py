"""What each operation with regions reads and writes, by the root handle of the memory."""

from __future__ import annotations

from adgen.ir import core
from adgen.ir.nodes import Function, Operation, Region, Value
from adgen.ir.types import Buffer, Stack

NOTHING: frozenset[Value] = frozenset()


class Memory:
    """`root[handle]` is the handle that the memory was made or passed in with.

    `written(owner)` and `read(owner)` are the roots that an operation with regions touches.  Different
    roots never overlap: callers may not pass overlapping arrays that a function writes.
    """

    def __init__(self, function: Function) -> None:
        self.root: dict[Value, Value] = {
            value: value for value in function.parameters if isinstance(value.type, Buffer | Stack)
        }
        self.has_loops = False
        self.has_memory = False
        self._written: dict[int, frozenset[Value]] = {}
        self._read: dict[int, frozenset[Value]] = {}
        self._scan(function.body)

    def written(self, owner: Operation | None) -> frozenset[Value]:
        """The memory that an operation's regions store into."""
        return self._written.get(id(owner), NOTHING)

    def read(self, owner: Operation | None) -> frozenset[Value]:
        """The memory that an operation's regions load from; `accumulate` reads too."""
        return self._read.get(id(owner), NOTHING)

    def _scan(self, region: Region) -> tuple[set[Value], set[Value]]:
        reads: set[Value] = set()
        writes: set[Value] = set()
        for operation in region.operations:
            row = operation.row
            for value in operation.results:
                if isinstance(value.type, Buffer | Stack):
                    self.root[value] = self.root[operation.operands[0]] if row is core.RESHAPE else value
            if row in (core.LOAD, core.STORE, core.ACCUMULATE):
                self.has_memory = True
                root = self.root[operation.operands[0]]
                if row is not core.STORE:
                    reads.add(root)
                if row is not core.LOAD:
                    writes.add(root)
            elif operation.regions:
                self.has_loops |= row in core.LOOPS
                inner = [self._scan(part) for part in operation.regions]
                touched = frozenset().union(*(part[0] for part in inner)), frozenset().union(*(p[1] for p in inner))
                self._read[id(operation)], self._written[id(operation)] = touched
                if row is core.CUSTOM:  # its rules read memory too
                    handles = {self.root[value] for value in operation.operands if value in self.root}
                    self._read[id(operation)] = touched[0] | handles
                reads |= self._read[id(operation)]
                writes |= touched[1]
        return reads, writes
