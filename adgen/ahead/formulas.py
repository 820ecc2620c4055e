"""Formulas of a user's function: as LaTeX, and as a check of its derivatives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from adgen.ahead.report import CheckReport
from adgen.ahead.units import Subject, Unit, unit_of
from adgen.diagnostics import AdgenError
from adgen.frontend.specs import output_leaves
from adgen.operators.checking import tangents_of
from adgen.runtime.convert import leaf_value
from adgen.runtime.differentiate import differentiated
from adgen.runtime.programs import COTANGENT, TANGENT
from adgen.symbolic.formulas import Formulas, formulas
from adgen.symbolic.latex import latex
from adgen.symbolic.proof import TOLERANCE, Equality, by_unit, compare, is_straight, partial

NAME = "as sympy"


def latex_text(subject: Subject) -> str:
    """A function and its derivatives as LaTeX.  Raises AdgenError when it has no formula."""
    found = formulas(unit_of(subject.primal, None, "pure").optimised)
    leaves = subject.primal.leaves
    places = differentiated(leaves, subject.wrt) if subject.wrt else ()
    symbols = list(found.parameters)
    return latex(found, subject.name, [symbols[position] for position in places])


def proofs(subject: Subject, arguments: Mapping[str, Any]) -> list[CheckReport]:
    """Whether both modes give what sympy's differentiation of the function's formula gives.

    Nothing for a function that is not straight-line code on numbers.
    """
    assert subject.wrt is not None
    try:
        primal = formulas(unit_of(subject.primal, None, "pure").optimised)
        if not is_straight(primal):
            return []
        return [_proof(subject, primal, product, arguments) for product in ("jvp", "vjp")]
    except AdgenError:  # what has no formula is checked in other ways
        return []


def _proof(subject: Subject, primal: Formulas, product: str, arguments: Mapping[str, Any]) -> CheckReport:
    """One mode: the derivative's formulas against those of the function's formulas."""
    unit = subject.units.get(product) or unit_of(subject.primal, subject.wrt, product)
    derived = formulas(unit.optimised, generic=True)
    symbols = dict(zip((leaf.path for leaf in unit.derived.leaves), derived.parameters.values()))
    leaves, own = subject.primal.leaves, list(primal.parameters.values())
    renamed = {symbol: symbols[leaf.path] for symbol, leaf in zip(own, leaves)}
    assert subject.wrt is not None
    places = list(differentiated(leaves, subject.wrt))
    results = [(leaf.index, primal.results[leaf.index]) for leaf in _floats(unit_of(subject.primal, None, "pure"))]

    def slope(result: Any, place: int) -> Any:
        return partial(result, own[place]).xreplace(renamed)

    forward = product == "jvp"
    parts = output_leaves(tangents_of(unit.derived.output) if forward else unit.derived.output)
    given = [derived.results[leaf.index] for leaf in parts]
    if forward:
        seeds = [symbols[_below(TANGENT, leaves[place].path)] for place in places]
        wanted = [slope(result, place) for place in places for _, result in results]
    else:
        seeds = [symbols[(COTANGENT, index)] for index, _ in results]
        wanted = [slope(result, place) for _, result in results for place in places]
    found = by_unit(given, seeds)
    ranges = {}
    for leaf, symbol in zip(leaves, own):
        value = float(leaf_value(arguments, leaf.path))
        ranges[renamed[symbol]] = (0.9 * value, 1.1 * value)
    return _report(product, compare(found, wanted, ranges))


def _below(kind: Any, path: tuple[Any, ...]) -> tuple[Any, ...]:
    return (kind, *path)


def _floats(unit: Unit) -> list[Any]:
    return [leaf for leaf in output_leaves(unit.derived.output) if leaf.element.is_float]


def _report(product: str, found: Equality) -> CheckReport:
    remark = "proved" if found.proved else f"at {found.points} points, not proved"
    return CheckReport(NAME, product, found.difference, TOLERANCE, found.difference <= TOLERANCE, remark)
