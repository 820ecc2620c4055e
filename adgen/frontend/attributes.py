"""Attributes: of modules, arrays, numbers, instances."""

from __future__ import annotations

import functools
import operator
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from adgen.frontend import arrays, calls, memory, module_variables, operators, scalars
from adgen.frontend.arrays.storage import NUMPY
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
    describe,
    python_type,
)

if TYPE_CHECKING:
    from adgen.frontend.context import Context

STATIC_ARRAY = ("shape", "ndim", "size", "dtype", "itemsize", "nbytes")


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
    if isinstance(value, Text | Generator):
        ctx.fail("AD230", f"`.{name}` of {describe(value)} is not supported")
    if isinstance(value, Sequence | Loop):
        ctx.fail("AD230", f"`.{name}` of a list whose length is not known when compiling is not supported")
    if is_instance(value):
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
        return library.real(ctx, number) if name == "real" else library.imag(ctx, number)
    simple: dict[str, Callable[..., Any]] = {"conjugate": library.conjugate}
    if not library.is_complex(ctx, number):
        simple["is_integer"] = _is_integer
    if name in simple:
        return Method(number, simple[name], name)
    if ctx.inference is not None:
        ctx.inference.array(ctx, number, 1)
    if not number.weak:
        found = {"shape": (), "ndim": 0, "size": 1, "T": number, "dtype": NUMPY[number.element]}
        if name in found:
            return found[name]
        if name == "item":
            return Method(number, _item, name)
        if name == "astype":
            return Method(number, _astype, name)
        if name == "conj":
            return Method(number, library.conjugate, name)
        if name in NUMBER_METHODS:
            return Method(number, _itself, name)
    certain = None if hasattr(python_type(number), name) else AttributeError
    help = "is this argument meant to be an array?"
    ctx.fail("AD404", f"{describe(number)} has no attribute `{name}`", help, certain)


NUMBER_METHODS = ("copy", "sum", "mean", "max", "min", "prod", "squeeze", "tolist", "view")


def _itself(ctx: Context, number: Number) -> Any:
    return number


def _item(ctx: Context, number: Number) -> Any:
    return Number(number.value, True)


def _astype(ctx: Context, number: Number, dtype: Any) -> Any:
    target = {v: k for k, v in NUMPY.items()}.get(np.dtype(dtype))
    if target is None:
        ctx.fail("AD301", f"the type {np.dtype(dtype)} is not supported")
    return scalars.cast(ctx, number, target, False)


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
