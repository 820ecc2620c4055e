"""What a kernel takes from outside, as its parameters.

Comes in: values of a function that is being outlined.  Goes out: what the kernel has for each.  Guaranteed: numbers
that a few operations on integers give are worked out again rather than passed; arrays come before numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from adgen import ops
from adgen.ir import core
from adgen.ir.builder import Builder
from adgen.ir.nodes import Operation, Value
from adgen.ir.translate import free_values
from adgen.ir.types import BOOL, Buffer, Scalar, Stack

if TYPE_CHECKING:
    from adgen.emit.cuda.outline import Outliner

CHEAP = (ops.ADD, ops.SUB, ops.MUL, ops.NEG)
MOST_REPEATED = 3  # operations on integers that every thread repeats


class Capture:
    """What a kernel takes from outside, as its parameters."""

    def __init__(self, outliner: Outliner) -> None:
        self.outliner = outliner
        self.builder = Builder()
        self.mapping: dict[Value, Value] = {}
        self.given: dict[Value, Value] = {}  # by parameter: what the host has
        self.parameters: dict[Value, Value] = {}  # by what the host has

    def all(self, operations: Sequence[Operation]) -> None:
        """Everything that some operations read and do not define; arrays first."""
        inside = {value for operation in operations for value in operation.results}
        free = [v for o in operations for v in free_values(o) if v not in inside]
        for value in sorted(dict.fromkeys(free), key=lambda value: isinstance(value.type, Scalar)):
            self.value(value)

    def value(self, value: Value) -> Value:
        """A value as the kernel has it."""
        if value not in self.mapping:
            outer, self.builder.span = self.builder.span, None
            self.mapping[value] = self.array(value) if isinstance(value.type, Buffer) else self.scalar(value)
            self.builder.span = outer
        return self.mapping[value]

    def array(self, value: Value) -> Value:
        """A buffer: constant ones are the file's, and other shapes of one are made from it."""
        operation = self.outliner.definitions.get(value)
        assert not isinstance(value.type, Stack)
        if operation is not None and operation.row is core.TABLE:
            (made,) = self.builder.emit(core.TABLE, (), operation.attributes, names=(value.name,))
            return made
        if operation is not None and operation.row is core.RESHAPE:
            operands = [self.value(operand) for operand in operation.operands]
            (made,) = self.builder.emit(core.RESHAPE, operands, names=(value.name,))
            return made
        return self.buffer(self.outliner.mapping.get(value, value))

    def buffer(self, host: Value) -> Value:
        """A parameter for memory of the host's."""
        return self.parameter(host, host.name or "buffer")

    def parameter(self, host: Value, name: str) -> Value:
        if host not in self.parameters:
            parameter = self.parameters[host] = Value(host.type, name)
            self.given[parameter] = host
        return self.parameters[host]

    def scalar(self, value: Value) -> Value:
        """A scalar: a constant, an extent of an array that is taken, what an earlier kernel has left, or what the host
        knows."""
        outliner, operation = self.outliner, self.outliner.definitions.get(value)
        if value in outliner.shelves:
            shelf, place = outliner.shelves[value]
            return self.builder.load(self.buffer(shelf), (self.builder.index(place),), name=value.name)
        if value in outliner.cells:
            return self.builder.load(self.buffer(outliner.cells[value]), name=value.name)
        if operation in outliner.again:
            assert operation is not None
            operands = [self.value(operand) for operand in operation.operands]
            (again,) = self.builder.emit(
                operation.row, operands, operation.attributes, (), (value.name,), operation.span
            )
            return again
        assert value in outliner.hosted.values, value
        if operation is not None and operation.row is core.CONST:
            return self.builder.const(operation.attributes["value"], value.type, value.name)
        if operation is not None and operation.row is core.DIM and operation.operands[0] in self.mapping:
            return self.builder.dim(self.mapping[operation.operands[0]], operation.attributes["axis"])
        if operation is not None and operation.row in CHEAP and self.depth(value) <= MOST_REPEATED:
            return self.builder.op(operation.row, *map(self.value, operation.operands), name=value.name)
        name = value.name
        if not name and operation is not None and operation.row is core.DIM:
            name = f"{operation.operands[0].name or 'buffer'}_n{operation.attributes['axis']}"
        usual = "condition" if value.type == BOOL else "number"
        host = outliner.on_host(value)
        if value in outliner.small:
            outliner.small.add(host)
        return self.parameter(host, name or usual)

    def depth(self, value: Value) -> int:
        """How many operations a cheap integer takes."""
        operation = self.outliner.definitions.get(value)
        if operation is None or operation.row not in CHEAP or value.type.__class__ is not Scalar:
            return 0
        return 1 + sum(map(self.depth, operation.operands))
