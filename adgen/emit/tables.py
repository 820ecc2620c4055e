"""Constant arrays of functions as static ones of the file, each written once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from adgen.emit.names import Names
from adgen.emit.text import c_type, literal
from adgen.ir import core
from adgen.ir.nodes import Function, Value, walk
from adgen.ir.types import Buffer

WIDTH = 108


class Tables:
    """The names of the constant arrays of some functions, and their definitions."""

    def __init__(self, functions: Sequence[Function], names: Names) -> None:
        self.names: dict[Value, str] = {}
        self.texts: dict[str, str] = {}  # by name
        found: dict[Any, str] = {}
        for operation in (o for function in functions for o in walk(function.body) if o.row is core.TABLE):
            value, data = operation.result, operation.attributes["data"]
            assert isinstance(value.type, Buffer)
            key = value.type.element, data.size, data.tobytes()
            if key not in found:
                found[key] = names.claim(value.name or "table")
                numbers = [literal(number, value.type.element)[0] for number in data.ravel().tolist()] or ["0"]
                head = f"static const {c_type(value.type)} {found[key]}[{len(numbers)}]"
                self.texts[found[key]] = f"{head} = {{\n{_rows(numbers)}\n}};"
            self.names[value] = found[key]


def _rows(numbers: Iterable[str]) -> str:
    lines = ["   "]
    for number in numbers:
        if len(lines[-1]) + len(number) > WIDTH:
            lines.append("   ")
        lines[-1] += f" {number},"
    return "\n".join(lines)
