"""From the operations of a function to C statements.

Comes in: a function whose memory is planned.  Goes out: statements.  Guaranteed: effects happen in the order of the
operations; what a region yields is assigned when the region ends.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from adgen import ops
from adgen.emit import control, products, storage, swaps
from adgen.emit.expression import Expression, applied, element
from adgen.emit.memory import RESERVE, TAKE, Plan
from adgen.emit.names import Names
from adgen.emit.text import literal
from adgen.emit.uses import Uses
from adgen.emit.values import Values
from adgen.ir import core
from adgen.ir.nodes import Operation, Region, Row, Value
from adgen.ir.types import I64, Buffer, Scalar
from adgen.ops.elementwise import Elementwise


class Body:
    """Writes the body of one C function."""

    names_pointers = True  # of buffers that change places, so that the compiler knows that they do not overlap

    def __init__(
        self,
        uses: Uses,
        plan: Plan,
        names: Names,
        sites: list[Operation],
        helpers: dict[str, None],
        callees: Mapping[str, str],
    ) -> None:
        self.uses = uses
        self.plan = plan
        self.sites = sites
        self.helpers = helpers
        self.callees = callees  # C names of the functions that can be called
        self.values = Values(uses, names)
        self.buffers: dict[Value, str] = {}  # names of pointers and arrays
        self.pointers: dict[Value, str] = {}  # of buffers that change places in the loops around
        self.following: dict[Operation, Sequence[Operation]] = {}  # what comes after a `swap`
        self.extents: dict[Value, list[Expression]] = {}
        self.numbers: dict[Value, int] = {}  # integer constants
        self.rules: Mapping[Row, Rule] = RULES

    def take(self, names: Mapping[Value, str], extents: Mapping[tuple[Value, int], str]) -> None:
        """The parameters by their names, and those of the extents of arrays among them."""
        for value, name in names.items():
            if isinstance(value.type, Buffer):
                self.buffers[value] = name
                self.extents[value] = [Expression(extents[value, axis]) for axis in range(value.type.rank)]
            else:
                self.values.known[value] = Expression(name)

    def region(self, region: Region) -> None:
        """The statements of a region, without what it yields."""
        for operation in region.operations:
            if operation not in self.uses.dead:
                rule = self.rules.get(operation.row)
                if rule is not None:
                    rule(self, operation)
                else:
                    self.elementwise(operation)

    def elementwise(self, operation: Operation) -> None:
        """An operation on scalars."""
        row, kind = operation.row, operation.operands[0].type
        assert isinstance(row, Elementwise) and isinstance(kind, Scalar)
        if kind == I64 and operation.result.type == I64 and self.folded(operation):
            return
        parts = [self.values.use(operand) for operand in operation.operands]
        helper = row.c.helper(kind)
        if helper:
            self.helpers[helper] = None
        self.values.define(operation.result, applied(row, parts, kind, operation.span))

    def folded(self, operation: Operation) -> bool:
        """Compute with numbers, so that the compiler has no overflowing constants to warn of."""
        numbers = [self.numbers.get(operand) for operand in operation.operands]
        if None in numbers:
            return False
        result, evaluate = operation.result, operation.row.evaluate
        assert evaluate is not None
        number = self.numbers[result] = int(evaluate(*numbers))
        text = Expression(*literal(number, I64), span=operation.span)
        variable = self.values.variables.of[result]
        if variable.mutable:
            self.values.assign(variable, text)
        else:
            self.values.known[result] = text
        return True

    def constant(self, operation: Operation) -> None:
        """A number is written out wherever it is used."""
        kind, number = operation.result.type, operation.attributes["value"]
        assert isinstance(kind, Scalar)
        if kind == I64:
            self.numbers[operation.result] = int(number)
        self.values.known[operation.result] = Expression(*literal(number, kind))

    @property
    def detail(self) -> str:
        """What `adgen_fail` is told before the details of a failure."""
        return "detail"

    def element(self, buffer: Value, indices: list[Expression]) -> Expression:
        """An element of a buffer."""
        return element(self.buffers[buffer], self.uses.root[buffer], indices, self.extents[buffer])

    def fail(self, condition: str, status: str) -> str:
        """Leave the function with a status when a condition holds."""
        leave = f"return {status};"
        if self.plan.needs_cleanup:
            leave = "goto done;" if status == "status" else f"{{ status = {status}; goto done; }}"
        return f"if ({condition}) {leave}"


def chosen(condition: Expression, first: Expression, second: Expression, kind: Scalar) -> Expression:
    """`condition ? first : second`."""
    return applied(ops.SELECT, (condition, first, second), kind, condition.span)


Rule = Callable[[Any, Operation], None]
RULES: dict[Row, Rule] = {
    core.CONST: Body.constant,
    core.TABLE: storage.table,
    core.DIM: storage.dim,
    core.ALLOC: storage.alloc,
    core.RESHAPE: storage.reshape,
    core.LOAD: storage.load,
    core.STORE: storage.write,
    core.ACCUMULATE: storage.write,
    core.STACK: storage.stack,
    core.PUSH: storage.push,
    core.POP: storage.pop,
    TAKE: storage.take,
    RESERVE: storage.reserve,
    core.CHECK: control.check,
    core.FOR: control.for_loop,
    core.WHILE: control.while_loop,
    core.IF: control.branch,
    core.CALL: control.call,
    core.CONTRACT: products.contract,
    core.EXTERNAL: control.external,
    core.SWAP: swaps.swap,
}
