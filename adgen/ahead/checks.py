"""Checking the entry points of a package on sampled inputs, and counting their operations there.

Comes in: a subject and its compiled entry points.  Goes out: reports.  Guaranteed: what is checked is the code that the
package holds; oracles are the Python function and the other mode, never adgen's own rules.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from adgen.ahead.report import CheckReport
from adgen.ahead.units import Subject, untapped
from adgen.frontend.specs import OutputTree
from adgen.ir.interpret import ProgramError, run
from adgen.operators.checking import joined, parameters_of, problem_at, split
from adgen.passes.localise import localise
from adgen.runtime.calls import Entry
from adgen.runtime.checks import Layer, Problem, Vector, check, relative
from adgen.runtime.convert import canonical, leaf_value
from adgen.runtime.programs import COTANGENT, MATRICES, TANGENT
from adgen.runtime.pullback import Pullback, leaves_of
from adgen.runtime.samples import apply
from adgen.runtime.trees import flatten

VALUE_TOLERANCE = 1e-10
SAME_TOLERANCE = 1e-12
SINGLE_FACTOR = 1e7

Arguments = Mapping[str, Any]


def needed(subject: Subject) -> tuple[str, ...]:
    """The products that the checks of a function call, whether they are in the package or not."""
    if subject.wrt is None or untapped(subject.primal, subject.wrt) is None:
        return ("pure",)
    second = ("grad", "hvp") if {"hvp", "hessian"} & set(subject.units) else ()
    return ("pure", "jvp", "vjp", *second)


def checked(subject: Subject, entries: Mapping[str, Entry], arguments: Arguments) -> list[CheckReport]:
    """All checks of a function's entry points; `entries` are by product and hold at least what is `needed`.

    There is no `jvp` where a rule has no forward mode.
    """
    reports = values(subject, entries, arguments)
    if "jvp" not in needed(subject):
        return reports
    primals = leaves_of(entries["pure"], arguments)
    pullback = Pullback(entries["pure"], entries["vjp"], entries["pure"].raw(*primals), primals)
    problem = problem_at(subject.function, arguments, entries.get("jvp"), pullback)
    modes = "jvp, vjp" if "jvp" in entries else "vjp"
    reports += [_report(modes, layer) for layer in check(problem)]
    for product in ("grad", "value_and_grad"):
        if product in entries:
            result = entries[product].raw(*primals)
            gradient = _vector(entries["vjp"], result[1] if product == "value_and_grad" else result)
            tolerance = SAME_TOLERANCE * _factor(problem)
            error = relative(gradient, problem.pull(np.ones(1)), problem.least(tolerance))
            reports.append(_report(product, Layer("as the pullback", error, tolerance)))
    curved = second_order(entries, primals, problem) if "hvp" in entries else None
    if curved is not None:
        reports += [_report("hvp", layer) for layer in check(curved)]
    for product in MATRICES:
        if product in entries:
            reports.append(_matrix(product, entries[product], primals, curved if product == "hessian" else problem))
    return reports


def _matrix(product: str, entry: Entry, primals: Sequence[Any], problem: Problem | None) -> CheckReport:
    """Whether a matrix times a direction is the product with that direction."""
    assert problem is not None
    direction: Vector = np.array(np.random.default_rng(0).normal(size=problem.point.shape))
    inputs = [primals[position] for position in entry.program.differentiated]
    parts = split(direction, inputs)
    blocks = [np.asarray(block) for _, block, _ in flatten(entry.program.output, entry.raw(*primals), product)]
    rows = [blocks[first : first + len(inputs)] for first in range(0, len(blocks), len(inputs))]
    got = joined(sum(np.tensordot(b, v, np.ndim(v)) for b, v in zip(row, parts, strict=True)) for row in rows)
    tolerance = SAME_TOLERANCE * _factor(problem)
    layer = Layer("as one product", relative(got, problem.push(direction), problem.least(tolerance)), tolerance)
    return _report(product, layer)


def values(subject: Subject, entries: Mapping[str, Entry], arguments: Arguments) -> list[CheckReport]:
    """The value that each entry point gives against the Python function's, writes into arguments included."""
    pure = entries["pure"].program
    changed = copy.deepcopy(dict(arguments))
    with np.errstate(all="ignore"):
        expected = apply(subject.function, changed)
    written = [leaf_value(changed, pure.leaves[position].path) for position in pure.guarded]
    alone = expected is None and bool(written)  # then what was written is the value for derivatives
    value = joined(_parts(pure.output, (written[0] if len(written) == 1 else written) if alone else expected))
    single = not {"f32", "c64"}.isdisjoint(str(leaf.spec.element) for leaf in pure.leaves)
    tolerance = VALUE_TOLERANCE * (SINGLE_FACTOR if single else 1.0)
    reports = []
    for product, entry in entries.items():
        if product == "value":
            own = copy.deepcopy(dict(arguments))
            parts = _parts(entry.program.output, entry(own))
            got = joined([*parts, *(leaf_value(own, pure.leaves[position].path) for position in pure.guarded)])
            wanted = joined([*_parts(entry.program.output, expected), *written])
        elif product in ("pure", "value_and_grad"):
            result = entry.raw(*leaves_of(entry, arguments))
            got, wanted = joined(_parts(pure.output, result[0] if product == "value_and_grad" else result)), value
        else:
            continue
        named = "vjp" if product == "pure" else product
        reports.append(_report(named, Layer("as in Python", relative(got, wanted), tolerance)))
    return reports


def _parts(output: OutputTree, value: Any) -> list[Any]:
    return [part for _, part, _ in flatten(output, value, "value")]


def second_order(entries: Mapping[str, Entry], primals: Sequence[Any], first: Problem) -> Problem:
    """The gradient as a function whose derivative is `hvp`, in both modes as a Hessian is symmetric."""
    grad, hvp = entries["grad"], entries["hvp"]
    places = grad.program.differentiated
    inputs = [primals[position] for position in places]

    def gradient(point: Vector) -> Vector:
        if np.iscomplexobj(point):
            raise TypeError("compiled code takes real numbers")
        moved = list(primals)
        for position, part in zip(places, split(point, inputs), strict=True):
            moved[position] = part
        return _vector(grad, grad.raw(*moved))

    def product(tangent: Vector) -> Vector:
        return _vector(hvp, hvp.raw(*primals, *split(tangent, inputs)))

    return Problem(first.point, gradient, product, product, first.single)


def _vector(entry: Entry, gradient: Any) -> Vector:
    return parameters_of(entry.program, gradient)


def _factor(problem: Problem) -> float:
    return SINGLE_FACTOR if problem.single else 1.0


def _report(product: str, layer: Layer) -> CheckReport:
    return CheckReport(layer.name, product, float(layer.error), layer.tolerance, layer.passed, layer.remark)


def operations(subject: Subject, product: str, arguments: Arguments) -> int | None:
    """How many floating-point operations one call of a product executes, counted by the interpreter."""
    values = [canonical(leaf_value(arguments, leaf.path), leaf.spec) for leaf in subject.primal.leaves]
    try:
        given = [*copy.deepcopy(values), *seeds(subject, product, values)]
        return run(subject.units[product].optimised, given).counts.operations
    except ProgramError:
        return None


def seeds(subject: Subject, product: str, values: Sequence[Any]) -> list[Any]:
    """Ones for the tangents or cotangents that a product takes besides the leaves of the arguments.

    Raises ProgramError when the function does.
    """
    leaves = subject.units[product].derived.leaves
    own = subject.primal.leaves
    shapes: dict[tuple[Any, ...], tuple[int, ...]] = {
        (TANGENT, *leaf.path): np.shape(value) for leaf, value in zip(own, values, strict=True)
    }
    if product == "vjp":
        results = run(localise(subject.primal.function), copy.deepcopy(list(values))).results
        shapes |= {(COTANGENT, position): np.shape(result) for position, result in enumerate(results)}
    return [canonical(np.ones(shapes[leaf.path]), leaf.spec) for leaf in leaves[len(own) :]]
