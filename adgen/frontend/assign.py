"""Binding: names, tuples of targets, items, attributes."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from adgen.frontend import (
    arrays,
    attributes,
    axisless,
    comprehensions,
    evaluate,
    memory,
    module_variables,
    operators,
    subscripts,
)
from adgen.frontend.choices import distributed
from adgen.frontend.complexes.types import Complex
from adgen.frontend.values import Dynamic, Number, Poison, describe
from adgen.ir import core

if TYPE_CHECKING:
    from adgen.frontend.context import Context


def name(ctx: Context, target: str, value: Any) -> Any:
    """Bind a name; what it names gets memory of its own.  Gives the value that was bound."""
    if isinstance(value, Poison):  # a part of what was unpacked: nothing is wrong until it is used
        bind(ctx, target, value)
        return value
    value = operators.secure(ctx, value, target)
    hint(ctx, value, target)
    bind(ctx, target, value)
    return value


def bind(ctx: Context, target: str, value: Any) -> None:
    """Bind a name as it is declared: of the call, or of the module."""
    if target in ctx.frame.code.globals:
        module_variables.write(ctx, target, value)
    elif target in ctx.frame.code.nonlocals:
        owner = evaluate.owner(ctx.frame.parent, target)
        if owner is None:
            ctx.fail("AD208", f"`nonlocal {target}` lets the function change a variable outside", "return the value")
        owner.names[target] = value
    else:
        ctx.frame.names[target] = value


def hint(ctx: Context, value: Any, target: str) -> None:
    """Call an unnamed IR value by the user's name."""
    if isinstance(value, Number) and isinstance(value.element, Complex):
        for part, suffix in zip(ctx.builder.parts(value.value), ("real", "imag")):
            hint(ctx, Number(part), f"{target}_{suffix}")
    elif isinstance(value, Number) and not value.value.name:
        operation = ctx.builder.definitions.get(value.value)
        if operation is not None and operation.row is not core.CONST:
            value.value.name = target


def target(ctx: Context, node: ast.expr, value: Any) -> None:
    """Bind any target."""
    if isinstance(node, ast.Name):
        name(ctx, node.id, value)
    elif isinstance(node, ast.Tuple | ast.List):
        _unpack(ctx, node, value)
    elif isinstance(node, ast.Subscript):
        owner = evaluate.expression(ctx, node.value)
        key = evaluate.expression(ctx, node.slice)
        ctx.place(node)
        if isinstance(owner, Number) and not owner.weak:
            axisless.store(ctx, node.value, owner, key, lambda array, at: subscripts.put(ctx, array, at, value))
        else:
            subscripts.put(ctx, owner, key, value)
    elif isinstance(node, ast.Attribute):
        owner = evaluate.expression(ctx, node.value)
        ctx.place(node)
        attributes.put(ctx, owner, node.attr, value)
    else:
        evaluate.expression(ctx, node)


def _unpack(ctx: Context, node: ast.Tuple | ast.List, value: Any) -> None:
    stars = [k for k, element in enumerate(node.elts) if isinstance(element, ast.Starred)]
    count = len(node.elts)
    if stars:
        items = comprehensions.spread(ctx, value)
        first, after = stars[0], count - stars[0] - 1
        if len(items) < count - 1:
            ctx.fail("AD321", f"not enough values to unpack: {len(items)} for at least {count - 1}", raises=ValueError)
        middle = ctx.own(items[first : len(items) - after])
        items = [*items[:first], middle, *items[len(items) - after :]]
    else:
        items = unpacked(ctx, value, count)
    items = [operators.secure(ctx, item) for item in items]
    for element, item in zip(node.elts, items):
        ctx.place(element)
        target(ctx, element.value if isinstance(element, ast.Starred) else element, item)


@distributed
def unpacked(ctx: Context, value: Any, count: int) -> tuple[Any, ...]:
    """Exactly `count` items of a value."""
    if isinstance(value, Number):
        if ctx.inference is not None:
            ctx.inference.array(ctx, value, 1)
        ctx.fail("AD321", f"cannot unpack {describe(value)} into {count} targets", raises=TypeError)
    if memory.is_array(value):
        array = memory.wrap(ctx, value)
        memory.agree(ctx, array.extents[0], ctx.builder.index(count), f"expected {count} values to unpack, got {{0}}")
        return tuple(arrays.getitem(ctx, array, k) for k in range(count))
    items = comprehensions.spread(ctx, value)
    if len(items) != count:
        few = "not enough" if len(items) < count else "too many"
        ctx.fail("AD321", f"{few} values to unpack: {len(items)} for {count} targets", raises=ValueError)
    return tuple(items)


__all__ = ["Dynamic", "name", "target", "unpacked"]
