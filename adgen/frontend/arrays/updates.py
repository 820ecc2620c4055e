"""`a[i] op= v` for one element."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from adgen import ops
from adgen.frontend import scalars
from adgen.frontend.kinds import NUMPY
from adgen.frontend.values import Number
from adgen.ir.nodes import Value
from adgen.ir.types import Buffer, Scalar

if TYPE_CHECKING:
    from adgen.frontend.context import Context


def change(
    ctx: Context, base: Value, indices: tuple[Value, ...], operator_: Any, number: Number, item: bool = False
) -> None:
    """`base[indices] op= number`: an `accumulate` for a sum of floats.

    A single `item` is assigned what the operator gives, an array takes it as ufuncs do.
    """
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
    new = scalars.fitted(ctx, new, element) if item else scalars.cast(ctx, new, element)
    ctx.builder.store(base, new.value, indices)


def allow_cast(ctx: Context, source: Scalar, target: Scalar) -> None:
    """NumPy's `same_kind` rule for in-place operators."""
    if not np.can_cast(NUMPY[source], NUMPY[target], "same_kind"):
        message = f"an in-place operator cannot store {source} into an array of {target}"
        ctx.fail("AD338", message, "make the array one of that type, or write `a = a + ...`")
