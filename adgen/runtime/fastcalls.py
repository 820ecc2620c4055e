"""What the extension module `_adgen_calls` is told about a call: parameters, results, and how these are put together.

Comes in: a `Program`, perhaps the types of the arguments that the call is for.  Goes out: tuples, as
`toolchain/fastcall/describe.h` reads them.  Guaranteed: a call made from them takes the arguments that it is described
for and leaves every other to the longer way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from adgen.frontend.specs import (
    ArraySpec,
    OutputConstant,
    OutputLeaf,
    OutputTree,
    ScalarSpec,
    Spec,
    StaticSpec,
    StructSpec,
    bound,
    has_complex,
    rebuild,
)
from adgen.ir.types import BOOL, F32, F64, INTEGERS, Buffer, Scalar
from adgen.runtime.callcode import is_python
from adgen.runtime.convert import DTYPES, NUMBERS, canonical
from adgen.runtime.programs import Program
from adgen.runtime.signatures import is_fixed

Parts = tuple[Any, ...]
# the elements that a number of exactly this type can be passed for
PLAIN: Mapping[type, tuple[Scalar, ...]] = {
    float: (F64, F32),
    np.float64: (F64, F32),
    int: INTEGERS,
    bool: (BOOL,),
}


def leaf_parameters(program: Program) -> Parts:
    """The parameters of a call that takes the leaves of the arguments in canonical form."""
    return tuple(
        array_parameter(program, position)
        if isinstance(kind, Buffer)
        else ("number", NUMBERS[element_of(kind)], str(kind))
        for position, kind in enumerate(program.parameters)
    )


def array_parameter(program: Program, position: int) -> Parts:
    """A parameter that is an array."""
    kind = program.parameters[position]
    assert isinstance(kind, Buffer)
    guarded = position in program.guarded
    return ("array", DTYPES[kind.element], str(kind.element), kind.rank, position in program.written, guarded)


def element_of(kind: Any) -> Scalar:
    """The type of a number."""
    assert isinstance(kind, Scalar)
    return kind


def direct_parameters(
    program: Program, specs: Mapping[str, Spec], arguments: Mapping[str, Any], given: Sequence[Any], missing: Any
) -> Parts | None:
    """The parameters of a call with arguments of exactly the types of `arguments`; None where a check is not enough.

    `given` is what is passed for each of them; where it is `missing` the call takes the value of `arguments`.
    """
    found: list[Parts] = []
    leaf = 0
    for (name, spec), passed in zip(specs.items(), given, strict=True):
        value = arguments[name]
        if isinstance(spec, StaticSpec):
            if not is_fixed(spec.value):
                return None
            found.append(("option", passed if passed is missing else value))
            continue
        parameter = _parameter(program, leaf, spec, value, passed is missing, type(missing))
        if parameter is None:
            return None
        found.append(parameter)
        leaf += 1
    return tuple(found)


def _parameter(program: Program, leaf: int, spec: Spec, value: Any, absent: bool, kind: type) -> Parts | None:
    if isinstance(spec, StructSpec) or has_complex(spec):
        return None
    if isinstance(spec, ArraySpec):
        return None if absent or type(value) is not np.ndarray else array_parameter(program, leaf)
    assert isinstance(spec, ScalarSpec)
    if absent:
        return ("absent", kind, str(spec.element), canonical(value, spec))
    return ("number", type(value), str(spec.element)) if spec.element in PLAIN.get(type(value), ()) else None


def extent_conditions(specs: Mapping[str, Spec], parameters: Parts) -> Parts:
    """What extents must be by their specs: each a cell, and the cell or (where that is -1) the number it must equal."""
    found: list[tuple[int, int, int]] = []
    known: dict[str, int] = {}
    place = 0
    for spec, parameter in zip(specs.values(), parameters, strict=True):
        for axis, extent in enumerate(spec.extents if isinstance(spec, ArraySpec) else ()):
            cell = place + 1 + axis
            if isinstance(extent, int):
                found.append((cell, -1, extent))
            elif bound(extent) and known.setdefault(extent, cell) != cell:
                found.append((cell, known[extent], 0))
        place += {"option": 0, "array": 1 + spec.rank if isinstance(spec, ArraySpec) else 0}.get(parameter[0], 1)
    return tuple(found)


def leaves_among(parameters: Parts, given: Sequence[Any]) -> list[Any]:
    """The leaves of the arguments among what is passed to a call with these parameters."""
    pairs = zip(parameters, given, strict=True)
    return [known[3] if known[0] == "absent" else value for known, value in pairs if known[0] != "option"]


def results_of(program: Program) -> Parts:
    """The flat results."""
    return tuple(
        (str(kind.element), DTYPES[kind.element], kind.rank) if isinstance(kind, Buffer) else (str(kind), None, 0)
        for kind in program.results
    )


def steps(tree: OutputTree) -> Parts:
    """How the results become what Python sees: steps on a stack."""
    if isinstance(tree, OutputLeaf):
        if tree.rank is not None:
            return (("array", tree.index, None),)
        return (("number", tree.index, None),) if is_python(tree) else (("scalar", tree.index, DTYPES[tree.element]),)
    if isinstance(tree, OutputConstant):
        return (("constant", 0, tree.value),)
    items = [step for _, item in tree.items for step in steps(item)]
    keys = tuple(key for key, _ in tree.items)
    if tree.kind in (tuple, list, dict):
        container: Parts = (tree.kind.__name__, len(keys), keys if tree.kind is dict else None)
    elif issubclass(tree.kind, tuple):
        container = ("named", len(keys), tree.kind)
    else:
        container = ("apply", len(keys), maker(tree.kind, keys))
    return (*items, container)


def maker(kind: type, keys: Sequence[Any]) -> Callable[..., Any]:
    """The function from items to a container of this kind."""
    return lambda *values: rebuild(kind, list(zip(keys, values, strict=True)))
