"""Checks at inputs where the function has no derivative: what differences prove there is nothing.

Comes in: a subject and the inputs of its check.  Goes out: the kinks that these are at, and remarks that name them.
Guaranteed: no check is taken back, as a wrong derivative may be at a kink too.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

from adgen.ahead.units import Subject, untapped
from adgen.diagnostics import AdgenError
from adgen.driver import lower_function
from adgen.frontend.specs import OutputConstant, OutputStruct
from adgen.ir.interpret import ProgramError, run
from adgen.operators.kink_report import Kink, records
from adgen.runtime.convert import canonical, leaf_value
from adgen.runtime.differentiate import differentiate

TOLERANCE = 1e-8
AT_A_KINK = "at a kink"  # what the remarks begin with


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


def remarks_on(kinks: Sequence[Kink]) -> list[str]:
    """What a report says of them."""
    return [f"{AT_A_KINK}, line {kink.line}: {kink.text}" for kink in kinks]
