"""The rules of well-formed IR.

Comes in: a function.  Goes out: the same, or `VerifyError` naming the first operation that breaks a rule.  The rules:
every value is defined once and before it is used, in a region that is open; result types are what the row infers;
attributes hold what `core` documents; regions have the arguments and results that `core` documents; only scalars are
carried; tables are never written; pure operations own no regions; parameters and results are scalars and buffers, and
a buffer result is an `alloc` of the top-level region, given once; a call agrees with its callee, and a `custom`
operation with its rules.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from adgen.ir import core
from adgen.ir.calls import kinds
from adgen.ir.nodes import Function, Operation, Region, Value
from adgen.ir.translate import DTYPES
from adgen.ir.types import BOOL, I64, Buffer, Scalar, Type

Use = tuple[Sequence[Value], Sequence[Value]]  # what is given and what comes back


class VerifyError(Exception):
    """A function breaks a rule of the IR."""


def verify(function: Function) -> Function:
    """The function itself, when it is well formed.

    Raises VerifyError otherwise.
    """
    for each in (function, *function.callees.values()):
        verifier = _Verifier(each, function.callees)
        verifier.parameters()
        verifier.region(each.body, "function")
        verifier.results()
        if each is not function:
            verifier.callee()
    return function


class _Verifier:
    def __init__(self, function: Function, callees: Mapping[str, Function]) -> None:
        self.function = function
        self.callees = callees
        self.visible: set[Value] = set()
        self.defined: set[Value] = set()
        self.tables: set[Value] = set()

    def fail(self, place: str, message: str) -> VerifyError:
        return VerifyError(f"{self.function.name}: {place}: {message}")

    def define(self, value: Value, place: str) -> None:
        if value in self.defined:
            raise self.fail(place, f"{value!r} is defined twice")
        self.defined.add(value)
        self.visible.add(value)

    def use(self, value: Value, place: str) -> None:
        if value not in self.visible:
            where = "outside its region" if value in self.defined else "before it is defined"
            raise self.fail(place, f"{value!r} is used {where}")

    def region(self, region: Region, place: str) -> None:
        opened = [*region.arguments]
        for value in region.arguments:
            self.define(value, place)
        for operation in region.operations:
            self.operation(operation)
            opened.extend(operation.results)
        for value in region.results:
            self.use(value, f"results of {place}")
        self.visible.difference_update(opened)

    def operation(self, operation: Operation) -> None:
        place = describe(operation)
        for value in operation.operands:
            self.use(value, place)
        self.types(operation, place)
        if reason := wrong_attribute(operation):
            raise self.fail(place, reason)
        self.shape(operation, place)
        if operation.row is core.CALL:
            self.call(operation, operation.attributes["callee"], (operation.operands, operation.results), place)
        if operation.row is core.CUSTOM:
            for kind in kinds(operation):
                self.call(operation, operation.attributes[kind], rule_types(operation, kind), place)
        if operation.row in core.WRITES and operation.operands[0] in self.tables:
            raise self.fail(place, "a table is never written")
        for region in operation.regions:
            self.region(region, place)
        for value in operation.results:
            self.define(value, place)
        of_table = operation.row is core.RESHAPE and operation.operands[0] in self.tables
        if operation.row in (core.TABLE, core.TAP) or of_table:
            self.tables.add(operation.result)

    def types(self, operation: Operation, place: str) -> None:
        try:
            types = operation.row.infer(tuple(value.type for value in operation.operands), operation.attributes)
        except (TypeError, KeyError, ValueError, AttributeError, IndexError) as error:
            raise self.fail(place, f"{type(error).__name__}: {error}") from error
        if types != tuple(value.type for value in operation.results):
            found = ", ".join(str(value.type) for value in operation.results)
            raise self.fail(place, f"the results are {found}, not {', '.join(map(str, types))} as the row infers")

    def shape(self, operation: Operation, place: str) -> None:
        """The regions of an operation have the arguments and results that its row documents."""
        row = operation.row
        carried = tuple(value.type for value in operation.results)
        if row in core.OWNERS and any(not isinstance(kind, Scalar) for kind in carried):
            raise self.fail(place, "only scalars are carried and yielded by regions")
        go: tuple[Type, ...] = (BOOL,) if row is core.FOR and operation.attributes.get("exit") else ()
        expected: dict[object, list[tuple[tuple[Type, ...], tuple[Type, ...]]]] = {
            core.FOR: [((I64, *carried), (*go, *carried))],
            core.WHILE: [(carried, (BOOL,)), (carried, carried)],
            core.IF: [((), carried), ((), carried)],
            core.CUSTOM: [((), carried)],
        }
        found = [
            (tuple(v.type for v in region.arguments), tuple(v.type for v in region.results))
            for region in operation.regions
        ]
        if found != expected.get(row, []):
            raise self.fail(place, f"regions take and yield {found}, not {expected.get(row, [])}")

    def call(self, operation: Operation, name: str, use: Use, place: str) -> None:
        """A callee is there and takes and gives what it is used with."""
        callee = self.callees.get(name)
        if callee is None:
            raise self.fail(place, f"there is no callee {name}")
        for given, wanted in zip(use, (callee.parameters, callee.results)):
            if [value.type for value in given] != [value.type for value in wanted]:
                raise self.fail(place, f"{callee.name} does not take or give {', '.join(map(repr, given))}")

    def callee(self) -> None:
        """A callee has the name that it goes by, and its own callees are those of the whole."""
        function = self.function
        if self.callees.get(function.name) is not function or function.callees:
            raise self.fail("callee", "it goes by another name, or has callees of its own")

    def parameters(self) -> None:
        if not all(isinstance(value.type, Scalar | Buffer) for value in self.function.parameters):
            raise self.fail("parameters", "only scalars and buffers can be given")

    def results(self) -> None:
        function = self.function
        if len(function.results) != len(function.result_names):
            raise self.fail("results", "one name per result is needed")
        made = {o.results[0] for o in function.body.operations if o.row is core.ALLOC}
        buffers = [value for value in function.results if not isinstance(value.type, Scalar)]
        if any(value not in made for value in buffers) or len(set(buffers)) != len(buffers):
            raise self.fail("results", "a buffer result is a top-level alloc, given once")


def rule_types(custom: Operation, kind: str) -> Use:
    """Values of the types that a rule of a `custom` operation takes and gives."""
    known, moving, moved = core.known_to_rules(custom), core.moving(custom), core.moved(custom)
    if kind == "residual":
        return known, moved
    if kind == "solve":
        vector = moved[-1].type
        assert isinstance(vector, Buffer)
        return (Value(Buffer(vector.element, 2)), moved[-1]), (moved[-1],)
    return ((*known, *moved), moving) if kind == "vjp" else ((*known, *moving), moved)


def describe(operation: Operation) -> str:
    """The row of an operation, what it defines, and the line it came from."""
    line = f" of line {operation.span.line}" if operation.span is not None else ""
    named = ", ".join(f"%{value.name}" for value in operation.results if value.name)
    return f"{operation.row.name}{line}{f' ({named})' if named else ''}"


def wrong_attribute(operation: Operation) -> str | None:
    """Why an attribute of an operation whose types are right is not what the row documents; None when it is."""
    row, attributes = operation.row, operation.attributes
    if row is core.CONST:
        kind = operation.result.type
        if not isinstance(kind, Scalar) or not fits(attributes.get("value"), kind):
            return f"{attributes.get('value')!r} is not a constant of type {kind}"
    if row is core.TABLE:
        kind, data = operation.result.type, attributes["data"]
        if not isinstance(kind, Buffer) or not isinstance(data, np.ndarray) or data.dtype != DTYPES[kind.element]:
            return f"the data is not an array of {kind}"
    if row is core.ALLOC and not isinstance(attributes.get("zero"), bool):
        return "zero must be true or false"
    if row is core.FOR and not isinstance(attributes.get("exit", False), bool):
        return "exit must be true or false"
    if row is core.CHECK and len(operation.operands) > 5:
        return "a check has at most four details"
    return None


def fits(value: Any, kind: Scalar) -> bool:
    """Whether a Python number is a value of a type."""
    if kind == BOOL:
        return isinstance(value, bool)
    if kind.is_integer:
        return isinstance(value, int) and not isinstance(value, bool) and value in kind.numbers
    return isinstance(value, float)
