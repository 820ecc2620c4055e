"""Numbers that are a Python int on one path through the program and a narrow integer of NumPy on another.

`total = 0` before a loop that adds elements of an int8 array is one in the loop: an int at first, an int8 afterwards.
The one wraps and the other does not.  Comes in: an operation on such numbers.  Goes out: its result where both are the
same, else a diagnostic, or an OverflowError at run time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeGuard

from adgen.frontend.kinds import kind as kind_of
from adgen.frontend.kinds import promote, to, unboxed
from adgen.frontend.values import Number
from adgen.ir.types import I64

if TYPE_CHECKING:
    from adgen.frontend.context import Context


def is_either(x: Any) -> TypeGuard[Number]:
    """True for such a number."""
    return isinstance(x, Number) and x.weak and x.element.is_narrow


def on_either(ctx: Context, compute: Callable[..., Number], *operands: Any) -> Number:
    """What an operation gives, whichever its operands are.

    Where a Python int comes out it must fit into the narrow type, so that nothing would have wrapped.
    """
    ints = [unboxed(ctx, x) if is_either(x) else x for x in operands]
    narrow = [Number(x.value, weak=False) if is_either(x) else x for x in operands]
    if promote(kind_of(ctx, x) for x in narrow) == promote(kind_of(ctx, x) for x in ints):
        return compute(*narrow)
    with ctx.builder.block():
        wanted = compute(*narrow).element
    result = compute(*ints)
    if wanted.is_narrow and result.weak and result.element == I64:
        return Number(to(ctx, result, wanted), weak=True)
    if result.element != wanted:
        (name, *_) = (x.element.full_name for x in operands if is_either(x))
        ctx.fail(
            "AD310",
            f"this number is an int on one path and an {name} on another, and the results differ",
            f"begin with a NumPy number: `np.{name}(...)`",
        )
    return result
