"""Derivatives of straight-line code in closed form, where that takes fewer operations.

Comes in: a product of a function as the passes made it.  Goes out: the same product made of formulas that sympy has
differentiated and simplified, or the one that came in; and a line for the report.  Guaranteed: the one with fewer
operations, and of formulas only what agrees with the passes at random points.  At singular points (an infinite partial
times zero) the two may differ: a formula may be finite there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from adgen.ahead.units import Unit
from adgen.diagnostics import AdgenError
from adgen.driver import lower_function
from adgen.frontend.specs import Lowered, OutputLeaf, OutputStruct, ScalarSpec
from adgen.ir.builder import Builder
from adgen.ir.interpret import ProgramError, run
from adgen.ir.nodes import Function, Value, walk
from adgen.ir.types import F64
from adgen.passes.custom import inlined
from adgen.passes.pipeline import optimise
from adgen.runtime.differentiate import differentiated
from adgen.symbolic.closed import ORDERS, forms, kinked
from adgen.symbolic.formulas import formulas
from adgen.symbolic.functions import function_of
from adgen.symbolic.proof import is_straight

POINTS = 20
RANGE = (0.2, 1.7)
AGREEMENT = 1e-11


def closed(primal: Lowered, pure: Unit, unit: Unit) -> tuple[Unit, str]:
    """The product with fewer operations, and what was chosen; nothing is said where there is no formula."""
    if unit.product not in ORDERS or unit.wrt is None or not _is_plain(primal):
        return unit, ""
    try:
        found = formulas(pure.optimised)
        if not is_straight(found) or any(kinked(result) for result in found.results):
            return unit, ""
        symbols = list(found.parameters.values())
        chosen = [symbols[k] for k in differentiated(primal.leaves, unit.wrt)]
        wanted = ORDERS[unit.product](found.results[0], chosen)
        candidates = [_compiled(texts, symbols, unit) for texts in forms(wanted)]
    except AdgenError:
        return unit, ""
    before = cost(unit.optimised)
    best = min(candidates, key=lambda each: cost(each.optimised))
    after = cost(best.optimised)
    if after >= before or not _agree(best.optimised, unit.optimised):
        return unit, f"{unit.product}: closed forms take {after} operations, and are not taken instead of {before}"
    return best, f"{unit.product}: in closed form, {after} operations instead of {before}"


def _is_plain(primal: Lowered) -> bool:
    """True for a function of numbers in double precision that gives one."""
    own = [leaf.spec for leaf in primal.leaves]
    results = [value.type for value in primal.function.results]
    return all(isinstance(spec, ScalarSpec) and spec.element == F64 for spec in own) and results == [F64]


def _compiled(wanted: Sequence[Any], symbols: Sequence[Any], unit: Unit) -> Unit:
    """The product from formulas, with the parameters, results and names of the one that is there."""
    derived = unit.derived.function
    python = function_of(tuple(wanted), symbols, "closed", "__main__")
    lowered = lower_function(python, {symbol.name: ScalarSpec(F64) for symbol in symbols})
    assert isinstance(lowered.output, OutputStruct)
    builder = Builder()
    with builder.block([Value(own.type, own.name) for own in derived.parameters]) as block:
        results = inlined(builder, lowered.function, block.arguments)
        block.results = tuple(
            results[item.index] if isinstance(item, OutputLeaf) else builder.const(float(item.value))
            for _, item in lowered.output.items
            if not isinstance(item, OutputStruct)
        )
    made = replace(derived, body=block.region(), callees=lowered.function.callees)
    return replace(unit, derived=replace(unit.derived, function=made), optimised=optimise(made))


def cost(function: Function) -> int:
    """The floating-point operations of straight-line code."""
    return sum(operation.row.cost for operation in walk(function.body))


def _agree(one: Function, other: Function) -> bool:
    """True when both give the same at random points, where they are finite."""
    random, seen = np.random.default_rng(0), 0
    for _ in range(POINTS):
        point = list(random.uniform(*RANGE, len(one.parameters)))
        try:
            a, b = (np.asarray(run(function, point).results, float) for function in (one, other))
        except ProgramError:
            continue
        if np.isfinite(b).all():
            seen += 1
            if not np.allclose(a, b, rtol=AGREEMENT, atol=AGREEMENT * max(1.0, np.abs(b).max(initial=0.0))):
                return False
    return seen > 0
