"""What a host can work out before a device has done anything.

Comes in: a function that is to run on a device, whose arrays are in the memory of the device and whose scalars come
from the host.  Goes out: the scalars that do not depend on what is in arrays, and the control flow that they decide.
Guaranteed: a hosted value is computed from scalar parameters, extents, constants and indices of hosted loops by pure
operations; arithmetic on floating-point parameters is left to the device.

Control flow that depends on arrays is *guarded*: a branch, or a loop that may end early.  A host can put all of it into
the stream, each kernel under the condition that the device knows; what could fail where the branch is not taken, as a
division by zero, is then no matter for the host.
"""

from __future__ import annotations

from adgen.ir import core
from adgen.ir.nodes import Function, Operation, Region, Value
from adgen.ir.types import Scalar, is_float

TRAPPING = ("floordiv", "mod")  # rows that a processor may stop at


class Hosted:
    """The scalars of a function that a host knows, and the operations with regions that it decides about."""

    def __init__(self, function: Function) -> None:
        self.values: set[Value] = {value for value in function.parameters if isinstance(value.type, Scalar)}
        self.given = {value for value in self.values if is_float(value.type)}
        self.control: set[Operation] = set()
        self.guarded: set[Operation] = set()  # of the control flow
        self._region(function.body, True)

    def knows(self, values: tuple[Value, ...]) -> bool:
        """True when a host knows all of some scalars."""
        return all(value in self.values for value in values)

    def _region(self, region: Region, sure: bool) -> None:
        for operation in region.operations:
            if operation.row is core.FOR:
                self._loop(operation, sure)
            elif operation.row is core.IF:
                self._decide(operation, sure, self.knows(operation.operands))
            elif operation.row.pure and not operation.regions and self._follows(operation, sure):
                self.values.update(value for value in operation.results if isinstance(value.type, Scalar))

    def _decide(self, operation: Operation, sure: bool, known: bool) -> None:
        self.control.add(operation)
        if not known:
            self.guarded.add(operation)
        for inner in operation.regions:
            self._region(inner, sure and known)

    def _loop(self, operation: Operation, sure: bool) -> None:
        """A loop whose ends are known; what it carries is the device's."""
        if self.knows(operation.operands[:2]):
            self.values.add(operation.regions[0].arguments[0])
            self._decide(operation, sure, not operation.attributes.get("exit"))

    def _follows(self, operation: Operation, sure: bool) -> bool:
        if operation.row is core.DIM:
            return True
        if not self.knows(operation.operands) or (operation.row.name in TRAPPING and not sure):
            return False
        floating = any(is_float(value.type) for value in operation.results)
        return not (floating and any(value in self.given for value in operation.operands))
