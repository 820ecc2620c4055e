"""A function with nothing but fixed loops over fixed arrays, written out.

Comes in: a function.  Goes out: the same as straight-line code, which loads elements of its parameters, computes with
numbers and stores elements of its results; None for a function that decides something while it runs, or that would be
too long.  Guaranteed: the same operations in the same order.
"""

from __future__ import annotations

from adgen import ops
from adgen.ir import core
from adgen.ir.nodes import Function
from adgen.passes.dead_code import dead_code
from adgen.passes.fold import fold
from adgen.passes.forward_stores import forward_stores
from adgen.passes.known_extents import known_extents
from adgen.passes.registers import registers
from adgen.passes.unroll import Limits, unroll

LIMITS = Limits(iterations=64, elements=256, operations=4096, only_small_arrays=False)
MOST_OPERATIONS = 1024  # that remain when constants have been folded
MOST_ROUNDS = 4  # a loop whose bounds depend on another's index is written out in the round after it
PLAIN = (core.CONST, core.TABLE, core.DIM, core.CHECK, core.ALLOC, core.LOAD, core.STORE)


def straight(function: Function) -> Function | None:
    """The function as straight-line code, or None.

    Of `%s = for %0, %3, %x (%i, %t) { %a = load %A, %i ; %u = mul %t, %a ; yield %u }` it makes three loads at `%0`,
    `%1` and `%2` and three multiplications.
    """
    if function.callees:
        return None
    made = known_extents(function)
    for _ in range(MOST_ROUNDS):
        made = unroll(made, LIMITS)
        for step in (fold, forward_stores, dead_code):
            made = step(made)
        made = dead_code(registers(made, LIMITS.elements))
        if not any(operation.regions for operation in made.body.operations):
            return made if _is_straight(made) else None
    return None


def _is_straight(function: Function) -> bool:
    """True when memory is that of parameters, which is read, or of results, which is written."""
    operations = function.body.operations
    if len(operations) > MOST_OPERATIONS:
        return False
    own = {operation.result for operation in operations if operation.row is core.ALLOC}
    return own <= set(function.results) and all(
        operation.row in PLAIN or isinstance(operation.row, ops.Elementwise)
        for operation in operations
        if operation.row is not core.LOAD or operation.operands[0] not in own
    )
