"""From actual arguments to argument types.

Comes in: a function and the arguments of a call.  Goes out: the arguments by parameter name, defaults filled in, and a
spec for each.  Guaranteed: arguments that do not fit the parameters, and values that adgen does not compute with, are
an `AdgenError` that names the parameter.  Specs are hashable and never hold an extent, so one serves every shape.
"""

from __future__ import annotations

import dataclasses
import enum
import inspect
import types
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from adgen.diagnostics import AdgenError
from adgen.frontend.complexes.types import C64, C128
from adgen.frontend.dependencies import fingerprint
from adgen.frontend.specs import ArraySpec, ScalarSpec, Spec, StaticSpec, StructSpec, complex_spec
from adgen.ir.types import BOOL, F32, F64, I64, SCALARS, Scalar
from adgen.runtime.faults import ArgumentError as ArgumentError
from adgen.runtime.placement import form_of, is_device_array, place_of

EMPTY = inspect.Parameter.empty
STATIC_TYPES = (
    str, bytes, type(None), type(Ellipsis), type, range, np.dtype, np.ufunc, enum.Enum,
    types.FunctionType, types.BuiltinFunctionType, types.ModuleType,
)  # fmt: skip


def signature_of(function: Callable[..., Any]) -> inspect.Signature:
    """The parameters of a function.

    Raises AdgenError when they cannot be known.
    """
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):
        name = getattr(function, "__name__", repr(function))
        raise AdgenError(
            "AD125",
            f"`{name}` has no Python source, so neither its parameters nor its text can be known",
            help=f"wrap it in a function: def f(x): return {name}(x)",
        ) from None


class Arguments(dict[str, Any]):
    """The arguments of a call by parameter name; `defaulted` are those that were not passed."""

    defaulted: frozenset[str] = frozenset()


def bind(signature: inspect.Signature, name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Arguments:
    """The arguments of a call by parameter name, defaults filled in.

    Raises AdgenError, which is a TypeError too, with Python's own words when they do not fit.
    """
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError as error:
        known = ", ".join(str(parameter) for parameter in signature.parameters.values())
        raise ArgumentError("AD126", f"`{name}`: {error}", help=f"its parameters are: ({known})") from None
    given = set(bound.arguments) - getattr(kwargs, "defaulted", frozenset())
    bound.apply_defaults()
    arguments = Arguments(bound.arguments)
    arguments.defaulted = frozenset(
        name for name, parameter in signature.parameters.items() if name not in given and parameter.default is not EMPTY
    )
    return arguments


def describe_arguments(arguments: Mapping[str, Any]) -> dict[str, Spec]:
    """A spec for every argument."""
    defaulted: frozenset[str] = getattr(arguments, "defaulted", frozenset())
    return {name: (of_default if name in defaulted else describe)(value, name) for name, value in arguments.items()}


def of_default(value: Any, name: str) -> Spec:
    """The spec of an argument that was not passed: its default, unless that is a number to differentiate for.

    An option that nobody passes is known when compiling, so it may decide what the function returns.
    """
    if isinstance(value, bool | int | np.bool_ | np.integer):
        return StaticSpec(value)
    try:
        return describe(value, name)
    except AdgenError:
        return StaticSpec(value)


def describe(value: Any, name: str) -> Spec:
    """The spec of one argument; `name` is what messages call it.

    Raises AdgenError when adgen does not compute with such a value.
    """
    if isinstance(value, np.ndarray):
        return _array(value, name)
    if isinstance(value, bool | np.bool_):
        return ScalarSpec(BOOL, type(value) is bool)
    if isinstance(value, complex | np.complexfloating):
        kind = complex_kind(value.dtype, name) if isinstance(value, np.generic) else complex
        return complex_spec(kind, kind is complex)
    if isinstance(value, np.generic):
        return ScalarSpec(element_of(value.dtype, name), False)
    if isinstance(value, STATIC_TYPES):
        return StaticSpec(value)
    if isinstance(value, float):
        return ScalarSpec(F64)
    if isinstance(value, int):
        if value not in I64.numbers:
            raise ArgumentError("AD127", f"argument `{name}` is {value}, which does not fit into 64 bits")
        return ScalarSpec(I64)
    return _structure(value, name)


def _array(value: np.ndarray[Any, Any], name: str) -> Spec:
    if isinstance(value, np.ma.MaskedArray | np.matrix):
        raise ArgumentError(
            "AD127",
            f"argument `{name}` is a {type(value).__name__}, whose arithmetic is not that of an array",
            help=f"pass an ordinary array: np.asarray({name.split('[')[0]})",
        )
    return _of_form(value.dtype, value.ndim, name)


def _of_form(dtype: np.dtype[Any], rank: int, name: str) -> Spec:
    if dtype.kind == "c":
        kind = complex_kind(dtype, name)
        return ArraySpec(C64 if kind is np.complex64 else C128, rank) if rank else complex_spec(kind, False)
    element = element_of(dtype, name)
    return ArraySpec(element, rank) if rank else ScalarSpec(element, False)


def _on_device(value: Any, name: str) -> Spec:
    """The spec of an array on a device, of which nothing is fetched."""
    form = form_of(value, name)
    if not form.shape:
        raise ArgumentError(
            "AD137",
            f"argument `{name}` is a number on a device, and numbers are passed by value",
            help=f"fetch it once, which waits for it: {name}.item()",
        )
    return _of_form(form.dtype, len(form.shape), name)


def complex_kind(dtype: np.dtype[Any], name: str) -> type:
    """`np.complex128` or `np.complex64` for a dtype.

    Raises AdgenError when it is another one.
    """
    if dtype.itemsize > 16:
        return type(element_of(dtype, name))  # refuses
    return np.complex64 if dtype.itemsize == 8 else np.complex128


def element_of(dtype: np.dtype[Any], name: str) -> Scalar:
    """The scalar type that computes with a dtype.

    Raises AdgenError when there is none.
    """
    if dtype.kind == "b":
        return BOOL
    if dtype.kind in "iu" and dtype != np.uint64:
        return SCALARS[f"{dtype.kind}{8 * dtype.itemsize}"]
    if dtype.kind == "f" and dtype.itemsize in (4, 8):
        return F64 if dtype.itemsize == 8 else F32
    if dtype == np.uint64:
        raise ArgumentError(
            "AD127",
            f"argument `{name}` has dtype uint64, whose numbers need not fit into 64 bits with a sign",
            help="pass integers with a sign: array.astype(np.int64)",
        )
    help = {
        "f": "pass float64 or float32: array.astype(float)",
        "c": "pass complex128 or complex64: array.astype(complex)",
        "O": "pass numbers: np.array(values, dtype=float)",
    }.get(dtype.kind, "pass float64, float32, bool, or integers other than uint64")
    raise ArgumentError("AD127", f"argument `{name}` has dtype {dtype}, which adgen does not compute with", help=help)


def _structure(value: Any, name: str) -> Spec:
    """The spec of a container: its structure is part of the type, its numbers are not."""
    if isinstance(value, tuple):
        fields = getattr(type(value), "_fields", None)
        if fields is not None:
            return StructSpec(type(value), tuple((f, describe(getattr(value, f), f"{name}.{f}")) for f in fields))
        if type(value) is tuple:
            return StructSpec(tuple, _sequence(value, name))
    if type(value) is list:
        return StructSpec(list, _sequence(value, name))
    if type(value) is dict:
        if not all(isinstance(key, str | int) for key in value):
            raise ArgumentError("AD127", f"argument `{name}` is a dict with keys that are not strings or integers")
        return StructSpec(dict, tuple((key, describe(item, f"{name}[{key!r}]")) for key, item in value.items()))
    if is_device_array(value):
        return _on_device(value, name)
    if place_of(value) is not None:
        raise ArgumentError(
            "AD133",
            f"argument `{name}` is a {type(value).__name__} on the CPU",
            help=f"pass numpy.asarray({name}), or move it to a device and compile for the target cuda",
        )
    if (names := attribute_names(value)) is not None:
        return StructSpec(type(value), tuple((f, describe(getattr(value, f), f"{name}.{f}")) for f in names))
    raise ArgumentError(
        "AD127",
        f"argument `{name}` is of type {type(value).__name__}, which adgen does not compute with",
        help="pass numbers, NumPy arrays, or tuples, lists, dicts and dataclasses of them",
    )


def attribute_names(value: Any) -> list[str] | None:
    """The attributes that make up an instance of a dataclass or of a class written in Python; None for others."""
    if dataclasses.is_dataclass(value):
        return [field.name for field in dataclasses.fields(value)]
    kind = type(value)
    # What defines how it is made or seen as an array has state beyond its attributes.
    special = {"__new__", "__slots__", "__array__"} & {name for base in kind.__mro__[:-1] for name in vars(base)}
    if special or not hasattr(value, "__dict__") or kind.__module__ == "builtins":
        return None
    return list(vars(value))


def _sequence(value: Any, name: str) -> tuple[tuple[str, Spec], ...]:
    return tuple((str(i), describe(item, f"{name}[{i}]")) for i, item in enumerate(value))


def is_fixed(value: Any) -> bool:
    """True for a static value that is the same as long as it is the same object."""
    return isinstance(value, (*STATIC_TYPES, bool, int, np.generic))


def specs_key(specs: Mapping[str, Spec]) -> tuple[Any, ...]:
    """A hashable value that is equal for argument types that one compiled function serves."""
    return tuple((name, _key(spec)) for name, spec in specs.items())


def _key(spec: Spec) -> Any:
    if isinstance(spec, StaticSpec):  # `1`, `True` and `1.0` are equal to Python, and different to a compiler
        return (type(spec.value), spec.value if is_fixed(spec.value) else fingerprint(spec.value))
    if isinstance(spec, StructSpec):
        return (spec.kind, tuple((key, _key(item)) for key, item in spec.items))
    return spec
