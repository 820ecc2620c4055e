"""What a derivative becomes on a device: its kernels, who runs each iteration, and where additions may meet.

Comes in: a function in which the loops that are kernels are marked.  Goes out: a `Launch` for each kernel, in the order
of the launches.  Guaranteed: it is said of the code that is emitted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from adgen.emit.cuda.outline import Kernel, outline
from adgen.ir import core
from adgen.ir.nodes import Function, Operation, walk

WHO = ("one thread", "a thread for each iteration", "a thread for each pair of iterations")


@dataclass(frozen=True)
class Launch:
    """A kernel: its Python line, how many axes of threads it has, whether each thread takes several iterations, the
    lines where it adds atomically and why, and why its loops are none over threads where one thread runs them; `rows`
    is `few` or `many` where it is for so many iterations only."""

    line: int | None
    text: str
    axes: int
    parts: bool = False
    atomic: tuple[tuple[int | None, str], ...] = ()
    serial: tuple[tuple[int | None, str], ...] = ()
    rows: str = ""

    def __str__(self) -> str:
        where = f" at line {self.line}" if self.line is not None else ""
        said = [f"kernel{where}: {WHO[self.axes]}{f', where iterations are {self.rows}' if self.rows else ''}"]
        said += ["in parts, brought together in a fixed order"] if self.parts else []
        said += [f"atomic additions{_at(line, self.line)}, as {reason}" for line, reason in self.atomic]
        said += [f"the loop{_at(line, self.line)} is in one thread, as {reason}" for line, reason in self.serial]
        return "; ".join(said)


def launches_of(function: Function) -> tuple[Launch, ...]:
    """The kernels of a function.

    Raises AdgenError when a device cannot run it.
    """
    return tuple(_launch(kernel) for kernel in outline(function).kernels)


def _launch(kernel: Kernel) -> Launch:
    span = kernel.function.span
    inside = list(walk(kernel.function.body))
    serial = dict.fromkeys(_serial(kernel.function)) if kernel.axes == 0 else {}
    atomic = dict.fromkeys((_line(o), o.attributes["atomic"]) for o in inside if "atomic" in o.attributes)
    grids = [o for o in inside if "grid" in o.attributes]
    parts = bool(grids) and ("order" not in grids[0].attributes or any("parts" in o.attributes for o in grids))
    line, text = (span.line, span.text.strip()) if span else (None, "")
    rows = next((o.attributes["rows"] for o in inside if "rows" in o.attributes), "")
    return Launch(line, text, kernel.axes, parts, tuple(atomic), tuple(serial), rows)


def _serial(function: Function) -> Iterator[tuple[int | None, str]]:
    """The outermost loops of one thread, and why."""
    for operation in function.body.operations:
        if operation.row in core.LOOPS and "serial" in operation.attributes:
            yield _line(operation), operation.attributes["serial"]


def _line(operation: Operation) -> int | None:
    return operation.span.line if operation.span else None


def _at(line: int | None, other: int | None) -> str:
    return f" at line {line}" if line is not None and line != other else ""
