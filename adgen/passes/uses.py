"""Where the memory of a function is made and used, as places in its nest of regions."""

from __future__ import annotations

from collections.abc import Sequence

from adgen.ir import core
from adgen.ir.nodes import Function, Operation, Region, Value
from adgen.passes.memory import Memory

Path = tuple[tuple[Operation, int], ...]


class Uses:
    """Where every `alloc` stands, and where its memory is used, as paths of owners and region numbers.

    `common[root]` is the path of the innermost region that holds all uses; for a result that is the function's body.
    """

    def __init__(self, function: Function) -> None:
        self.memory = Memory(function)
        self.root = self.memory.root
        self.allocs: list[tuple[Operation, Path]] = []
        self.common: dict[Value, Path] = {}
        self._inside: dict[tuple[int, Value], list[Operation]] = {}
        self._scan(function.body, ())
        for value in function.results:
            if value in self.root:
                self.common[self.root[value]] = ()

    def _scan(self, region: Region, path: Path) -> set[Value]:
        touched: set[Value] = set()
        for operation in region.operations:
            if operation.row is core.ALLOC:
                self.allocs.append((operation, path))
            roots = {self.root[value] for value in operation.operands if value in self.root}
            for root in roots:
                known = self.common.get(root)
                self.common[root] = path if known is None else _common_prefix(known, path)
            for number, inner in enumerate(operation.regions):
                roots |= self._scan(inner, (*path, (operation, number)))
            for root in roots:
                self._inside.setdefault((id(region), root), []).append(operation)
            touched |= roots
        return touched

    def inside(self, region: Region, root: Value) -> Sequence[Operation]:
        """The operations of a region that have to do with some memory, in order."""
        return self._inside.get((id(region), root), ())


def _common_prefix(first: Path, second: Path) -> Path:
    length = 0
    for one, other in zip(first, second):
        if one[0] is not other[0] or one[1] != other[1]:
            break
        length += 1
    return first[:length]
