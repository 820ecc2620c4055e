"""The reverse of loops and branches.

A reverse loop runs the iterations backwards.  It carries the cotangents of what the loop carried, and running totals
of the cotangents of scalars made outside that the body reads.  What its body reads of the forward body comes through
`residuals`; or, for a loop whose iterations stand alone, from running the body again in the same iteration.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from adgen import ops
from adgen.ir import core
from adgen.ir.builder import Block, Builder
from adgen.ir.nodes import Operation, Region, Value, walk
from adgen.ir.types import I64, Buffer, Scalar
from adgen.passes.exporters import BranchExporter, Exporting, LoopExporter, Side, branch_with_exports
from adgen.passes.extents import index_of, number_of, trip_count
from adgen.passes.indices import Indices
from adgen.passes.iterations import Effects, gather
from adgen.passes.localise import copy_into
from adgen.passes.residuals import Fate, Resolver
from adgen.passes.surgery import free_values, fresh, prune, rewrite, substitute

if TYPE_CHECKING:
    from adgen.passes.adjoint import Reverse


def reverse_for(reverse: Reverse, operation: Operation) -> list[Operation] | None:
    """Reverse a `for`: from what is still there, else again and back in one iteration, else by recording."""
    if not _has_derivative(reverse, operation):
        return None
    if not _may_run_again(reverse, operation):
        return _Loop(reverse, operation).record()
    before, noted = dict(reverse.cotangent), len(reverse.fates)
    with _inner_loops_record(reverse):
        loop = _Loop(reverse, operation)
        forward, finish = loop.plan()
    if not _makes_memory(forward[:-1]):
        finish()
        return forward
    reverse.cotangent = dict(before)
    del reverse.fates[noted:]
    again = _Loop(reverse, operation).run_again()
    if again is not None:
        return again
    reverse.cotangent = before
    del reverse.fates[noted:]
    return _Loop(reverse, operation).record()


@contextmanager
def _inner_loops_record(reverse: Reverse) -> Iterator[None]:
    reverse.running_again = True
    try:
        yield
    finally:
        reverse.running_again = False


def _makes_memory(before: Sequence[Operation]) -> bool:
    """True when what was put in front of a forward loop includes memory for all its iterations."""
    return any(o.row in (core.ALLOC, core.STACK) for o in walk(Region((), tuple(before), ())))


def reverse_while(reverse: Reverse, operation: Operation) -> list[Operation] | None:
    """Reverse a `while`: the forward loop counts its iterations, what is recorded goes on stacks."""
    if not _has_derivative(reverse, operation):
        return None
    return _Loop(reverse, operation).record()


def _has_derivative(reverse: Reverse, operation: Operation) -> bool:
    """True when a cotangent can flow into the loop or branch."""
    if any(value in reverse.active for value in operation.results):
        return True
    return any(
        inner.row in (core.STORE, core.ACCUMULATE, core.PUSH, core.POP) and inner.operands[0] in reverse.active
        for region in operation.regions
        for inner in walk(region)
    )


def _may_run_again(reverse: Reverse, loop: Operation) -> bool:
    """True when every iteration can be repeated at the end: all that it reads from outside is still there.

    Inside a loop that is run again everything is recorded, in memory of one iteration; inside a recorded loop only
    nests are run again: a plain loop there is better recorded than computed twice.
    """
    if reverse.running_again or loop.attributes.get("exit"):
        return False
    inner = list(walk(loop.regions[0]))
    if reverse.loop_depth and not any(operation.row in core.LOOPS for operation in inner):
        return False
    own = {operation.result for operation in inner if operation.row is core.ALLOC}
    root = reverse.memory.root
    stored, loaded = set(), set()
    for operation in inner:
        if operation.row in (core.PUSH, core.POP, core.STACK):
            return False
        if operation.row in (core.STORE, core.ACCUMULATE):
            stored.add(root[operation.operands[0]])
        elif operation.row is core.LOAD and root[operation.operands[0]] not in own:
            if not reverse.memory.unchanged(operation):
                return False
            loaded.add(root[operation.operands[0]])
        elif operation.row is core.CUSTOM:
            given = {value for value in core.inputs_of(operation) if root.get(value, value) not in own}
            buffers = [value for value in given if isinstance(value.type, Buffer)]
            if not all(reverse.memory.stays(operation, value) for value in buffers):
                return False
            loaded.update(root[value] for value in buffers)
    return not (stored & loaded)


class _Loop:
    """One loop being reversed."""

    def __init__(self, reverse: Reverse, operation: Operation) -> None:
        self.reverse = reverse
        self.builder = reverse.builder
        self.loop = operation
        self.counted = operation.row is core.FOR
        self.body = operation.regions[-1]
        self.exit = int(bool(operation.attributes.get("exit")))
        self.arguments = self.body.arguments[1:] if self.counted else self.body.arguments
        self.initial = operation.operands[2:] if self.counted else operation.operands
        self.yields = self.body.results[self.exit :]
        self.live = [k for k, value in enumerate(self.arguments) if value in reverse.active]
        self.outer = [
            value
            for value in free_values(self.body.operations, self.body.results)
            if isinstance(value.type, Scalar) and value in reverse.active and value not in set(self.body.arguments)
        ]
        name = self.body.arguments[0].name if self.counted else "k"
        self.number = Value(I64, name)
        self.before = Side(self.builder.definitions)
        self.start: list[Value] = []  # of what the reverse loop carries
        self.running: list[Value] = []  # the same inside its body
        reverse.memory.snapshots.pop(id(operation), None)  # of an attempt that was given up

    def run_again(self) -> list[Operation] | None:
        """The forward loop stays as it is; None when an iteration needs what an earlier one computed."""
        reverse = self.reverse
        with _inner_loops_record(reverse):
            block, head, index, forward = self._reverse_body()
        stored_here = {o.result for o in walk(Region((), tuple(forward), ())) if o.row is core.ALLOC}
        again = rewrite(forward, {}, lambda o: [] if _outside_effect(reverse, o, stored_here) else None)
        supplied = {self.body.arguments[0]: index}
        live = set(block.results)
        operations = prune([*again, *block.operations], live)
        if any(value in self.arguments for value in free_values(operations, block.results)):
            return None
        self._note(again, operations)
        operations = substitute(operations, supplied)
        results = [supplied.get(value, value) for value in block.results]
        self._emit(head, index, operations, results, self._trips(None))
        body = fresh(self.body)
        return [*self.before.operations, replace(self.loop, regions=(body,))]

    def _note(self, again: Sequence[Operation], operations: Sequence[Operation]) -> None:
        """What of the body that is run again the reverse of the iteration uses."""
        own = {value: operation for operation in again for value in operation.results}
        used = [operation for operation in operations if operation.row.pure or operation.row is core.LOAD]
        kept = {value for operation in used for value in operation.results if value in own}
        for operation in operations:
            for value in operation.operands:
                if value in kept and operation not in again:
                    kept.remove(value)
                    self.reverse.fates.append(Fate("recomputed", value, own[value], operation.span))

    def record(self) -> list[Operation]:
        """The forward loop with what its reverse needs recorded."""
        forward, finish = self.plan()
        finish()
        return forward

    def plan(self) -> tuple[list[Operation], Callable[[], None]]:
        """What `record` gives, and what appends the reverse loop."""
        counter = None if self.counted and not self.exit else Value(I64, "")
        block, head, index, forward = self._reverse_body()
        exporter: Exporting
        supplied = {}
        if self.counted:
            supplied[self.body.arguments[0]] = index
            exporter = LoopExporter(self.builder, forward, self.loop, self.body.arguments[0], self.number)
        else:
            exporter = Exporting(self.builder, forward)
        fates = self.reverse.fates
        resolver = Resolver(self.builder, self.reverse.memory, forward, self.body.arguments, exporter, supplied, fates)
        operations, results = resolver.resolve(block.operations, block.results)
        trips = self._trips(counter)
        start = exporter.head.operations if isinstance(exporter, LoopExporter) else []
        body = [*start, *resolver.forward, *exporter.tail.operations]
        loop = self._forward_loop(body, counter)
        before = [*self.before.operations, *exporter.before.operations, *self._snapshots()]
        return [*before, loop], lambda: self._emit(head, index, operations, results, trips)

    def _snapshots(self) -> list[Operation]:
        """Copies of buffers that the reverse of this loop reads and later code overwrites."""
        side = Side(self.builder.definitions)
        for buffer, copy in self.reverse.memory.snapshots.pop(id(self.loop), {}).items():
            assert isinstance(buffer.type, Buffer)
            with side.builder.block() as block:
                extents = side.builder.dims(buffer)
                attributes = {"element": str(buffer.type.element), "zero": False}
                side.builder.append(Operation(core.ALLOC, extents, (copy,), attributes, (), self.loop.span))
                copy_into(side.builder, buffer, copy)
            side.operations.extend(block.operations)
        return side.operations

    def _trips(self, counter: Value | None) -> Value:
        """The number of iterations, as a value of the region around the forward loop."""
        if counter is not None:
            return counter
        return self.before.emit(lambda builder: trip_count(builder, self.loop, clamp=False))

    def _reverse_body(self) -> tuple[Block, Block, Value, list[Operation]]:
        """Emit the reverse of one iteration: its block, the operations that make the index, the index, the forward."""
        reverse, builder = self.reverse, self.builder
        incoming = [reverse.take(self.loop.results[k]) for k in self.live]
        totals = [reverse.cotangent.get(value) for value in self.outer]
        carried = [Value(self.arguments[k].type, f"{self.arguments[k].name}_bar") for k in self.live]
        sums = [Value(value.type, f"{value.name}_bar") for value in self.outer]
        self.start = [reverse.or_zero(c, self.arguments[k]) for c, k in zip(incoming, self.live, strict=True)]
        self.start += [reverse.or_zero(c, v) for c, v in zip(totals, self.outer, strict=True)]
        self.running = [*carried, *sums]
        for k, start, cotangent in zip(self.live, self.start, carried):
            if start in reverse.plain and _is_sum(self.builder, self.yields[k], self.arguments[k]):
                reverse.plain.add(cotangent)
        outside = reverse.cotangent
        reverse.cotangent = dict(zip(self.outer, sums, strict=True))
        reverse.loop_depth += 1
        with builder.block((self.number, *self.running)) as block:
            with builder.block() as head:
                index = index_of(builder, self.loop, self.number) if self.counted else self.number
            for k, cotangent in zip(self.live, carried, strict=True):
                reverse.add(self.yields[k], cotangent)
            forward = reverse.region(self.body.operations)
            following = [reverse.or_zero(reverse.take(self.arguments[k]), self.arguments[k]) for k in self.live]
            block.results = (*following, *(reverse.cotangent[value] for value in self.outer))
        reverse.loop_depth -= 1
        reverse.cotangent = outside
        return block, head, index, forward

    def _emit(
        self, head: Block, index: Value, operations: Sequence[Operation], results: Sequence[Value], trips: Value
    ) -> None:
        """Append the reverse loop and hand its cotangents on.

        It runs from the last iteration to the first, or as the forward loop does when the order does not matter.
        """
        reverse, builder = self.reverse, self.builder
        builder.span = self.loop.span
        if self._in_any_order(operations, results, index):
            start, stop = self.loop.operands[:2]
            step = self.loop.attributes["step"]
            counter = Value(I64, self.number.name)
            with builder.block() as prefix:
                number = number_of(builder, self.loop, counter)
            mapping = {self.number: number, index: counter}
            operations = [*prefix.operations, *substitute([*head.operations, *operations], mapping)]
            results = [mapping.get(value, value) for value in results]
        else:
            operations = [*head.operations, *operations]
            start, stop, step = builder.op(ops.SUB, trips, builder.index(1)), builder.index(-1), -1
            counter = self.number
        gathered = gather(operations, (counter, *self.running), self._root)
        region = Region(
            (counter, *self.running, *gathered.sums), tuple(gathered.operations), (*results, *gathered.totals)
        )
        names = [f"{self.arguments[k].name}_bar" for k in self.live] + [f"{v.name}_bar" for v in self.outer]
        names += [value.name for value in gathered.sums]
        zeros = [builder.const(0.0, value.type) for value in gathered.sums]
        attributes = {"step": step, "exit": False, "unordered": True}
        made = builder.emit(core.FOR, (start, stop, *self.start, *zeros), attributes, (region,), names)
        if gathered.places:
            self._add_up(start, stop, step, gathered.places, made[len(self.running) :])
        for value, total in zip(self.outer, made[len(self.live) :], strict=False):
            reverse.cotangent[value] = total
        for k, cotangent in zip(self.live, made, strict=False):
            reverse.add(self.initial[k], cotangent)

    def _in_any_order(self, operations: Sequence[Operation], results: Sequence[Value], index: Value) -> bool:
        """True when no iteration of the reverse loop needs another: cotangents pass through, memory is added to."""
        if not self.counted or self.exit:
            return False
        unchanged = all(results[place] is self.running[place] for place in range(len(self.live)))
        return unchanged and Effects(operations, self._root).commute(index, Indices(self.builder))

    def _root(self, handle: Value) -> Value:
        operation = self.builder.definitions.get(handle)
        while operation is not None and operation.row is core.RESHAPE:
            handle = operation.operands[0]
            operation = self.builder.definitions.get(handle)
        return handle

    def _add_up(
        self, start: Value, stop: Value, step: int, places: Sequence[tuple[Value, ...]], totals: Sequence[Value]
    ) -> None:
        """Add sums to their elements, which exist if the loop ran at all."""
        builder = self.builder

        def add() -> tuple[Value, ...]:
            for (buffer, *index), total in zip(places, totals, strict=True):
                builder.accumulate(buffer, total, index)
            return ()

        ran = builder.op(ops.LT, start, stop) if step > 0 else builder.op(ops.GT, start, stop)
        if builder.known(ran):
            add()
        else:
            builder.branch(ran, add)

    def _forward_loop(self, body: list[Operation], counter: Value | None) -> Operation:
        """The forward loop with a new body; with a counter it also counts its iterations."""
        regions = [*self.loop.regions[:-1], Region(self.body.arguments, tuple(body), self.body.results)]
        if counter is None:
            return replace(self.loop, regions=tuple(regions))
        zero = self.before.emit(lambda builder: builder.index(0))
        following = []
        for region in regions:
            count = Value(I64, "")
            side = Side(self.builder.definitions)
            results = region.results
            if region is regions[-1]:
                after = self._next(side, count)
                results = (*results, after)
            following.append(Region((*region.arguments, count), (*region.operations, *side.operations), results))
        return replace(
            self.loop,
            operands=(*self.loop.operands, zero),
            results=(*self.loop.results, counter),
            regions=tuple(following),
        )

    @staticmethod
    def _next(side: Side, count: Value) -> Value:
        return side.emit(lambda builder: builder.op(ops.ADD, count, builder.index(1)))


def _is_sum(builder: Builder, following: Value, argument: Value) -> bool:
    """True when a carried value becomes a sum of itself and others: no mask makes its cotangent zero."""
    pending, seen = [following], set[Value]()
    while pending:
        value = pending.pop()
        if value is argument:
            return True
        operation = builder.definitions.get(value)
        if operation is not None and operation.row is ops.ADD and value not in seen:
            pending.extend(operation.operands)
        seen.add(value)
    return False


def _outside_effect(reverse: Reverse, operation: Operation, own: set[Value]) -> bool:
    """True for what must not happen twice: checks, and writes to memory that outlives the iteration."""
    if operation.row is core.CHECK:
        return True
    if operation.row not in (core.STORE, core.ACCUMULATE):
        return False
    handle = operation.operands[0]
    return reverse.memory.root.get(handle, handle) not in own


def reverse_branch(reverse: Reverse, operation: Operation) -> list[Operation] | None:
    """Reverse an `if`: the same condition chooses the reverse of the branch that was taken."""
    if not _has_derivative(reverse, operation):
        return None
    builder = reverse.builder
    incoming = [reverse.take(value) for value in operation.results]
    outside = reverse.cotangent
    blocks, forwards, after = [], [], []
    for region in operation.regions:
        reverse.cotangent = dict(outside)
        with builder.block() as block:
            for value, cotangent in zip(region.results, incoming, strict=True):
                reverse.add(value, cotangent)
            forwards.append(reverse.region(region.operations))
        blocks.append(block)
        after.append(reverse.cotangent)
    outer = dict.fromkeys(
        value
        for region in operation.regions
        for value in free_values(region.operations, region.results)
        if isinstance(value.type, Scalar) and value in reverse.active
    )
    changed = [v for v in outer if any(found.get(v) is not outside.get(v) for found in after)]
    regions, exporters = [], []
    for position, block in enumerate(blocks):
        exporter = BranchExporter(builder, forwards[position])
        zeros = Side(builder.definitions)
        finished = [after[position].get(value) for value in changed]
        results = [
            zeros.zero(value) if total is None else total for value, total in zip(changed, finished, strict=True)
        ]
        resolver = Resolver(builder, reverse.memory, forwards[position], (), exporter, {}, reverse.fates)
        operations, results = resolver.resolve(block.operations, results)
        regions.append(Region((), (*operations, *zeros.operations), tuple(results)))
        forwards[position] = resolver.forward
        exporters.append(exporter)
    reverse.cotangent = outside
    if changed or any(region.operations for region in regions):
        builder.span = operation.span
        types = tuple(str(value.type) for value in changed)
        names = [f"{value.name}_bar" for value in changed]
        made = builder.emit(core.IF, operation.operands, {"types": types}, regions, names)
        reverse.cotangent.update(zip(changed, made, strict=True))
    before = [item for exporter in exporters for item in exporter.before.operations]
    return [*before, branch_with_exports(operation, forwards, exporters)]
