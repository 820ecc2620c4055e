"""Loops in parts, each with memory of its own to add to.

Comes in: a loop whose iterations are independent but for sums.  Goes out: how many parts, their ends, copies of the
memory that is added to.  Guaranteed: every iteration is in one part; how many there are follows from extents alone, so
what `add_up` brings together has the same bits in every run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import MappingProxyType

from adgen import ops
from adgen.ir.builder import Builder
from adgen.ir.nodes import Attributes, Operation, Value
from adgen.ir.rebuild import Mapping, mapped
from adgen.ir.sizes import PARTS
from adgen.ir.translate import free_values
from adgen.ir.types import Buffer
from adgen.passes.extents import index_of

APART: Attributes = MappingProxyType({"simd": True, "parts": True})  # of a loop over parts, which meet nowhere
FEW: Attributes = MappingProxyType({"serial": "there are few parts"})


def moved(loop: Operation, mapping: Mapping) -> Operation:
    """A loop with what its ends and what it carries have become, for its number of iterations and its indices."""
    return replace(loop, operands=mapped(loop.operands, mapping))


def division(builder: Builder, count: Value, width: Value, handles: Sequence[Value], times: int = 1) -> Value:
    """In how many parts iterations are taken that have copies of some memory, and so many threads each."""
    size = builder.index(1)
    for handle in handles:
        one = builder.index(1)
        for extent in builder.dims(handle):
            one = builder.op(ops.MUL, one, extent)
        size = builder.op(ops.MAXIMUM, size, builder.op(ops.MUL, one, builder.index(times)))
    return builder.op(PARTS, count, width, size, name="parts")


def copies(builder: Builder, handle: Value, count: Value) -> Value:
    """An array with the extents of another one for each of some threads."""
    assert isinstance(handle.type, Buffer)
    return builder.alloc(handle.type.element, (*builder.dims(handle), count), f"{handle.name or 'sum'}_parts")


def chunk(builder: Builder, loop: Operation, count: Value, number: Value, parts: Value) -> tuple[Value, Value]:
    """The ends of one part of `count` iterations; those of the next part come after it."""
    more = builder.op(ops.SUB, builder.op(ops.ADD, count, parts), builder.index(1))
    size = builder.op(ops.MAXIMUM, builder.op(ops.FLOORDIV, more, parts), builder.index(1), name="size")
    first = builder.op(ops.MUL, number, size)
    last = builder.op(ops.MINIMUM, builder.op(ops.ADD, first, size), count)
    return index_of(builder, loop, first), index_of(builder, loop, last)


def needed(operations: Sequence[Operation], values: Sequence[Value]) -> list[Operation]:
    """Those of some operations of a region that values are worked out by, in their order."""
    wanted, kept = set(values), []
    for operation in reversed(operations):
        if wanted.intersection(operation.results):
            wanted.update(free_values(operation))
            kept.append(operation)
    return kept[::-1]
