"""Residuals: the forward values that a reverse region reads, and how each gets there.

Comes in: the operations of a forward region, the reverse operations that read what it defines, and an `Exporter` that
knows how a value leaves such a region.  Goes out: operations to put before the reverse ones, and the reverse
operations with every forward value replaced.  Guaranteed: nothing of the forward region is read directly any more; no
memory is read that may have changed since the forward sweep read it.

Each residual is the loop's index (supplied again), recomputed from others, reloaded from memory that nothing
overwrites in between, or recorded.  Which ones are recorded is a minimum cut of the region's graph between what
cannot be recomputed and what is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from adgen import ops
from adgen.diagnostics import Span
from adgen.ir import core
from adgen.ir.builder import Builder
from adgen.ir.nodes import Operation, Region, Value, walk
from adgen.ir.types import Buffer, Scalar, Stack
from adgen.passes.overwrites import Overwrites
from adgen.passes.surgery import free_values, rewrite, substitute

RECOMPUTED_COST = 4  # an operation that costs more is recorded rather than repeated
LARGEST_CUT = 3000  # values; beyond it the needed values themselves are recorded


@dataclass(frozen=True, eq=False)
class Fate:
    """How a forward value gets to the reverse sweep, and the statement whose reverse reads it first.

    `saved` in memory of its own, `recomputed`, `reloaded` from memory of the function, or `kept`, as it is outside of
    loops and branches.  `made` is the operation that
    made it; None for what a loop carries.
    """

    how: Literal["saved", "recomputed", "reloaded", "kept"]
    value: Value
    made: Operation | None
    reader: Span | None


class Exporter(Protocol):
    """How values leave a forward region for the reverse one."""

    def record(self, value: Value) -> Value:
        """Make a scalar of the region available; called while the reverse prefix is being emitted."""
        ...

    def expand(self, allocation: Operation) -> Expansion | None:
        """Memory that keeps the buffer of every execution of the region, or None when its size has no bound."""
        ...

    def hoist(self, operation: Operation) -> None:
        """Move the making of a stack in front of the region's owner."""
        ...

    def append(self, emit: Callable[[Builder], None]) -> None:
        """Emit at the end of the forward region."""
        ...


@dataclass
class Expansion:
    """The memory of a buffer for all executions of its region: element `[i, j]` of execution k is at `[k, i, j]`.

    `forward` and `reverse` are the leading indices (none for a branch) in the two sweeps.
    """

    handle: Value
    forward: tuple[Value, ...]
    reverse: tuple[Value, ...]


class Resolver:
    """Replaces forward values in reverse operations; one per pair of regions."""

    def __init__(
        self,
        builder: Builder,
        memory: Overwrites,
        forward: Sequence[Operation],
        arguments: Iterable[Value],
        exporter: Exporter,
        supplied: dict[Value, Value],
        fates: list[Fate],
    ) -> None:
        self.fates = fates  # what is decided here is noted there
        self.builder = builder
        self.scratch = Builder()  # for operations of the forward region: nothing of the reverse one is shared
        self.scratch.definitions = builder.definitions
        self.memory = memory
        self.forward = list(forward)
        self.made = {value: operation for operation in forward for value in operation.results}
        self.inside = set(self.made) | set(arguments)
        self.deeper = {  # what is made in regions of the forward operations: nothing here can use it
            value for operation in forward for region in operation.regions for value in _defined(region)
        }
        self.exporter = exporter
        self.mapping = dict(supplied)
        self.recorded: set[Value] = set()
        self.kept_buffers: set[Value] = set()
        self.expansions: dict[Value, Expansion] = {}
        self.whole: set[Value] = set()  # buffers that `custom` operations take

    def resolve(self, reverse: Sequence[Operation], results: Sequence[Value]) -> tuple[list[Operation], list[Value]]:
        """The reverse operations and results without direct reads of the forward region.

        `self.forward` becomes the forward operations with what had to be added.
        """
        needed = [value for value in free_values(reverse, results) if value in self.inside]
        buffers = [value for value in needed if isinstance(value.type, Buffer)]
        self.kept_buffers = {self.memory.root.get(value, value) for value in buffers}
        extents = [value for buffer in buffers for value in self._extents(buffer)]
        scalars = [value for value in needed if isinstance(value.type, Scalar)]
        self.recorded = self._cut([*scalars, *extents])
        self.whole = {
            self._origin(value)
            for operation in walk(Region((), (*self.forward, *reverse), ()))
            if operation.row is core.CUSTOM
            for value in operation.operands
        }
        with self.builder.block() as prefix:
            supplied = set(self.mapping)
            for value in needed:
                self._supply(value)
        self._note(needed, reverse, supplied)
        operations = rewrite(reverse, self.mapping, lambda operation: self._redirect(operation, forward=False))
        before = rewrite(prefix.operations, {}, lambda operation: self._redirect(operation, forward=False))
        if self.expansions:
            self.forward = rewrite(self.forward, {}, lambda operation: self._redirect(operation, forward=True))
        return [*before, *operations], [self.mapping.get(value, value) for value in results]

    def _note(self, needed: Sequence[Value], reverse: Sequence[Operation], supplied: set[Value]) -> None:
        readers: dict[Value, Span | None] = {}
        for operation in walk(Region((), tuple(reverse), ())):
            for operand in operation.operands:
                readers.setdefault(operand, operation.span)
        pending = [(value, readers.get(value)) for value in reversed(needed)]
        while pending:
            value, reader = pending.pop()
            if value in supplied or value not in self.inside:
                continue
            supplied.add(value)
            made = self.made.get(value)
            saved = value in self.recorded or made is None or made.row is core.ALLOC
            again = made is not None and made.row.pure
            self.fates.append(Fate("saved" if saved else "recomputed" if again else "reloaded", value, made, reader))
            if not saved and made is not None:
                pending.extend((operand, reader) for operand in made.operands)

    # -- choice ---------------------------------------------------------------------------------------------------

    def _extents(self, buffer: Value) -> list[Value]:
        operation = self.made.get(buffer)
        if operation is None or operation.row not in (core.ALLOC, core.RESHAPE):
            return []
        sizes = operation.operands if operation.row is core.ALLOC else operation.operands[1:]
        inner = self._extents(operation.operands[0]) if operation.row is core.RESHAPE else []
        return [value for value in sizes if value in self.inside] + inner

    def _sources(self, value: Value) -> list[Value] | None:
        """The forward values that a value can be computed from again; None when it has to be recorded."""
        if value in self.mapping:
            return []
        operation = self.made.get(value)
        if operation is None:
            return None
        if operation.row is core.LOAD:
            buffer, *index = operation.operands
            if not self.memory.unchanged(operation):
                copied = self.memory.snapshot_loop(operation) is not None
                return [item for item in index if item in self.inside] if copied else None
            root = self.memory.root[buffer]
            if root in self.made and root not in self.kept_buffers:
                return None
            return [item for item in index if item in self.inside]
        if operation.row is core.DIM:
            return []
        if operation.row.pure and operation.row.cost <= RECOMPUTED_COST:
            return [item for item in operation.operands if item in self.inside]
        store = self._holder(value)
        return None if store is None else [item for item in store.operands[2:] if item in self.inside]

    def _holder(self, value: Value) -> Operation | None:
        """The store that put a value, too dear to repeat, into memory where it can be read again."""
        store = self.memory.holder.get(value)
        if store is None:
            return None
        if any(operand in self.deeper for operand in store.operands):
            return None
        root = self.memory.root[store.operands[0]]
        return None if root in self.made and root not in self.kept_buffers else store

    def _cut(self, needed: Sequence[Value]) -> set[Value]:
        sources: dict[Value, list[Value] | None] = {}
        pending = list(needed)
        while pending:
            value = pending.pop()
            if value not in sources:
                sources[value] = self._sources(value)
                pending.extend(sources[value] or ())
        fixed = [value for value, found in sources.items() if found is None]
        if not fixed:
            return set()
        if len(sources) > LARGEST_CUT or all(value in set(needed) for value in fixed):
            return self._without_cut(sources, needed)
        return _minimum_cut(sources, needed)

    @staticmethod
    def _without_cut(sources: dict[Value, list[Value] | None], needed: Sequence[Value]) -> set[Value]:
        """When all that cannot be recomputed is needed itself, that is the cut; else record what is needed."""
        fixed = {value for value, found in sources.items() if found is None}
        if fixed <= set(needed):
            return fixed
        tainted: dict[Value, bool] = {}

        def depends(value: Value) -> bool:
            stack = [value]
            while stack:
                item = stack[-1]
                if item in tainted:
                    stack.pop()
                    continue
                found = sources[item]
                if found is None:
                    tainted[item] = True
                    continue
                waiting = [source for source in found if source not in tainted]
                if waiting:
                    stack.extend(waiting)
                else:
                    tainted[item] = any(tainted[source] for source in found)
            return tainted[value]

        return {value for value in needed if depends(value)}

    # -- supply ---------------------------------------------------------------------------------------------------

    def _supply(self, value: Value) -> Value:
        """The reverse twin of a forward value, made in the prefix if need be (iteratively: chains may be long)."""
        pending = [value]
        while pending:
            item = pending[-1]
            if item in self.mapping or item not in self.inside:
                pending.pop()
                continue
            if item in self.recorded or item not in self.made:
                self.mapping[item] = self._record(item)
                continue
            operation = self.made[item]
            if isinstance(item.type, Scalar) and not self._is_cheap(operation):
                operation = self._reload(item)
            waiting = [o for o in operation.operands if o in self.inside and o not in self.mapping]
            if waiting and operation.row is not core.STACK:
                pending.extend(waiting)
                continue
            self.mapping[item] = self._again(operation)
        return self.mapping.get(value, value)

    @staticmethod
    def _is_cheap(operation: Operation) -> bool:
        return operation.row is core.LOAD or (operation.row.pure and operation.row.cost <= RECOMPUTED_COST)

    def _reload(self, value: Value) -> Operation:
        """The load that gives a value back from where it was stored."""
        store = self._holder(value)
        assert store is not None
        buffer, _, *index = store.operands
        return Operation(core.LOAD, (buffer, *index), (value,), span=store.span)

    def _record(self, value: Value) -> Value:
        return self.exporter.record(value)

    def _again(self, operation: Operation) -> Value:
        """Execute a forward operation once more in the reverse region, or give access to what it made."""
        if operation.row is core.ALLOC:
            return self._buffer(operation)
        if operation.row is core.STACK:
            self.exporter.hoist(operation)
            self.forward = [item for item in self.forward if item is not operation]
            return operation.result
        if len(operation.results) != 1 or operation.regions:
            raise AssertionError(f"{operation.row.name} cannot be repeated in the reverse sweep")
        operands = [self.mapping.get(value, value) for value in operation.operands]
        if operation.row is core.RESHAPE and self._origin(operation.result) in self.expansions:
            return operation.result  # accesses go through the expansion
        first = self.made[operation.result] is operation  # else a load of ours, from memory that stays
        if operation.row is core.LOAD and first and not self.memory.unchanged(operation):
            loop = self.memory.snapshot_loop(operation)
            assert loop is not None
            operands[0] = self.memory.snapshot(operation, loop)
        self.builder.span = operation.span
        (value,) = self.builder.emit(operation.row, operands, operation.attributes, (), [operation.result.name])
        return value

    def _buffer(self, allocation: Operation) -> Value:
        expansion = self.exporter.expand(allocation)
        if expansion is None:
            return self._spill(allocation)
        if allocation.result in self.whole:
            plain = not expansion.forward and not self._has_reshape(allocation.result)
            return self._moved(allocation, expansion) if plain else self._kept(allocation, expansion)
        self.expansions[allocation.result] = expansion
        return allocation.result

    def _moved(self, allocation: Operation, expansion: Expansion) -> Value:
        """Use the memory for all executions in place of the buffer: there is one execution."""
        rest = [operation for operation in self.forward if operation is not allocation]
        self.forward = substitute(rest, {allocation.result: expansion.handle})
        return expansion.handle

    def _kept(self, allocation: Operation, expansion: Expansion) -> Value:
        """Copy the final contents of a buffer into the expansion, and back: its handle itself is used as a whole."""
        buffer, flat = allocation.result, self._has_reshape(allocation.result)
        assert isinstance(buffer.type, Buffer)

        def place(builder: Builder, sizes: Sequence[Value], index: Sequence[Value]) -> tuple[Value, ...]:
            return (_linear(builder, index, sizes),) if flat else tuple(index)

        def save(builder: Builder) -> None:
            def element(*index: Value) -> None:
                value = builder.load(buffer, index)
                own = place(builder, allocation.operands, index)
                builder.store(expansion.handle, value, (*expansion.forward, *own))

            builder.nest(allocation.operands, element)

        self.exporter.append(save)
        builder = self.builder
        extents = [self.mapping.get(value, value) for value in allocation.operands]
        copy = builder.alloc(buffer.type.element, extents, buffer.name, zero=False)

        def element(*index: Value) -> None:
            value = builder.load(expansion.handle, (*expansion.reverse, *place(builder, extents, index)))
            builder.store(copy, value, index)

        builder.nest(extents, element)
        return copy

    def _spill(self, allocation: Operation) -> Value:
        """Push the final contents of a buffer at the end of the forward region; pop them into a fresh one."""
        buffer = allocation.result
        assert isinstance(buffer.type, Buffer)
        made = Value(Stack(buffer.type.element), f"{buffer.name}_saved")
        self.exporter.hoist(Operation(core.STACK, (), (made,), {"element": str(buffer.type.element)}))
        self.exporter.append(lambda builder: _push_all(builder, allocation, made))
        extents = [self.mapping.get(value, value) for value in allocation.operands]
        builder = self.builder
        copy = builder.alloc(buffer.type.element, extents, buffer.name, zero=False)

        def level(axis: int, index: tuple[Value, ...]) -> None:
            if axis == len(extents):
                (value,) = builder.emit(core.POP, (made,))
                builder.store(copy, value, index)
                return
            last = builder.op(ops.SUB, extents[axis], builder.index(1))

            def iteration(number: Value) -> tuple[Value, ...]:
                level(axis + 1, (*index, number))
                return ()

            builder.loop(last, builder.index(-1), (), iteration, step=-1, name="ijklmnop"[axis])

        level(0, ())
        return copy

    # -- access to expanded memory ----------------------------------------------------------------------------------

    def _redirect(self, operation: Operation, forward: bool) -> list[Operation] | None:
        """Send an access of an expanded buffer, or of a reshape of one, to the expansion."""
        if not self.expansions:
            return None
        if operation.row is core.ALLOC and operation.result in self.expansions:
            return []
        if operation.row is core.RESHAPE and self._origin(operation.result) in self.expansions:
            return []
        if not operation.operands or not isinstance(operation.operands[0].type, Buffer):
            return None
        handle = operation.operands[0]
        origin = self._origin(handle)
        if origin not in self.expansions:
            return None
        expansion = self.expansions[origin]
        leading = expansion.forward if forward else expansion.reverse
        head = 2 if operation.row in (core.STORE, core.ACCUMULATE) else 1
        extra: list[Operation] = []
        index = operation.operands[head:]
        if handle is not origin or self._has_reshape(origin):
            extents = self._handle_extents(handle, forward)
            builder = self.scratch if forward else self.builder
            with builder.block() as block:
                index = (_linear(builder, index, extents),)
            extra = block.operations
        operands = (expansion.handle, *operation.operands[1:head], *leading, *index)
        return [*extra, Operation(operation.row, operands, operation.results, operation.attributes, (), operation.span)]

    def _origin(self, handle: Value) -> Value:
        while handle in self.made and self.made[handle].row is core.RESHAPE:
            handle = self.made[handle].operands[0]
        return handle

    def _has_reshape(self, origin: Value) -> bool:
        return has_reshape(self.made.values(), origin)

    def _handle_extents(self, handle: Value, forward: bool) -> list[Value]:
        operation = self.made[handle]
        sizes = operation.operands if operation.row is core.ALLOC else operation.operands[1:]
        return list(sizes) if forward else [self.mapping.get(value, value) for value in sizes]


def _linear(builder: Builder, index: Sequence[Value], extents: Sequence[Value]) -> Value:
    """The place of an element in memory that is stored by rows."""
    total = index[0] if index else builder.index(0)
    for item, extent in zip(index[1:], extents[1:], strict=True):
        total = builder.op(ops.ADD, builder.op(ops.MUL, total, extent), item)
    return total


def _push_all(builder: Builder, allocation: Operation, stack: Value) -> None:
    def element(*index: Value) -> None:
        builder.emit(core.PUSH, (stack, builder.load(allocation.result, index)))

    builder.nest(allocation.operands, element)


def _defined(region: Region) -> Iterator[Value]:
    yield from region.arguments
    for operation in region.operations:
        yield from operation.results
        for inner in operation.regions:
            yield from _defined(inner)


def has_reshape(operations: Iterable[Operation], origin: Value) -> bool:
    """True when another handle of the buffer is made."""
    return any(operation.row is core.RESHAPE and operation.operands[0] is origin for operation in operations)


def _minimum_cut(sources: dict[Value, list[Value] | None], needed: Sequence[Value]) -> set[Value]:
    """The fewest values to record so that all needed ones follow; of equal cuts the one nearest to the needed ones."""
    import networkx

    order = {value: k for k, value in enumerate(sources)}
    graph = networkx.DiGraph()  # from the needed values back to what cannot be recomputed
    for value, found in sources.items():
        graph.add_edge((order[value], "out"), (order[value], "in"), capacity=1)
        if found is None:
            graph.add_edge((order[value], "in"), "fixed")
        for source in found or ():
            graph.add_edge((order[value], "in"), (order[source], "out"))
    for value in needed:
        graph.add_edge("needed", (order[value], "out"))
    _, (near, _) = networkx.minimum_cut(graph, "needed", "fixed")
    values = list(sources)
    return {values[k] for k in range(len(values)) if (k, "out") in near and (k, "in") not in near}
