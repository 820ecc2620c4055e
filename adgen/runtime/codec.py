"""Entry points as JSON, so that a package can hold them beside its library.

Comes in: a `Program` or the data that it was turned into.  Goes out: the other one.  Guaranteed: decoding runs nothing
that the data names but the import of a class; a value that JSON cannot hold is an `AdgenError` when encoding.
"""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from adgen.diagnostics import AdgenError, Span
from adgen.frontend.complexes.types import ELEMENTS
from adgen.frontend.specs import (
    ArraySpec,
    ComplexArray,
    Leaf,
    OutputConstant,
    OutputLeaf,
    OutputStruct,
    OutputTree,
    ScalarSpec,
    Spec,
    StaticSpec,
    StructSpec,
)
from adgen.ir.types import parse_type
from adgen.runtime.programs import DeviceEntry, Program, Site
from adgen.runtime.trees import named_tuple

Data = Any
CONTAINERS: Mapping[str, type] = {"tuple": tuple, "list": list, "dict": dict}
CLASSES: Mapping[str, type] = {
    **CONTAINERS,
    **{kind.__name__: kind for kind in (complex, np.complex128, np.complex64, ComplexArray)},
}


def encode_program(program: Program) -> Data:
    """A program without its sites and dependencies."""
    return {
        "name": program.name,
        "function_name": program.function_name,
        "parameters": [str(kind) for kind in program.parameters],
        "results": [str(kind) for kind in program.results],
        "leaves": [{"path": list(leaf.path), "spec": encode_spec(leaf.spec)} for leaf in program.leaves],
        "output": encode_tree(program.output),
        "written": list(program.written),
        "guarded": list(program.guarded),
        "differentiated": list(program.differentiated),
        "directions": None if program.directions is None else encode_tree(program.directions),
        "workspace": program.workspace,
        "device": program.device and list(program.device),
    }


def decode_program(data: Data, sites: tuple[Site, ...]) -> Program:
    """The program that `encode_program` took, with its sites."""
    return Program(
        name=data["name"],
        function_name=data["function_name"],
        parameters=tuple(parse_type(text) for text in data["parameters"]),
        results=tuple(parse_type(text) for text in data["results"]),
        leaves=tuple(Leaf(tuple(leaf["path"]), _leaf_spec(leaf["spec"])) for leaf in data["leaves"]),
        output=decode_tree(data["output"]),
        written=tuple(data["written"]),
        guarded=tuple(data["guarded"]),
        sites=sites,
        differentiated=tuple(data["differentiated"]),
        directions=None if data["directions"] is None else decode_tree(data["directions"]),
        workspace=data["workspace"],
        device=DeviceEntry(*data["device"]) if data.get("device") else None,
    )


def encode_site(site: Any) -> Data:
    """A site with its span."""
    span = None if site.span is None else dataclasses.astuple(site.span)
    return [site.exception, site.message, span]


def decode_site(data: Data) -> Site:
    """The site that `encode_site` took."""
    exception, message, span = data
    return Site(exception, message, None if span is None else Span(*span))


# -- specs -----------------------------------------------------------------------------------------------------------


def encode_spec(spec: Spec) -> Data:
    """The spec of a parameter whose type is known."""
    if isinstance(spec, ScalarSpec):
        return {"scalar": str(spec.element), "weak": spec.weak}
    if isinstance(spec, ArraySpec):
        return {"array": str(spec.element), "rank": spec.rank, "extents": list(spec.extents)}
    if isinstance(spec, StructSpec):
        items = [[key, encode_spec(item)] for key, item in spec.items]
        return {"struct": encode_class(spec.kind), "items": items}
    assert isinstance(spec, StaticSpec)
    return {"static": encode_constant(spec.value)}


def decode_spec(data: Data) -> Spec:
    """The spec that `encode_spec` took."""
    if "scalar" in data:
        return ScalarSpec(ELEMENTS[data["scalar"]], data["weak"])
    if "array" in data:
        return ArraySpec(ELEMENTS[data["array"]], data["rank"], tuple(data["extents"]))
    if "struct" in data:
        return StructSpec(decode_class(data["struct"]), tuple((key, decode_spec(item)) for key, item in data["items"]))
    return StaticSpec(decode_constant(data["static"]))


def _leaf_spec(data: Data) -> ScalarSpec | ArraySpec:
    spec = decode_spec(data)
    assert isinstance(spec, ScalarSpec | ArraySpec)
    return spec


# -- results ---------------------------------------------------------------------------------------------------------


def encode_tree(tree: OutputTree) -> Data:
    """The structure of a result."""
    if isinstance(tree, OutputLeaf):
        return {"leaf": tree.index, "element": str(tree.element), "rank": tree.rank, "weak": tree.weak}
    if isinstance(tree, OutputConstant):
        return {"constant": encode_constant(tree.value)}
    items = [[key, encode_tree(item)] for key, item in tree.items]
    return {"struct": encode_class(tree.kind), "items": items}


def decode_tree(data: Data) -> OutputTree:
    """The structure that `encode_tree` took."""
    if "leaf" in data:
        return OutputLeaf(data["leaf"], ELEMENTS[data["element"]], data["rank"], data["weak"])
    if "constant" in data:
        return OutputConstant(decode_constant(data["constant"]))
    items = tuple((key, decode_tree(item)) for key, item in data["items"])
    return OutputStruct(decode_class(data["struct"]), items)


# -- classes and constants -------------------------------------------------------------------------------------------


def encode_class(kind: type) -> Data:
    """A container class: a built-in one, a NamedTuple by its fields, any other by where it is defined."""
    if kind in CLASSES.values():
        return kind.__name__
    fields = getattr(kind, "_fields", None)
    if fields is None and dataclasses.is_dataclass(kind):
        fields = [field.name for field in dataclasses.fields(kind)]
    return {"class": kind.__qualname__, "module": kind.__module__, "fields": list(fields or ())}


def decode_class(data: Data) -> type:
    """The class, or a NamedTuple with its fields when it cannot be imported here."""
    if isinstance(data, str):
        return CLASSES[data]
    found = _imported(data["module"], data["class"])
    return found if isinstance(found, type) else named_tuple(tuple(data["fields"]))


def _imported(module: str, name: str) -> object | None:
    if module.partition(".")[0] == "adgen":
        return None
    try:
        found: object = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError):
        return None
    return found


PLAIN = (type(None), bool, int, float, str)


def encode_constant(value: Any) -> Data:
    """A constant that JSON can hold, or the reason why not as an AdgenError."""
    if type(value) in PLAIN:
        return value
    if isinstance(value, complex) or (isinstance(value, np.generic | np.ndarray) and value.dtype.kind == "c"):
        return {"complex": encode_constant(np.real(value)), "imag": encode_constant(np.imag(value))}
    if isinstance(value, np.generic):
        return {"numpy": value.dtype.str, "values": value.item()}
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        return {"numpy": value.dtype.str, "values": value.tolist()}
    if type(value) in CONTAINERS.values():
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        return {"container": type(value).__name__, "items": [[key, encode_constant(item)] for key, item in pairs]}
    raise AdgenError(
        "AD172",
        f"a package cannot hold a constant of type `{type(value).__name__}`",
        help="use numbers, strings, tuples, lists and dicts, or compile in the program with adgen.jit",
    )


def decode_constant(data: Data) -> Any:
    """The constant that `encode_constant` took."""
    if not isinstance(data, dict):
        return data
    if "complex" in data:
        real, imag = decode_constant(data["complex"]), decode_constant(data["imag"])
        return complex(real, imag) if type(real) is float else _joined(np.asarray(real), np.asarray(imag))
    if "numpy" in data:
        array = np.array(data["values"], np.dtype(data["numpy"]))
        return array if array.ndim else array[()]
    pairs = [(key, decode_constant(item)) for key, item in data["items"]]
    make: Callable[[Any], Any] = CONTAINERS[data["container"]]
    return make(pairs) if make is dict else make(item for _, item in pairs)


def _joined(real: np.ndarray[Any, Any], imag: np.ndarray[Any, Any]) -> Any:
    whole = np.empty(real.shape, np.complex64 if real.dtype == np.float32 else np.complex128)
    whole.real, whole.imag = real, imag
    return whole if whole.ndim else whole[()]
