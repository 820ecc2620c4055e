"""Lowering a function for actual arguments and running the IR: what the tests of the front end compare with Python."""

from __future__ import annotations

import dataclasses
import importlib.util
import inspect
import sys
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from adgen.frontend.complexes.types import C64, C128, Complex
from adgen.frontend.lower import lower
from adgen.frontend.specs import (
    ArraySpec,
    Lowered,
    OutputConstant,
    OutputLeaf,
    OutputTree,
    ScalarSpec,
    Spec,
    StaticSpec,
    StructSpec,
    complex_spec,
    free,
    rebuild,
)
from adgen.ir import interpret
from adgen.ir.types import BOOL, F64, I64, Scalar
from adgen.ir.verify import verify
from adgen.passes.implicit import pushed

CORPUS = Path(__file__).parent.parent / "corpus"
COMPUTED = (  # the files of functions that give what Python gives
    "choices",
    "control_flow",
    "generators",
    "language",
    "memory",
    "recursion",
    "state",
    "residuals",
    "complex_numbers",
    "integers",
    "numpy_names",
    "scipy_names",
    "library",
    "interpolation",
    "flow",
    "solvers",
    "special_functions",
)
DTYPES = {**interpret.DTYPES, C128: np.complex128, C64: np.complex64}


def element_of(dtype: Any) -> Scalar:
    """The scalar type of a NumPy type."""
    return next(element for element, known in DTYPES.items() if np.dtype(dtype) == known)


def spec_of(value: Any) -> Spec:
    """The spec of an actual argument."""
    if isinstance(value, complex | np.complexfloating):
        return complex_spec(type(value), type(value) is complex)
    if isinstance(value, np.ndarray):
        element = element_of(value.dtype)
        return ArraySpec(element, value.ndim) if value.ndim else ScalarSpec(element, False)
    if isinstance(value, np.generic):
        return ScalarSpec(element_of(value.dtype), False)
    if isinstance(value, bool | int | float):
        return ScalarSpec({bool: BOOL, int: I64, float: F64}[type(value)])
    if isinstance(value, tuple | list):
        return StructSpec(type(value), tuple((k, spec_of(item)) for k, item in enumerate(value)))
    if isinstance(value, dict):
        return StructSpec(dict, tuple((k, spec_of(item)) for k, item in value.items()))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = tuple((f.name, spec_of(getattr(value, f.name))) for f in dataclasses.fields(value))
        return StructSpec(type(value), fields)
    return StaticSpec(value)


def lowered_for(function: Any, arguments: dict[str, Any], stretching: bool = False) -> Lowered:
    """The function lowered for these arguments, or for arrays whose axes may be `stretching`, and verified."""
    specs = {name: spec_of(value) for name, value in arguments.items()}
    result = lower(function, free(specs) if stretching else specs, pushed)
    verify(result.function)
    return result


def run(function: Any, arguments: dict[str, Any], stretching: bool = False) -> tuple[Any, list[Any]]:
    """What the IR computes, and the arguments after the call as the IR sees them (one per leaf)."""
    result = lowered_for(function, arguments, stretching)
    inputs = inputs_of(result, arguments)
    outcome = interpret.run(result.function, inputs)
    return tree_of(result.output, outcome.results), [_after(x, leaf) for x, leaf in zip(inputs, result.leaves)]


def inputs_of(lowered: Lowered, arguments: dict[str, Any]) -> list[Any]:
    """The arguments of the IR function, one per leaf."""
    return [_leaf(arguments, leaf) for leaf in lowered.leaves]


def _leaf(arguments: dict[str, Any], leaf: Any) -> Any:
    value: Any = arguments
    for key in leaf.path:
        value = value[key] if isinstance(value, tuple | list | dict) else getattr(value, str(key))
    if isinstance(leaf.spec, ArraySpec):
        array = np.array(value, dtype=DTYPES[leaf.spec.element], order="C")
        if not isinstance(leaf.spec.element, Complex):
            return array
        return array.view(DTYPES[leaf.spec.element.part]).reshape(*array.shape, 2)
    return value


def _after(value: Any, leaf: Any) -> Any:
    """An argument as Python sees it."""
    if isinstance(leaf.spec, ArraySpec) and isinstance(leaf.spec.element, Complex):
        return value.view(DTYPES[leaf.spec.element])[..., 0]
    return value


def tree_of(tree: OutputTree, results: tuple[Any, ...]) -> Any:
    if isinstance(tree, OutputLeaf):
        result = results[tree.index]
        return DTYPES[tree.element](result) if tree.rank is None and tree.element.is_narrow else result
    if isinstance(tree, OutputConstant):
        return tree.value
    return rebuild(tree.kind, [(key, tree_of(inner, results)) for key, inner in tree.items])


def agree(got: Any, want: Any) -> bool:
    """Equal up to rounding, with the same structure and shapes."""
    if isinstance(want, tuple | list):
        return type(got) is type(want) and len(got) == len(want) and all(agree(a, b) for a, b in zip(got, want))
    if isinstance(want, dict):
        return list(got) == list(want) and all(agree(got[key], want[key]) for key in want)
    if want is None or isinstance(want, str):
        return bool(got == want)
    narrow = any(isinstance(x, np.integer) and x.dtype != np.int64 for x in (got, want))
    if (narrow or isinstance(want, np.ndarray)) and element_of(want.dtype) != element_of(np.asarray(got).dtype):
        return False
    tolerance = 1e-5 if getattr(want, "dtype", None) in (np.float32, np.complex64) else 1e-12
    return np.shape(got) == np.shape(want) and bool(
        np.allclose(got, want, rtol=tolerance, atol=tolerance, equal_nan=True)
    )


def samples(function: Any) -> dict[str, Any]:
    """The default values of a function of the corpus, fresh."""
    values = {name: parameter.default for name, parameter in inspect.signature(function).parameters.items()}
    return {name: value.copy() if isinstance(value, np.ndarray) else value for name, value in values.items()}


def load(name: str) -> ModuleType:
    """A module of the corpus."""
    title = f"adgen_corpus_{name}"
    if title not in sys.modules:
        spec = importlib.util.spec_from_file_location(title, CORPUS / f"{name}.py")
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[title] = module
        spec.loader.exec_module(module)
    return sys.modules[title]


def corpus(name: str) -> list[Any]:
    """The sample functions of a module of the corpus: those whose parameters all have defaults."""
    found = []
    for value in vars(load(name)).values():
        if isinstance(value, FunctionType) and value.__module__ == f"adgen_corpus_{name}":
            parameters = inspect.signature(value).parameters.values()
            if parameters and all(parameter.default is not parameter.empty for parameter in parameters):
                found.append(value)
    return found
