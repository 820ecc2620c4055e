"""A function in single precision: its IR, and what callers are told of its arguments and results."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from adgen.diagnostics import AdgenError
from adgen.frontend.specs import (
    ArraySpec,
    Lowered,
    OutputConstant,
    OutputLeaf,
    OutputTree,
    ScalarSpec,
    Spec,
    StructSpec,
    has_complex,
    has_complex_output,
)
from adgen.ir.types import F32, F64
from adgen.passes.single import single


def singled(lowered: Lowered) -> Lowered:
    """The function with `f32` in place of every `f64`.

    Raises AdgenError for one that takes or gives complex numbers.
    """
    if any(map(has_complex, lowered.specs.values())) or has_complex_output(lowered.output):
        raise AdgenError(
            "AD196",
            f"`{lowered.function.name}` takes or gives complex numbers, which single precision is not supported for",
            lowered.function.span,
            "take and give real and imaginary parts, or leave out --float32",
        )
    return replace(
        lowered,
        function=single(lowered.function),
        leaves=tuple(replace(leaf, spec=_spec(leaf.spec)) for leaf in lowered.leaves),
        output=_output(lowered.output),
        specs={name: _spec(spec) for name, spec in lowered.specs.items()},
    )


def _spec(spec: Any) -> Any:
    if isinstance(spec, StructSpec):
        items: tuple[tuple[str | int, Spec], ...] = tuple((key, _spec(item)) for key, item in spec.items)
        return replace(spec, items=items)
    if isinstance(spec, ScalarSpec | ArraySpec) and spec.element == F64:
        return replace(spec, element=F32)
    return spec


def _output(tree: OutputTree) -> OutputTree:
    if isinstance(tree, OutputConstant):
        return tree
    if isinstance(tree, OutputLeaf):
        return replace(tree, element=F32) if tree.element == F64 else tree
    return replace(tree, items=tuple((key, _output(item)) for key, item in tree.items))
