"""Tangents and cotangents as users give them, made into what compiled code takes.

Comes in: a value with the structure of the parameters (tangents) or of the result (cotangents).  Goes out: one number
or array for each leaf.  Guaranteed: a wrong structure, shape or dtype is an `AdgenError` that says which part, what it
is and what it should be.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from adgen.diagnostics import AdgenError
from adgen.frontend.specs import ArraySpec, OutputLeaf, OutputTree, ScalarSpec, Spec, bound
from adgen.ir.types import Scalar
from adgen.runtime.convert import DTYPES, canonical
from adgen.runtime.placement import Zeros, form_of, is_device_array, shape_of
from adgen.runtime.programs import COTANGENT, TANGENT, Program
from adgen.runtime.trees import flatten

REAL_KINDS = "fiub"


def tangents(program: Program, given: Any, primals: Sequence[Any]) -> list[Any]:
    """The tangents of the differentiated leaves, in order; `primals` are the leaves of the arguments.

    Raises AdgenError when they do not fit.
    """
    assert program.directions is not None
    parts = _parts(program.directions, given, "tangent")
    return [
        direction(part, program.leaves[position].spec, shape_of(primals[position]), name, "the argument")
        for position, (_, part, name) in zip(program.differentiated, parts, strict=True)
    ]


def with_direction(program: Program, specs: Mapping[str, Spec]) -> dict[str, Spec] | None:
    """The specs and that of a tangent, whose extents have the same names as those of its parameter.

    None when a tangent is not of one parameter that is a number or an array.
    """
    leaves = [program.leaves[position] for position in program.differentiated]
    if not isinstance(program.directions, OutputLeaf) or len(leaves) != 1 or len(leaves[0].path) != 1:
        return None
    name = str(leaves[0].path[0])
    spec = specs[name]
    if isinstance(spec, ArraySpec):
        extents = spec.extents or (":",) * spec.rank
        named = (e if bound(e) else f"{TANGENT} {axis}" for axis, e in enumerate(extents))
        spec = replace(spec, extents=tuple(named))
    return {**specs, name: spec, TANGENT: spec}


def live_tangents(program: Program, given: Any, primals: Sequence[Any]) -> list[Any]:
    """As `tangents`, but arrays are those that were given, which may come to hold other numbers."""
    assert program.directions is not None
    parts = _parts(program.directions, given, "tangent")
    pairs = zip(parts, tangents(program, given, primals), strict=True)
    return [part if isinstance(part, np.ndarray) and part.ndim else found for (_, part, _), found in pairs]


def cotangents(pullback: Program, output: OutputTree, given: Any, value: Any, primals: Sequence[Any]) -> list[Any]:
    """The cotangents that a `vjp` program takes, in order; `output` is the structure of the function's `value`.

    With `given` None all are zero, as that of an array is which the function writes besides returning a value.
    Raises AdgenError when they do not fit.
    """
    wanted = [(int(leaf.path[1]), leaf.spec) for leaf in pullback.leaves if leaf.path[0] == COTANGENT]
    shapes = {leaf.index: shape_of(part) for leaf, part, _ in _parts(output, value, "value")}
    parts = {} if given is None else {leaf.index: p for leaf, *p in _parts(output, given, "cotangent")}
    zeros = Zeros if any(map(is_device_array, primals)) else np.zeros
    found: list[Any] = []
    for position, spec in wanted:
        if position in parts:
            part, name = parts[position]
            found.append(direction(part, spec, shapes[position], name, "the result"))
        elif isinstance(spec, ScalarSpec):
            found.append(0.0)
        else:
            hidden = pullback.guarded[position - len(shapes)] if position not in shapes else None
            shape = shapes[position] if hidden is None else shape_of(primals[hidden])
            found.append(zeros(shape, DTYPES[spec.element]))
    return found


def _parts(tree: OutputTree, given: Any, name: str) -> list[tuple[OutputLeaf, Any, str]]:
    try:
        return list(flatten(tree, given, name))
    except ValueError as error:
        raise AdgenError("AD150", str(error), help=f"give the {name} the structure of what it belongs to") from None


def direction(given: Any, spec: ScalarSpec | ArraySpec, shape: tuple[int, ...], name: str, owner: str) -> Any:
    """One tangent or cotangent, with the dtype and the shape of its owner."""
    if is_device_array(given):
        return _on_device(given, spec, shape, name, owner)
    try:
        array = np.asarray(given)
    except ValueError:
        array = np.asarray(given, dtype=object)
    if array.dtype.kind not in REAL_KINDS:
        raise AdgenError("AD151", f"{name} has dtype {array.dtype}, and must be real numbers", help="pass floats")
    _check_shape(array.shape, shape, name, owner)
    return canonical(array, spec)


def _on_device(given: Any, spec: ScalarSpec | ArraySpec, shape: tuple[int, ...], name: str, owner: str) -> Any:
    """A direction that stays where it is."""
    dtype, own = form_of(given, name)
    _check_shape(own, shape, name, owner)
    if isinstance(spec, ScalarSpec):
        help = f"fetch it once, which waits for it: {name}.item()"
        raise AdgenError("AD152", f"{name} is on a device, and {owner} is passed by value", help=help)
    if dtype != DTYPES[spec.element]:
        wanted = f"convert it to {DTYPES[spec.element]}"
        raise AdgenError("AD151", f"{name} has dtype {dtype}, and {owner} has {DTYPES[spec.element]}", help=wanted)
    return given


def _check_shape(shape: tuple[int, ...], wanted: tuple[int, ...], name: str, owner: str) -> None:
    if shape != wanted:
        raise AdgenError(
            "AD152",
            f"{name} has shape {shape}, but {owner} has shape {wanted}",
            help=f"pass an array of shape {wanted}" if wanted else "pass a number",
        )


def units(shape: tuple[int, ...], element: Scalar) -> Iterator[tuple[tuple[int, ...], Any]]:
    """Every index of a shape, with the direction that is one there and zero elsewhere.

    The same memory is used for all of them.
    """
    if not shape:
        yield (), 1.0
        return
    seed = np.zeros(shape, DTYPES[element])
    for index in np.ndindex(shape):
        seed[index] = 1.0
        yield index, seed
        seed[index] = 0.0
