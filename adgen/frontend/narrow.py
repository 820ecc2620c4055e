"""Integers narrower than 64 bits: arithmetic on them as the front end emits it.

Comes in: the operations that the front end emits, on narrow integers too.  Goes out: the operation on `i64`, and its
result converted back, which wraps it.  Guaranteed: whoever emits an addition need not know of narrow integers, and
nobody can forget that they wrap: the IR adds no others than `i64`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from adgen import ops
from adgen.diagnostics import Span
from adgen.ir import core
from adgen.ir.builder import Builder
from adgen.ir.nodes import Region, Row, Value
from adgen.ir.types import I64, Scalar, Type


class NarrowBuilder(Builder):
    """A builder that emits arithmetic on narrow integers as arithmetic on `i64` whose result wraps."""

    def emit(
        self,
        row: Row,
        operands: Iterable[Value] = (),
        attributes: Mapping[str, Any] | None = None,
        regions: Iterable[Region] = (),
        names: Sequence[str] = (),
        span: Span | None = None,
    ) -> tuple[Value, ...]:
        """Append an operation, or what it means where it is not for narrow integers."""
        operands = tuple(operands)
        kinds = {value.type for value in operands if is_narrow(value.type)} if _widens(row) else None
        if row is core.ACCUMULATE and kinds:
            memory, amount, *indices = operands
            self.store(memory, self.op(ops.ADD, self.load(memory, indices), amount), indices)
            return ()
        if not kinds or (isinstance(row, ops.Elementwise) and kinds <= set(row.kinds)):
            return super().emit(row, operands, attributes, regions, names, span)
        wide = [self.op(ops.TO_I64, value) if value.type in kinds else value for value in operands]
        results = super().emit(row, wide, attributes, regions, (), span)
        if not any(value.type == I64 for value in results):
            return results
        if len(kinds) > 1:
            raise TypeError(f"{row.name} needs operands of one type")
        return super().emit(ops.TO_NARROW[kinds.pop()], results, None, (), names, span)  # type: ignore[index]


def _widens(row: Row) -> bool:
    return isinstance(row, ops.Elementwise) or row in (core.CHECK, core.ACCUMULATE)


def is_narrow(kind: Type) -> bool:
    """True for a number of a narrow type."""
    return isinstance(kind, Scalar) and kind.is_narrow
