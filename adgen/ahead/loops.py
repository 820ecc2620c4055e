"""Which of a function's loops have iterations that do not depend on each other, and what ties those of the others.

Comes in: a function of the IR.  Goes out: a finding for each `for` statement of the user's, in the order of the text.
Guaranteed: a loop said to be independent may run its iterations in any order, but for sums.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from adgen.ir import core
from adgen.ir.nodes import Function, walk
from adgen.passes.activity import roots
from adgen.passes.independence import Tie, independence
from adgen.passes.pipeline import simplify


@dataclass(frozen=True)
class Loop:
    """A loop of the user's: its line and, where iterations depend on each other, why and the line that says so."""

    line: int
    text: str
    reason: str = ""
    tied_by: int | None = None

    def __str__(self) -> str:
        if not self.reason:
            return f"line {self.line}: iterations are independent"
        at = f" (line {self.tied_by})" if self.tied_by not in (None, self.line) else ""
        return f"line {self.line}: one iteration after the other, as {self.reason}{at}"


def loops_of(function: Function) -> tuple[Loop, ...]:
    """The loops of a function; one that occurs several times is tied where any of them is."""
    found: dict[int, Loop] = {}
    for loop in _loops(simplify(function)):
        known = found.get(loop.line)
        if known is None or not known.reason:
            found[loop.line] = loop
    return tuple(found[line] for line in sorted(found))


def _loops(function: Function) -> Iterator[Loop]:
    root = roots(function)
    for operation in walk(function.body):
        span = operation.span
        if operation.row is not core.FOR or span is None or not span.text.strip().startswith("for "):
            continue
        text = span.text.strip()
        tie = independence(operation, root)
        if isinstance(tie, Tie):
            at = tie.operation.span
            yield Loop(span.line, text, tie.reason, at.line if at else None)
        else:
            yield Loop(span.line, text)
