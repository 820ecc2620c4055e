"""Which integers of a kernel may leave the range of their type, which the compiler of a device takes to be impossible.

Comes in: a kernel's function.  Goes out: the sums, differences and products to write so that they wrap around.
Guaranteed: what is stored, carried, compared for a branch or made a float of wraps as it does in C and in NumPy.
Arithmetic on indices of loops, extents and constants stays as it is, and so does what tells only where an element is:
it is checked, or the extents keep it small.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from adgen import ops
from adgen.ir import core
from adgen.ir.nodes import Function, Operation, Row, Value, walk
from adgen.ir.types import I64
from adgen.ops.spelling import HelperCall, Spelling

_TWO = """
static inline int64_t $name(int64_t a, int64_t b) {{
    return (int64_t)((uint64_t)a {0} (uint64_t)b);
}}
"""
_ONE = """
static inline int64_t $name(int64_t a) {
    return (int64_t)(0u - (uint64_t)a);
}
"""
WRAPPED: Mapping[Row, Spelling] = {
    ops.ADD: HelperCall("add", _TWO.format("+")),
    ops.SUB: HelperCall("sub", _TWO.format("-")),
    ops.MUL: HelperCall("mul", _TWO.format("*")),
    ops.NEG: HelperCall("neg", _ONE),
}


def small(function: Function, given: Iterable[Value] = ()) -> set[Value]:
    """What is made of indices of loops, extents, constants and values that are `given`, which are small too."""
    found = set(given)
    for operation in walk(function.body):
        if operation.row is core.FOR:
            found.add(operation.regions[0].arguments[0])
        elif operation.row in (core.CONST, core.DIM) or (
            operation.row.pure and not operation.regions and found.issuperset(operation.operands)
        ):
            found.update(operation.results)
    return found


def wrapping(function: Function, given: Iterable[Value]) -> set[Operation]:
    """The operations of a kernel that must wrap around; some parameters are `given` as small."""
    operations = list(walk(function.body))
    # told: used for more than where an element is
    told = {value for operation in operations for region in operation.regions for value in region.results}
    for operation in reversed(operations):
        told.update(_passed_on(operation, told))
    told -= small(function, given)
    return {o for o in operations if o.row in WRAPPED and o.result.type == I64 and o.result in told}


def _passed_on(operation: Operation, told: set[Value]) -> tuple[Value, ...]:
    """The operands whose value goes on."""
    row, operands = operation.row, operation.operands
    if row in core.ACCESSES:
        return operands[1 : core.ACCESSES[row]]
    if row is core.FOR:
        return operands[2:]
    if row in (core.WHILE, core.IF):
        return operands
    return operands if row.pure and row is not core.RESHAPE and told.intersection(operation.results) else ()
