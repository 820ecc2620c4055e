"""Whole matrices of derivatives: a loop over unit directions around a product with one direction.

Comes in: a pure function and the positions of the parameters to differentiate for.  Goes out: a function of the same
parameters whose results are, for each floating-point result and each of these parameters, a block of shape
`result.shape + parameter.shape`.  Guaranteed: both modes give the same blocks, but for rounding; a zero derivative is
stored as a zero.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import reduce

from adgen import ops
from adgen.ir.builder import Builder
from adgen.ir.calls import reachable, unused
from adgen.ir.nodes import Function, Value
from adgen.ir.types import Buffer, Scalar, is_float
from adgen.passes.adjoint import adjoint, without_values
from adgen.passes.custom import inline_custom, inlined, zeros_like
from adgen.passes.forward import forward

ROW_COST = 2  # a product with a cotangent costs about as much as this many with a tangent


def columns(function: Function, wrt: Sequence[int]) -> Function:
    """The matrix by forward mode, one column after the other."""
    matrix = _Matrix(function, wrt)
    pushed = [matrix.product(without_values(forward(function, [position]), function)) for position in wrt]
    return matrix.finished(lambda: _by_columns(matrix, pushed), "jacfwd")


def rows(function: Function, wrt: Sequence[int]) -> Function:
    """The matrix by reverse mode, one row after the other."""
    matrix = _Matrix(function, wrt)
    pulled = matrix.product(without_values(adjoint(function, wrt), function))
    return matrix.finished(lambda: _by_rows(matrix, pulled), "jacrev")


def cheaper(function: Function, wrt: Sequence[int]) -> Function:
    """The matrix by columns where they are at most `ROW_COST` times as many as the rows: decided at run time."""
    matrix = _Matrix(function, wrt)
    pushed = [matrix.product(without_values(forward(function, [position]), function)) for position in wrt]
    pulled = matrix.product(without_values(adjoint(function, wrt), function))

    def fill() -> None:
        builder = matrix.builder
        limit = builder.op(ops.MUL, builder.index(ROW_COST), matrix.count(matrix.values))
        few = builder.op(ops.LE, matrix.count(matrix.inputs), limit)
        ways = (lambda: _by_columns(matrix, pushed)), (lambda: _by_rows(matrix, pulled))
        known = builder.known(few)
        if known is None:
            builder.branch(few, *ways)
        else:
            ways[not known]()

    return matrix.finished(fill, "jacobian")


class _Matrix:
    """The function in the making: its parameters, the values that derivatives are taken of, the blocks."""

    def __init__(self, function: Function, wrt: Sequence[int]) -> None:
        self.function = function
        self.wrt = wrt
        self.builder = Builder()
        self.builder.span = function.span
        self.parameters = [Value(value.type, value.name) for value in function.parameters]
        self.inputs = [self.parameters[position] for position in wrt]
        self.values: list[Value] = []
        self.blocks: list[list[Value]] = []
        self.callees = dict(function.callees)

    def product(self, derived: Function) -> Function:
        """A product whose callees this function has too, under names of their own."""
        made = inline_custom(derived)
        self.callees.update(made.callees)
        return made

    def finished(self, fill: Callable[[], object], ending: str) -> Function:
        """The function whose blocks `fill` fills."""
        function, builder = self.function, self.builder
        names = [n for n, v in zip(function.result_names, function.results, strict=True) if is_float(v.type)]
        with builder.block(self.parameters) as block:
            # what is not needed of this is dead: the extents of the results do not need the results
            found = inlined(builder, inline_custom(function), self.parameters)
            builder.span = function.span
            self.values = [value for value in found if is_float(value.type)]
            self.blocks = [
                [self._block(value, x, f"{name}_{x.name}") for x in self.inputs]
                for name, value in zip(names, self.values, strict=True)
            ]
            fill()
            plain = [x if self.rank(x) else builder.load(x) for row in self.blocks for x in row]
            block.results = tuple(plain)
        titles: list[str] = []
        for name in names:
            titles += [unused(f"{name}_{x.name}", set(titles)) for x in self.inputs]
        made = builder.function(f"{function.name}_{ending}", block, titles, **function.notes)
        return reachable(replace(made, callees=self.callees))

    def _block(self, value: Value, x: Value, name: str) -> Value:
        kind = value.type.element if isinstance(value.type, Buffer) else value.type
        assert isinstance(kind, Scalar)
        extents = [*self.extents(value), *self.extents(x)]
        return self.builder.alloc(kind, extents, name, zero=False)

    @staticmethod
    def rank(value: Value) -> int:
        return value.type.rank if isinstance(value.type, Buffer) else 0

    def extents(self, value: Value) -> tuple[Value, ...]:
        """The extents of an array, none of a number."""
        return self.builder.dims(value) if isinstance(value.type, Buffer) else ()

    def count(self, values: Sequence[Value]) -> Value:
        """How many numbers there are in values."""
        builder, one = self.builder, self.builder.index(1)
        sizes = [reduce(lambda a, b: builder.op(ops.MUL, a, b), self.extents(value), one) for value in values]
        return reduce(lambda a, b: builder.op(ops.ADD, a, b), sizes, builder.index(0))

    def each(self, value: Value, body: Callable[..., None]) -> None:
        """Emit `body(*index)` for each element."""
        self.builder.nest(self.extents(value), body)

    def element(self, value: Value, index: Sequence[Value]) -> Value:
        """An element of an array, or the number."""
        return self.builder.load(value, index) if isinstance(value.type, Buffer) else value

    def zeros(self, values: Sequence[Value]) -> list[Value]:
        """Directions that are zero."""
        return [zeros_like(self.builder, value, "direction") for value in values]

    @contextmanager
    def unit(self, zero: Value, index: Sequence[Value]) -> Iterator[Value]:
        """The direction that is one in one element, in the memory of one that is zero."""
        builder = self.builder
        if not isinstance(zero.type, Buffer):
            yield builder.const(1.0, zero.type)
            return
        builder.store(zero, builder.const(1.0, zero.type.element), index)
        yield zero
        builder.store(zero, builder.const(0.0, zero.type.element), index)


def _by_columns(matrix: _Matrix, pushed: Sequence[Function]) -> tuple[Value, ...]:
    builder = matrix.builder
    for k, (x, product) in enumerate(zip(matrix.inputs, pushed, strict=True)):
        (zero,) = matrix.zeros([x])

        def column(*index: Value, k: int = k, zero: Value = zero, product: Function = product) -> None:
            with matrix.unit(zero, index) as direction:
                found = inlined(builder, product, (*matrix.parameters, direction))
                builder.span = matrix.function.span
                for row, tangent in zip(matrix.blocks, found, strict=True):
                    _fill(matrix, row[k], tangent, lambda own: (*own, *index))

        matrix.each(x, column)
    return ()


def _by_rows(matrix: _Matrix, pulled: Function) -> tuple[Value, ...]:
    builder = matrix.builder
    zeros = matrix.zeros(matrix.values)
    for k, (value, row) in enumerate(zip(matrix.values, matrix.blocks, strict=True)):

        def one_row(*index: Value, k: int = k, row: list[Value] = row) -> None:
            with matrix.unit(zeros[k], index) as direction:
                bars = [*zeros[:k], direction, *zeros[k + 1 :]]
                found = inlined(builder, pulled, (*matrix.parameters, *bars))
                builder.span = matrix.function.span
                for block, gradient in zip(row, found, strict=True):
                    _fill(matrix, block, gradient, lambda own: (*index, *own))

        matrix.each(value, one_row)
    return ()


def _fill(matrix: _Matrix, block: Value, part: Value, place: Callable[[Sequence[Value]], tuple[Value, ...]]) -> None:
    """Store a column or row of a block, in the block's type."""
    builder = matrix.builder
    assert isinstance(block.type, Buffer)
    target = block.type.element

    def store(*own: Value) -> None:
        number = matrix.element(part, own)
        if number.type != target:
            number = builder.op(ops.CASTS[target], number)
        builder.store(block, number, place(own))

    matrix.each(part, store)
