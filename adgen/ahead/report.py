"""What `adgen compile` found out, as data for `report.json` and as text for the terminal."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import adgen
from adgen.toolchain.ptxas import BLOCKS, Usage, blocks_of, resident

PART = ": "
LONG = 160  # a formula that is longer is cut on the terminal
VERSION = adgen.__version__


@dataclass(frozen=True)
class EntryReport:
    """One entry point.  `operations` are floating-point operations of one call on the sampled inputs."""

    name: str
    product: str
    operations: int | None = None
    workspace: str = ""


@dataclass(frozen=True)
class CheckReport:
    """One check of one derivative: the error it found and the most that it allows."""

    name: str
    product: str
    error: float
    tolerance: float
    passed: bool
    remark: str = ""


@dataclass(frozen=True)
class FunctionReport:
    """One function: its parameters by type as text, whether the types were inferred, its entries and checks."""

    name: str
    parameters: Mapping[str, str]
    inferred: tuple[str, ...]
    wrt: tuple[str, ...]
    samples: Mapping[str, str]
    entries: tuple[EntryReport, ...]
    checks: tuple[CheckReport, ...] = ()
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class KernelReport:
    """What one kernel takes on one architecture: registers and bytes of stack and spills of a thread, bytes of shared
    memory of a block; `resident` threads of it fit into a multiprocessor."""

    kernel: str
    architecture: str
    registers: int
    spilled: int
    shared: int
    stack: int
    resident: int


def kernel_report(usage: Usage) -> KernelReport:
    """What nvcc has said, and what follows for the number of threads."""
    block = blocks_of([usage]).get(usage.kernel, BLOCKS[0])
    return KernelReport(**asdict(usage), resident=resident(usage.registers, block))


@dataclass(frozen=True)
class Report:
    """One compile.  `seconds` are by stage, of a part of a stage under `stage: part`; `kernels` are those of nvcc."""

    source: str
    package: str
    compiler: str
    functions: tuple[FunctionReport, ...]
    skipped: Mapping[str, str] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)
    cached: bool = False
    version: str = VERSION
    kernels: tuple[KernelReport, ...] = ()

    @property
    def passed(self) -> bool:
        """True when no check failed."""
        return all(check.passed for function in self.functions for check in function.checks)

    def json(self) -> str:
        """The text of `report.json`."""
        return json.dumps(asdict(self), indent=2, ensure_ascii=False) + "\n"

    @staticmethod
    def from_json(text: str | bytes) -> Report:
        """The report that `json` wrote."""
        data: dict[str, Any] = json.loads(text)
        data["functions"] = tuple(_function(item) for item in data["functions"])
        data["kernels"] = tuple(KernelReport(**item) for item in data.get("kernels", ()))
        return Report(**data)

    def timings(self) -> str:
        """Seconds by stage and its parts, a line for each."""
        whole = [stage for stage in self.seconds if PART not in stage]
        rows = [(stage, self.seconds[stage]) for stage in whole]
        rows.append(("together", sum(seconds for _, seconds in rows)))
        for stage in reversed(whole):
            parts = [(f"  {name.partition(PART)[2]}", s) for name, s in self.seconds.items() if _part_of(name, stage)]
            rows[whole.index(stage) + 1 : whole.index(stage) + 1] = parts
        return "\n".join(f"{name:<20} {seconds:8.3f} s" for name, seconds in rows)

    def text(self, verbose: bool = False) -> str:
        """What the terminal shows."""
        lines = [f"{self.source} -> {self.package}" + (" (cached)" if self.cached else "")]
        for function in self.functions:
            lines += ["", *_function_lines(function, verbose)]
        for name, reason in self.skipped.items():
            lines += ["", f"{name}: skipped", *(f"  {line}" for line in reason.splitlines())]
        times = ", ".join(f"{stage} {seconds:.2f} s" for stage, seconds in self.seconds.items() if PART not in stage)
        lines += ["", f"time: {times}"]
        if verbose:
            lines.append(f"compiler: {self.compiler}")
            lines += [_kernel(kernel) for kernel in self.kernels]
        return "\n".join(lines)


def _kernel(kernel: KernelReport) -> str:
    spilled = f", {kernel.spilled} bytes spilled" if kernel.spilled else ""
    return (
        f"kernel: {kernel.kernel} on {kernel.architecture}: {kernel.registers} registers{spilled}, "
        f"{kernel.resident} threads a multiprocessor"
    )


def _part_of(name: str, stage: str) -> bool:
    return name.startswith(f"{stage}{PART}")


def _function(data: dict[str, Any]) -> FunctionReport:
    data["entries"] = tuple(EntryReport(**entry) for entry in data["entries"])
    data["checks"] = tuple(CheckReport(**check) for check in data["checks"])
    return FunctionReport(**{**data, **{k: tuple(data[k]) for k in ("inferred", "wrt", "remarks")}})


def _function_lines(function: FunctionReport, verbose: bool) -> list[str]:
    parameters = ", ".join(f"{name}: {kind}" for name, kind in function.parameters.items())
    lines = [f"{function.name}({parameters})"]
    if function.inferred:
        lines.append(f"  inferred    the type of {', '.join(function.inferred)} from use")
    lines.append(f"  entries     {', '.join(entry.name for entry in function.entries)}")
    if counted := _operations(function.entries):
        at = ", ".join(f"{name} {shape}" for name, shape in function.samples.items())
        lines.append(f"  operations  {counted}" + (f"  (at {at})" if at else ""))
    lines += _workspace(function.entries, verbose)
    lines += _checks(function.checks, verbose)
    return lines + [f"  note        {remark}" for remark in function.remarks]


def _workspace(entries: tuple[EntryReport, ...], verbose: bool) -> list[str]:
    """The formulas; by default those of the function and of its value and gradient."""
    shown = [entry for entry in entries if verbose or entry.product in ("value", "value_and_grad")]
    if not any(entry.product == "value_and_grad" for entry in shown):
        shown = list(entries)
    by_formula: dict[str, list[str]] = {}
    for entry in shown:
        by_formula.setdefault(entry.workspace, []).append(entry.product)
    listed = [f"{' and '.join(products)} {_short(formula)}" for formula, products in by_formula.items()]
    return (
        [f"  workspace   in bytes: {'; '.join(listed)}"] if set(by_formula) - {"0", "none"} else ["  workspace   none"]
    )


def _short(formula: str) -> str:
    return formula if len(formula) <= LONG else f"{formula[: LONG - 30]}... (all of it is in report.json)"


def _operations(entries: tuple[EntryReport, ...]) -> str:
    base = next((entry.operations for entry in entries if entry.product == "value"), None)
    parts = []
    for entry in entries:
        if entry.operations is not None:
            ratio = f" ({entry.operations / base:.1f}x)" if base and entry.product != "value" else ""
            parts.append(f"{entry.product} {entry.operations}{ratio}")
    return ", ".join(parts)


def _checks(checks: tuple[CheckReport, ...], verbose: bool) -> list[str]:
    if not checks:
        return []
    if verbose or not all(check.passed for check in checks):
        return [
            f"  check       {'ok  ' if check.passed else 'FAIL'} {check.product}: {check.name} {check.error:.1e}"
            f" (at most {check.tolerance:.0e})" + (f", {check.remark}" if check.remark else "")
            for check in checks
        ]
    worst: dict[str, float] = {}
    for check in checks:
        worst[check.name] = max(worst.get(check.name, 0.0), check.error)
    return [f"  check       {', '.join(f'{name} {error:.1e}' for name, error in worst.items())}"]
