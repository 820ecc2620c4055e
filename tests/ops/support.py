"""Straight-line IR made and executed for the tests of the table, without the interpreter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adgen.ir.builder import Builder, typed
from adgen.ir.core import CONST
from adgen.ir.nodes import Region, Value
from adgen.ir.translate import DTYPES as DTYPES
from adgen.ir.types import BOOL, F64, Scalar
from adgen.ops import TABLE, Elementwise

Body = Callable[..., Sequence[Value | None]]

ROWS = tuple(TABLE.values())
REAL = tuple(row for row in ROWS if any(part is not None for part in row.partials))


def straight(types: Sequence[Scalar], body: Body) -> Region:
    """The region that `body(builder, *arguments)` builds; a missing value becomes the constant 0.0."""
    builder = Builder()
    arguments = [Value(kind, f"x{k}") for k, kind in enumerate(types)]
    with builder.block(arguments) as block:
        results = body(builder, *arguments)
        block.results = tuple(builder.const(0.0) if value is None else value for value in results)
    return block.region()


def execute(region: Region, numbers: Sequence[Any]) -> list[Any]:
    """The results of a straight-line region."""
    known = {value: typed(number, value.type) for value, number in zip(region.arguments, numbers, strict=True)}
    with np.errstate(all="ignore"):
        for operation in region.operations:
            if operation.row is CONST:
                known[operation.result] = typed(operation.attributes["value"], operation.result.type)
            else:
                evaluate = operation.row.evaluate
                assert evaluate is not None
                known[operation.result] = evaluate(*(known[value] for value in operation.operands))
    return [known[value] for value in region.results]


def kinds_of(row: Elementwise, kind: Scalar) -> list[Scalar]:
    """The operand types of a row when the free ones are `kind`."""
    return [row.fixed.get(k, kind) for k in range(row.arity)]


def _sample(number: float, kind: Scalar) -> Any:
    if kind.is_integer:
        return min(max(round(number), kind.numbers[0]), kind.numbers[-1])
    return typed(number > 0 if kind == BOOL else number, kind)


def samples(row: Elementwise, kind: Scalar, count: int, seed: int = 1) -> list[list[Any]]:
    """Operands from the row's domain, rounded where they are integers."""
    generator = np.random.default_rng(seed)
    columns = []
    for (low, high), operand in zip(row.domain, kinds_of(row, kind), strict=True):
        drawn = generator.uniform(low, high, count).tolist()
        columns.append([_sample(x, operand) for x in drawn])
    return [list(numbers) for numbers in zip(*columns)]


def value_of(row: Elementwise, numbers: Sequence[Any]) -> Any:
    """What the row computes."""
    with np.errstate(all="ignore"):
        return row.reference(*numbers)


def partials_by_pullback(row: Elementwise, numbers: Sequence[Any], kind: Scalar = F64, seed: float = 1.0) -> list[Any]:
    """Every operand's contribution for a cotangent, through the emitted IR."""

    def body(builder: Builder, *operands: Value) -> Sequence[Value | None]:
        result = builder.op(row, *operands)
        return row.pullback(builder, operands, result, builder.const(seed, result.type), [True] * len(operands))

    return execute(straight(kinds_of(row, kind), body), numbers)


def partials_by_pushforward(row: Elementwise, numbers: Sequence[Any], kind: Scalar = F64) -> list[Any]:
    """The tangent for each unit tangent, through the emitted IR."""

    def body(builder: Builder, *operands: Value) -> Sequence[Value | None]:
        result = builder.op(row, *operands)
        tangents: list[Value | None] = []
        for k, operand in enumerate(operands):
            unit = [builder.const(1.0, v.type) if v is operand and v.type.is_float else None for v in operands]
            tangents.append(row.pushforward(builder, operands, result, unit) if operands[k].type.is_float else None)
        return tangents

    return execute(straight(kinds_of(row, kind), body), numbers)
