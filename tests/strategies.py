"""Random well-formed functions of the IR, and arguments for them.

`functions()` draws functions of all scalar types with buffers, tables, stacks, nested `for`, `while` and `if`, and
checks.  Every access is in range (indices are taken modulo extents of at least one) and every loop ends, so whatever
is drawn can be executed; a check may fail.  `arguments(function)` draws what to execute it with.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from adgen import ops
from adgen.ir import core
from adgen.ir.builder import Builder
from adgen.ir.nodes import Function, Operation, Row, Value
from adgen.ir.translate import DTYPES
from adgen.ir.types import BOOL, F32, F64, I64, NARROW, SCALARS, Buffer, Scalar, Type

KINDS = tuple(SCALARS.values())
NAMES = ("", "", "x", "y", "x_1", "i", "acc", "for", "α")
FLOAT_NUMBERS = (0.0, -0.0, 1.0, -1.5, 0.1, 2.0, 1e-300, 1e20, float("inf"), float("-inf"), float("nan"))
NUMBERS: dict[Scalar, tuple[Any, ...]] = {
    F64: FLOAT_NUMBERS,
    F32: tuple(float(np.float32(number)) for number in FLOAT_NUMBERS if not number == 1e-300),
    I64: (0, 1, -1, 2, 3, 7, -(2**63), 2**63 - 1),
    BOOL: (False, True),
    **{kind: (0, 1, kind.numbers[0], 2, 3, 7, kind.numbers[-1]) for kind in NARROW},
}


def _fitting() -> tuple[tuple[Row, tuple[Scalar, ...]], ...]:
    """Every elementwise row with every combination of operand types that it takes."""
    found = []
    for row in ops.ROWS.values():
        if row.evaluate is not None:
            for kinds in _combinations(row.arity):
                try:
                    row.infer(kinds, {})
                except TypeError:
                    continue
                found.append((row, kinds))
    return tuple(found)


def _combinations(arity: int) -> list[tuple[Scalar, ...]]:
    combinations: list[tuple[Scalar, ...]] = [()]
    for _ in range(arity):
        combinations = [(*first, kind) for first in combinations for kind in KINDS]
    return combinations


FITTING = _fitting()


class Maker:
    """Draws one function; `scalars` and `buffers` are what is in scope where the builder stands."""

    def __init__(self, draw: st.DrawFn, budget: int) -> None:
        self.draw = draw
        self.builder = Builder()
        self.budget = budget
        self.scalars: list[Value] = []
        self.buffers: list[Value] = []
        self.tables: set[Value] = set()

    def pick(self, options: Sequence[Any]) -> Any:
        return self.draw(st.sampled_from(options))

    def name(self) -> str:
        return str(self.pick(NAMES))

    def function(self) -> Function:
        kinds = self.draw(
            st.lists(st.sampled_from([*KINDS, *(Buffer(k, r) for k in KINDS for r in range(3))]), max_size=4)
        )
        parameters = [Value(kind, self.name()) for kind in kinds]
        with self.builder.block(parameters) as block:
            self.scalars = [value for value in parameters if isinstance(value.type, Scalar)]
            self.buffers = [value for value in parameters if isinstance(value.type, Buffer)]
            self.statements(3)
            made = [o.result for o in block.operations if o.row is core.ALLOC]
            buffers = self.draw(st.lists(st.sampled_from(made), max_size=2, unique=True)) if made else []
            block.results = (*(self.scalar(self.pick(KINDS)) for _ in range(self.pick(range(3)))), *buffers)
        return self.builder.function("f", block, [f"r{k}" for k in range(len(block.results))])

    def statements(self, depth: int) -> None:
        """A few statements; what they define is in scope until the caller forgets it."""
        simple = [self.apply, self.apply, self.load, self.store, self.alloc, self.table, self.stacked, self.check]
        nested = [self.loop, self.repeat, self.branch] if depth > 0 else []
        for _ in range(self.pick(range(1, 5))):
            if self.budget <= 0:
                return
            self.budget -= 1
            statement = self.pick([*simple, *nested, *nested])
            if statement in nested:
                statement(depth - 1)
            else:
                statement()

    def inner(self, arguments: Sequence[Value], depth: int, kinds: Sequence[Type]) -> tuple[Value, ...]:
        """The inside of a region: statements, and values of the given types; its definitions are forgotten."""
        scalars, buffers = self.scalars, self.buffers
        self.scalars, self.buffers = [*scalars, *arguments], [*buffers]
        self.statements(depth)
        results = tuple(self.scalar(kind) for kind in kinds)
        self.scalars, self.buffers = scalars, buffers
        return results

    # -- values --------------------------------------------------------------------------------------------------

    def scalar(self, kind: Type) -> Value:
        """A value in scope of a type, or a constant."""
        assert isinstance(kind, Scalar)
        known = [value for value in self.scalars if value.type == kind]
        if known and self.draw(st.integers(0, 3)):
            return self.pick(known)  # type: ignore[no-any-return]
        return self.builder.const(self.pick(NUMBERS[kind]), kind, self.name())

    def small(self, least: int, most: int) -> Value:
        """An i64 value from `least` to `most`."""
        b = self.builder
        value = b.op(ops.MOD, self.scalar(I64), b.index(most - least + 1))
        return b.op(ops.ADD, value, b.index(least))

    def indices(self, buffer: Value) -> tuple[Value, ...]:
        return tuple(self.builder.op(ops.MOD, self.scalar(I64), extent) for extent in self.builder.dims(buffer))

    # -- statements ----------------------------------------------------------------------------------------------

    def apply(self) -> None:
        """An elementwise operation, through the builder or as it is."""
        row, kinds = self.pick(FITTING)
        operands = tuple(self.scalar(kind) for kind in kinds)
        if self.draw(st.booleans()):
            self.scalars.append(self.builder.op(row, *operands, name=self.name()))
        else:
            (kind,) = row.infer(kinds, {})
            result = Value(kind, self.name())
            self.builder.append(Operation(row, operands, (result,)))
            self.scalars.append(result)

    def load(self) -> None:
        if self.buffers:
            buffer = self.pick(self.buffers)
            self.scalars.append(self.builder.load(buffer, self.indices(buffer), self.name()))

    def store(self) -> None:
        writable = [buffer for buffer in self.buffers if buffer not in self.tables]
        if writable:
            buffer = self.pick(writable)
            value, indices = self.scalar(buffer.type.element), self.indices(buffer)
            if buffer.type.element in (F64, F32, I64) and self.draw(st.booleans()):
                self.builder.accumulate(buffer, value, indices)
            else:
                self.builder.store(buffer, value, indices)

    def alloc(self) -> None:
        extents = [self.small(1, 3) for _ in range(self.pick(range(3)))]
        buffer = self.builder.alloc(self.pick(KINDS), extents, self.name(), zero=self.draw(st.booleans()))
        self.buffers.append(buffer)
        if self.draw(st.booleans()):
            size = self.builder.index(1)
            for extent in extents:
                size = self.builder.op(ops.MUL, size, extent)
            self.buffers.append(self.builder.op(core.RESHAPE, buffer, size, name=self.name()))

    def table(self) -> None:
        kind = self.pick(KINDS)
        shape = self.pick(((), (1,), (3,), (2, 2), (0,), (2, 0)))
        size = int(np.prod(shape))
        numbers = [self.pick(NUMBERS[kind]) for _ in range(size)]
        data = np.array(numbers, DTYPES[kind]).reshape(shape)
        data.flags.writeable = False
        (value,) = self.builder.emit(core.TABLE, (), {"data": data, "element": str(kind)}, names=(self.name(),))
        self.tables.add(value)
        if size:
            self.buffers.append(value)

    def stacked(self) -> None:
        """A stack filled by one loop and emptied by another."""
        b, kind = self.builder, self.pick(KINDS)
        stack, count, pushed = b.stack(kind, self.name()), self.small(0, 3), self.scalar(kind)
        popped = self.scalar(kind)
        b.loop(b.index(0), count, (), lambda i: b.emit(core.PUSH, (stack, pushed)))
        self.scalars += b.loop(b.index(0), count, (popped,), lambda i, last: (b.op(core.POP, stack),))

    def check(self) -> None:
        details = [self.scalar(I64) for _ in range(self.pick(range(3)))]
        message = "".join(f'"{{{k}}}" ' for k in range(len(details))) + self.pick(("is wrong", "ünrecht\n", ""))
        self.builder.check(self.scalar(BOOL), self.pick(("ValueError", "IndexError")), message, details)

    def carried(self) -> list[Value]:
        return [self.scalar(self.pick(KINDS)) for _ in range(self.pick(range(3)))]

    def loop(self, depth: int) -> None:
        carried, exit = self.carried(), self.draw(st.booleans())
        kinds = [*([BOOL] if exit else []), *(value.type for value in carried)]
        start, stop = self.small(-1, 1), self.small(0, 3)
        names = [self.name() for _ in carried]
        self.scalars += self.builder.loop(
            start, stop, carried, lambda *inside: self.inner(inside, depth, kinds),
            step=self.pick((1, 1, 2, -1)), exit=exit, names=names,
        )  # fmt: skip

    def repeat(self, depth: int) -> None:
        """A `while` that counts, and may end earlier."""
        b = self.builder
        initial = [b.index(0), *self.carried()]
        first, second = ([Value(value.type, self.name()) for value in initial] for _ in range(2))
        limit = self.small(0, 3)
        with b.block(first) as condition:
            (other,) = self.inner(first, 0, [BOOL])
            condition.results = (b.op(ops.AND, other, b.op(ops.LT, first[0], limit)),)
        with b.block(second) as body:
            values = self.inner(second, depth, [value.type for value in initial[1:]])
            body.results = (b.op(ops.ADD, second[0], b.index(1)), *values)
        self.scalars += b.emit(core.WHILE, initial, {}, (condition.region(), body.region()))

    def branch(self, depth: int) -> None:
        kinds = [self.pick(KINDS) for _ in range(self.pick(range(3)))]
        self.scalars += self.builder.branch(
            self.scalar(BOOL), lambda: self.inner((), depth, kinds), lambda: self.inner((), depth, kinds)
        )


@st.composite
def functions(draw: st.DrawFn, budget: int = 20) -> Function:
    """A well-formed function of up to about `budget` statements."""
    return Maker(draw, budget).function()


@st.composite
def arguments(draw: st.DrawFn, function: Function) -> list[Any]:
    """Numbers and arrays for the parameters of a function; no extent is zero."""

    def number(kind: Scalar) -> Any:
        return draw(st.sampled_from(NUMBERS[kind]))

    found: list[Any] = []
    for value in function.parameters:
        kind = value.type
        if isinstance(kind, Scalar):
            found.append(number(kind))
        else:
            assert isinstance(kind, Buffer)
            shape = tuple(draw(st.integers(1, 3)) for _ in range(kind.rank))
            numbers = [number(kind.element) for _ in range(int(np.prod(shape)))]
            found.append(np.array(numbers, DTYPES[kind.element]).reshape(shape))
    return found
