"""What the functions of `library.flow` mean in compiled code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adgen import ops
from adgen.frontend import memory
from adgen.frontend.arrays.elementwise import combined
from adgen.frontend.arrays.model import Lazy, View
from adgen.frontend.arrays.registry import expands
from adgen.frontend.arrays.selection import Selection
from adgen.frontend.arrays.storage import finish
from adgen.frontend.complexes.types import complex_kind
from adgen.frontend.library import flow
from adgen.frontend.specs import rebuild
from adgen.frontend.state import is_instance, items_of
from adgen.frontend.values import KINDS, Number, describe, is_static
from adgen.ir.nodes import Value
from adgen.ir.types import is_float

if TYPE_CHECKING:
    from adgen.frontend.context import Context


@expands(flow.stop_gradient)
def stop_gradient(ctx: Context, x: Any) -> Any:
    """`adgen.stop_gradient`."""
    if is_static(x):
        return x
    if isinstance(x, Number):
        return Number(_stopped(ctx, x.value), x.weak)
    if memory.is_array(x):
        return _stopped_array(ctx, memory.wrap(ctx, x))
    if not isinstance(x, KINDS) and (isinstance(x, tuple | list | dict) or is_instance(x)):
        return ctx.own(rebuild(type(x), [(key, stop_gradient(ctx, item)) for key, item in items_of(x).items()]))
    ctx.fail("AD302", f"`stop_gradient` is not defined for {describe(x)}", "pass a number, an array or a structure")


def _stopped(ctx: Context, value: Value) -> Value:
    b = ctx.builder
    if complex_kind(value.type) is not None:
        return b.whole(*(b.op(ops.STOP, part) for part in b.parts(value)))
    return b.op(ops.STOP, value) if is_float(value.type) else value


def _stopped_array(ctx: Context, array: Any) -> Any:
    if isinstance(array, Selection):
        return array.with_inner(_stopped_array(ctx, array.inner))
    assert isinstance(array, View | Lazy)

    def reader(ctx: Context, indices: tuple[Value, ...]) -> Value:
        return _stopped(ctx, array.read(ctx, indices))

    recipe = ("stopped", array)
    return finish(ctx, combined(ctx, array.element, array.extents, reader, (array,), 0, recipe))
