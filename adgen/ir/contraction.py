"""The parts of the row `contract`."""

from __future__ import annotations

from dataclasses import dataclass

from adgen.ir.nodes import Operation, Value
from adgen.ir.types import Buffer


@dataclass(frozen=True)
class Operand:
    """A buffer, the indices of its first element that takes part, and the axes along which rows and columns count."""

    buffer: Value
    first: tuple[Value, ...]
    rows: int
    columns: int


@dataclass(frozen=True)
class Contraction:
    """`target[i, j] += factor * sum(left[i, l] * right[l, j])`."""

    target: Operand
    left: Operand
    right: Operand
    factor: Value
    rows: Value
    columns: Value
    depth: Value

    @property
    def operands(self) -> tuple[Value, ...]:
        """As the operation has them."""
        three = self.target, self.left, self.right
        indices = (index for operand in three for index in operand.first)
        return (*(o.buffer for o in three), self.factor, self.rows, self.columns, self.depth, *indices)

    @property
    def axes(self) -> tuple[int, ...]:
        """As the operation has them."""
        return tuple(axis for o in (self.target, self.left, self.right) for axis in (o.rows, o.columns))


def contraction(operation: Operation) -> Contraction:
    """The parts of a `contract` operation."""
    rest, axes, operands = operation.operands[7:], operation.attributes["axes"], []
    for place, buffer in enumerate(operation.operands[:3]):
        assert isinstance(buffer.type, Buffer)
        rank = buffer.type.rank
        operands.append(Operand(buffer, rest[:rank], axes[2 * place], axes[2 * place + 1]))
        rest = rest[rank:]
    target, left, right = operands
    return Contraction(target, left, right, *operation.operands[3:7])
