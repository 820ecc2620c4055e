"""Index arithmetic that leaves readable expressions: `(i + 1) - 1` is `i`, `n - 1 - (n - 1 - i)` too.

Comes in: Python ints and i64 values, mixed.  Goes out: an int when that is possible, else an i64 value made of as few
operations as the affine form needs.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from adgen import ops
from adgen.frontend.affine import Affine
from adgen.ir.nodes import Value

if TYPE_CHECKING:
    from adgen.frontend.context import Context

Int = int | Value


def value(ctx: Context, x: Int) -> Value:
    """An integer as an IR value."""
    return x if isinstance(x, Value) else ctx.builder.index(x)


def plain(ctx: Context, x: Int) -> Int:
    """A Python int where the IR value is a constant."""
    if isinstance(x, int):
        return x
    known = ctx.builder.known(x)
    return x if known is None else int(known)


def form(ctx: Context, x: Int) -> Affine:
    """The affine form in the values at hand."""
    return Affine(x) if isinstance(x, int) else ctx.ranges.raw.of(x)


def meaning(ctx: Context, x: Int) -> Affine:
    """The affine form in which equal values are one; for proofs, not for code."""
    return Affine(x) if isinstance(x, int) else ctx.ranges.form(x)


def total(ctx: Context, parts: Iterable[tuple[int, Int]]) -> Int:
    """`sum(factor * part)`."""
    parts = [(factor, plain(ctx, part)) for factor, part in parts if factor]
    parts = [(factor, part) for factor, part in parts if isinstance(part, Value) or part]
    if len(parts) == 1 and parts[0][0] == 1:
        return parts[0][1]
    result = Affine(0)
    for factor, part in parts:
        result = result.plus(form(ctx, part), factor)
    return emit(ctx, result)


def add(ctx: Context, a: Int, b: Int) -> Int:
    """`a + b`."""
    return total(ctx, ((1, a), (1, b)))


def sub(ctx: Context, a: Int, b: Int) -> Int:
    """`a - b`."""
    return total(ctx, ((1, a), (-1, b)))


def mul(ctx: Context, a: Int, b: Int) -> Int:
    """`a * b`."""
    a, b = plain(ctx, a), plain(ctx, b)
    if isinstance(a, int):
        return total(ctx, ((a, b),))
    if isinstance(b, int):
        return total(ctx, ((b, a),))
    return ctx.builder.op(ops.MUL, a, b)


def product(ctx: Context, factors: Iterable[Int]) -> Int:
    """The product of all."""
    result: Int = 1
    for factor in factors:
        result = mul(ctx, result, factor)
    return result


def maximum(ctx: Context, a: Int, b: Int) -> Int:
    """`max(a, b)`; no operation where the order is proved."""
    if at_least(ctx, a, b):
        return plain(ctx, a)
    if at_least(ctx, b, a):
        return plain(ctx, b)
    return ctx.builder.op(ops.MAXIMUM, value(ctx, a), value(ctx, b))


def minimum(ctx: Context, a: Int, b: Int) -> Int:
    """`min(a, b)`; no operation where the order is proved."""
    if at_least(ctx, a, b):
        return plain(ctx, b)
    if at_least(ctx, b, a):
        return plain(ctx, a)
    return ctx.builder.op(ops.MINIMUM, value(ctx, a), value(ctx, b))


def size(ctx: Context, x: Int) -> Int:
    """`max(x, 0)`, where `max(max(e, 0) - c, 0)` is `max(e - c, 0)`: so nested slices share their extents."""
    shape = form(ctx, x)
    if shape.constant <= 0 and len(shape.terms) == 1 and shape.terms[0][1] == 1:
        operation = ctx.builder.definitions.get(shape.terms[0][0])
        if operation is not None and operation.row is ops.MAXIMUM and ctx.builder.known(operation.operands[1]) == 0:
            return size(ctx, add(ctx, operation.operands[0], shape.constant))
    return maximum(ctx, x, 0)


def quotient(ctx: Context, a: Int, divisor: int) -> Int:
    """`a // divisor`."""
    a = plain(ctx, a)
    if isinstance(a, int):
        return a // divisor
    return a if divisor == 1 else ctx.builder.op(ops.FLOORDIV, a, ctx.builder.index(divisor))


def remainder(ctx: Context, a: Int, b: Int) -> Int:
    """`a % b`."""
    a, b = plain(ctx, a), plain(ctx, b)
    if isinstance(a, int) and isinstance(b, int) and b:
        return a % b
    return ctx.builder.op(ops.MOD, value(ctx, a), value(ctx, b))


def at_least(ctx: Context, a: Int, b: Int) -> bool:
    """`a >= b` is proved."""
    return ctx.ranges.proves(meaning(ctx, a).plus(meaning(ctx, b), -1))


def same(ctx: Context, a: Int, b: Int) -> bool:
    """`a == b` is proved."""
    return a is b or (at_least(ctx, a, b) and at_least(ctx, b, a))


def emit(ctx: Context, shape: Affine) -> Int:
    """The operations of an affine form: what is added, then what is subtracted, then the constant."""
    b = ctx.builder
    added = [(v, c) for v, c in shape.terms if c > 0]
    taken = [(v, -c) for v, c in shape.terms if c < 0]
    constant = shape.constant
    result: Value | None = None
    if not added and taken and constant:
        result, constant = b.index(constant), 0
    for term, factor in added:
        part = _scaled(ctx, term, factor)
        result = part if result is None else b.op(ops.ADD, result, part)
    for term, factor in taken:
        part = _scaled(ctx, term, factor)
        result = b.op(ops.NEG, part) if result is None else b.op(ops.SUB, result, part)
    if result is None:
        return constant
    if constant > 0:
        return b.op(ops.ADD, result, b.index(constant))
    return b.op(ops.SUB, result, b.index(-constant)) if constant < 0 else result


def _scaled(ctx: Context, term: Value, factor: int) -> Value:
    return term if factor == 1 else ctx.builder.op(ops.MUL, term, ctx.builder.index(factor))
