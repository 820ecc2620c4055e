"""`adgen explain`: what a derivative costs, what its reverse sweep keeps, and why a gradient is zero.

Comes in: a function, and arguments or a way to find some.  Goes out: an `Explanation`, as data and as text.
Guaranteed: counts are of the function and the gradient as they are emitted, at the arguments that are named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any

from adgen.ahead import checks
from adgen.ahead.findings import Measured, formula_of, measured, shapes_of
from adgen.ahead.kernels import Launch, launches_of
from adgen.ahead.loops import Loop, loops_of
from adgen.ahead.options import Options
from adgen.ahead.source import functions, load
from adgen.ahead.units import Subject, subject
from adgen.diagnostics import Span
from adgen.driver import translated
from adgen.emit import plan_memory
from adgen.emit.cuda.outline import outline
from adgen.emit.memory import LARGEST_FRAME
from adgen.ir.core import CONST
from adgen.ir.nodes import Function, walk
from adgen.ir.types import Buffer, is_float
from adgen.operators.core import Operator
from adgen.passes.activity import active
from adgen.passes.residuals import Fate
from adgen.runtime.convert import canonical, leaf_value
from adgen.runtime.differentiate import differentiated, fates, taps_of
from adgen.runtime.missing import Finding, findings, searches
from adgen.toolchain.target import PROCESSOR, Target

WIDEST = 40  # characters of an expression that are shown
NAMES = {"saved": "saved", "recomputed": "computed again", "reloaded": "read again", "kept": "kept"}


@dataclass(frozen=True)
class Kept:
    """A value that the reverse sweep needs: where it was made, how it gets there, and the line that asks for it."""

    line: int | None
    text: str
    how: str
    reader: int | None


@dataclass(frozen=True)
class Explanation:
    """What was found out about the derivatives of one function.

    `gradients` has a finding for each parameter; `values` what the reverse sweep needs; `inactive` the variables that
    carry no derivative.  `operations` are floating-point operations of the value and of the gradient, `workspace` the
    gradient's as a formula and `workspace_bytes` as a number, both at `arguments`; None where no arguments were found.
    `loops` says which loops have independent iterations, and what ties those of the others; `kernels` what the gradient
    becomes where the target is a device.
    """

    name: str
    parameters: Mapping[str, str]
    wrt: tuple[str, ...]
    gradients: tuple[Finding, ...]
    values: tuple[Kept, ...]
    inactive: tuple[str, ...]
    workspace: str
    arguments: Mapping[str, str] | None
    operations: tuple[int, int] | None
    workspace_bytes: int | None
    remarks: tuple[str, ...] = ()
    loops: tuple[Loop, ...] = ()
    kernels: tuple[Launch, ...] = ()

    @property
    def ratio(self) -> float | None:
        """Operations of the gradient over those of the value."""
        return self.operations[1] / self.operations[0] if self.operations and self.operations[0] else None

    def excess(self, max_bytes: int | None, max_ratio: float | None) -> list[str]:
        """What is above a limit, or cannot be told."""
        found = []
        for what, value, limit in (
            ("workspace in bytes", self.workspace_bytes, max_bytes),
            ("operations of the gradient for each of the value", self.ratio, max_ratio),
        ):
            if limit is not None and (value is None or value > limit):
                shown = "not known" if value is None else f"{value:.4g}" if isinstance(value, float) else value
                found.append(f"{self.name}: {what}: {shown}, and at most {limit} are allowed")
        return found

    def __str__(self) -> str:
        parameters = ", ".join(f"{name}: {kind}" for name, kind in self.parameters.items())
        lines = [f"{self.name}({parameters})"]
        lines += [f"  {line}" for finding in self.gradients for line in f"gradient for {finding}".splitlines()]
        if self.operations is not None:
            at = ", ".join(f"{name} {shape}" for name, shape in (self.arguments or {}).items())
            times = f" ({self.ratio:.2f} times)" if self.ratio is not None else ""
            where = f"  (at {at})" if at else ""
            lines.append(f"  operations: value {self.operations[0]}, gradient {self.operations[1]}{times}{where}")
        size = f" = {self.workspace_bytes}" if self.workspace_bytes else ""
        lines.append(f"  workspace in bytes: {self.workspace}{size}")
        lines += list(_table(self.values))
        lines += [f"  loop at {loop}" for loop in self.loops]
        lines += [f"  {kernel}" for kernel in self.kernels]
        if self.inactive:
            lines.append(f"  no derivative in: {', '.join(self.inactive)}")
        return "\n".join([*lines, *(f"  note: {remark}" for remark in self.remarks)])


def _table(values: Sequence[Kept]) -> Iterator[str]:
    if not values:
        return
    yield "  what the reverse sweep needs of the forward sweep:"
    width = max(len(kept.text) for kept in values)
    for kept in values:
        line = "" if kept.line is None else f"line {kept.line}"
        reader = "" if kept.reader is None else f"for line {kept.reader}"
        yield f"    {line:9s} {kept.text:{width}s}  {NAMES[kept.how]:14s} {reader}".rstrip()


def explain(function: Callable[..., Any] | None = None, wrt: Any = None, memory: str | int | None = None) -> Any:
    """What the gradient of a function costs, what it keeps, and where it is zero and why.

    `explain(f)(*args)` gives an `Explanation`; printing it says for each parameter that `wrt` names whether a
    derivative gets to the result, and if none does, the first line at which it ends.  Compiles nothing; the arguments
    are run through the interpreter of the intermediate representation, so small ones are best.
    `memory` is as in `grad`.
    """
    if function is None:
        return lambda given: explain(given, wrt, memory)
    operator = Operator(function, "value", wrt, memory)

    @wraps(operator.target.function)
    def wrapper(*args: Any, **kwargs: Any) -> Explanation:
        arguments = operator.arguments(args, kwargs)
        specs = operator.specs(arguments)
        names = operator.resolved(specs).names
        target = operator.machine.target
        options = Options(operator.name, names, ("value", "grad", "vjp"), memory=operator.memory, target=target)
        made = subject(operator.target.function, options, specs)
        counts = {product: checks.operations(made, product, arguments) for product in made.units}
        return explanation(made, Measured(arguments, counts), target)

    return wrapper


def explain_file(path: Path, options: Options) -> list[Explanation]:
    """An explanation for each function of a file that `options` name, at inputs that are found for it.

    Raises AdgenError when the one function asked for cannot be compiled.
    """
    from adgen.ahead.units import subjects

    found, _ = subjects(functions(load(path), options.function), options)
    return [explanation(made, measured(made), options.target) for made in found if made.wrt is not None]


def explanation(made: Subject, found: Measured, target: Target = PROCESSOR) -> Explanation:
    """All that is said about one function."""
    assert made.wrt is not None
    product = "grad" if "grad" in made.units else "vjp"
    derived = made.units[product].optimised
    values = None
    if found.arguments is not None:
        values = [canonical(leaf_value(found.arguments, leaf.path), leaf.spec) for leaf in made.primal.leaves]
    reversed_, noted = fates(made.primal, made.wrt)
    decided = searches(made.primal, made.wrt)  # said by the gradients already
    interface = translated([derived], made.name, target).interfaces[derived.name]
    counts = (found.operations.get("value"), found.operations.get(product))
    return Explanation(
        name=made.name,
        parameters={name: str(spec) for name, spec in made.specs.items()},
        wrt=made.wrt.names,
        gradients=tuple(findings(made.primal, made.wrt, made.function, values)),
        values=tuple(dict.fromkeys(_kept(noted))),
        inactive=tuple(_inactive(made, reversed_)),
        workspace=formula_of(interface, made.specs),
        arguments=None if found.arguments is None else shapes_of(found.arguments),
        operations=None if counts[0] is None or counts[1] is None else (counts[0], counts[1]),
        workspace_bytes=None if values is None or interface.grows else _bytes(derived, product, values, made, target),
        remarks=tuple(remark for remark in made.remarks if remark not in decided),
        loops=loops_of(made.primal.function),
        kernels=launches_of(derived) if target.is_device else (),
    )


def _bytes(derived: Function, product: str, values: list[Any], made: Subject, target: Target) -> int:
    seeds = checks.seeds(made, product, values)
    planned = derived if not target.is_device else outline(derived).host
    return plan_memory(planned, frame=0 if target.is_device else LARGEST_FRAME).bytes_at([*values, *seeds])


def _kept(noted: Sequence[Fate]) -> Iterator[Kept]:
    """What is worth telling: numbers, and whatever takes memory."""
    for fate in sorted(noted, key=lambda fate: fate.made.span.line if fate.made and fate.made.span else 0):
        kind = fate.value.type
        if fate.how != "saved" and (not is_float(kind) or isinstance(kind, Buffer)):
            continue
        if fate.made is not None and (fate.made.row is CONST or fate.made.span is None):
            continue
        span = fate.made.span if fate.made else None
        yield Kept(span.line if span else None, _text(fate, span), fate.how, fate.reader.line if fate.reader else None)


def _text(fate: Fate, span: Span | None) -> str:
    """The value in the user's words: a piece of the source, or a name."""
    name = fate.value.name.removesuffix("_saved").removesuffix("_out")
    if isinstance(fate.value.type, Buffer):
        return f"{name}[...]"
    if span is None:
        return f"{name}, from step to step"
    text = span.text[span.column : span.end_column] if span.end_line in (0, span.line) else span.text[span.column :]
    if not text or (name and text == span.text.strip()):
        text = name or "a value"
    return text if len(text) <= WIDEST else f"{text[: WIDEST - 3]}..."


def _inactive(made: Subject, function: Function) -> Iterator[str]:
    """The variables of the function, in the order of its text, none of whose values carries a derivative."""
    from adgen.frontend.source import code_of, python_function

    code = python_function(made.function)
    if code is None or made.wrt is None:
        return
    names = code_of(code).locals
    taps = taps_of(function)
    wrt = [function.parameters[k] for k in differentiated(made.primal.leaves, made.wrt)]
    wrt += [taps[name] for name in made.wrt.names if name in taps]
    alive = {value.name for value in active(function, wrt, [v for v in function.results if is_float(v.type)])}
    seen = dict.fromkeys(
        value.name
        for operation in walk(function.body)
        for value in (*operation.results, *(a for region in operation.regions for a in region.arguments))
    )
    own = {parameter.name for parameter in function.parameters}
    yield from (name for name in (*own, *seen) if name in names and name not in alive)


__all__ = ["Explanation", "explain", "explain_file", "explanation"]
