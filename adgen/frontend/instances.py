"""Making instances of the user's classes: dataclasses, NamedTuples, classes with `__init__`."""

from __future__ import annotations

import dataclasses
import inspect
import types
from typing import TYPE_CHECKING, Any

import numpy as np

from adgen.frontend import calls, comprehensions, inline, operators, refuse, scalars
from adgen.frontend.text import form
from adgen.frontend.values import is_static

if TYPE_CHECKING:
    from adgen.frontend.context import Context


def construct(ctx: Context, kind: type, args: list[Any], kwargs: dict[str, Any], text: str) -> Any:
    """`kind(*args, **kwargs)`."""
    if issubclass(kind, BaseException):
        return kind(*[x if is_static(x) else form(x) for x in args])
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        args = [operators.secure(ctx, x) for x in args]
        kwargs = {name: operators.secure(ctx, x) for name, x in kwargs.items()}
        return scalars.static(ctx, kind, *args, **kwargs)
    init = kind.__init__
    if dataclasses.is_dataclass(kind) and isinstance(init, types.FunctionType) and _generated(init):
        return _dataclass(ctx, kind, args, kwargs)
    if init is object.__init__ and kind.__new__ is object.__new__ and not args and not kwargs:
        return ctx.own(kind())
    if isinstance(init, types.FunctionType) and kind.__new__ is object.__new__:
        instance = ctx.own(object.__new__(kind))
        inline.call_function(ctx, init, [instance, *args], kwargs)
        return instance
    if is_static([args, list(kwargs.values())]) and _plain(kind):
        return comprehensions.adopt(ctx, scalars.static(ctx, kind, *args, **kwargs))
    refuse.unknown(ctx, kind, text)


def _plain(kind: type) -> bool:
    return kind.__module__.partition(".")[0] in calls.TRUSTED or issubclass(kind, np.generic)


def _generated(init: types.FunctionType) -> bool:
    return init.__code__.co_filename.startswith("<")


def _dataclass(ctx: Context, kind: type, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """An instance of a dataclass whose fields may hold run-time values."""
    instance = ctx.own(object.__new__(kind))
    try:
        bound = inspect.signature(kind).bind(*args, **kwargs)
    except TypeError as error:
        ctx.fail("AD403", f"`{kind.__name__}`: {error}")
    later = {}
    for field in dataclasses.fields(kind):
        if field.name in bound.arguments:
            value = bound.arguments[field.name]
        elif field.default is not dataclasses.MISSING:
            value = field.default
        elif field.default_factory is not dataclasses.MISSING:
            value = ctx.own(scalars.static(ctx, field.default_factory))
        else:
            continue
        later[field.name] = operators.secure(ctx, value, field.name)
    for name, value in later.items():
        object.__setattr__(instance, name, value)
    after = getattr(kind, "__post_init__", None)
    if isinstance(after, types.FunctionType):
        inline.call_function(ctx, after, [instance], {})
    return instance
