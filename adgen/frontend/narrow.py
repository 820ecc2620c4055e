"""Integers narrower than 64 bits: arithmetic on them as the front end emits it, and what is known of their size.

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
from adgen.ir.types import BOOL, I64, Scalar, Type

DEPTH = 6


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


def bounds(builder: Builder, value: Value, depth: int = DEPTH) -> range:
    """Integers among which the value of an integer or a boolean is."""
    known = builder.known(value)
    if known is not None:
        return range(int(known), int(known) + 1)
    kind = value.type
    assert isinstance(kind, Scalar)
    every = range(2) if kind == BOOL else kind.numbers
    operation = builder.definitions.get(value)
    if operation is None or depth == 0:
        return every
    if operation.row is core.IF:
        place = operation.results.index(value)
        found = _union(*(bounds(builder, region.results[place], depth - 1) for region in operation.regions))
    elif operation.row in RULES and all(_is_integer(x) for x in operation.operands):
        found = RULES[operation.row](*(bounds(builder, x, depth - 1) for x in operation.operands))
    else:
        return every
    return found if within(found, every) else every


def within(inner: range, outer: range) -> bool:
    """True when all integers of one range are in another one."""
    return outer.start <= inner.start and inner.stop <= outer.stop


def _is_integer(value: Value) -> bool:
    return isinstance(value.type, Scalar) and not value.type.is_float


def _union(*ranges: range) -> range:
    return range(min(r.start for r in ranges), max(r.stop for r in ranges))


def _corners(row: Any) -> Any:
    def rule(x: range, y: range) -> range:
        ends = [row(a, b) for a in (x.start, x.stop - 1) for b in (y.start, y.stop - 1)]
        return range(min(ends), max(ends) + 1)

    return rule


def _masked(x: range, y: range) -> range:
    natural = [r.stop for r in (x, y) if r.start >= 0]
    return range(min(natural)) if natural else I64.numbers


def _remainder(x: range, y: range) -> range:
    return range(y.stop - 1) if y.start > 0 else I64.numbers


RULES: dict[Row, Any] = {
    **dict.fromkeys(ops.CASTS.values(), lambda x: x),
    ops.SELECT: lambda condition, x, y: _union(x, y),
    ops.ADD: _corners(lambda a, b: a + b),
    ops.SUB: _corners(lambda a, b: a - b),
    ops.MUL: _corners(lambda a, b: a * b),
    ops.MAXIMUM: _corners(max),
    ops.MINIMUM: _corners(min),
    ops.BIT_AND: _masked,
    ops.MOD: _remainder,
}
