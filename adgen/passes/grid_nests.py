"""A loop written as a kernel.

Comes in: how the loop becomes one, a `Nest`.  Goes out: the loop with `grid`, alone or with the one inside of it, and
what brings its parts together.  Guaranteed: what iterations add to carried values is added in parts, whose number
follows from extents; memory that they add to without owning it is added to as the nest says: by copies or atomically.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from adgen import ops
from adgen.ir import core, sizes
from adgen.ir.builder import Builder
from adgen.ir.nodes import Operation, Value, walk
from adgen.ir.rebuild import clone_region, mapped, record
from adgen.ir.types import BOOL, I64, Scalar
from adgen.passes.extents import index_of, trip_count
from adgen.passes.partial import chunk, copies, division, moved
from adgen.passes.sharing import Sharing
from adgen.passes.turned import Turned

SHARED = 4  # times the memory that copies count for, where threads share them: so much stays in a cache


@dataclass(frozen=True)
class Nest:
    """How a loop becomes a kernel: alone, or with the loop inside of it, in which its parts are all."""

    outer: Operation
    shared: Sharing
    inner: Operation | None = None
    atomic: Mapping[Operation, str] = field(default_factory=dict)
    copied: tuple[Value, ...] = ()  # handles of memory of which each thread has a copy
    spread: tuple[Value, ...] = ()  # handles of memory of which several threads share a copy
    turned: tuple[Turned, ...] = ()  # additions that are made with two loops exchanged


class NestWriter:
    """Writes one loop as a kernel, and what brings its parts together."""

    def __init__(self, builder: Builder, mapping: dict[Value, Value], nest: Nest) -> None:
        self.builder = builder
        self.mapping = mapping
        self.nest = nest
        self.loop = nest.outer
        self.step: int = nest.outer.attributes["step"]

    def emit(self) -> None:
        """The loops, the sums."""
        assert not self.nest.turned, "exchanged loops are a step of their own"
        if self.loop.regions[0].arguments[1:] or self.nest.copied or self.nest.spread:
            self.parts()
        else:
            self.plain()

    def plain(self) -> None:
        """A kernel without sums."""
        self.region_loop(self.loop, "y" if self.nest.inner else "x")

    def region_loop(self, loop: Operation, grid: str) -> None:
        start, stop = mapped(loop.operands[:2], self.mapping)
        region = clone_region(self.builder, loop.regions[0], self.mapping, self.inside)
        attributes = {**_without(loop), "grid": grid, "order": 0 if loop is self.loop else 1}
        self.builder.emit(core.FOR, (start, stop), attributes, (region,), span=loop.span)

    def inside(self, builder: Builder, operation: Operation, mapping: dict[Value, Value]) -> bool:
        """What is another operation in a kernel: the inner loop of a nest, additions that may meet."""
        if operation is self.nest.inner:
            self.region_loop(operation, "x")
            return True
        if operation in self.nest.atomic:
            attributes = {"atomic": self.nest.atomic[operation]}
            builder.emit(core.ACCUMULATE, mapped(operation.operands, mapping), attributes, span=operation.span)
            return True
        return False

    # -- sums ------------------------------------------------------------------------------------------------------

    def parts(self) -> None:
        """Threads that take several iterations each, with sums of their own."""
        builder, loop = self.builder, self.loop
        region, here = loop.regions[0], moved(loop, self.mapping)
        count = trip_count(builder, here)
        apart = bool(self.nest.copied) or self.in_order()
        handles = mapped(self.nest.copied, self.mapping)
        threads = division(builder, count, builder.index(1), handles)
        carried = region.arguments[1:]
        sums = [
            builder.alloc(_scalar(value), (threads,), f"{value.name or 'sum'}_parts", zero=False) for value in carried
        ]
        apiece = {handle: copies(builder, handle, threads) for handle in handles}
        together = self.spread(count)
        argument = Value(I64, "part")
        with builder.block((argument,)) as block:
            if apart:
                ends, step = chunk(builder, here, count, argument, threads), self.step
            else:
                ends, step = (index_of(builder, here, argument), here.operands[1]), self.step * sizes.THREADS
            slots = {h: (copy, builder.op(ops.MOD, argument, number)) for h, (copy, number) in together.items()}
            self.run(ends, step, argument, sums, apiece, slots)
        attributes = {"step": 1, "exit": False, "grid": "x"}
        builder.emit(core.FOR, (builder.index(0), threads), attributes, (block.region(),), span=loop.span)
        for handle, copy in [*apiece.items(), *((h, copy) for h, (copy, _) in together.items())]:
            builder.emit(core.ADD_UP, (handle, copy), span=loop.span)
        totals = [
            self.total(*each) for each in zip(mapped(loop.operands[2:], self.mapping), sums, loop.results, strict=True)
        ]
        record(builder, loop, tuple(totals), self.mapping)

    def spread(self, count: Value) -> dict[Value, tuple[Value, Value]]:
        """Copies of memory that all iterations add to, each for several threads; how many there are."""
        builder, found = self.builder, {}
        for handle in mapped(self.nest.spread, self.mapping):
            number = division(builder, count, builder.index(1), [handle], SHARED)
            number = builder.op(ops.MAXIMUM, number, builder.index(1), name="copies")
            found[handle] = copies(builder, handle, number), number
        return found

    def in_order(self) -> bool:
        """True when a thread that takes several parts may have to take them one after the other.

        There are fewer threads where each has much memory, and the first check that fails in a thread ends it.
        """
        rows = {operation.row for operation in walk(self.loop.regions[0])}
        return core.CHECK in rows and core.ALLOC in rows

    def run(
        self,
        ends: tuple[Value, Value],
        step: int,
        number: Value,
        sums: Sequence[Value],
        copies: Mapping[Value, Value],
        slots: Mapping[Value, tuple[Value, Value]],
    ) -> None:
        """The iterations of one part."""
        builder, region = self.builder, self.loop.regions[0]
        local = dict(self.mapping)
        zeros = [builder.const(0, value.type) for value in region.arguments[1:]]

        shared = {operation for touching in self.nest.shared.added.values() for operation in touching}

        def redirected(builder: Builder, operation: Operation, mapping: dict[Value, Value]) -> bool:
            if operation in shared:
                handle, value, *indices = mapped(operation.operands, mapping)
                if handle in copies:
                    builder.accumulate(copies[handle], value, (*indices, number))
                    return True
                if handle in slots:
                    copy, slot = slots[handle]
                    builder.emit(core.ACCUMULATE, (copy, value, *indices, slot), {"atomic": "threads share a copy"})
                    return True
            return self.inside(builder, operation, mapping)

        inner = clone_region(builder, region, local, redirected)
        names = [value.name for value in self.loop.results]
        attributes = {**_without(self.loop), "step": step, "order": 0}
        results = builder.emit(core.FOR, (*ends, *zeros), attributes, (inner,), names, self.loop.span)
        for buffer, value in zip(sums, results, strict=True):
            builder.store(buffer, value, (number,))

    def total(self, start: Value, parts: Value, result: Value) -> Value:
        """A carried sum after the loop."""
        builder = self.builder
        nothing = builder.known(start) == 0
        cell = builder.alloc(_scalar(result), (), result.name, zero=nothing)
        if not nothing:
            builder.store(cell, start)
        builder.emit(core.ADD_UP, (cell, parts), span=self.loop.span)
        (total,) = builder.emit(core.LOAD, (cell,), {"cell": True}, names=(result.name,))
        return total


def _without(loop: Operation) -> dict[str, object]:
    """The attributes of a loop that are not about vectors or threads of a host."""
    return {name: value for name, value in loop.attributes.items() if name not in ("simd", "parallel", "abreast")}


def _scalar(value: Value) -> Scalar:
    assert isinstance(value.type, Scalar) and value.type != BOOL
    return value.type
