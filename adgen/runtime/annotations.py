"""Argument types as users write them, in annotations and in `--arg`, turned into specs.

Comes in: `"x: f64[n,d]"`, `float`, `"f64[n,m]"`, `NDArray[np.float64]`, `Float64[np.ndarray, "n m"]`, a dataclass ...
Goes out: a `Spec`.  Guaranteed: an annotation that says nothing about numbers gives `UnknownSpec`, to be inferred from
use; text of `--arg` that cannot be read is an `AdgenError`.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import re
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from adgen.diagnostics import AdgenError
from adgen.frontend.complexes.types import C64, C128, COMPLEX
from adgen.frontend.specs import (
    STRETCHED,
    ArraySpec,
    ScalarSpec,
    Spec,
    StaticSpec,
    StructSpec,
    UnknownSpec,
    complex_spec,
    is_complex_kind,
)
from adgen.ir.types import BOOL, F32, F64, I64, INTEGERS, Scalar

TEXT_NAMES: Mapping[str, Scalar] = {
    "f64": F64, "float64": F64, "double": F64, "float": F64,
    "f32": F32, "float32": F32,
    "int": I64, **{name: kind for kind in INTEGERS for name in (kind.name, kind.full_name)},
    "c128": C128, "complex128": C128, "complex": C128,
    "c64": C64, "complex64": C64,
    "bool": BOOL,
}  # fmt: skip
TYPE_TEXT = re.compile(r"\s*([A-Za-z]\w*)\s*(?:\[([^\[\]]*)\])?\s*")
EXAMPLE = 'write for example --arg "x: f64[n,d]", --arg "k: int" or --arg "y: float"'


def parse_argument(text: str) -> tuple[str, Spec]:
    """The name and the spec of `--arg` text such as `x: f64[n,d]`.

    Raises AdgenError when the text is not of that form.
    """
    name, colon, kind = text.partition(":")
    name = name.strip()
    if not colon or not name.isidentifier():
        raise AdgenError("AD190", f"`{text}` is not of the form `name: type`", help=EXAMPLE)
    spec = parse_type_text(kind)
    if spec is None:
        raise AdgenError("AD190", f"`{kind.strip()}` is not an argument type", help=EXAMPLE)
    return name, spec


def parse_static(text: str) -> tuple[str, Spec]:
    """The name and the spec of `--static` text such as `full=True`; what is no literal of Python is a string.

    Raises AdgenError when the text is not of that form.
    """
    name, equals, value = text.partition("=")
    name = name.strip()
    if not equals or not name.isidentifier():
        raise AdgenError("AD190", f"`{text}` is not of the form `name=value`", help="write for example --static n=3")
    try:
        return name, StaticSpec(ast.literal_eval(value.strip()))
    except (SyntaxError, ValueError):
        return name, StaticSpec(value.strip())


def parse_type_text(text: str) -> Spec | None:
    """The spec of `f64[n,d]`, `int`, `float32[3,:]`; None for any other text."""
    match = TYPE_TEXT.fullmatch(text)
    if match is None or match[1] not in TEXT_NAMES:
        return None
    element = TEXT_NAMES[match[1]]
    if match[2] is None:
        return _number(np.complex64 if element == C64 else complex) if element.name in COMPLEX else _real(element)
    extents = [part.strip() for part in match[2].split(",")] if match[2].strip() else []
    if not all(part in (":", "_", "*") or part.isidentifier() or part.isdecimal() for part in extents):
        return None
    return array_spec(element, extents)


def _real(element: Scalar) -> ScalarSpec:
    """A real number; Python has no narrow integers."""
    return ScalarSpec(element, weak=not element.is_narrow)


def _number(kind: type) -> StructSpec:
    """A complex number."""
    known = kind if kind in (complex, np.complex64) else np.complex128
    return complex_spec(known, known is complex)


def array_spec(element: Scalar, extents: Sequence[str]) -> ArraySpec:
    """An array whose extents are names, numbers, `:` or `_` for any, or `*` for any that NumPy may stretch."""
    return ArraySpec(element, len(extents), tuple(_extent(part) for part in extents))


def _extent(text: str) -> str | int:
    if text.isdecimal():
        return int(text)
    return text if text == STRETCHED or (text.isidentifier() and text != "_") else ":"


def signature_specs(function: Callable[..., Any], given: Mapping[str, Spec] | None = None) -> dict[str, Spec]:
    """A spec for every parameter of a function: what is given, else its annotation, else its default, else unknown.

    Raises AdgenError when `given` names a parameter that the function does not have.
    """
    given = dict(given or {})
    parameters = inspect.signature(function).parameters
    for name in given:
        if name not in parameters:
            known = ", ".join(f"`{parameter}`" for parameter in parameters) or "none"
            raise AdgenError(
                "AD191", f"`{function.__name__}` has no parameter `{name}`", help=f"its parameters are: {known}"
            )
    namespace = getattr(inspect.unwrap(function), "__globals__", {})
    return {
        name: given[name] if name in given else parameter_spec(parameter, namespace)
        for name, parameter in parameters.items()
    }


def parameter_spec(parameter: inspect.Parameter, namespace: Mapping[str, Any]) -> Spec:
    """The spec of one parameter, from its annotation, else from its default."""
    if parameter.annotation is not inspect.Parameter.empty:
        spec = from_annotation(parameter.annotation, namespace)
        if spec != UnknownSpec():
            return spec
    default = parameter.default
    if isinstance(default, float):
        return ScalarSpec(F64)
    if isinstance(default, complex):
        return _number(type(default))
    if default is inspect.Parameter.empty or (isinstance(default, int) and not isinstance(default, bool)):
        return UnknownSpec()  # `scale=1` may well be called with 0.5: its use decides
    return StaticSpec(default)


def from_annotation(annotation: Any, namespace: Mapping[str, Any]) -> Spec:
    """The spec of an annotation; `UnknownSpec` when it does not say."""
    text = getattr(annotation, "__forward_arg__", annotation)
    if isinstance(text, str):
        return _from_text(text, namespace)
    if isinstance(annotation, type) and is_complex_kind(annotation):
        return _number(annotation)
    if isinstance(annotation, type) and (element := _element(annotation)) is not None:
        return _real(element)
    if (spec := _from_shaped_array(annotation)) is not None:
        return spec
    return _from_structure(annotation, namespace)


def _from_text(text: str, namespace: Mapping[str, Any]) -> Spec:
    spec = parse_type_text(text)
    if spec is not None:
        return spec
    try:  # `from __future__ import annotations` makes a text of every annotation
        value = eval(text, dict(namespace))
    except Exception:  # names under TYPE_CHECKING, other tools' languages: such an annotation says nothing to adgen
        return UnknownSpec()
    return UnknownSpec() if value == text else from_annotation(value, namespace)


def _element(kind: type) -> Scalar | None:
    if issubclass(kind, bool | np.bool_):
        return BOOL
    if issubclass(kind, np.float32):
        return F32
    if issubclass(kind, float | np.floating):
        return F64
    if issubclass(kind, np.integer):
        return I64 if kind in (np.integer, np.signedinteger) else TEXT_NAMES.get(kind.__name__)
    return I64 if issubclass(kind, int) else None


def _from_shaped_array(annotation: Any) -> Spec | None:
    """An array whose annotation names its extents, as those of jaxtyping do."""
    extents, dtypes = getattr(annotation, "dim_str", None), getattr(annotation, "dtypes", None)
    if not isinstance(extents, str) or not dtypes or isinstance(dtypes, str):
        return None
    parts = extents.split()
    if any(part.startswith(("*", "...")) for part in parts):
        return UnknownSpec()
    floats = {"float64": F64, "float32": F32}
    element = next((floats[name] for name in floats if name in dtypes), None)
    element = element or next((TEXT_NAMES[name] for name in dtypes if name in TEXT_NAMES), None)
    return array_spec(element, [part.partition("=")[2] or part for part in parts]) if element else UnknownSpec()


def _of_any_rank(dtype: Any) -> Spec:
    """An array of a dtype, as in `NDArray[np.int32]`; how many axes it has is inferred."""
    (kind,) = typing.get_args(dtype) or (None,)
    element = _element(kind) if isinstance(kind, type) and not is_complex_kind(kind) else None
    return UnknownSpec(None if element == F64 else element)  # a float64 may turn out to be something else


def _from_structure(annotation: Any, namespace: Mapping[str, Any]) -> Spec:
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if isinstance(origin, type) and issubclass(origin, np.ndarray):
        return _of_any_rank(arguments[-1])
    if origin is tuple and arguments and Ellipsis not in arguments:
        items = {str(i): from_annotation(item, namespace) for i, item in enumerate(arguments)}
        return StructSpec(tuple, tuple(items.items()))
    if origin in (typing.Union, types.UnionType):
        kinds = [from_annotation(item, namespace) for item in arguments if item is not type(None)]
        return kinds[0] if len(kinds) == 1 == len(arguments) else UnknownSpec()
    if isinstance(annotation, type) and dataclasses.is_dataclass(annotation):
        fields = {field.name: field.type for field in dataclasses.fields(annotation)}
        return _fields(annotation, fields)
    if isinstance(annotation, type) and issubclass(annotation, tuple) and hasattr(annotation, "_fields"):
        return _fields(annotation, {name: annotation.__annotations__.get(name) for name in annotation._fields})
    return UnknownSpec()


def _fields(kind: type, annotations: Mapping[str, Any]) -> Spec:
    namespace = vars(inspect.getmodule(kind)) if inspect.getmodule(kind) else {}
    return StructSpec(kind, tuple((name, from_annotation(text, namespace)) for name, text in annotations.items()))
