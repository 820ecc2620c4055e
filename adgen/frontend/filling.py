"""A list that starts empty and gets one item in every iteration of a loop of run-time length: an array of that length.

The syntax shows that each iteration appends once and does nothing else with the list; the list stays empty while the
body is lowered, what is appended is stored, and afterwards the name holds the array as a list.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from adgen import ops
from adgen.frontend import arrays, memory, scalars
from adgen.frontend.scan import jumps
from adgen.frontend.state import State, references
from adgen.frontend.values import Sequence, is_number
from adgen.ir.nodes import Value
from adgen.ir.types import F64, Scalar

if TYPE_CHECKING:
    from adgen.frontend.context import Context


@dataclass(eq=False)
class Fill:
    """The array that a list becomes, and the index of the present iteration."""

    array: Any
    element: Scalar
    index: Value


class _Other(Exception):
    """What is appended is of another type than assumed."""

    def __init__(self, name: int, element: Scalar) -> None:
        super().__init__(name, element)
        self.name, self.element = name, element


def grown(ctx: Context, node: ast.For) -> dict[str, list[Any]]:
    """The lists that every iteration of the loop appends one item to, by name."""
    found: dict[str, list[Any]] = {}
    if jumps(node.body, (ast.Return, ast.Break, ast.Continue)):
        return found
    for statement in node.body:
        call = statement.value if isinstance(statement, ast.Expr) else None
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.func.attr != "append":
            continue
        owner = call.func.value
        if not isinstance(owner, ast.Name) or len(call.args) != 1 or call.keywords:
            continue
        value = ctx.frame.names.get(owner.id)
        uses = [inner for s in node.body for inner in ast.walk(s) if isinstance(inner, ast.Name)]
        alone = sum(inner.id == owner.id for inner in uses) == 1 and owner.id not in ctx.frame.code.flow.captured
        if alone and value == [] and id(value) in ctx.owned and references(ctx, value) == 1:
            found[owner.id] = value
    return found


def fill(ctx: Context, count: Value, lists: dict[str, list[Any]], loop: Callable[[], None]) -> None:
    """Lower the loop, which runs `count` times, with these lists as arrays."""
    kinds: dict[int, Scalar] = {id(value): F64 for value in lists.values()}
    entry, undo = State.capture(ctx), ctx.mark()
    while True:
        extent = ctx.builder.op(ops.MAXIMUM, count, ctx.builder.index(0))
        made = {
            name: Fill(memory.allocate(ctx, kinds[id(value)], (extent,), name), kinds[id(value)], count)
            for name, value in lists.items()
        }
        ctx.filled.update({id(lists[name]): each for name, each in made.items()})
        try:
            loop()
        except _Other as other:
            entry.restore()
            undo()
            kinds[other.name] = other.element
            continue
        finally:
            for value in lists.values():
                ctx.filled.pop(id(value), None)
        for name, each in made.items():
            ctx.frame.names[name] = Sequence(each.array)
        return


def at(ctx: Context, lists: dict[str, list[Any]], index: Value) -> None:
    """An iteration begins."""
    for value in lists.values():
        ctx.filled[id(value)].index = index


def appended(ctx: Context, owner: list[Any], value: Any) -> None:
    """What is appended to such a list is stored."""
    place = ctx.filled[id(owner)]
    if not is_number(value):
        help = "use an array of the final size, or a loop whose number of iterations is a constant"
        ctx.fail_dynamic("AD315", "a list of run-time length can hold numbers only", help)
    element, _ = scalars.kind(ctx, value)
    if element != place.element:
        raise _Other(id(owner), element)
    base = arrays.base(place.array)
    assert base is not None
    ctx.builder.store(base, scalars.to(ctx, value, element), (place.index,))
