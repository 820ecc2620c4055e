"""Every derivative rule of the user's against its own function, alone.

Comes in: a function and arguments.  Goes out: a report for each rule of a function that it calls.  Guaranteed: a rule
is looked at where the function calls it, entry by entry, so no error is too small beside the rest of the function, nor
hidden by what is done with the result.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from adgen.ahead.report import CheckReport
from adgen.ahead.units import Subject
from adgen.diagnostics import AdgenError
from adgen.frontend.foreign import Primitive
from adgen.frontend.rules import Rules, of_library, rules_of, watched
from adgen.frontend.specs import Ruled
from adgen.operators.checking import problem_at
from adgen.operators.core import Operator
from adgen.operators.products import pulled
from adgen.runtime.checks import DIFFERENCE_TOLERANCE, TRUST, Problem, Vector, richardson
from adgen.runtime.convert import path_text
from adgen.runtime.pullback import leaves_of
from adgen.runtime.samples import apply, sample
from adgen.runtime.trees import flatten

Arguments = Mapping[str, Any]
Function = Callable[..., Any]
CALLS = 3  # of each function: the first, the last, one in between
ENTRIES = 16  # rows, and columns, of a Jacobian that are looked at
SINGLE_TOLERANCE = 1e-2
NOISE = 1e-10  # of the function's value: what differences cannot see
TINY = 1e-300  # so that what is exact may be divided by what is allowed


def rule_checks(subject: Subject, arguments: Arguments) -> tuple[list[CheckReport], list[str]]:
    """A report for each rule, and remarks on those that could not be looked at."""
    called = calls(subject.function, arguments)
    reports: dict[tuple[str, str], CheckReport] = {}
    remarks: dict[str, str] = {}
    for ruled in subject.primal.ruled:
        rules = rules_of(ruled.callee)
        if rules is None or of_library(rules):
            continue
        rule, kind = rule_of(rules)
        name = f"rule {titled(rule)}"
        given = called.get(ruled.callee) or sampled(ruled)
        try:
            found = [entry for each in given for entry in worst(ruled.callee, kind, each)]
        except AdgenError as error:
            remarks[name] = f"{name} of `{ruled.callee.__name__}` not checked alone: {error.message}"
            continue
        if not found:
            remarks[name] = f"{name} of `{ruled.callee.__name__}` not checked alone: no inputs were found"
            continue
        wrong = max(found, key=lambda entry: entry.error / entry.allowed)
        key = (name, ruled.callee.__name__)
        if key not in reports or reports[key].passed:
            reports[key] = wrong.report(name, f"`{ruled.callee.__name__}` {kind}")
    return list(reports.values()), list(remarks.values())


def rule_of(rules: Rules) -> tuple[Function, str]:
    """The function of a rule, and its kind."""
    rule, kind = (rules.vjp, "vjp") if rules.vjp is not None else (rules.jvp, "jvp")
    assert rule is not None
    return inspect.unwrap(rule), kind


def titled(rule: Any) -> str:
    """The name of a rule and where it is."""
    if isinstance(rule, Primitive):
        return f"`{rule.function.name}` (in C)"
    return f"`{rule.__name__}` ({Path(rule.__code__.co_filename).name}:{rule.__code__.co_firstlineno})"


def calls(function: Function, arguments: Arguments) -> dict[Function, list[dict[str, Any]]]:
    """The arguments of some calls that a function makes of each function with rules."""
    found: dict[Function, list[dict[str, Any]]] = {}

    def watch(callee: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        rules = rules_of(callee)
        if rules is None or of_library(rules):
            return
        bound = inspect.signature(callee).bind(*args, **kwargs)
        bound.apply_defaults()
        known = found.setdefault(callee, [])
        del known[CALLS - 1 :]  # the last one makes room
        known.append(copy.deepcopy(dict(bound.arguments)))

    with watched(watch), np.errstate(all="ignore"):
        apply(function, copy.deepcopy(dict(arguments)))
    return found


def sampled(ruled: Ruled) -> list[dict[str, Any]]:
    """Arguments for a function that only compiled code calls."""
    found = sample(ruled.callee, ruled.specs)
    return [] if found is None else [found]


@dataclass(frozen=True)
class Entry:
    """An entry of a Jacobian: the largest error that was found, as a rule and as differences give it."""

    result: str
    parameter: str
    got: float
    wanted: float
    allowed: float

    @property
    def error(self) -> float:
        """By how much they differ."""
        error = abs(self.got - self.wanted)
        return error if error == error else float("inf")

    def report(self, name: str, product: str) -> CheckReport:
        """What the check says."""
        passed = self.error <= self.allowed
        remark = f"d {self.result} / d {self.parameter} is {self.got:.9g}, differences give {self.wanted:.9g}"
        return CheckReport(name, product, self.error, self.allowed, passed, "" if passed else remark)


def worst(callee: Function, kind: str, arguments: Arguments) -> list[Entry]:
    """The entry of the Jacobian that is furthest from what differences allow; none where nothing has a derivative.

    Raises AdgenError where the rule cannot be compiled.
    """
    operator = Operator(callee, "jvp")
    bound = operator.arguments((), arguments)
    pullback = pulled(operator, bound)
    problem = problem_at(callee, bound, operator.entry_at(bound, "jvp") if kind == "jvp" else None, pullback)
    primals, program = leaves_of(pullback.entry, bound), pullback.entry.program
    parameters = [
        name
        for position in program.differentiated
        for name in elements(path_text(program.leaves[position].path), np.shape(primals[position]))
    ]
    results = [
        name
        for leaf, part, title in flatten(pullback.primal.program.output, pullback.value, "result")
        if leaf.element.is_float
        for name in elements(title, np.shape(part))
    ]
    rng = np.random.default_rng(0)
    rows, columns = picked(len(results), rng), picked(problem.point.size, rng)
    jacobian = by_rule(problem, kind, rows, columns)
    found = [
        judged(problem, row, column, float(jacobian[i, j]), results[row], parameters[column])
        for i, row in enumerate(rows)
        for j, column in enumerate(columns)
    ]
    known = [entry for entry in found if np.isfinite(entry.wanted)]  # no difference can be taken at an end of a domain
    return [max(known, key=lambda entry: entry.error / entry.allowed)] if known else []


def elements(name: str, shape: tuple[int, ...]) -> list[str]:
    """The names of the elements of an array, or of a number."""
    return [f"{name}[{', '.join(map(str, index))}]" for index in np.ndindex(shape)] if shape else [name]


def picked(size: int, rng: np.random.Generator) -> Sequence[int]:
    """All of some places, or a few of many."""
    return range(size) if size <= ENTRIES else sorted(map(int, rng.choice(size, ENTRIES, replace=False)))


def unit(size: int, place: int) -> Vector:
    """A direction along one axis."""
    direction = np.zeros(size)
    direction[place] = 1.0
    return direction


def by_rule(problem: Problem, kind: str, rows: Sequence[int], columns: Sequence[int]) -> Vector:
    """Some rows and columns of the Jacobian, in the mode that the rule is for."""
    if kind == "vjp":
        height = problem.python(problem.point).size
        return np.array([problem.pull(unit(height, row))[list(columns)] for row in rows])
    pushed: Vector = np.array([problem.push(unit(problem.point.size, column))[list(rows)] for column in columns])
    columnwise: Vector = pushed.T
    return columnwise


def judged(problem: Problem, row: int, column: int, got: float, result: str, parameter: str) -> Entry:
    """One entry against differences of this result alone."""
    alone = replace(problem, python=lambda point: problem.python(point)[row : row + 1])
    (wanted,), estimate = richardson(alone, unit(problem.point.size, column))
    tolerance = SINGLE_TOLERANCE if problem.single else DIFFERENCE_TOLERANCE
    size = max(abs(float(problem.point[column])), 0.1)
    noise = (SINGLE_TOLERANCE if problem.single else NOISE) * abs(float(alone.python(problem.point)[0])) / size
    unsure = TRUST * estimate * abs(wanted) if np.isfinite(estimate) else 0.0
    allowed = tolerance * max(abs(got), abs(wanted)) + unsure + noise + TINY
    return Entry(result, parameter, got, float(wanted), allowed)
