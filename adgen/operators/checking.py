"""Checking derivatives against the Python function: `gradcheck`, and all layers for the command line."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from adgen.diagnostics import AdgenError
from adgen.frontend.specs import OutputLeaf, OutputTree, output_leaves
from adgen.ir.types import F32
from adgen.operators.core import Operator
from adgen.operators.kink_report import kinks_operator
from adgen.operators.products import pulled
from adgen.runtime.calls import Entry
from adgen.runtime.checks import Layer, Problem, Vector, check
from adgen.runtime.convert import leaf_value
from adgen.runtime.programs import COTANGENT, Program
from adgen.runtime.pullback import Pullback, leaves_of
from adgen.runtime.samples import apply
from adgen.runtime.trees import flatten

Function = Callable[..., Any]


def check_function(function: Function, arguments: Mapping[str, Any], wrt: Any = None, seed: int = 0) -> list[Layer]:
    """All layers of the check of a function's derivatives at some arguments, given by parameter name."""
    return check(problem_of(function, arguments, wrt), seed)


def problem_of(function: Function, arguments: Mapping[str, Any], wrt: Any = None) -> Problem:
    """The function and its compiled products as functions of one vector."""
    operator = Operator(function, "jvp", wrt)
    arguments = operator.arguments((), arguments)
    pullback = pulled(operator, arguments)
    entry = operator.entry_at(arguments, "jvp")
    return problem_at(operator.target.function, arguments, entry, pullback)


def problem_at(function: Function, arguments: Mapping[str, Any], entry: Entry | None, pullback: Pullback) -> Problem:
    """The same from a `jvp` entry and a pullback at these arguments; without the first the pullback does for both."""
    program, output = (entry or pullback.entry).program, pullback.primal.program.output
    primals = leaves_of(entry or pullback.entry, arguments)
    inputs = [primals[position] for position in program.differentiated]
    paths = [program.leaves[position].path for position in program.differentiated]
    places = [leaf.path[1] for leaf in pullback.entry.program.leaves if leaf.path[0] == COTANGENT]
    floats = [leaf for leaf in output_leaves(output) if leaf.element.is_float]

    def python(point: Vector) -> Vector:
        changed = replaced(arguments, paths, split(point, inputs))
        result = apply(function, changed)
        if result is None and program.guarded:
            written = [leaf_value(changed, program.leaves[position].path) for position in program.guarded]
            result = written[0] if isinstance(output, OutputLeaf) else written
        return joined(part for leaf, part, _ in flatten(output, result, "value") if leaf.element.is_float)

    def push(tangent: Vector) -> Vector:
        if entry is None:
            return np.array([pull(row) @ tangent for row in np.eye(sum(map(np.size, values())))])
        _, result = entry.raw(*primals, *split(tangent, inputs))
        return joined(part for _, part, _ in flatten(tangents_of(program.output), result, "tangent"))

    def values() -> list[Any]:
        return [part for leaf, part, _ in flatten(output, pullback.value, "value") if leaf.element.is_float]

    def pull(cotangent: Vector) -> Vector:
        seeds = pullback.zeros()
        for leaf, part in zip(floats, split(cotangent, values()), strict=True):
            seeds[places.index(leaf.index)] = part
        return parameters_of(pullback.entry.program, pullback.pull(seeds))

    single = any(program.leaves[p].spec.element == F32 for p in program.differentiated)
    single = single or any(leaf.element == F32 for leaf in floats)
    return Problem(joined(inputs), python, push, pull, single)


def parameters_of(program: Program, gradient: Any) -> Vector:
    """A gradient as one vector, without what it has for taps."""
    assert program.directions is not None
    parts = flatten(program.directions, gradient, "gradient")
    return joined(part for leaf, part, _ in parts if leaf.index < len(program.differentiated))


def tangents_of(output: OutputTree) -> OutputTree:
    """The second item of what `jvp` gives."""
    tree: OutputTree = output.items[1][1]  # type: ignore[union-attr]
    return tree


def joined(parts: Any) -> Vector:
    """Numbers and arrays as one vector."""
    arrays = [np.ravel(part) for part in parts]
    return np.concatenate(arrays).astype(np.result_type(float, *arrays)) if arrays else np.zeros(0)


def split(vector: Vector, like: Sequence[Any]) -> list[Any]:
    """A vector as numbers and arrays of the given shapes, and of their dtype unless it is complex."""
    parts, start = [], 0
    for old in like:
        part = vector[start : start + np.size(old)].reshape(np.shape(old))
        start += np.size(old)
        keep = np.iscomplexobj(part) or not np.ndim(old)
        parts.append(part.copy() if keep and np.ndim(old) else part.item() if keep else part.astype(old.dtype))
    return parts


def replaced(arguments: Mapping[str, Any], paths: Sequence[Sequence[Any]], values: Sequence[Any]) -> dict[str, Any]:
    """A deep copy of arguments with some parts replaced."""
    changed: dict[str, Any] = copy.deepcopy(dict(arguments))
    for path, value in zip(paths, values, strict=True):
        changed = _set(changed, path, value)
    return changed


def _set(owner: Any, path: Sequence[Any], value: Any) -> Any:
    """`owner` with the part at `path` replaced; tuples are made anew."""
    if not path:
        return value
    key = path[0]
    if isinstance(owner, tuple):
        position = owner._fields.index(key) if hasattr(owner, "_fields") and isinstance(key, str) else int(key)
        items = [_set(item, path[1:], value) if k == position else item for k, item in enumerate(owner)]
        return owner._make(items) if hasattr(owner, "_make") else tuple(items)
    if isinstance(owner, dict):
        owner[key] = _set(owner[key], path[1:], value)
    elif isinstance(owner, list):
        owner[int(key)] = _set(owner[int(key)], path[1:], value)
    else:
        object.__setattr__(owner, key, _set(getattr(owner, key), path[1:], value))
    return owner


# -- gradcheck ---------------------------------------------------------------------------------------------------


def gradcheck(
    function: Function,
    args: Any,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    nondet_tol: float = 0.0,
    fast: bool = False,
    raise_exception: bool = True,
) -> bool:
    """Compare derivatives with central differences of the Python function, in both modes, as PyTorch's does.

    `args` is the tuple of arguments, or the only one.  An entry is good when `|a - n| <= atol + rtol * |n|`.  `fast`
    compares along one random direction only.  `nondet_tol` is by how much two runs of the same derivative may differ.
    A failure is an AdgenError that names the entry, and the kink that the inputs are at if they are at one, or False
    without `raise_exception`.

    It cannot see a branch that the inputs do not take, and is at a loss for float32.
    """
    arguments = args if isinstance(args, tuple) else (args,)
    operator = Operator(function, "jvp")
    problem = problem_of(function, operator.arguments(arguments, {}))
    columns = [_random(problem.point.size)] if fast else list(np.eye(problem.point.size))
    try:
        for number, column in enumerate(columns):
            _compare(problem, column, None if fast else number, eps, atol, rtol)
        _compare_rows(problem, columns, fast, atol, rtol, nondet_tol)
    except AdgenError as error:
        if raise_exception:
            raise _at_kink(error, operator, arguments, eps).with_traceback(None) from None
        return False
    return True


def _at_kink(error: AdgenError, operator: Operator, arguments: tuple[Any, ...], eps: float) -> AdgenError:
    """The error, which says so where the arguments are at a kink."""
    near = kinks_operator(operator.target.original, None, eps)
    try:
        found = near(*arguments)
    except AdgenError:
        return error
    return AdgenError(error.code, error.message, found[0].span, found[0].text) if found else error


def _random(size: int) -> Vector:
    direction = np.random.default_rng(0).normal(size=size)
    unit: Vector = direction / max(float(np.linalg.norm(direction)), 1e-300)
    return unit


def _compare(problem: Problem, column: Vector, number: int | None, eps: float, atol: float, rtol: float) -> None:
    right, left = problem.python(problem.point + eps * column), problem.python(problem.point - eps * column)
    numerical, analytical = (right - left) / (2.0 * eps), problem.push(column)
    _judge(analytical, numerical, "forward", number, atol, rtol)


def _compare_rows(
    problem: Problem, columns: Sequence[Vector], fast: bool, atol: float, rtol: float, nondet_tol: float
) -> None:
    pushed = np.array([problem.push(column) for column in columns]).T
    rows = [_random(len(pushed))] if fast else list(np.eye(len(pushed)))
    for row in rows:
        pulled_once, pulled_again = problem.pull(row), problem.pull(row)
        if np.any(np.abs(pulled_once - pulled_again) > nondet_tol):
            raise AdgenError("AD160", "two runs of the same derivative differ by more than nondet_tol")
        reverse = np.array([pulled_once @ column for column in columns])
        _judge(reverse, row @ pushed, "reverse", None, atol, rtol)


def _judge(analytical: Vector, numerical: Vector, mode: str, number: int | None, atol: float, rtol: float) -> None:
    bad = ~np.isclose(analytical, numerical, rtol=rtol, atol=atol, equal_nan=True)
    if not bad.any():
        return
    worst = int(np.argmax(np.where(bad, np.abs(analytical - numerical), -1.0)))
    where = f"entry {worst}" if number is None else f"result {worst}, input {number}"
    raise AdgenError(
        "AD161",
        f"the derivative by {mode} mode is wrong at {where}: it is {analytical[worst]:.9g}, "
        f"differences give {numerical[worst]:.9g}",
        help="a kink near the input or a custom rule may be the cause; a fault of adgen's own rules is to be reported",
    )


__all__ = ["Layer", "check_function", "gradcheck", "problem_of"]
