"""How a value leaves a forward region: by a tape in memory, by a stack, or as a result of a branch.

One exporter per forward region and kind of owner.  `before` collects operations to put in front of the owner in the
forward sweep, `tail` operations for the end of the region.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from adgen import ops
from adgen.ir import core
from adgen.ir.builder import Builder
from adgen.ir.nodes import Operation, Region, Value
from adgen.ir.types import Buffer, Scalar
from adgen.passes.extents import Bounds, number_of, trip_count
from adgen.passes.residuals import Expansion, has_reshape


class Side:
    """Collects forward operations with a builder of their own, so that nothing of the reverse sweep is shared."""

    def __init__(self, definitions: dict[Value, Operation]) -> None:
        self.builder = Builder()
        self.builder.definitions = definitions
        self.operations: list[Operation] = []

    def emit(self, make: Callable[[Builder], Value]) -> Value:
        """The value that `make` gives; what it emits is kept."""
        with self.builder.block() as block:
            value = make(self.builder)
        self.operations.extend(block.operations)
        return value

    def run(self, make: Callable[[Builder], None]) -> None:
        """Keep what `make` emits."""
        with self.builder.block() as block:
            make(self.builder)
        self.operations.extend(block.operations)

    def zero(self, like: Value) -> Value:
        """A zero of the type of a value."""
        return self.emit(lambda builder: builder.const(0, like.type))


class Exporting:
    """What all exporters share."""

    def __init__(self, builder: Builder, forward: list[Operation]) -> None:
        self.builder = builder
        self.made: Mapping[Value, Operation] = {v: o for o in forward for v in o.results}
        self.before = Side(builder.definitions)
        self.tail = Side(builder.definitions)

    def hoist(self, operation: Operation) -> None:
        """Make a stack in front of the owner: all executions of the region share it, last in first out."""
        self.before.operations.append(operation)

    def append(self, emit: Callable[[Builder], None]) -> None:
        """Emit at the end of the forward region."""
        self.tail.run(emit)

    def expand(self, allocation: Operation) -> Expansion | None:
        """No memory of a size known in front of the owner: the contents go through a stack."""
        return None

    def record(self, value: Value) -> Value:
        """Push at the end of the region, pop at the start of the reverse one."""
        element = value.type
        assert isinstance(element, Scalar)
        stack = self.before.emit(lambda builder: builder.stack(element, f"{value.name}_saved"))

        def push(builder: Builder) -> None:
            builder.emit(core.PUSH, (stack, value))

        self.append(push)
        return self.builder.emit(core.POP, (stack,), names=(value.name,))[0]


class LoopExporter(Exporting):
    """Exports from the body of a `for`: one tape element per iteration, addressed by the iteration's number."""

    def __init__(
        self, builder: Builder, forward: list[Operation], loop: Operation, index: Value, number: Value
    ) -> None:
        super().__init__(builder, forward)
        self.number = number  # of the iteration, in the reverse sweep
        self.loop = loop
        self.head = Side(builder.definitions)  # goes to the start of the forward body
        self.index = index
        inside = set(self.made) | set(loop.regions[0].arguments)
        self.bounds = Bounds(self.before.builder, self.made, inside, index, loop)
        self._forward_number: Value | None = None

    def forward_number(self) -> Value:
        """The iteration number in the forward body."""
        if self._forward_number is None:
            self._forward_number = self.head.emit(lambda builder: number_of(builder, self.loop, self.index))
        return self._forward_number

    def record(self, value: Value) -> Value:
        element = value.type
        assert isinstance(element, Scalar)

        def make(builder: Builder) -> Value:
            return builder.alloc(element, [trip_count(builder, self.loop)], f"{value.name}_saved", zero=False)

        tape = self.before.emit(make)
        number = self.forward_number()
        self.append(lambda builder: builder.store(tape, value, (number,)))
        return self.builder.load(tape, (self.number,), value.name)

    def expand(self, allocation: Operation) -> Expansion | None:
        kind = allocation.result.type
        assert isinstance(kind, Buffer)
        if any(self.bounds.direction(extent) is None for extent in allocation.operands):
            return None

        def make(builder: Builder) -> Value:
            extents = [self.bounds.upper(extent) for extent in allocation.operands]
            sizes = [extent for extent in extents if extent is not None]
            if has_reshape(self.made.values(), allocation.result):
                total = builder.index(1)
                for size in sizes:
                    total = builder.op(ops.MUL, total, size)
                sizes = [total]
            sizes = [trip_count(builder, self.loop), *sizes]
            return builder.alloc(kind.element, sizes, allocation.result.name, zero=bool(allocation.attributes["zero"]))

        handle = self.before.emit(make)
        return Expansion(handle, (self.forward_number(),), (self.number,))


class BranchExporter(Exporting):
    """Exports from one branch of an `if`: scalars become further results, memory is made in front of it."""

    def __init__(self, builder: Builder, forward: list[Operation]) -> None:
        super().__init__(builder, forward)
        self.yielded: list[tuple[Value, Value]] = []  # (value in the branch, result of the owner)

    def record(self, value: Value) -> Value:
        result = Value(value.type, value.name)
        self.yielded.append((value, result))
        return result

    def expand(self, allocation: Operation) -> Expansion | None:
        if not all(self.is_computable(extent) for extent in allocation.operands):
            return None
        kind = allocation.result.type
        assert isinstance(kind, Buffer)

        def make(builder: Builder) -> Value:
            done: dict[Value, Value] = {}
            sizes = [self.outside(builder, extent, done) for extent in allocation.operands]
            extents = sizes
            if has_reshape(self.made.values(), allocation.result):
                total = builder.index(1)
                for size in sizes:
                    total = builder.op(ops.MUL, total, size)
                extents = [total]
            return builder.alloc(kind.element, extents, allocation.result.name, bool(allocation.attributes["zero"]))

        return Expansion(self.before.emit(make), (), ())

    def is_computable(self, value: Value) -> bool:
        """True when a value of the branch can be computed in front of it: what is pure may run where it need not."""
        operation = self.made.get(value)
        return operation is None or (operation.row.pure and all(self.is_computable(o) for o in operation.operands))

    def outside(self, builder: Builder, value: Value, done: dict[Value, Value]) -> Value:
        """A value of the branch computed in front of it."""
        if value not in self.made:
            return value
        if value not in done:
            operation = self.made[value]
            operands = [self.outside(builder, operand, done) for operand in operation.operands]
            (done[value],) = builder.emit(operation.row, operands, operation.attributes)
        return done[value]


def branch_with_exports(
    operation: Operation, branches: list[list[Operation]], exporters: list[BranchExporter]
) -> Operation:
    """The forward `if` with the exported values as further results; the other branch yields zeros for them."""
    regions = []
    for position, (region, operations) in enumerate(zip(operation.regions, branches, strict=True)):
        filler = Side(exporters[position].builder.definitions)
        extra = []
        for owner, exporter in enumerate(exporters):
            for value, _ in exporter.yielded:
                if owner == position:
                    extra.append(value)
                else:
                    extra.append(filler.zero(value))
        body = (*operations, *exporters[position].tail.operations, *filler.operations)
        regions.append(Region(region.arguments, body, (*region.results, *extra)))
    made = [result for exporter in exporters for _, result in exporter.yielded]
    types = (*operation.attributes["types"], *(str(value.type) for value in made))
    attributes = {**operation.attributes, "types": types}
    return replace(operation, regions=tuple(regions), results=(*operation.results, *made), attributes=attributes)
