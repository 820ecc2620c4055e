"""How long the chunks of a loop are, and how much memory its steps leave behind.

Comes in: integers of the IR, and the reverse of some steps.  Goes out: integers computed from them.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

import numpy as np

from adgen import ops
from adgen.ir import core
from adgen.ir.builder import Builder
from adgen.ir.nodes import Function, Value, walk
from adgen.ir.rebuild import Mapping, clone_operation
from adgen.ir.translate import DTYPES
from adgen.ir.types import Buffer


def chunk_size(builder: Builder, steps: Value, state: Value, each: Value) -> Value:
    """The steps of a chunk for which states and residuals take the least memory together: `sqrt(n s / b)`."""
    wide = [builder.op(ops.TO_F64, value) for value in (steps, state, builder.op(ops.MAXIMUM, each, builder.index(1)))]
    ratio = builder.op(ops.DIV, builder.op(ops.MUL, wide[0], wide[1]), wide[2])
    root = builder.op(ops.TO_I64, builder.op(ops.CEIL, builder.op(ops.SQRT, ratio)))
    return named(builder.op(ops.MAXIMUM, root, builder.index(1)), "chunk")


def chunk_count(builder: Builder, steps: Value, size: Value) -> Value:
    """How many chunks there are; the last one may be shorter."""
    last = builder.op(ops.SUB, builder.op(ops.ADD, steps, size), builder.index(1))
    return named(builder.op(ops.FLOORDIV, last, size), "chunks")


def named(value: Value, name: str) -> Value:
    """The value under a name that formulas of the workspace use."""
    value.name = value.name or name
    return value


def chunk_steps(builder: Builder, chunk: Value, steps: Value, size: Value) -> tuple[Value, Value]:
    """The first step of a chunk, and how many there are."""
    first = builder.op(ops.MUL, chunk, size)
    return first, builder.op(ops.MINIMUM, size, builder.op(ops.SUB, steps, first))


def buffer_bytes(builder: Builder, buffer: Value, extents: Iterable[Value]) -> Value:
    """The bytes of a buffer with these extents."""
    assert isinstance(buffer.type, Buffer)
    size = builder.index(np.dtype(DTYPES[buffer.type.element]).itemsize)
    return reduce(lambda a, b: builder.op(ops.MUL, a, b), extents, size)


def residual_bytes(builder: Builder, pulled: Function, mapping: Mapping, count: Value) -> Value | None:
    """The bytes that the reverse of some steps keeps of them; None when it keeps nothing of each.

    Memory whose size depends on the number of steps is counted; None too where that is not known beforehand.
    """
    made = {value: operation for operation in walk(pulled.body) for value in operation.results}
    dependent: dict[Value, bool] = {count: True}

    def depends(value: Value) -> bool:
        if value not in dependent:
            operation = made.get(value)
            dependent[value] = operation is not None and any(depends(operand) for operand in operation.operands)
        return dependent[value]

    def again(value: Value) -> Value | None:
        if value in mapping or value not in made:
            return mapping.get(value)
        operation = made[value]
        if not operation.row.pure or any(again(operand) is None for operand in operation.operands):
            return None
        clone_operation(builder, operation, mapping)
        return mapping[value]

    total = None
    for operation in made.values():
        if operation.row is not core.ALLOC or not any(depends(extent) for extent in operation.operands):
            continue
        known = [extent for extent in map(again, operation.operands) if extent is not None]
        if len(known) < len(operation.operands):
            return None
        own = buffer_bytes(builder, operation.result, known)
        total = own if total is None else builder.op(ops.ADD, total, own)
    return total
