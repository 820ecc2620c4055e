"""Where a function drops what it computes from a parameter, by its text.

Comes in: a function's text and a parameter that no result depends on.  Goes out: the first statement whose outcome
depends on the parameter and is never read, or that there is none: then nothing reads the parameter.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from adgen.diagnostics import Span
from adgen.frontend import scan
from adgen.frontend.source import Code


@dataclass(frozen=True)
class Dropped:
    """A statement that binds or writes `name`, which is not read afterwards; `again` is the line that binds it next."""

    span: Span
    name: str
    again: int | None


def dropped(code: Code, parameter: str) -> Dropped | None:
    """The first statement that drops what depends on a parameter; None when there is none."""
    tainted = {parameter}
    statements = list(_statements(code.statements))
    for statement in statements:
        if not _read(statement) & tainted:
            continue
        bound = _bound(statement)
        tainted |= bound
        for name in sorted(bound - code.flow.after.get(statement, frozenset(bound))):
            later = (other.lineno for other in statements if other.lineno > statement.lineno and name in _bound(other))
            return Dropped(_span(code, statement), name, next(later, None))
    return None


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a function in the order of its text, those of loops and branches included."""
    for statement in body:
        yield statement
        for part in ("body", "orelse"):
            yield from _statements(getattr(statement, part, []))


def _read(statement: ast.stmt) -> set[str]:
    """The names that a statement reads itself; of a loop or branch those of its head."""
    heads = [getattr(statement, part) for part in ("test", "iter") if hasattr(statement, part)]
    return scan.used(heads if heads else statement)


def _bound(statement: ast.stmt) -> set[str]:
    """The names that a statement binds, or whose elements it writes."""
    if isinstance(statement, ast.For):
        return scan.assigned([statement.target])
    if not isinstance(statement, ast.Assign | ast.AugAssign | ast.AnnAssign):
        return set()
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    names = scan.assigned([statement])
    for target in targets:
        while isinstance(target, ast.Subscript | ast.Attribute):
            target = target.value
        if isinstance(target, ast.Name):
            names.add(target.id)
    return names


def _span(code: Code, node: ast.stmt) -> Span:
    return Span(code.file, node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0)
