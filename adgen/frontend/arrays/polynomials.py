"""Polynomials, convolutions and Kronecker products."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from adgen import ops
from adgen.frontend import scalars
from adgen.frontend.arrays.build import as_array
from adgen.frontend.arrays.integers import add, maximum, minimum, mul, quotient, sub, value
from adgen.frontend.arrays.loops import span
from adgen.frontend.arrays.model import Array, expression
from adgen.frontend.arrays.products import contract
from adgen.frontend.arrays.registry import expands
from adgen.frontend.arrays.reshaping import reshape
from adgen.frontend.arrays.storage import finish, settle
from adgen.frontend.values import Number
from adgen.ir.nodes import Value

if TYPE_CHECKING:
    from adgen.frontend.context import Context


@expands(np.polyval)
def polyval(ctx: Context, p: Any, x: Any) -> Any:
    """`np.polyval` by Horner's rule, highest power first."""
    coefficients, points = settle(ctx, as_array(ctx, p), 0), as_array(ctx, x)
    if coefficients.rank != 1:
        ctx.fail("AD331", "`np.polyval` needs a vector of coefficients")
    element = scalars.promote([(coefficients.element, False), (points.element, False)])

    def reader(ctx: Context, indices: tuple[Value, ...]) -> Value:
        at = scalars.convert(ctx, points.read(ctx, indices), element)

        def step(k: Value, total: Value) -> list[Value]:
            coefficient = scalars.convert(ctx, coefficients.read(ctx, (k,)), element)
            return [ctx.builder.op(ops.ADD, ctx.builder.op(ops.MUL, total, at), coefficient)]

        zero = ctx.builder.const(0, element)
        return span(ctx, 0, coefficients.extents[0], (zero,), step, "k")[0]

    return finish(ctx, expression(ctx, element, points.extents, reader, (coefficients, points), 100))


@expands(np.convolve)
def convolve(ctx: Context, a: Any, v: Any, mode: Any = "full") -> Any:
    """`np.convolve` of vectors."""
    left, right = (settle(ctx, as_array(ctx, x), 0) for x in (a, v))
    if left.rank != 1 or right.rank != 1 or mode not in ("full", "same", "valid"):
        ctx.fail("AD331", "`np.convolve` needs two vectors and a mode of 'full', 'same' or 'valid'")
    n, m = left.extents[0], right.extents[0]
    longer, shorter = maximum(ctx, n, m), minimum(ctx, n, m)
    skipped = {"full": 0, "same": quotient(ctx, sub(ctx, shorter, 1), 2), "valid": sub(ctx, shorter, 1)}[mode]
    whole = sub(ctx, add(ctx, n, m), 1)
    length = {"full": whole, "same": longer, "valid": add(ctx, sub(ctx, longer, shorter), 1)}[mode]
    element = scalars.promote([(left.element, False), (right.element, False)])

    def reader(ctx: Context, indices: tuple[Value, ...]) -> Value:
        at = add(ctx, indices[0], skipped)
        first = maximum(ctx, sub(ctx, at, sub(ctx, m, 1)), 0)
        last = minimum(ctx, add(ctx, at, 1), n)

        def step(k: Value, total: Value) -> list[Value]:
            factors = [left.read(ctx, (k,)), right.read(ctx, (value(ctx, sub(ctx, at, k)),))]
            x, y = (scalars.convert(ctx, factor, element) for factor in factors)
            return [ctx.builder.op(ops.ADD, total, ctx.builder.op(ops.MUL, x, y))]

        return span(ctx, first, last, (ctx.builder.const(0, element),), step, "k")[0]

    return expression(ctx, element, (value(ctx, length),), reader, (left, right), 100)


@expands(np.kron)
def kron(ctx: Context, a: Any, b: Any) -> Array:
    """`np.kron` of two vectors or two matrices."""
    left, right = (settle(ctx, as_array(ctx, x), 0) for x in (a, b))
    if left.rank != right.rank or left.rank not in (1, 2):
        ctx.fail("AD331", "`np.kron` needs two vectors or two matrices")
    first = tuple(f"a{k}" for k in range(left.rank))
    second = tuple(f"b{k}" for k in range(left.rank))
    output = tuple(label for pair in zip(first, second) for label in pair)
    extents = [Number(value(ctx, mul(ctx, n, m))) for n, m in zip(left.extents, right.extents)]
    return reshape(ctx, contract(ctx, [left, right], [first, second], output), tuple(extents))
