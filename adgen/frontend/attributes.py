"""Attributes: of modules, arrays, numbers, instances."""

from __future__ import annotations

import operator
import types
from typing import TYPE_CHECKING, Any

import numpy as np

from adgen.frontend import arrays, calls, memory, operators, scalars
from adgen.frontend.state import is_instance
from adgen.frontend.values import Closure, Dynamic, Loop, Method, Number, Sequence, describe
from adgen.ir.types import BOOL, F32, F64, I64

if TYPE_CHECKING:
    from adgen.frontend.context import Context

DTYPES = {F64: np.dtype(np.float64), F32: np.dtype(np.float32), I64: np.dtype(np.int64), BOOL: np.dtype(np.bool_)}
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
    if isinstance(value, Sequence | Loop):
        ctx.fail("AD230", f"`.{name}` of a list whose length is not known when compiling is not supported")
    if is_instance(value) and type(value).__module__.partition(".")[0] != "scipy":
        return _of_instance(ctx, value, name)
    return _static(ctx, value, name)


def _static(ctx: Context, value: Any, name: str) -> Any:
    try:
        return getattr(value, name)
    except AttributeError:
        ctx.fail("AD404", f"{describe(value)} has no attribute `{name}`")


def _of_module(ctx: Context, module: types.ModuleType, name: str) -> Any:
    try:
        value = getattr(module, name)
    except AttributeError:
        ctx.fail("AD404", f"the module `{module.__name__}` has no attribute `{name}`", "check the spelling")
    if module.__name__.partition(".")[0] not in ("numpy", "math", "scipy"):
        ctx.record(module, ("attribute", name), value)
    return value


def _of_array(ctx: Context, array: Any, name: str) -> Any:
    method = arrays.method(name)
    if method is not None:
        return Method(array, method, name)
    return arrays.attribute(ctx, array, name)


def _of_number(ctx: Context, number: Number, name: str) -> Any:
    plain = {"real": number, "imag": 0.0 if number.element.is_float else 0}
    if name in plain:
        return plain[name]
    simple = {"is_integer": _is_integer, "conjugate": _itself}
    if name in simple:
        return Method(number, simple[name], name)
    if ctx.inference is not None:
        ctx.inference.array(ctx, number, 1)
    if not number.weak:
        if name in ITSELF or (name == "copy" and not number.array):
            return Method(number, _itself, name)
        if name == "tolist":
            return Method(number, _item, name)
        if name == "T":
            return number
        owner = number if name in VIEWS else arrays.bare(number)
        method = _of_array(ctx, arrays.as_array(ctx, owner), name)
        boxing = isinstance(method, Method) and name == "astype" and number.array
        return Method(method.owner, _boxed(method.function), name) if boxing else method
    ctx.fail("AD404", f"{describe(number)} has no attribute `{name}`", "is this argument meant to be an array?")


VIEWS = ("reshape", "ravel", "transpose", "swapaxes", "diagonal", "flat")
ITSELF = ("squeeze", "conj", "view")


def _itself(ctx: Context, number: Number) -> Any:
    return number


def _item(ctx: Context, number: Number) -> Any:
    return Number(number.value, True)


def _boxed(function: Any) -> Any:
    return lambda ctx, *args, **kwargs: arrays.boxed(ctx, function(ctx, *args, **kwargs))


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
    if isinstance(owner, Dynamic | np.ndarray):
        ctx.fail("AD215", f"assigning to `.{name}` of an array is not supported")
    if not is_instance(owner):
        ctx.fail("AD215", f"assigning to an attribute of {describe(owner)} is not supported")
    operators.own_check(ctx, owner)
    scalars.static(ctx, setattr, owner, name, operators.secure(ctx, value, name))
