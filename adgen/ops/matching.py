"""What identities need to look at and to make.

Comes in: a builder and values.  Goes out: the operands a value was made from, facts about it, values made by rows of
the table.  Guaranteed: nothing is assumed about a value whose definition is not in the builder.
"""

from __future__ import annotations

from typing import Any

from adgen.ir import core
from adgen.ir.builder import Builder, sharing_key
from adgen.ir.nodes import NO_ATTRIBUTES, Value
from adgen.ir.types import I64, is_natural
from adgen.ops.integers import wrapped
from adgen.ops.registry import TABLE

Operands = tuple[Value, ...]
DEPTH = 6
"""How many definitions deep facts are looked for."""


def made(builder: Builder, value: Value, name: str) -> Operands | None:
    """The operands of the operation `name` that made the value, or None when another made it."""
    operation = builder.definitions.get(value)
    return operation.operands if operation is not None and operation.row.name == name else None


def make(builder: Builder, name: str, *operands: Value) -> Value:
    """A row of the table applied."""
    return builder.op(TABLE[name], *operands)


def constant(builder: Builder, number: Any, like: Value) -> Value:
    """A constant of another value's type; i64 wraps around."""
    return builder.const(wrapped(number) if like.type == I64 else number, like.type)


def swapped(builder: Builder, name: str, operands: Operands) -> Value | None:
    """The value of a commutative operation that is already there with its operands the other way round."""
    first, second = operands
    if first is second:
        return None
    key = sharing_key(TABLE[name], (second, first), NO_ATTRIBUTES)
    for block in reversed(builder.blocks):
        if key in block.shared:
            return block.shared[key][0]
    return None


def least(builder: Builder, value: Value, depth: int = DEPTH) -> int | None:
    """A number that an i64 value is never less than, or None when nothing is known."""
    known = builder.known(value)
    if known is not None:
        return int(known)
    operation = builder.definitions.get(value)
    if operation is None or depth == 0:
        return None
    if operation.row is core.DIM or (operation.row.name == "to_i64" and is_natural(operation.operands[0].type)):
        return 0
    if operation.row.name == "mod":
        divisor = builder.known(operation.operands[1])
        return 0 if divisor is not None and divisor > 0 else None
    if operation.row.name not in ("add", "mul", "maximum", "minimum"):
        return None
    bounds = [least(builder, operand, depth - 1) for operand in operation.operands]
    return _bound(operation.row.name, bounds[0], bounds[1])


def _bound(name: str, a: int | None, b: int | None) -> int | None:
    if name == "maximum":
        return max((bound for bound in (a, b) if bound is not None), default=None)
    if a is None or b is None:
        return None
    if name == "minimum":
        return min(a, b)
    if name == "add":
        return a + b
    return a * b if a >= 0 and b >= 0 else None
