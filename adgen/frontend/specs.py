"""What the front end is told about arguments and what it gives back.

A `Spec` describes one argument: a scalar, an array, a static value, a structure of those, or unknown.  Structures are
taken apart: every scalar or array inside is a `Leaf`, one parameter of the IR function.  The return value is described
by an `OutputTree` whose leaves are results of the IR function.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from adgen.diagnostics import Span
from adgen.frontend.complexes.types import Complex
from adgen.frontend.source import Dependency
from adgen.ir.nodes import Function
from adgen.ir.types import F32, F64, Buffer, Scalar

Path = tuple[str | int, ...]

STRETCHED = "*"  # the mark of an axis about whose length nothing is taken for granted
OTHER_EXTENTS = "OtherExtents"  # the check that extents are what the function was compiled for


@dataclass(frozen=True)
class ScalarSpec:
    """A number.  `weak`: a Python scalar rather than a NumPy one."""

    element: Scalar = F64
    weak: bool = True

    def __str__(self) -> str:
        return str(self.element)


@dataclass(frozen=True)
class ArraySpec:
    """An array; `extents` may name or fix its extents, as in `f64[n,3]`, or say that NumPy may stretch them: `f64[*]`.

    An array of complex numbers is a real parameter of the IR with one more axis.
    """

    element: Scalar
    rank: int
    extents: tuple[str | int, ...] = ()

    def __str__(self) -> str:
        inner = ",".join(str(extent) for extent in self.extents) if self.extents else ",".join(":" * self.rank)
        return f"{self.element}[{inner}]"


@dataclass(frozen=True, eq=False)
class StaticSpec:
    """A value known when compiling: None, a string, a function, an option."""

    value: Any

    def __str__(self) -> str:
        return repr(self.value)


@dataclass(frozen=True)
class StructSpec:
    """A container: `kind` is tuple, list, dict, a dataclass or a NamedTuple; `items` are (key, spec) pairs in order.

    A complex number is one too: its items are `real` and `imag`.
    """

    kind: type
    items: tuple[tuple[str | int, Spec], ...]

    def __str__(self) -> str:
        if is_complex_kind(self.kind):
            return "c64" if self.kind is np.complex64 else "c128"
        return f"{self.kind.__name__}({', '.join(f'{key}: {spec}' for key, spec in self.items)})"


@dataclass(frozen=True)
class UnknownSpec:
    """To be inferred from use; `element` is the type of the number or of the items of the array when that is known."""

    element: Scalar | None = None

    def __str__(self) -> str:
        return "?" if self.element is None else f"{self.element}?"


def complex_spec(kind: type, weak: bool) -> StructSpec:
    """The spec of a complex number of this type."""
    part = ScalarSpec(F32 if kind is np.complex64 else F64, weak)
    return StructSpec(kind, (("real", part), ("imag", part)))


Spec = ScalarSpec | ArraySpec | StaticSpec | StructSpec | UnknownSpec


def bound(extent: str | int) -> bool:
    """True when an extent is fixed or has a name that others may have too."""
    return extent not in (":", STRETCHED)


Shapes = Mapping[Path, tuple[int, ...]]


def fixed(specs: Mapping[str, Spec], shapes: Shapes) -> dict[str, Spec]:
    """The specs for arrays of these shapes in which each axis of length one is fixed."""
    return _changed(specs, lambda path, axis: 1 if shapes[path][axis] == 1 else None)


def free(specs: Mapping[str, Spec]) -> dict[str, Spec]:
    """The specs with nothing taken for granted about any axis that is not fixed."""
    return _changed(specs, lambda path, axis: STRETCHED)


def _changed(specs: Mapping[str, Spec], new: Callable[[Path, int], str | int | None]) -> dict[str, Spec]:
    def below(path: Path, spec: Spec) -> Spec:
        if isinstance(spec, ArraySpec):
            before = spec.extents or (":",) * spec.rank
            after = tuple(e if isinstance(e, int) else new(path, axis) or e for axis, e in enumerate(before))
            return replace(spec, extents=after) if after != before else spec
        if isinstance(spec, StructSpec):
            return replace(spec, items=tuple((key, below((*path, key), item)) for key, item in spec.items))
        return spec

    return {name: below((name,), spec) for name, spec in specs.items()}


def spec_leaves(specs: Mapping[str, Spec]) -> Iterator[tuple[Path, Any]]:
    """The scalar, array and unknown specs inside specs by parameter, each with its path."""

    def below(path: Path, spec: Spec) -> Iterator[tuple[Path, Any]]:
        if isinstance(spec, StructSpec):
            for key, inner in spec.items:
                yield from below((*path, key), inner)
        elif not isinstance(spec, StaticSpec):
            yield path, spec

    for name, spec in specs.items():
        yield from below((name,), spec)


Build = Callable[[type, list[tuple[Any, Any]]], Any]


def value_of(values: Mapping[Path, Any], path: Path, spec: Spec, missing: Any = ..., build: Build | None = None) -> Any:
    """The argument at a path, put together from the values of its leaves; leaves without a value are `missing`."""
    if isinstance(spec, StaticSpec):
        return spec.value if missing is ... else missing
    if isinstance(spec, StructSpec):
        items = [(key, value_of(values, (*path, key), inner, missing, build)) for key, inner in spec.items]
        return (build or rebuild)(spec.kind, items)
    return values[path] if missing is ... else values.get(path, missing)


@dataclass(frozen=True)
class Leaf:
    """One parameter of the IR function; `path` leads to it from the parameter's name."""

    path: Path
    spec: ScalarSpec | ArraySpec

    @property
    def kind(self) -> Scalar | Buffer:
        """The type of the parameter."""
        spec = self.spec
        if isinstance(spec, ScalarSpec):
            return spec.element
        if isinstance(spec.element, Complex):
            return Buffer(spec.element.part, spec.rank + 1)
        return Buffer(spec.element, spec.rank)

    @property
    def name(self) -> str:
        """The path as an identifier: `p`, `p_w`, `p_b_0`."""
        return "_".join(str(part) for part in self.path)


@dataclass(frozen=True)
class OutputLeaf:
    """Result number `index` of the IR function: a scalar (`rank` None) or an array."""

    index: int
    element: Scalar
    rank: int | None = None
    weak: bool = True


@dataclass(frozen=True, eq=False)
class OutputConstant:
    """A part of the return value that was known when compiling."""

    value: Any


@dataclass(frozen=True, eq=False)
class OutputStruct:
    """A container of outputs, as `StructSpec`."""

    kind: type
    items: tuple[tuple[Any, OutputTree], ...]


OutputTree = OutputLeaf | OutputConstant | OutputStruct


def output_leaves(tree: OutputTree) -> Iterator[OutputLeaf]:
    """The leaves of an output tree, in order."""
    if isinstance(tree, OutputLeaf):
        yield tree
    elif isinstance(tree, OutputStruct):
        for _, inner in tree.items:
            yield from output_leaves(inner)


class ComplexArray:
    """The kind of an output that is an array of complex numbers; its one item is the array of their parts."""


def array_output(index: int, element: Scalar, rank: int) -> OutputTree:
    """The output that is result number `index`, an array of these elements."""
    if isinstance(element, Complex):
        return OutputStruct(ComplexArray, (("pairs", OutputLeaf(index, element.part, rank + 1, False)),))
    return OutputLeaf(index, element, rank, False)


def has_complex_output(tree: OutputTree) -> bool:
    """True when some part of a result is complex."""
    if isinstance(tree, OutputStruct):
        complex_ = tree.kind is ComplexArray or is_complex_kind(tree.kind)
        return complex_ or any(has_complex_output(item) for _, item in tree.items)
    return isinstance(tree, OutputConstant) and np.iscomplexobj(tree.value)


def has_complex(spec: Spec) -> bool:
    """True when some part of an argument is complex."""
    if isinstance(spec, ArraySpec):
        return isinstance(spec.element, Complex)
    if not isinstance(spec, StructSpec):
        return False
    return is_complex_kind(spec.kind) or any(has_complex(item) for _, item in spec.items)


def is_complex_kind(kind: type) -> bool:
    """True for the kinds of structures that are complex numbers, of a real and an imaginary part."""
    return issubclass(kind, complex | np.complexfloating)


def rebuild(kind: type, items: list[tuple[Any, Any]]) -> Any:
    """A container of the given kind with these items: how arguments and results are put together."""
    values = [value for _, value in items]
    if is_complex_kind(kind):
        return kind(complex(*values))
    if kind is ComplexArray:
        (pairs,) = values
        return pairs.view(np.complex128 if pairs.dtype == np.float64 else np.complex64)[..., 0]
    if kind is dict:
        return dict(items)
    if kind in (list, tuple):
        return kind(values)
    if issubclass(kind, tuple):
        make: Callable[..., Any] = getattr(kind, "_make", kind)
        return make(values)
    instance = object.__new__(kind)
    for key, value in items:
        object.__setattr__(instance, str(key), value)
    return instance


@dataclass(frozen=True, eq=False)
class Ruled:
    """A function with a derivative rule of its own that is called, and the types it is called with."""

    callee: Callable[..., Any]
    specs: dict[str, Spec]


@dataclass(frozen=True, eq=False)
class Lowered:
    """The result of the front end: the IR function and what is needed to call it."""

    function: Function
    leaves: tuple[Leaf, ...]
    output: OutputTree
    mutated: tuple[int, ...]
    specs: dict[str, Spec]
    dependencies: tuple[Dependency, ...] = ()
    warnings: tuple[str, ...] = field(default=())
    traced: Mapping[Span, str] | None = None  # what the operations are called whose results are checked
    ruled: tuple[Ruled, ...] = field(default=())
