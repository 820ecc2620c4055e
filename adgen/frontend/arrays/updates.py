"""`a[i] op= v` for one element."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from adgen import ops
from adgen.frontend import scalars
from adgen.frontend.values import Number
from adgen.ir.nodes import Value
from adgen.ir.types import Buffer, Scalar

if TYPE_CHECKING:
    from adgen.frontend.context import Context


def change(ctx: Context, base: Value, indices: tuple[Value, ...], operator_: Any, number: Number) -> None:
    """`base[indices] op= number`: an `accumulate` for a sum of floats."""
    assert isinstance(base.type, Buffer)
    element = base.type.element
    result = scalars.promote([(element, False), (number.element, number.weak)])
    if operator_ in (operator.add, operator.sub) and element.is_float and result == element:
        amount = scalars.to(ctx, number, element)
        if operator_ is operator.sub:
            amount = ctx.builder.op(ops.NEG, amount)
        ctx.builder.accumulate(base, amount, indices)
        return
    old = Number(ctx.builder.load(base, indices), weak=False)
    new = ctx.number(scalars.apply(ctx, operator_, old, number))
    allow_cast(ctx, new.element, element)
    ctx.builder.store(base, scalars.to(ctx, new, element), indices)


def allow_cast(ctx: Context, source: Scalar, target: Scalar) -> None:
    """NumPy's `same_kind` rule for in-place operators."""
    order = ("bool", "i64", "f32", "f64", "c64", "c128")
    lossy = order.index(source.name) > order.index(target.name)
    if lossy and not (source.is_float and target.is_float and type(source) is type(target)):
        message = f"an in-place operator cannot store {source} into an array of {target}"
        ctx.fail("AD338", message, "make the array one of that type, or write `a = a + ...`")
