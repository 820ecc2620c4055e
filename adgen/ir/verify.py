"""The rules of well-formed IR.

Comes in: a function.  Raises `VerifyError` naming the first operation that breaks a rule: every value is defined once
and before it is used, in a region that is open; result types are what the row infers; regions have the arguments and
results that `core` documents; only scalars are carried; tables are never written; a buffer result is an `alloc` of the
top-level region, given once.
"""

from __future__ import annotations

from adgen.ir import core
from adgen.ir.nodes import Function, Operation, Region, Value
from adgen.ir.types import BOOL, I64, Buffer, Scalar, Type


class VerifyError(Exception):
    """A function breaks a rule of the IR."""


def verify(function: Function) -> Function:
    """The function itself, when it is well formed.

    Raises VerifyError otherwise.
    """
    verifier = _Verifier(function)
    verifier.region(function.body, "function")
    verifier.results()
    return function


class _Verifier:
    def __init__(self, function: Function) -> None:
        self.function = function
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
        place = operation.row.name
        for value in operation.operands:
            self.use(value, place)
        self.types(operation)
        self.shape(operation)
        if operation.row in (core.STORE, core.ACCUMULATE) and operation.operands[0] in self.tables:
            raise self.fail(place, "a table is never written")
        if operation.row is core.ACCUMULATE and operation.operands[1].type == BOOL:
            raise self.fail(place, "bool has no sum")
        for region in operation.regions:
            self.region(region, place)
        for value in operation.results:
            self.define(value, place)
        if operation.row is core.TABLE or (operation.row is core.RESHAPE and operation.operands[0] in self.tables):
            self.tables.add(operation.result)

    def types(self, operation: Operation) -> None:
        place = operation.row.name
        try:
            types = operation.row.infer(tuple(value.type for value in operation.operands), operation.attributes)
        except (TypeError, KeyError, ValueError, AttributeError, IndexError) as error:
            raise self.fail(place, str(error)) from error
        if types != tuple(value.type for value in operation.results):
            raise self.fail(place, "the result types are not what the row infers")

    def shape(self, operation: Operation) -> None:
        """The regions of an operation have the arguments and results that its row documents."""
        row = operation.row
        carried = tuple(value.type for value in operation.results)
        if any(not isinstance(kind, Scalar) for kind in carried) and row in (core.FOR, core.WHILE, core.IF):
            raise self.fail(row.name, "only scalars are carried and yielded by regions")
        go: tuple[Type, ...] = (BOOL,) if operation.attributes.get("exit") else ()
        expected: dict[object, list[tuple[tuple[Type, ...], tuple[Type, ...]]]] = {
            core.FOR: [((I64, *carried), (*go, *carried))],
            core.WHILE: [(carried, (BOOL,)), (carried, carried)],
            core.IF: [((), carried), ((), carried)],
        }
        found = [
            (tuple(v.type for v in region.arguments), tuple(v.type for v in region.results))
            for region in operation.regions
        ]
        if found != expected.get(row, []):
            raise self.fail(row.name, f"regions take and yield {found}, not {expected.get(row, [])}")

    def results(self) -> None:
        function = self.function
        if len(function.results) != len(function.result_names):
            raise self.fail("results", "one name per result is needed")
        made = {o.results[0] for o in function.body.operations if o.row is core.ALLOC}
        buffers = [value for value in function.results if isinstance(value.type, Buffer)]
        if any(value not in made for value in buffers) or len(set(buffers)) != len(buffers):
            raise self.fail("results", "a buffer result is a top-level alloc, given once")
