"""Attributes: of modules, arrays, numbers, instances."""

from __future__ import annotations

import functools
import operator
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from adgen.frontend import arrays, calls, memory, module_variables, operators, scalars
from adgen.frontend.choices import distributed
from adgen.frontend.complexes import library
from adgen.frontend.state import is_instance
from adgen.frontend.values import (
    Closure,
    Dynamic,
    Generator,
    Loop,
    Method,
    Number,
    Sequence,
    Text,
    Yielding,
    describe,
    python_type,
)

if TYPE_CHECKING:
    from adgen.frontend.context import Context

STATIC_ARRAY = ("shape", "ndim", "size", "dtype", "itemsize", "nbytes")


@distributed
def get(ctx: Context, value: Any, name: str) -> Any:
    """`value.name`."""
    if isinstance(value, Number):
        return _of_number(ctx, value, name)
    if isinstance(value, np.ndarray):
        if name in STATIC_ARRAY:
            return getattr(value, name)
        value = memory.wrap(ctx, value)
    if isinstance(value, Dynamic):
        return _of_array(ctx, value, name)
    if isinstance(value, types.ModuleType):
        return _of_module(ctx, value, name)
    if isinstance(value, Closure):
        if name == "__name__":
            return value.name
        ctx.fail("AD404", f"the function `{value.name}` has no attribute `{name}`")
    if isinstance(value, Text | Generator | Yielding):
        ctx.fail("AD230", f"`.{name}` of {describe(value)} is not supported")
    if isinstance(value, Sequence | Loop):
        ctx.fail("AD230", f"`.{name}` of a list whose length is not known when compiling is not supported")
    if is_instance(value) and type(value).__module__.partition(".")[0] not in ("numpy", "scipy"):
        return _of_instance(ctx, value, name)
    return _static(ctx, value, name)


def _static(ctx: Context, value: Any, name: str) -> Any:
    try:
        return getattr(value, name)
    except AttributeError as error:
        certain = None if isinstance(value, Method | functools.partial) else error
        ctx.fail("AD404", f"{describe(value)} has no attribute `{name}`", raises=certain)


def _of_module(ctx: Context, module: types.ModuleType, name: str) -> Any:
    try:
        value = getattr(module, name)
    except AttributeError as error:
        ctx.fail("AD404", f"the module `{module.__name__}` has no attribute `{name}`", "check the spelling", error)
    if module.__name__.partition(".")[0] not in ("numpy", "math", "scipy"):
        ctx.record(module, ("attribute", name), value)
        if (id(vars(module)), name) in module_variables.written(ctx):
            return module_variables.read(ctx, vars(module), name)
    return value


def _of_array(ctx: Context, array: Any, name: str) -> Any:
    method = arrays.method(name)
    if method is not None:
        return Method(array, method, name)
    if not hasattr(np.ndarray, name):
        ctx.fail("AD237", f"the attribute `{name}` of arrays is not supported", raises=AttributeError)
    return arrays.attribute(ctx, array, name)


def _of_number(ctx: Context, number: Number, name: str) -> Any:
    if name in ("real", "imag"):
        return _part(ctx, number, name)
    simple: dict[str, Callable[..., Any]] = {"conjugate": library.conjugate}
    if not library.is_complex(ctx, number):
        simple["is_integer"] = _is_integer
    if name in simple:
        return Method(number, simple[name], name)
    if ctx.inference is not None:
        ctx.inference.array(ctx, number, 1)
    if not number.weak and hasattr(np.ndarray, name):
        if name == "conj":
            return Method(number, library.conjugate, name)
        if name in ITSELF or (name == "copy" and not number.array):
            return Method(number, _itself, name)
        if name == "tolist":
            return Method(number, _item, name)
        if name == "T":
            return number
        method = arrays.method(name)
        if method is not None:
            return Method(number, _of_memory(method, name), name)
        owner = number if name in VIEWS else arrays.bare(number)
        return _of_array(ctx, arrays.as_array(ctx, owner), name)
    certain = None if hasattr(python_type(number), name) else AttributeError
    help = "is this argument meant to be an array?"
    ctx.fail("AD404", f"{describe(number)} has no attribute `{name}`", help, certain)


def _part(ctx: Context, number: Number, name: str) -> Any:
    """The real or imaginary part; of an array without axes an array that shares its memory."""
    found = library.real(ctx, number) if name == "real" else library.imag(ctx, number)
    if not number.array or found is number:
        return found
    part = arrays.boxed(ctx, found)
    ctx.exposed[id(part)] = part
    return part


VIEWS = ("reshape", "ravel", "transpose", "swapaxes", "diagonal", "flat")
ITSELF = ("squeeze", "view")


def _itself(ctx: Context, number: Number) -> Any:
    return number


def _item(ctx: Context, number: Number) -> Any:
    return scalars.unboxed(ctx, number)


def _of_memory(method: Callable[..., Any], name: str) -> Callable[..., Any]:
    """A method of arrays for a number: what gives a view is told, everything else gets the value alone."""

    def call(ctx: Context, number: Number, *args: Any, **kwargs: Any) -> Any:
        shared = name in VIEWS or (name == "astype" and (len(args) > 1 or kwargs.get("copy", True) is not True))
        result = method(ctx, arrays.as_array(ctx, number if shared else arrays.bare(number)), *args, **kwargs)
        return arrays.boxed(ctx, result) if name == "astype" and number.array and not shared else result

    return call


def _is_integer(ctx: Context, number: Number) -> Any:
    if not number.element.is_float:
        return True
    return operators.equality(ctx, operator.eq, scalars.apply(ctx, np.floor, number), number)


def _of_instance(ctx: Context, value: Any, name: str) -> Any:
    member = _member(type(value), name)
    if isinstance(member, property):
        if member.fget is None:
            ctx.fail("AD404", f"the property `{name}` cannot be read")
        return calls.call(ctx, member.fget, [value], {}, name)
    if isinstance(member, types.FunctionType):
        return Method(value, lambda ctx, owner, *a, **k: calls.call(ctx, member, [owner, *a], k, name), name)
    if isinstance(member, classmethod):
        inner = member.__func__
        return Method(type(value), lambda ctx, owner, *a, **k: calls.call(ctx, inner, [owner, *a], k, name), name)
    return _static(ctx, value, name)


def _member(kind: type, name: str) -> Any:
    for base in kind.__mro__:
        if name in vars(base):
            return vars(base)[name]
    return None


@distributed
def put(ctx: Context, owner: Any, name: str, value: Any) -> None:
    """`owner.name = value`."""
    if memory.is_array(owner) and name in ("real", "imag") and not isinstance(owner, np.ndarray):
        arrays.setitem(ctx, arrays.attribute(ctx, owner, name), Ellipsis, value)
        return
    if isinstance(owner, Dynamic | np.ndarray):
        certain = None if hasattr(python_type(owner), name) else AttributeError
        ctx.fail("AD215", f"assigning to `.{name}` of {describe(owner)} is not supported", raises=certain)
    if not is_instance(owner):
        ctx.fail("AD215", f"assigning to an attribute of {describe(owner)} is not supported")
    operators.own_check(ctx, owner)
    scalars.static(ctx, setattr, owner, name, operators.secure(ctx, value, name))
