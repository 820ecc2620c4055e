"""A function with nothing but fixed loops over fixed arrays, written out.

Comes in: a function.  Goes out: the same without loops, which loads elements of its parameters, computes with numbers,
in branches too, and stores elements of its results; None for a function whose loops depend on what it is given, or that
would be too long.  Guaranteed: the same operations in the same order.
"""

from __future__ import annotations

from dataclasses import replace

from adgen import ops
from adgen.ir import core
from adgen.ir.builder import Builder
from adgen.ir.nodes import Function, Value, walk
from adgen.ir.rebuild import Mapping, clone
from adgen.passes.dead_code import dead_code
from adgen.passes.fold import fold
from adgen.passes.forward_stores import forward_stores
from adgen.passes.indices import Definitions
from adgen.passes.known_extents import known_extents
from adgen.passes.localise import copy_of
from adgen.passes.registers import registers
from adgen.passes.unroll import Limits, unroll

LIMITS = Limits(iterations=64, elements=256, operations=4096, only_small_arrays=False)
MOST_OPERATIONS = 1024  # that remain when constants have been folded
MOST_ROUNDS = 4  # a loop whose bounds depend on another's index is written out in the round after it
PLAIN = (core.CONST, core.TABLE, core.DIM, core.CHECK, core.ALLOC, core.LOAD, core.STORE, core.IF)


def straight(function: Function) -> Function | None:
    """The function without loops, or None.

    Of `%s = for %0, %3, %x (%i, %t) { %a = load %A, %i ; %u = mul %t, %a ; yield %u }` it makes three loads at `%0`,
    `%1` and `%2` and three multiplications.
    """
    if function.callees:
        return None
    made = _with_copies(known_extents(function))
    for _ in range(MOST_ROUNDS):
        made = unroll(made, LIMITS)
        for step in (fold, forward_stores, dead_code):
            made = step(made)
        made = dead_code(registers(made, LIMITS.elements))
        if all(operation.row is core.IF or not operation.regions for operation in walk(made.body)):
            return made if _is_straight(made) else None
    return None


def _with_copies(function: Function) -> Function:
    """The function with copies of its results that are arrays of known extents, so that these are filled at its end."""
    builder, fixed = Builder(), set(fixed_results(function))
    builder.span = function.span
    mapping: Mapping = {value: Value(value.type, value.name) for value in function.parameters}
    with builder.block(tuple(mapping.values())) as block:
        clone(builder, function.body.operations, mapping)
        copies = {value: copy_of(builder, mapping[value], value.name) for value in function.results if value in fixed}
        block.results = tuple(copies.get(value, mapping.get(value, value)) for value in function.results)
    return replace(function, body=block.region())


def _is_straight(function: Function) -> bool:
    """True when memory is that of parameters, which is read, or of results, which is written."""
    operations = list(walk(function.body))
    if len(operations) > MOST_OPERATIONS:
        return False
    own = {operation.result for operation in operations if operation.row is core.ALLOC}
    stored = [operation for operation in operations if operation.row is core.STORE]
    return (
        own <= set(function.results)
        and all(operation in function.body.operations for operation in stored)
        and all(operation.row in PLAIN or isinstance(operation.row, ops.Elementwise) for operation in operations)
        and not any(operation.row is core.LOAD and operation.operands[0] in own for operation in operations)
    )


def fixed_results(function: Function) -> list[Value]:
    """The results that are arrays whose extents are constants."""
    known = Definitions(function).known
    return [
        operation.result
        for operation in function.body.operations
        if operation.row is core.ALLOC
        and operation.result in function.results
        and all(known(extent) is not None for extent in operation.operands)
    ]
