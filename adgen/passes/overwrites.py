"""Overwriting: which of the memory that a function reads is still the same at the end of its forward sweep.

Comes in: a function.  Goes out: answers about its loads, by position and by the loops around loads and stores.
Guaranteed: conservative; `unchanged` is never true of a load whose memory may be stored to afterwards.
"""

from __future__ import annotations

from adgen.ir import core
from adgen.ir.nodes import Function, Operation, Region, Value
from adgen.ir.types import Buffer
from adgen.passes.activity import roots
from adgen.passes.indices import Definitions, Indices


class Overwrites:
    """Where a function stores, and what of its memory is therefore still there at the end of the forward sweep."""

    def __init__(self, function: Function) -> None:
        self.root = roots(function)
        self.place: dict[Value, tuple[int, tuple[Operation, ...]]] = {}
        self.home: dict[Value, tuple[Operation, ...]] = {}
        self.last_store: dict[Value, int] = {}
        self.storing_loops: dict[Value, set[int]] = {}
        self.snapshots: dict[int, dict[Value, Value]] = {}  # by loop, then by buffer
        self._loads: dict[Value, list[tuple[Operation, ...]]] = {}
        self._reads: dict[Value, list[tuple[Operation, tuple[Operation, ...]]]] = {}
        self._stores: dict[Value, list[tuple[Operation, tuple[Operation, ...]]]] = {}
        self._region: dict[Value, int] = {}  # where a value is made
        self._store_region: dict[int, int] = {}  # where a store is
        self._custom: dict[int, tuple[int, tuple[Operation, ...]]] = {}
        self._first: dict[Value, Operation] = {}  # the first operation that uses the contents of some memory
        self._number = 0
        self._indices = Indices(Definitions(function))
        self._shared = {self.root[value] for value in function.results if value in self.root}  # or under two handles
        self._scan(function.body, ())
        self.read_once = {root for root, loads in self._reads.items() if self._is_read_once(root, loads)}
        self.written_once = {root for root, stores in self._stores.items() if self._is_written_once(root, stores)}
        self.holder = {  # for a value the store, made whenever the value is, that puts it where it stays
            store.operands[1]: store
            for root in self.written_once
            for store, _ in self._stores[root]
            if self._region.get(store.operands[1]) == self._store_region[id(store)]
        }

    def _scan(self, region: Region, loops: tuple[Operation, ...]) -> None:
        self._region.update((value, id(region)) for value in region.arguments)
        for operation in region.operations:
            self._number += 1
            self._region.update((value, id(region)) for value in operation.results)
            self._store_region[id(operation)] = id(region)
            if operation.row not in (core.DIM, core.RESHAPE):
                for value in operation.operands:
                    if value in self.root:
                        self._first.setdefault(self.root[value], operation)
            if operation.row is core.LOAD:
                self.place[operation.result] = (self._number, loops)
                self._loads.setdefault(operation.operands[0], []).append(loops)
                self._reads.setdefault(self.root[operation.operands[0]], []).append((operation, loops))
            elif operation.row is core.ALLOC:
                self.home[operation.result] = loops
            elif operation.row in (core.RESHAPE, core.CUSTOM):
                self._shared.update(self.root[value] for value in operation.operands if value in self.root)
            elif operation.row in (core.STORE, core.ACCUMULATE):
                root = self.root[operation.operands[0]]
                self.last_store[root] = self._number
                self.storing_loops.setdefault(root, set()).update(id(loop) for loop in loops)
                self._stores.setdefault(root, []).append((operation, loops))
            inner = (*loops, operation) if operation.row in core.LOOPS else loops
            for nested in operation.regions:
                self._scan(nested, inner)
            if operation.row is core.CUSTOM:  # its outputs count from after it
                self._custom[id(operation)] = (self._number, loops)

    def _is_written_once(self, root: Value, stores: list[tuple[Operation, tuple[Operation, ...]]]) -> bool:
        """True when no element of the buffer is stored twice: one store, at the indices of the loops around it."""
        return (
            root in self.home and len(stores) == 1 and stores[0][0].row is core.STORE and self._once(root, *stores[0])
        )

    def _is_read_once(self, root: Value, loads: list[tuple[Operation, tuple[Operation, ...]]]) -> bool:
        """True when no element of the buffer is read twice, in whatever way."""
        return root in self.home and root not in self._shared and len(loads) == 1 and self._once(root, *loads[0])

    def _once(self, root: Value, access: Operation, loops: tuple[Operation, ...]) -> bool:
        """True when each iteration of the loops around an access, in the life of the buffer, has an element."""
        own = {id(loop) for loop in self.home[root]}
        first = 1 if access.row is core.LOAD else 2
        bases = {self._indices.split(index)[0] for index in access.operands[first:]}
        inner = [loop for loop in loops if id(loop) not in own]
        return all(loop.row is core.FOR and loop.regions[0].arguments[0] in bases for loop in inner)

    def unchanged(self, load: Operation) -> bool:
        """True when nothing can overwrite what the load read, from then until the end of the forward sweep.

        A store in a loop around the load comes again, unless the memory is made anew in every iteration.
        """
        return load.result in self.place and self._same(load.operands[0], *self.place[load.result])

    def stays(self, custom: Operation, buffer: Value) -> bool:
        """True when nothing can overwrite an input or output of a `custom` operation until the end of the sweep."""
        return id(custom) in self._custom and self._same(buffer, *self._custom[id(custom)])

    def is_first(self, custom: Operation, output: Value) -> bool:
        """True when nothing used the memory of an output of a `custom` operation before."""
        root = self.root[output]
        return self._region.get(root) == self._store_region[id(custom)] and self._first[root] is custom

    def _same(self, buffer: Value, number: int, loops: tuple[Operation, ...]) -> bool:
        root = self.root[buffer]
        if self.last_store.get(root, 0) > number:
            return False
        own = {id(loop) for loop in self.home.get(root, ())}
        return not any(id(loop) in self.storing_loops.get(root, ()) and id(loop) not in own for loop in loops)

    def snapshot_loop(self, load: Operation) -> Operation | None:
        """The loop in front of which a copy of the loaded buffer serves better than recording what is loaded.

        It is the outermost loop around the load that does not write the buffer.  The copy pays when at least two
        loads of the nest read the buffer, as in a stencil, and the nest is as deep as the buffer has axes.
        """
        buffer = load.operands[0]
        if load.result not in self.place or self.root[buffer] is not buffer or not isinstance(buffer.type, Buffer):
            return None
        loops = self.place[load.result][1]
        fixed = self.storing_loops.get(buffer, set()) | {id(loop) for loop in self.home.get(buffer, ())}
        first = len(loops)
        while first and id(loops[first - 1]) not in fixed:
            first -= 1
        if len(loops) - first < max(1, buffer.type.rank):
            return None
        readers = [place for place in self._loads[buffer] if any(loop is loops[first] for loop in place)]
        return loops[first] if len(readers) > 1 else None

    def snapshot(self, load: Operation, loop: Operation) -> Value:
        """The copy of the loaded buffer that is made in front of a loop."""
        buffer = load.operands[0]
        made = self.snapshots.setdefault(id(loop), {})
        if buffer not in made:
            made[buffer] = Value(buffer.type, f"{buffer.name}_saved")
        return made[buffer]
