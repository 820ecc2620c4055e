"""Calls of Python functions: their arguments are bound as Python binds them and their bodies lowered in place."""

from __future__ import annotations

import ast
import types
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from adgen.diagnostics import AdgenError
from adgen.frontend import control, generators, memory, operators, recursion
from adgen.frontend import statements as blocks
from adgen.frontend.arrays.selection import Selection
from adgen.frontend.context import Frame
from adgen.frontend.scan import RESULT, RETURNED
from adgen.frontend.source import Code, code_of
from adgen.frontend.values import Choice, Closure, Dynamic, Number, Poison, is_number

if TYPE_CHECKING:
    from adgen.frontend.context import Context


def call_function(ctx: Context, function: types.FunctionType, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """Lower a call of a Python function in place."""
    try:
        code = code_of(function)
    except AdgenError as error:
        ctx.fail(error.code, error.message, error.help)
    defaults, keyword_defaults = function.__defaults__ or (), function.__kwdefaults__ or {}
    names = bind(ctx, code.node.args, code.name, args, kwargs, defaults, keyword_defaults)
    return inline(ctx, code, names, None, cells_of(function))


def cells_of(function: types.FunctionType) -> dict[str, Any]:
    """The variables of the functions around a function."""
    cells = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        try:
            cells[name] = cell.cell_contents
        except ValueError:
            continue
    return cells


def bind(
    ctx: Context,
    arguments: ast.arguments,
    name: str,
    args: list[Any],
    kwargs: dict[str, Any],
    defaults: Sequence[Any],
    keyword_defaults: Mapping[str, Any],
) -> dict[str, Any]:
    """The parameters of a call by name, as Python binds them."""
    positional = [a.arg for a in (*arguments.posonlyargs, *arguments.args)]
    hidden = {a.arg for a in arguments.posonlyargs}
    names: dict[str, Any] = dict(zip(positional, args))
    if len(args) > len(positional) and arguments.vararg is None:
        ctx.fail(
            "AD403",
            f"`{name}` takes {len(positional)} positional arguments but {len(args)} were given",
            raises=TypeError,
        )
    if arguments.vararg is not None:
        names[arguments.vararg.arg] = tuple(args[len(positional) :])
    keyword_names = {a.arg for a in arguments.kwonlyargs} | (set(positional) - hidden)
    extra: dict[str, Any] = {}
    for key, value in kwargs.items():
        if key in keyword_names:
            if key in names:
                ctx.fail("AD403", f"`{name}` got the argument `{key}` twice", raises=TypeError)
            names[key] = value
        elif arguments.kwarg is not None:
            extra[key] = value
        else:
            ctx.fail("AD403", f"`{name}` has no parameter `{key}`", raises=TypeError)
    if arguments.kwarg is not None:
        names[arguments.kwarg.arg] = ctx.own(extra)
    for key, value in zip(positional[len(positional) - len(defaults) :], defaults):
        names.setdefault(key, value)
    for key, value in keyword_defaults.items():
        names.setdefault(key, value)
    for key in [*positional, *(a.arg for a in arguments.kwonlyargs)]:
        if key not in names:
            ctx.fail("AD403", f"`{name}` is called without the required argument `{key}`", raises=TypeError)
    return {key: operators.secure(ctx, value, key) for key, value in names.items()}


def inline(ctx: Context, code: Code, names: dict[str, Any], parent: Frame | None, cells: Mapping[str, Any]) -> Any:
    """Lower the body of a function with these arguments; the result is what it returns."""
    frame = Frame(code, names, parent, cells)
    frame.entry = {key: _form(ctx, value) for key, value in names.items()}
    if code.generates:
        return generators.begin(ctx, frame)
    pattern = recursion.pattern_of(ctx, frame)
    if pattern is not None:
        return recursion.call(ctx, frame, pattern, _lowered)
    recursion.check(ctx, frame)
    return _lowered(ctx, frame)


def _lowered(ctx: Context, frame: Frame) -> Any:
    """Lower the body of a call; the result is what it returns."""
    code, span = frame.code, ctx.builder.span
    sites = ctx.sites
    ctx.sites = (*sites, span)
    ctx.frames.append(frame)
    frame.names[RETURNED] = False
    try:
        blocks.block(ctx, code.statements, frozenset())
        returned = frame.names[RETURNED]
        result = frame.names.get(RESULT)
    finally:
        ctx.frames.pop()
        ctx.sites = sites
    ctx.builder.span = span
    if returned is False:
        return None
    if returned is not True:
        return _or_none(ctx, code, returned, result)
    return result


def _or_none(ctx: Context, code: Code, returned: Number, result: Any) -> Any:
    """What a function returns that ends without `return` on some paths."""
    message = f"`{code.name}` ends without `return` (and so returns None) on some paths and with a value on others"
    reason = Poison("AD320", message, "return a value on every path")
    try:
        value = control.fork(ctx, returned.value, lambda: result, lambda: None)
    except AdgenError:
        return reason
    return replace(value, reason=reason) if isinstance(value, Choice) else value


def _form(ctx: Context, value: Any) -> Any:
    """What is static about an argument, for telling whether recursion makes progress."""
    if isinstance(value, Number):
        return (str(value.element), value.weak)
    if isinstance(value, Closure):
        return ("closure", id(value.node))
    if memory.is_array(value) and isinstance(value, Dynamic):
        array = memory.wrap(ctx, value)
        if isinstance(array, Selection):
            return ("selection", array.rank)
        return (str(array.element), tuple(ctx.builder.known(extent) for extent in array.extents))
    if isinstance(value, Choice):
        return tuple((code, _form(ctx, item)) for code, item in value.candidates.items())
    if isinstance(value, tuple | list):
        return (type(value).__name__, tuple(_form(ctx, item) for item in value))
    if isinstance(value, dict):
        return tuple((key, _form(ctx, item)) for key, item in value.items())
    if is_number(value) or isinstance(value, str):
        return repr(value)
    return id(value)
