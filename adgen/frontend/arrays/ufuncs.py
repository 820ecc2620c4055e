"""Where results go: `out=` and `where=` of ufuncs, `out=` of other functions.

Comes in: the arguments of a call, and later its result.  Goes out: the arguments that compute it, and the array that
was written.  Guaranteed: the result is as if it were computed before anything is written; elements that `where=`
leaves out keep the value that the array has, and without an array to take it from the call is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from adgen.frontend import scalars
from adgen.frontend.arrays.broadcasting import assignable, copy_into
from adgen.frontend.arrays.build import as_array
from adgen.frontend.arrays.elementwise import where as chosen
from adgen.frontend.arrays.loops import when
from adgen.frontend.arrays.model import Array, View
from adgen.frontend.arrays.selection import Selection
from adgen.frontend.arrays.shapes import same_extent
from adgen.frontend.arrays.storage import boxed, writable
from adgen.frontend.arrays.updates import allow_cast
from adgen.frontend.state import references
from adgen.frontend.values import Number, is_number
from adgen.ir.nodes import Value
from adgen.ir.types import BOOL

if TYPE_CHECKING:
    from adgen.frontend.context import Context


@dataclass(frozen=True)
class Destination:
    """The array that a ufunc writes (None: a new one), and where it writes (True: everywhere)."""

    out: Any = None
    where: Any = True

    @property
    def plain(self) -> bool:
        """True when the result is simply a new array."""
        return self.out is None and self.where is True

    def receive(self, ctx: Context, compute: Callable[[], Any]) -> Any:
        """What `compute` gives, written where it belongs."""
        if self.plain:
            return compute()
        if self.out is None:
            ctx.fail(
                "AD324",
                "`where=` without `out=` leaves elements of the result uninitialised",
                "give the array that has the other elements: `out=np.zeros_like(x)`",
            )
        if not isinstance(self.out, Array):
            return _number(ctx, self, compute)
        return _written(ctx, self, compute())


def destination(ctx: Context, ufunc: np.ufunc, args: Sequence[Any], kwargs: dict[str, Any]) -> Destination:
    """What the arguments of a ufunc say about its result."""
    extra = list(args[ufunc.nin :])
    if ufunc.nout > 1 and (extra or "out" in kwargs):
        ctx.fail("AD324", f"`{ufunc.__name__}` with output arrays is not supported", "take the results of the call")
    if len(extra) > 1 or (extra and "out" in kwargs):
        ctx.fail("AD324", f"`{ufunc.__name__}` takes {ufunc.nin} operands and one output array")
    out = extra[0] if extra else kwargs.get("out")
    if isinstance(out, tuple) and len(out) == 1:
        (out,) = out
    where = kwargs.get("where", True)
    return Destination(out, True if isinstance(where, bool | np.bool_) and where else where)


def operands(
    ctx: Context, ufunc: np.ufunc, args: Sequence[Any], kwargs: dict[str, Any], to: Destination
) -> tuple[list[Any], dict[str, Any]]:
    """The arguments that compute the result; under a `where=` stretched, so that no element is computed in vain."""
    inputs = list(args[: ufunc.nin])
    if to.where is not True and isinstance(to.out, View):
        inputs = [_stretched(ctx, x, to.out) for x in inputs]
    return inputs, {name: x for name, x in kwargs.items() if name not in ("out", "where")}


def _stretched(ctx: Context, x: Any, view: View) -> Any:
    if is_number(x) or isinstance(x, Selection):
        return x
    array = as_array(ctx, x)
    _same_rank(ctx, array.rank, view)
    return assignable(ctx, array, view.extents)


def _written(ctx: Context, to: Destination, result: Any) -> Any:
    view = writable(ctx, to.out)
    source = as_array(ctx, result)
    if isinstance(source, Selection):
        source.refuse("it is written into an array")
    allow_cast(ctx, source.element, view.element)
    _same_rank(ctx, max(source.rank, _rank(ctx, to.where)), view)
    if to.where is not True:
        _boolean(ctx, to.where)
        source = as_array(ctx, chosen(ctx, to.where, source, view))
    copy_into(ctx, view, source)
    return to.out


def _number(ctx: Context, to: Destination, compute: Callable[[], Any]) -> Any:
    if not is_number(to.out):
        ctx.fail("AD324", "the argument `out` must be an array", "make it with `np.empty_like(...)`")
    if not isinstance(to.out, Number) or not to.out.array or references(ctx, to.out):
        message = "a number cannot be written into: `out=` needs an array with axes"
        ctx.fail("AD232", message, "use the result of the call")
    element = to.out.element

    def computed() -> tuple[Value]:
        result = compute()
        if not is_number(result):
            ctx.fail("AD331", "an output array of rank 0 cannot hold an array with axes")
        allow_cast(ctx, ctx.number(result).element, element)
        return (scalars.to(ctx, result, element),)

    if to.where is True:
        return boxed(ctx, computed()[0], element)
    _boolean(ctx, to.where)
    return boxed(ctx, when(ctx, scalars.truth(ctx, to.where), computed, lambda: (to.out.value,))[0], element)


def _rank(ctx: Context, x: Any) -> int:
    return as_array(ctx, x).rank if x is not True else 0


def _boolean(ctx: Context, where: Any) -> None:
    element = where.element if isinstance(where, Array) else scalars.kind(ctx, where)[0]
    if element != BOOL:
        ctx.fail("AD302", "`where=` must be a boolean array", "compare it, as in `where=b != 0`")


def _same_rank(ctx: Context, rank: int, view: View) -> None:
    if rank > view.rank:
        message = f"an output array of rank {view.rank} cannot hold a result of rank {rank}"
        ctx.fail("AD331", message, "give an output array of the shape of the result")


def received(ctx: Context, name: str, out: Any, result: Any) -> Any:
    """The result of a function that is not a ufunc written into the array `out`, of exactly its shape and type."""
    if not isinstance(out, Array):
        return _number(ctx, Destination(out), lambda: result)
    view, source = writable(ctx, out), as_array(ctx, result)
    if isinstance(source, Selection):
        source.refuse("it is written into an array")
    if source.element != view.element:
        message = f"`{name}`: `out=` is an array of {view.element}, the result one of {source.element}"
        ctx.fail("AD338", message, f"make the output array one of {source.element}, or assign the result to it")
    if source.rank != view.rank:
        ctx.fail("AD331", f"`{name}`: `out=` has rank {view.rank}, the result rank {source.rank}")
    for mine, other in zip(source.extents, view.extents):
        same_extent(ctx, mine, other, f"`{name}`: the output array has the wrong shape: {{0}} is not {{1}}")
    copy_into(ctx, view, source)
    return out


__all__ = ["Destination", "destination", "operands", "received"]
