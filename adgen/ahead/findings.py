"""What is found out about one function: operation counts, workspace, and whether its derivatives are right."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from adgen.ahead import checks
from adgen.ahead.report import CheckReport, EntryReport, FunctionReport
from adgen.ahead.units import Subject, Unit, unit_of
from adgen.driver import program
from adgen.emit import Emitted, Interface, emit
from adgen.frontend.specs import ArraySpec, Spec, bound
from adgen.passes.linear import NotLinear
from adgen.passes.matrices import ROW_COST
from adgen.runtime.calls import Entry
from adgen.runtime.samples import sample
from adgen.toolchain import build, load


@dataclass(frozen=True)
class Measured:
    """Inputs on which a function gives finite numbers, or None, and the operations of each product there."""

    arguments: Mapping[str, Any] | None
    operations: Mapping[str, int | None]

    def note(self, product: str) -> str:
        """A line about a product's operations, or nothing."""
        count, base = self.operations.get(product), self.operations.get("value")
        if count is None or self.arguments is None:
            return ""
        ratio = f", {count / base:.1f} times the function's" if base and product != "value" else ""
        shapes = ", ".join(f"{name} {shape}" for name, shape in shapes_of(self.arguments).items())
        return f"operations: {count}{ratio}" + (f" (at {shapes})" if shapes else "")


CHOICE = f"jacobian: by forward mode where there are at most {ROW_COST} inputs for each result, else by reverse mode"


def measured(subject: Subject) -> Measured:
    """Sample inputs, and count."""
    arguments = sample(subject.function, subject.specs)
    if arguments is None:
        return Measured(None, {})
    counts = {product: checks.operations(subject, product, arguments) for product in subject.units}
    return Measured(arguments, counts)


def notes(subject: Subject, found: Measured) -> dict[str, str]:
    """The lines for the comments above a subject's C functions."""
    return {unit.optimised.name: found.note(product) for product, unit in subject.units.items()}


def findings(
    subject: Subject, found: Measured, emitted: Emitted, library: Path, check: bool, prove: bool = False
) -> FunctionReport:
    """The report on a function whose entry points are in a library; `prove` compares formulas with sympy's too, and
    looks at each derivative rule of the user's alone."""
    remarks = list(subject.remarks)
    reports: list[CheckReport] = []
    remarks += [CHOICE] if "jacobian" in subject.units else []
    if found.arguments is None:
        remarks.append("not checked: no inputs were found on which the function gives finite numbers")
    elif check:
        reports = checks.checked(subject, _entries(subject, emitted, library), found.arguments)
        if prove or not all(report.passed for report in reports):
            from adgen.ahead.at_kinks import nearby, remarks_on

            remarks += remarks_on(nearby(subject, found.arguments))
        if prove and subject.wrt is not None:
            from adgen.ahead.formulas import proofs
            from adgen.ahead.rule_checks import rule_checks

            reports += proofs(subject, found.arguments)
            alone, unknown = rule_checks(subject, found.arguments)
            reports += alone
            remarks += unknown
    return FunctionReport(
        name=subject.name,
        parameters={name: str(spec) for name, spec in subject.specs.items()},
        inferred=subject.inferred,
        wrt=subject.wrt.names if subject.wrt else (),
        samples={} if found.arguments is None else shapes_of(found.arguments),
        entries=tuple(_entry(subject, name, emitted, found) for name in subject.entries),
        checks=tuple(reports),
        remarks=tuple(remarks),
    )


def _entries(subject: Subject, emitted: Emitted, library: Path) -> dict[str, Entry]:
    """The compiled entry points by product; those that only the check needs come from a library of their own."""
    found = {product: _loaded(subject, unit, emitted, library) for product, unit in subject.units.items()}
    wanted = [product for product in checks.needed(subject) if product not in found]
    if wanted:
        units = [unit for product in wanted if (unit := _possible(subject, product)) is not None]
        extra = emit([unit.optimised for unit in units], f"{subject.name}_check")
        built = build(extra)
        found.update({unit.product: _loaded(subject, unit, extra, built) for unit in units})
    return found


def _possible(subject: Subject, product: str) -> Unit | None:
    """A product for the check; None for the forward mode of a function that has none."""
    try:
        return unit_of(subject.primal, subject.wrt, product)
    except NotLinear:
        if product == "jvp":
            return None
        raise


def _loaded(subject: Subject, unit: Unit, emitted: Emitted, library: Path) -> Entry:
    described = program(subject.primal, unit.wrt, unit.derived, unit.optimised, emitted)
    return Entry(described, load(library), getattr(subject.function, "__globals__", {}))


def _entry(subject: Subject, name: str, emitted: Emitted, found: Measured) -> EntryReport:
    product, parts = subject.entries[name]
    interface = emitted.interfaces[subject.units[parts[-1]].optimised.name]
    return EntryReport(name, product, found.operations.get(parts[-1]), formula_of(interface, subject.specs))


def formula_of(interface: Interface, specs: Mapping[str, Spec]) -> str:
    """The workspace of an entry point as a formula in the user's names."""
    formula = renamed(interface.workspace, specs)
    if not interface.grows:
        return formula
    return "heap memory that grows" if formula == "0" else f"{formula} and heap memory that grows"


def renamed(text: str, specs: Mapping[str, Spec]) -> str:
    """A formula in extents such as `A_n0`, in the names that the user gave them, as in `A: f64[n]`."""
    for name, spec in specs.items():
        if isinstance(spec, ArraySpec):
            for axis, extent in enumerate(spec.extents):
                if bound(extent):
                    text = re.sub(rf"\b{re.escape(name)}_n{axis}\b", str(extent), text)
    return text


def shapes_of(arguments: Mapping[str, Any]) -> dict[str, str]:
    """The shapes of arrays and the values of integers, as text."""
    return {
        name: "x".join(map(str, np.shape(value))) if isinstance(value, np.ndarray) else str(value)
        for name, value in arguments.items()
        if isinstance(value, np.ndarray) or type(value) is int
    }
