"""The text of a package's type stubs."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from adgen.frontend.specs import (
    ArraySpec,
    ComplexArray,
    OutputConstant,
    OutputLeaf,
    OutputTree,
    ScalarSpec,
    Spec,
    StaticSpec,
    StructSpec,
)
from adgen.ir.types import INTEGERS, NARROW, Scalar
from adgen.runtime.programs import MATRICES

COMPLEX_TYPES = {complex: "complex", np.complex128: "np.complex128", np.complex64: "np.complex64"}
SCALAR_TYPES = {
    "f64": "float",
    "f32": "np.float32",
    "bool": "bool",
    "i64": "int",
    **{kind.name: f"np.{kind.full_name}" for kind in NARROW},
}
ARRAY_TYPES = {
    "f64": "np.float64",
    "f32": "np.float32",
    "bool": "np.bool_",
    "c128": "np.complex128",
    "c64": "np.complex64",
    **{kind.name: f"np.{kind.full_name}" for kind in INTEGERS},
}
OTHER_TYPES: dict[type, str] = {list: "list[Any]", dict: "dict[str, Any]"}
HEADER = """from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
"""


@dataclass(frozen=True)
class StubEntry:
    """One entry point: its product, the structure of its result, its text; for a pullback that of the value too."""

    name: str
    product: str
    output: OutputTree
    text: str
    value: OutputTree | None = None


@dataclass
class Stubs:
    """Collects the stubs of a package; NamedTuples of gradients are classes of their own."""

    classes: dict[str, str] = field(default_factory=dict)
    functions: list[str] = field(default_factory=list)

    def add(self, signature: inspect.Signature, specs: Mapping[str, Spec], entry: StubEntry) -> None:
        """The stub of an entry point."""
        *words, last = entry.name.split("_")
        kind = last.capitalize() if entry.product in MATRICES else "Gradient"
        prefix = ("".join(word.capitalize() for word in words) or entry.name.capitalize()) + kind
        parameters = list(_parameters(signature, specs))
        if entry.product in ("jvp", "hvp"):
            parameters += ["*", "tangent: Any"] if "*" not in parameters else ["tangent: Any"]
        result = self.type_of(entry.output, prefix)
        if entry.product == "vjp":
            assert entry.value is not None
            result = f"tuple[{self.type_of(entry.value, prefix)}, Callable[[Any], {result}]]"
        self.functions.append(f'def {entry.name}({", ".join(parameters)}) -> {result}:\n    """{entry.text}"""\n')

    def type_of(self, tree: OutputTree, prefix: str) -> str:
        """The type of a result as text."""
        if isinstance(tree, OutputLeaf):
            return scalar_type(tree.element) if tree.rank is None else array_type(tree.element)
        if isinstance(tree, OutputConstant):
            return "None" if tree.value is None else type(tree.value).__name__
        if tree.kind in COMPLEX_TYPES:
            return COMPLEX_TYPES[tree.kind]
        fields = getattr(tree.kind, "_fields", None)
        named = fields if fields and tree.kind.__module__.partition(".")[0] == "adgen" else None
        inner = f"{prefix}Row" if named else prefix
        items = [(str(key), self.type_of(item, inner)) for key, item in tree.items]
        if tree.kind is ComplexArray:
            return items[0][1].replace("float64", "complex128").replace("float32", "complex64")
        if tree.kind is tuple:
            return f"tuple[{', '.join(kind for _, kind in items) or '()'}]"
        if named:
            return self._named(prefix, list(zip(named, (kind for _, kind in items), strict=True)))
        return OTHER_TYPES.get(tree.kind, "Any")

    def _named(self, prefix: str, items: Sequence[tuple[str, str]]) -> str:
        name = prefix
        self.classes[name] = f"class {name}(NamedTuple):\n" + "".join(f"    {key}: {kind}\n" for key, kind in items)
        return name

    def text(self) -> str:
        """The whole file."""
        return "\n".join([HEADER, *self.classes.values(), *self.functions])


def _parameters(signature: inspect.Signature, specs: Mapping[str, Spec]) -> Iterator[str]:
    keyword_only = False
    for parameter in signature.parameters.values():
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY and not keyword_only:
            keyword_only = True
            yield "*"
        default = "" if parameter.default is inspect.Parameter.empty else " = ..."
        yield f"{parameter.name}: {spec_type(specs[parameter.name])}{default}"


def spec_type(spec: Spec) -> str:
    """The type of a parameter as text."""
    if isinstance(spec, ScalarSpec):
        return scalar_type(spec.element)
    if isinstance(spec, ArraySpec):
        return array_type(spec.element)
    if isinstance(spec, StaticSpec):
        return "None" if spec.value is None else type(spec.value).__name__
    if isinstance(spec, StructSpec) and spec.kind in COMPLEX_TYPES:
        return COMPLEX_TYPES[spec.kind]
    if isinstance(spec, StructSpec) and spec.kind is tuple:
        return f"tuple[{', '.join(spec_type(item) for _, item in spec.items)}]"
    return "Any"


def scalar_type(element: Scalar) -> str:
    """The Python type of a number."""
    return SCALAR_TYPES[str(element)]


def array_type(element: Scalar) -> str:
    """The type of an array."""
    return f"NDArray[{ARRAY_TYPES[str(element)]}]"
