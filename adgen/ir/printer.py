"""The text form of the IR: deterministic, complete, and read back by `reader`.

Comes in: a function.  Goes out: text in the generic syntax `results = row operands {attributes} regions : types`.
Guaranteed: the same function gives the same text; `parse_function(print_function(f)) == f`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from adgen.ir.nodes import Attributes, Function, Operation, Value


def print_function(function: Function, spans: bool = False) -> str:
    """The text of a function and then of its callees; with `spans` every operation ends with `@line`, which the reader
    skips."""
    callees = (function.callees[name] for name in sorted(function.callees))
    return "\n".join(_Printer(spans).function(each) for each in (function, *callees))


class _Printer:
    def __init__(self, spans: bool) -> None:
        self.spans = spans
        self.names: dict[Value, str] = {}
        self.taken: set[str] = set()
        self.counts: dict[str, int] = {}
        self.lines: list[str] = []

    def function(self, function: Function) -> str:
        parameters = self.arguments(function.parameters)
        self.lines.append(f"function {function.name}({parameters}) -> ({', '.join(function.result_names)}) {{")
        self.operations(function.body.operations, 1)
        self.lines.append(self.closing("return", function.results, 1))
        self.lines.append("}")
        return "\n".join(self.lines) + "\n"

    def name(self, value: Value) -> str:
        """The unique name of a value: its hint, numbered when taken; unnamed values are numbers."""
        if value not in self.names:
            hint = value.name if value.name.isidentifier() else ""
            name = hint
            while not name or name in self.taken:
                count = self.counts.get(hint, 0)
                self.counts[hint] = count + 1
                name = f"{hint}_{count + 1}" if hint else str(count)
            self.taken.add(name)
            self.names[value] = name
        return f"%{self.names[value]}"

    def arguments(self, values: Sequence[Value]) -> str:
        return ", ".join(f"{self.name(value)}: {value.type}" for value in values)

    def closing(self, word: str, values: Sequence[Value], depth: int) -> str:
        return "  " * depth + " ".join([word, ", ".join(self.name(value) for value in values)]).rstrip()

    def operations(self, operations: Sequence[Operation], depth: int) -> None:
        for operation in operations:
            self.operation(operation, "  " * depth, depth)

    def operation(self, operation: Operation, margin: str, depth: int) -> None:
        line = f"{operation.row.name} {', '.join(self.name(value) for value in operation.operands)}".rstrip()
        if operation.results:
            line = f"{', '.join(self.name(value) for value in operation.results)} = {line}"
        if operation.attributes:
            line += f" {print_attributes(operation.attributes)}"
        for region in operation.regions:
            self.lines.append(f"{margin}{line} ({self.arguments(region.arguments)}) {{")
            self.operations(region.operations, depth + 1)
            self.lines.append(self.closing("yield", region.results, depth + 1))
            line = "}"
        if operation.results:
            line += f" : {', '.join(str(value.type) for value in operation.results)}"
        if self.spans and operation.span is not None:
            line += f" @{operation.span.line}"
        self.lines.append(margin + line)


def print_attributes(attributes: Attributes) -> str:
    """`{name=value, ...}` in the order of the names."""
    return "{" + ", ".join(f"{name}={print_attribute(attributes[name])}" for name in sorted(attributes)) + "}"


def print_attribute(value: Any) -> str:
    """JSON, with `inf`, `-inf`, `nan` and arrays as `array(dtype, [shape], [numbers])`."""
    if isinstance(value, np.ndarray):
        numbers = ", ".join(print_attribute(item) for item in value.ravel().tolist())
        return f'array("{value.dtype.name}", {list(value.shape)}, [{numbers}])'
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        if math.isnan(value):
            return "nan"
        return repr(value) if math.isfinite(value) else ("inf" if value > 0 else "-inf")
    if isinstance(value, tuple | list):
        return "[" + ", ".join(print_attribute(item) for item in value) + "]"
    return json.dumps(value, default=str)  # a C function by its name and what its files hold
