"""Random IR functions that give passes something to do.

Loops in all directions with counters, exits and nests; branches; memory that is filled, partly filled, reshaped by
nobody and read; indices that are checked, clamped or wrapped.  A seed gives the same function everywhere.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from adgen import ops
from adgen.ir import core
from adgen.ir.builder import Builder
from adgen.ir.nodes import Function, Value
from adgen.ir.types import F64, I64, Buffer

DEEPEST = 4
ARITHMETIC = (ops.ADD, ops.SUB, ops.MUL, ops.DIV, ops.MAXIMUM)
FUNCTIONS = (ops.SIN, ops.EXP, ops.NEG, ops.ABS)
INTEGERS = (ops.ADD, ops.ADD, ops.SUB, ops.MUL, ops.MINIMUM, ops.MAXIMUM)
COMPARISONS = (ops.LT, ops.LE, ops.EQ, ops.NE, ops.GE, ops.GT)


@dataclass
class Scope:
    """The values that can be used at a point of the program."""

    floats: list[Value]
    integers: list[Value]
    sizes: list[Value]
    buffers: list[Value]
    indices: list[Value]
    cells: list[Value] = field(default_factory=list)

    def inner(self) -> Scope:
        """The scope of a region."""
        return replace(self, **{name: list(values) for name, values in vars(self).items()})


class Generator:
    """Makes one function."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.builder = Builder()
        self.left = self.random.randint(5, 40)
        self.clamped = self.random.choice([0, 0.5, 0.9, 1])

    def function(self) -> Function:
        """A function of two floats, two integers, a vector, a matrix and a vector of integers."""
        builder, chance = self.builder, self.random
        kinds = {"x": F64, "y": F64, "n": I64, "m": I64, "A": Buffer(F64, 1), "B": Buffer(F64, 2), "I": Buffer(I64, 1)}
        parameters = [Value(kind, name) for name, kind in kinds.items()]
        x, y, n, m, vector, matrix, integers = parameters
        with builder.block(parameters) as block:
            sizes = [builder.op(ops.MAXIMUM, value, builder.index(0)) for value in (n, m)]
            sizes += [builder.index(k) for k in (1, 2, 3)] + [*builder.dims(vector), *builder.dims(matrix)]
            constants = [builder.const(0.0), builder.const(1.5)]
            scope = Scope([x, y, *constants], [n, m, builder.index(0), *sizes], sizes, [vector, matrix], [integers])
            local = [self.alloc(scope) for _ in range(chance.randint(0, 3))]
            scope.cells = [builder.alloc(I64, (), "cell")]
            for _ in range(chance.randint(2, 7)):
                self.statement(scope, 0)
            results = [chance.choice(scope.floats), chance.choice(scope.floats), chance.choice(scope.integers)]
            results += [buffer for buffer in local if chance.random() < 0.5]
            block.results = tuple(results)
        return builder.function("f", block, [f"r{k}" for k in range(len(results))])

    def alloc(self, scope: Scope) -> Value:
        """Local memory, zero-filled or filled by a nest."""
        extents = [self.random.choice(scope.sizes) for _ in range(self.random.choice([1, 1, 2]))]
        zero = self.random.random() < 0.8
        buffer = self.builder.alloc(F64, extents, "t", zero)
        if not zero:
            self.builder.nest(
                extents, lambda *index: self.builder.store(buffer, self.random.choice(scope.floats), index)
            )
        scope.buffers.append(buffer)
        return buffer

    def recent(self, values: list[Value]) -> Value:
        """One of the values, rather a late one."""
        return self.random.choice(values[-6:] if self.random.random() < 0.6 else values)

    def integer(self, scope: Scope) -> Value:
        """An integer, old or new."""
        kind = self.random.random()
        if kind < 0.45:
            return self.recent(scope.integers)
        row = self.random.choice(INTEGERS if kind < 0.9 else (ops.MOD, ops.FLOORDIV))
        return self.builder.op(row, self.recent(scope.integers), self.recent(scope.integers))

    def number(self, scope: Scope) -> Value:
        """A float, old or new."""
        kind = self.random.random()
        if kind < 0.3:
            return self.recent(scope.floats)
        if kind < 0.8:
            row = self.random.choice(ARITHMETIC)
            return self.builder.op(row, self.recent(scope.floats), self.recent(scope.floats))
        return self.builder.op(self.random.choice(FUNCTIONS), self.recent(scope.floats))

    def condition(self, scope: Scope) -> Value:
        """A comparison, mostly of integers."""
        make = self.integer if self.random.random() < 0.7 else self.number
        return self.builder.op(self.random.choice(COMPARISONS), make(scope), make(scope))

    def index(self, scope: Scope, buffer: Value) -> list[Value]:
        """Indices into a buffer, with the checks that they need."""
        return [self.subscript(scope, extent) for extent in self.builder.dims(buffer)]

    def subscript(self, scope: Scope, extent: Value) -> Value:
        """One index: clamped, or checked, sometimes wrapped before."""
        builder, zero, index = self.builder, self.builder.index(0), self.integer(scope)
        if self.random.random() < 0.25:
            negative = builder.op(ops.LT, index, zero)
            index = builder.op(ops.SELECT, negative, builder.op(ops.ADD, index, extent), index)
        if self.random.random() < self.clamped:
            builder.check(builder.op(ops.GT, extent, zero), "IndexError", "empty")
            if self.random.random() < 0.2:
                return builder.op(ops.MOD, index, extent)
            last = builder.op(ops.SUB, extent, builder.index(1))
            return builder.op(ops.MAXIMUM, zero, builder.op(ops.MINIMUM, index, last))
        inside = builder.op(ops.AND, builder.op(ops.GE, index, zero), builder.op(ops.LT, index, extent))
        builder.check(inside, "IndexError", "index {0} of {1}", (index, extent))
        return index

    def statement(self, scope: Scope, depth: int) -> None:
        """One statement, perhaps with others inside."""
        self.left -= 1
        shallow = [self.compute, self.count, self.load, self.store, self.add, self.cell, self.gather, self.test]
        weights = [15, 10, 12, 10, 6, 6, 3, 3]
        deep = [self.fill, self.branch, self.loop, self.repeat, self.duplicate]
        if self.left < 0:
            return self.compute(scope, depth)
        if depth < DEEPEST:
            shallow, weights = shallow + deep, [*weights, 10, 4, 15, 3, 5]
        return self.random.choices(shallow, weights)[0](scope, depth)

    def statements(self, scope: Scope, depth: int, least: int, most: int) -> Scope:
        """Some statements in a region."""
        inner = scope.inner()
        for _ in range(self.random.randint(least, most)):
            self.statement(inner, depth + 1)
        return inner

    def compute(self, scope: Scope, depth: int) -> None:
        scope.floats.append(self.number(scope))

    def count(self, scope: Scope, depth: int) -> None:
        scope.integers.append(self.integer(scope))

    def load(self, scope: Scope, depth: int) -> None:
        buffer = self.random.choice(scope.buffers)
        scope.floats.append(self.builder.load(buffer, self.index(scope, buffer), "v"))

    def store(self, scope: Scope, depth: int) -> None:
        buffer = self.random.choice(scope.buffers)
        index = self.index(scope, buffer)
        self.builder.store(buffer, self.number(scope), index)
        if self.random.random() < 0.3:
            scope.floats.append(self.builder.load(buffer, index, "w"))

    def add(self, scope: Scope, depth: int) -> None:
        buffer = self.random.choice(scope.buffers)
        self.builder.accumulate(buffer, self.number(scope), self.index(scope, buffer))

    def cell(self, scope: Scope, depth: int) -> None:
        cell = self.random.choice(scope.cells)
        if self.random.random() < 0.5:
            self.builder.store(cell, self.integer(scope))
        else:
            scope.integers.append(self.builder.load(cell))

    def gather(self, scope: Scope, depth: int) -> None:
        (table,) = scope.indices
        scope.integers.append(self.builder.load(table, self.index(scope, table)))

    def test(self, scope: Scope, depth: int) -> None:
        self.builder.check(self.condition(scope), self.random.choice(["ValueError", "IndexError"]), "odd")

    def fill(self, scope: Scope, depth: int) -> None:
        """A nest over a whole buffer, that mostly stores into every element."""
        buffer = self.random.choice(scope.buffers)

        def body(*indices: Value) -> None:
            outer = scope.inner()
            outer.integers.extend(indices)
            inner = self.statements(outer, depth, 0, 2)
            if self.random.random() < 0.9:
                self.builder.store(buffer, self.number(inner), indices)
            self.statements(inner, depth, 0, 1)

        self.builder.nest(self.builder.dims(buffer), body)

    def duplicate(self, scope: Scope, depth: int) -> None:
        """A copy of a buffer, perhaps changed in places, perhaps copied back."""
        builder, source = self.builder, self.random.choice(scope.buffers)
        extents = builder.dims(source)
        target = builder.alloc(F64, extents, "copy", False)
        builder.nest(extents, lambda *index: builder.store(target, builder.load(source, index), index))
        if self.random.random() < 0.5:
            scope.buffers.append(target)
            return
        kind = self.random.random()
        lower, upper = builder.index(self.random.choice([0, 1])), builder.op(ops.SUB, extents[0], builder.index(1))

        def body(first: Value) -> tuple[Value, ...]:
            inner = scope.inner()
            inner.integers.append(first)
            index = (first, *(builder.index(0) for _ in extents[1:]))
            for extent in extents[1:]:
                builder.check(builder.op(ops.GT, extent, builder.index(0)), "IndexError", "empty")
            inner.floats.append(builder.load(source, index))
            builder.store(target if kind < 0.8 else source, self.number(inner), index)
            if kind > 0.9:
                inner.buffers.append(target)
                self.statement(inner, depth + 1)
            return ()

        builder.loop(lower, upper, (), body)
        builder.nest(extents, lambda *index: builder.store(source, builder.load(target, index), index))

    def branch(self, scope: Scope, depth: int) -> None:
        def side() -> tuple[Value, Value]:
            inner = self.statements(scope, depth, 0, 3)
            return self.random.choice(inner.floats[-3:]), self.random.choice(inner.integers[-3:])

        number, integer = self.builder.branch(self.condition(scope), side, side, ["p", "q"])
        scope.floats.append(number)
        scope.integers.append(integer)

    def loop(self, scope: Scope, depth: int) -> None:
        """A `for` of at most six steps, with a float and an integer carried."""
        builder, chance = self.builder, self.random
        start = self.integer(scope) if chance.random() < 0.4 else builder.index(chance.choice([0, 0, 1]))
        stop, step, six = self.integer(scope), chance.choice([1, 1, 1, 1, -1, 2, -2]), builder.index(6)
        if step > 0:
            stop = builder.op(ops.MINIMUM, stop, builder.op(ops.ADD, start, six))
        else:
            start, stop = stop, builder.index(-1) if chance.random() < 0.5 else start
            stop = builder.op(ops.MAXIMUM, stop, builder.op(ops.SUB, start, six))
        exit, amount = chance.random() < 0.12, self.amount(scope)

        def body(index: Value, number: Value, counter: Value) -> list[Value]:
            outer = scope.inner()
            outer.integers += [index, counter, index]
            outer.floats.append(number)
            inner = self.statements(outer, depth, 1, 4)
            flag = [self.condition(inner)] if exit else []
            return [*flag, chance.choice(inner.floats[-3:]), amount(index, counter, inner)]

        carried = [chance.choice(scope.floats[-3:]), chance.choice(scope.integers[-3:])]
        number, counter = builder.loop(start, stop, carried, body, step, exit, names=["s", "e"])
        scope.floats.append(number)
        scope.integers.append(counter)

    def amount(self, scope: Scope) -> Callable[[Value, Value, Scope], Value]:
        """How the carried integer of a loop goes on."""
        builder, kind = self.builder, self.random.random()
        constant, known = builder.index(self.random.choice([1, 2, -1])), self.recent(scope.integers)
        if kind < 0.4:
            return lambda index, counter, inner: builder.op(ops.ADD, counter, constant)
        if kind < 0.6:
            return lambda index, counter, inner: builder.op(ops.ADD, counter, self.random.choice([index, known]))
        if kind < 0.7:
            return lambda index, counter, inner: counter
        return lambda index, counter, inner: self.random.choice(inner.integers[-3:])

    def repeat(self, scope: Scope, depth: int) -> None:
        """A `while` of at most five steps."""
        builder = self.builder
        limit = builder.op(ops.MINIMUM, self.random.choice(scope.sizes), builder.index(5))
        step, number = Value(I64, "k"), Value(F64, "g")
        with builder.block([step, number]) as condition:
            condition.results = (builder.op(ops.LT, step, limit),)
        step, number = Value(I64, "k"), Value(F64, "g")
        with builder.block([step, number]) as body:
            outer = scope.inner()
            outer.integers.append(step)
            outer.floats.append(number)
            inner = self.statements(outer, depth, 0, 3)
            body.results = (builder.op(ops.ADD, step, builder.index(1)), self.random.choice(inner.floats[-3:]))
        carried = (builder.index(0), self.random.choice(scope.floats))
        count, value = builder.emit(core.WHILE, carried, {}, (condition.region(), body.region()), ["k", "g"])
        scope.integers.append(count)
        scope.floats.append(value)


def inputs(seed: int) -> list[Any]:
    """Arguments of such a function."""
    chance = random.Random(seed)

    def floats(*shape: int) -> np.ndarray:
        return np.array([chance.uniform(-2, 2) for _ in range(int(np.prod(shape)))]).reshape(shape)

    sizes = chance.randint(-1, 4), chance.randint(0, 4)
    vector, matrix = floats(chance.choice([1, 4, 6])), floats(chance.choice([2, 5]), 4)
    integers = np.array([chance.randint(0, 3) for _ in range(5)])
    return [chance.uniform(-2, 2), chance.uniform(-2, 2), *sizes, vector, matrix, integers]
