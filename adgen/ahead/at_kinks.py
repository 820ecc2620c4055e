"""Checks at inputs where the function has no derivative: what differences say there is no fault of a derivative.

Comes in: a subject, the inputs of its check, its checks.  Goes out: the checks that say something, and remarks that
name the kinks.  Guaranteed: only checks against differences and complex steps are taken back; the two modes are always
compared with each other.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

from adgen.ahead.report import CheckReport
from adgen.ahead.units import Subject, untapped
from adgen.diagnostics import AdgenError
from adgen.driver import lower_function
from adgen.frontend.specs import OutputConstant, OutputStruct
from adgen.ir.interpret import ProgramError, run
from adgen.operators.kink_report import Kink, records
from adgen.runtime.convert import canonical, leaf_value
from adgen.runtime.differentiate import differentiate

TOLERANCE = 1e-8
ORACLES = ("complex step", "differences")


def nearby(subject: Subject, arguments: Mapping[str, Any]) -> list[Kink]:
    """The kinks that the arguments are at; none where they cannot be known."""
    wrt = untapped(subject.primal, subject.wrt) if subject.wrt else None
    if wrt is None:
        return []
    try:
        lowered = lower_function(subject.function, subject.specs, kinks=True)
        told = differentiate(lowered, "kinks", wrt)
        values = [canonical(leaf_value(arguments, leaf.path), leaf.spec) for leaf in lowered.leaves]
        found = run(told.function, [*copy.deepcopy(values), TOLERANCE]).results
    except (AdgenError, ProgramError):
        return []
    assert isinstance(told.output, OutputStruct)
    sites = told.output.items[-1][1]
    assert isinstance(sites, OutputConstant)
    return records(sites.value, found)


def sifted(checks: Sequence[CheckReport], kinks: Sequence[Kink]) -> tuple[list[CheckReport], list[str]]:
    """The checks without those that fail because of a kink, and remarks."""
    if not kinks:
        return list(checks), []
    remarks = [f"at a kink, line {kink.line}: {kink.text}" for kink in kinks]
    failed = [check for check in checks if not check.passed and check.name in ORACLES]
    remarks += [
        f"so nothing is said by {check.product}: {check.name}, which is off by {check.error:.1e}" for check in failed
    ]
    return [check for check in checks if check not in failed], remarks
