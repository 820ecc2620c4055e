"""Reading the text form of the IR back.

Comes in: text that `printer` wrote, or a person did, and the rows by name.  Goes out: a function.  Raises `ReadError`
with the line for anything else; result types are re-inferred and compared with those written.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from adgen.ir.nodes import Attributes, Function, Operation, Region, Row, Value
from adgen.ir.types import Type, parse_type

TOKEN = re.compile(
    r"""\s*(?:(?P<comment>\#[^\n]*)|(?P<span>@\d+)|(?P<token>
      -> | %(?:\w|[^\x00-\x7f])+ | "(?:[^"\\]|\\.)*" | stack<\w+> | [A-Za-z]\w*\[[:,]*\](?![\w"\d]) |
      [-+]?(?:inf|nan)\b | -?\d+(?:\.\d*)?(?:[eE][-+]?\d+)? | (?:\w|[^\x00-\x7f])+ | [{}()=:,\[\]]))""",
    re.VERBOSE,
)


class ReadError(ValueError):
    """The text is not a function of the IR."""


def parse_function(text: str, rows: Mapping[str, Row]) -> Function:
    """The function that a text describes.

    Raises ReadError when the text is not well formed or an operation does not fit its row.
    """
    return _Reader(text, rows).whole()


class _Reader:
    def __init__(self, text: str, rows: Mapping[str, Row]) -> None:
        self.rows = rows
        self.tokens: list[tuple[str, int]] = []
        self.place = 0
        position, line, end = 0, 1, len(text.rstrip())
        while position < end:
            match = TOKEN.match(text, position)
            if match is None or match.end() == position:
                raise ReadError(f"line {line}: cannot read {text[position : position + 20]!r}")
            line += text.count("\n", position, match.end())
            if match["token"] is not None:
                self.tokens.append((match["token"], line))
            position = match.end()

    def fail(self, message: str) -> ReadError:
        line = self.tokens[min(self.place, len(self.tokens) - 1)][1] if self.tokens else 1
        return ReadError(f"line {line}: {message}")

    @property
    def next(self) -> str:
        return self.tokens[self.place][0] if self.place < len(self.tokens) else ""

    def take(self, expected: str | None = None) -> str:
        token = self.next
        if not token or (expected is not None and token != expected):
            raise self.fail(f"expected {expected or 'more'}, found {token or 'the end'}")
        self.place += 1
        return token

    def accept(self, token: str) -> bool:
        if self.next != token:
            return False
        self.place += 1
        return True

    def whole(self) -> Function:
        """The first function, with those that follow it as its callees."""
        function = self.function()
        callees: dict[str, Function] = {}
        while self.place != len(self.tokens):
            if self.next != "function":
                raise self.fail("text after the function")
            callee = self.function()
            if callees.setdefault(callee.name, callee) is not callee:
                raise self.fail(f"there are two callees {callee.name}")
        return replace(function, callees=callees) if callees else function

    def function(self) -> Function:
        self.take("function")
        name = self.take()
        scope: dict[str, Value] = {}
        parameters = self.arguments(scope)
        self.take("->")
        self.take("(")
        names = []
        while not self.accept(")"):
            names.append(self.take())
            self.accept(",")
        self.take("{")
        operations, results = self.block(scope, "return")
        if len(results) != len(names):
            raise self.fail("as many results as result names are needed")
        return Function(name, Region(parameters, operations, results), tuple(names))

    def arguments(self, scope: dict[str, Value]) -> tuple[Value, ...]:
        self.take("(")
        found = []
        while not self.accept(")"):
            name = self.take()
            self.take(":")
            found.append(self.define(scope, name, self.type()))
            self.accept(",")
        return tuple(found)

    def define(self, scope: dict[str, Value], name: str, kind: Type) -> Value:
        if not name.startswith("%"):
            raise self.fail(f"expected a value, found {name}")
        if name in scope:
            raise self.fail(f"{name} is defined twice")
        hint = name[1:]
        scope[name] = Value(kind, "" if hint.isdigit() else hint)
        return scope[name]

    def type(self) -> Type:
        token = self.take()
        try:
            return parse_type(token)
        except ValueError as error:
            raise self.fail(str(error)) from None

    def values(self, scope: dict[str, Value]) -> tuple[Value, ...]:
        found = []
        while self.next.startswith("%"):
            name = self.take()
            if name not in scope:
                raise self.fail(f"{name} is not defined here")
            found.append(scope[name])
            if not self.accept(","):
                break
        return tuple(found)

    def block(self, scope: dict[str, Value], end: str) -> tuple[tuple[Operation, ...], tuple[Value, ...]]:
        operations = []
        while self.next != end:
            operations.append(self.operation(scope))
        self.take(end)
        results = self.values(scope)
        self.take("}")
        return tuple(operations), results

    def operation(self, scope: dict[str, Value]) -> Operation:
        names = []
        while self.next.startswith("%"):
            names.append(self.take())
            if not self.accept(","):
                self.take("=")
        row = self.rows.get(self.next)
        if row is None:
            raise self.fail(f"there is no row {self.next!r}")
        self.take()
        operands = self.values(scope)
        attributes = self.attributes() if self.next == "{" else {}
        regions = []
        while self.next == "(":
            inner = dict(scope)
            arguments = self.arguments(inner)
            self.take("{")
            regions.append(Region(arguments, *self.block(inner, "yield")))
        written = []
        if names:
            self.take(":")
            written = [self.type()]
            while self.accept(","):
                written.append(self.type())
        try:
            types = row.infer(tuple(value.type for value in operands), attributes)
        except (TypeError, KeyError, ValueError, AttributeError, IndexError) as error:
            raise self.fail(f"{row.name}: {error}") from None
        if list(types) != written or len(types) != len(names):
            raise self.fail(f"{row.name} gives {', '.join(map(str, types)) or 'nothing'}")
        results = tuple(self.define(scope, name, kind) for name, kind in zip(names, types, strict=True))
        return Operation(row, operands, results, attributes, tuple(regions))

    def attributes(self) -> Attributes:
        self.take("{")
        found: dict[str, Any] = {}
        while not self.accept("}"):
            name = self.take()
            self.take("=")
            found[name] = self.attribute()
            self.accept(",")
        return found

    def attribute(self) -> Any:
        token = self.take()
        if token == "[":
            items = []
            while not self.accept("]"):
                items.append(self.attribute())
                self.accept(",")
            return tuple(items)
        if token == "array":
            return self.array()
        if token.lstrip("+-") in ("inf", "nan"):
            return float(token)
        try:
            return json.loads(token)
        except ValueError:
            raise self.fail(f"{token!r} is not an attribute") from None

    def array(self) -> np.ndarray[Any, Any]:
        self.take("(")
        kind = self.attribute()
        self.take(",")
        shape = self.attribute()
        self.take(",")
        numbers = self.attribute()
        self.take(")")
        try:
            data: np.ndarray[Any, Any] = np.array(numbers, dtype=kind).reshape(shape)
        except (TypeError, ValueError, OverflowError) as error:
            raise self.fail(f"not an array: {error}") from None
        data.flags.writeable = False
        return data
