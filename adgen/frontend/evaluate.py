"""Expressions: from a syntax tree to a value of the domain.

Guaranteed: operands are evaluated once, in Python's order, and only where Python would evaluate them; what is static is
computed by Python itself.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import operator
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from adgen import ops
from adgen.frontend import (
    attributes,
    calls,
    comprehensions,
    logic,
    module_variables,
    operators,
    refuse,
    subscripts,
    text,
)
from adgen.frontend.choices import distributed
from adgen.frontend.context import Frame
from adgen.frontend.join import narrowed
from adgen.frontend.scalars import static
from adgen.frontend.source import Code, make_code
from adgen.frontend.values import UNBOUND, Closure, Dynamic, Maybe, Number, Poison, Text, describe, is_static
from adgen.ir.nodes import Value

if TYPE_CHECKING:
    from adgen.frontend.context import Context

BINARY: dict[type[ast.operator], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.MatMult: operator.matmul,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
}
UNARY: dict[type[ast.unaryop], Callable[..., Any]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
    ast.Not: operator.not_,
}


def expression(ctx: Context, node: ast.expr) -> Any:
    """The value of an expression."""
    handler = HANDLERS.get(type(node))
    if handler is None:
        refuse.node(ctx, node)
    ctx.place(node)
    value = handler(ctx, node)
    ctx.place(node)
    return narrowed(ctx, value)


# -- names -------------------------------------------------------------------------------------------------------


def _constant(ctx: Context, node: ast.Constant) -> Any:
    return node.value


def _name(ctx: Context, node: ast.Name) -> Any:
    return read(ctx, node.id)


def read(ctx: Context, name: str) -> Any:
    """The value of a name: local, of an enclosing function, of the module, built in."""
    frame: Frame | None = ctx.frame
    local = True
    while frame is not None:
        if name in frame.code.locals:
            value = frame.names.get(name, UNBOUND)
            return bound(ctx, frame, name, value, local)
        if name in frame.cells:
            return outside(ctx, frame, name, frame.cells[name], "cell")
        frame, local = frame.parent, False
    code = ctx.frame.code
    if name in code.module:
        outside(ctx, ctx.frame, name, code.module[name], "global")
    with contextlib.suppress(KeyError):
        return module_variables.read(ctx, code.module, name)
    if hasattr(builtins, name):
        return getattr(builtins, name)
    help = "check the spelling, or define it before this line"
    ctx.fail("AD401", f"the name `{name}` is not defined", help, NameError(f"name '{name}' is not defined"))


def bound(ctx: Context, frame: Frame, name: str, value: Any, local: bool) -> Any:
    """The value of a local name, with the check that it is bound where that is not known now."""
    if value is UNBOUND:
        message = f"the variable `{name}` is used before it is bound on this path"
        ctx.fail("AD402", message, "give it a value before this line on every path")
    if isinstance(value, Maybe):
        message = f"cannot access local variable '{name}' where it is not associated with a value"
        ctx.builder.check(value.bound.value, "UnboundLocalError", message)
        value = value.value
        if local:
            frame.names[name] = value
    return usable(ctx, value)


def usable(ctx: Context, value: Any) -> Any:
    """The value, unless using it is an error."""
    if isinstance(value, Poison):
        ctx.fail(value.code, value.message, value.help)
    return value


def outside(ctx: Context, frame: Frame, name: str, value: Any, kind: str) -> Any:
    """A value that comes from outside of the lowered program: note that the result depends on it."""
    code = frame.code
    ctx.record(code, (kind, name), value)
    if isinstance(value, types.ModuleType) or callable(value):
        return value
    return value


# -- operators ---------------------------------------------------------------------------------------------------


def _binary(ctx: Context, node: ast.BinOp) -> Any:
    """A chain of left-nested operators is walked in a loop, so that long sums need no deep recursion."""
    chain: list[ast.BinOp] = []
    left: ast.expr = node
    while isinstance(left, ast.BinOp):
        chain.append(left)
        left = left.left
    value = expression(ctx, left)
    for link in reversed(chain):
        if isinstance(value, Dynamic) and calls.may_write(ctx, link.right):
            value = operators.secure(ctx, value)
        right = expression(ctx, link.right)
        ctx.place(link)
        value = operators.binary(ctx, BINARY[type(link.op)], value, right)
    return value


def _unary(ctx: Context, node: ast.UnaryOp) -> Any:
    if isinstance(node.op, ast.Not):
        truth = logic.condition(ctx, node.operand)
        return Number(ctx.builder.op(ops.NOT, truth)) if isinstance(truth, Value) else not truth
    operand = expression(ctx, node.operand)
    ctx.place(node)
    return operators.unary(ctx, UNARY[type(node.op)], operand)


# -- displays ----------------------------------------------------------------------------------------------------


def items(ctx: Context, nodes: list[ast.expr], settle: bool = True) -> list[Any]:
    """The items of a display or an argument list, with stars spread; `settle` gives array expressions memory."""
    values: list[Any] = []
    for node in nodes:
        if isinstance(node, ast.Starred):
            values.extend(comprehensions.spread(ctx, expression(ctx, node.value)))
        else:
            value = expression(ctx, node)
            values.append(operators.secure(ctx, value) if settle else value)
    return values


def _tuple(ctx: Context, node: ast.Tuple) -> Any:
    return tuple(items(ctx, node.elts))


def _list(ctx: Context, node: ast.List) -> Any:
    return ctx.own(items(ctx, node.elts))


def _set(ctx: Context, node: ast.Set) -> Any:
    values = items(ctx, node.elts)
    if not is_static(values):
        ctx.fail("AD221", "a set of run-time values is not supported", "use a tuple or an array")
    return ctx.own(set(values))


def _dict(ctx: Context, node: ast.Dict) -> Any:
    result: dict[Any, Any] = {}
    for key_node, value_node in zip(node.keys, node.values):
        if key_node is None:
            inner = expression(ctx, value_node)
            if not isinstance(inner, dict):
                ctx.fail("AD305", f"`**` needs a dict, not {describe(inner)}")
            result.update(inner)
            continue
        key = expression(ctx, key_node)
        if not is_static(key):
            ctx.fail_dynamic("AD222", "the keys of a dict must be known when compiling")
        value = operators.secure(ctx, expression(ctx, value_node))
        static(ctx, result.__setitem__, key, value)
    return ctx.own(result)


def _joined(ctx: Context, node: ast.JoinedStr) -> Any:
    parts = []
    for part in node.values:
        parts.append(expression(ctx, part))
    return _in_a_row(ctx, *parts)


@distributed
def _in_a_row(ctx: Context, *parts: Any) -> Any:
    return text.joined(parts)


def _formatted(ctx: Context, node: ast.FormattedValue) -> Any:
    value = expression(ctx, node.value)
    form = "" if node.format_spec is None else expression(ctx, node.format_spec)
    return _as_text(ctx, value, form, {115: str, 114: repr, 97: ascii}.get(node.conversion))


@distributed
def _as_text(ctx: Context, value: Any, form: Any, convert: Callable[[Any], str] | None) -> Any:
    if not is_static(value):
        return Text("{...}")
    return static(ctx, format, value if convert is None else convert(value), form)


def _lambda(ctx: Context, node: ast.Lambda) -> Any:
    return closure(ctx, "<lambda>", node)


def closure(ctx: Context, name: str, node: ast.FunctionDef | ast.Lambda) -> Closure:
    """A function made here: its defaults are evaluated now, its outer names when it is called."""
    for inner in ast.walk(node):
        for written in inner.names if isinstance(inner, ast.Nonlocal) else ():
            around = owner(ctx.frame, written)
            if around is not None:
                ctx.scopes[id(around.names)] = around
    defaults = tuple(expression(ctx, d) for d in node.args.defaults)
    pairs = zip(node.args.kwonlyargs, node.args.kw_defaults)
    keyword = {argument.arg: expression(ctx, d) for argument, d in pairs if d is not None}
    return Closure(name, node, ctx.frame, defaults, keyword)


def owner(frame: Frame | None, name: str) -> Frame | None:
    """The frame, of this one and those around it, that a variable belongs to."""
    while frame is not None and name not in frame.code.locals:
        frame = frame.parent
    return frame


def code_of_closure(function: Closure) -> Code:
    """The code of a function made inside a lowered one."""
    outer = function.frame.code
    key = ("closure", function.node)
    if key not in function.frame.statics:
        function.frame.statics[key] = make_code(function.name, outer.file, function.node, outer.module)
    code: Code = function.frame.statics[key]
    return code


def _named(ctx: Context, node: ast.NamedExpr) -> Any:
    from adgen.frontend import assign

    value = expression(ctx, node.value)
    ctx.place(node)
    return assign.name(ctx, node.target.id, value)


def _slice(ctx: Context, node: ast.Slice) -> Any:
    parts = (node.lower, node.upper, node.step)
    return slice(*(None if part is None else expression(ctx, part) for part in parts))


def _subscript(ctx: Context, node: ast.Subscript) -> Any:
    owner = node.value
    if ctx.inference is not None and isinstance(owner, ast.Attribute) and owner.attr == "shape":
        axis = expression(ctx, node.slice)
        if isinstance(axis, int):  # `x.shape[1]` says that `x` has at least two axes
            ctx.inference.rank(ctx, expression(ctx, owner.value), axis + 1 if axis >= 0 else -axis)
    value = expression(ctx, owner)
    key = expression(ctx, node.slice)
    ctx.place(node)
    return usable(ctx, subscripts.get(ctx, value, key))


def _attribute(ctx: Context, node: ast.Attribute) -> Any:
    value = expression(ctx, node.value)
    ctx.place(node)
    return usable(ctx, attributes.get(ctx, value, node.attr))


def _call(ctx: Context, node: ast.Call) -> Any:
    return usable(ctx, calls.call_node(ctx, node))


def _comprehension(ctx: Context, node: ast.expr) -> Any:
    return comprehensions.evaluate_node(ctx, node)


HANDLERS: dict[type[ast.expr], Callable[..., Any]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.BoolOp: logic.boolean,
    ast.Compare: logic.compare,
    ast.IfExp: logic.if_expression,
    ast.Tuple: _tuple,
    ast.List: _list,
    ast.Set: _set,
    ast.Dict: _dict,
    ast.JoinedStr: _joined,
    ast.FormattedValue: _formatted,
    ast.Lambda: _lambda,
    ast.NamedExpr: _named,
    ast.Slice: _slice,
    ast.Subscript: _subscript,
    ast.Attribute: _attribute,
    ast.Call: _call,
    ast.ListComp: _comprehension,
    ast.SetComp: _comprehension,
    ast.DictComp: _comprehension,
    ast.GeneratorExp: _comprehension,
}
