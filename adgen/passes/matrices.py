"""Whole matrices of derivatives: a loop over unit directions around a product with one direction.

Comes in: a pure function and the positions of the parameters to differentiate for.  Goes out: a function of the same
parameters whose results are, for each floating-point result and each of these parameters, a block of shape
`result.shape + parameter.shape`.  Guaranteed: both modes give the same blocks, but for rounding; a zero derivative is
stored as a zero.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce
from math import prod

from adgen import ops
from adgen.ir import core
from adgen.ir.builder import Builder
from adgen.ir.calls import reachable, unused
from adgen.ir.nodes import Function, Operation, Row, Value, walk
from adgen.ir.rebuild import Mapping, clone, mapped, rebuild
from adgen.ir.types import Buffer, Scalar, is_float
from adgen.passes.abreast import abreast
from adgen.passes.adjoint import adjoint, without_values
from adgen.passes.apart import apart, once
from adgen.passes.custom import inline_custom, inlined
from adgen.passes.dead_code import dead_code
from adgen.passes.entries import Supports, entries, supports
from adgen.passes.fold import fold
from adgen.passes.forward import forward
from adgen.passes.forward_stores import forward_stores
from adgen.passes.several import several
from adgen.passes.straight import fixed_results, straight
from adgen.passes.unroll import unroll
from adgen.passes.windows import Windowed, windowed

ROW_COST = 2  # a product with a cotangent costs about as much as this many with a tangent
WRITTEN_OUT = 2  # directions that are rather written out one after the other
MOST_TANGENTS = 4096  # of straight-line code
WIDTH = 8  # directions side by side: a line of the cache, and as much as fills a vector unit


def columns(function: Function, wrt: Sequence[int]) -> Function:
    """The matrix by forward mode, one column after the other."""
    matrix = _Matrix(function, wrt)
    entry = _Entries.of(matrix)
    if entry is not None:
        return entry.finished("jacfwd")
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
    entry = _Entries.of(matrix)
    if entry is not None and entry.columns <= ROW_COST * entry.rows:
        return entry.finished("jacobian")
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
        self.sparse = False  # a product may leave zeros of the blocks out

    def product(self, derived: Function) -> Function:
        """A product whose callees this function has too, under names of their own.

        What the function checks it does not check again; vectors of a few elements are numbers, so that fewer
        operations stand between two loops.
        """
        made = inline_custom(derived)
        if not any(operation.row is core.CUSTOM for operation in walk(self.function.body)):
            made = rebuild(made, _without_checks)
        for step in (fold, unroll, forward_stores, dead_code):
            made = step(made)
        first = len(self.parameters)
        made = apart(made, made.parameters[first:])
        narrow = [self.narrowed(made, k) for k in range(len(made.parameters) - first)]
        self.sparse |= any(window is not None for each in narrow if each for window in each.results)
        self.callees.update(made.callees)
        return made

    def narrowed(self, product: Function, position: int) -> Windowed | None:
        """The product with loops that leave out what is zero along unit directions of a vector."""
        tangents = product.parameters[len(self.parameters) :]
        kind = tangents[position].type
        is_vector = isinstance(kind, Buffer) and kind.rank == 1
        return windowed(product, tangents, tangents[position]) if is_vector else None

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
        return self.builder.alloc(kind, extents, name, zero=self.sparse)

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

    def element(self, value: Value, index: Sequence[Value]) -> Value:
        """An element of an array, or the number."""
        return self.builder.load(value, index) if isinstance(value.type, Buffer) else value


class _Entries:
    """Straight-line code, whose entries are computed all at once, those apart that are zero in any case."""

    def __init__(self, matrix: _Matrix, written: Function, found: Supports) -> None:
        self.matrix = matrix
        self.written = written
        self.inputs = [written.parameters[position] for position in matrix.wrt]
        used = {element for own in found.values() for element in own}
        self.columns = len(used)
        self.rows = len(matrix.function.results) + len(_operations(written, core.STORE))
        self.count = sum(len(own) for own in found.values())
        self.ends: dict[Value, list[int]] = {}  # for each parameter where along each axis the last used element is
        for x in self.inputs:
            places = [at for own, at in used if own is x]
            self.ends[x] = [1 + max((at[axis] for at in places), default=-1) for axis in range(matrix.rank(x))]

    @classmethod
    def of(cls, matrix: _Matrix) -> _Entries | None:
        """The entries of a function, or None where it is too long, or not straight."""
        written = straight(matrix.function)
        if written is None:
            return None
        found = supports(written, [written.parameters[position] for position in matrix.wrt])
        made = cls(matrix, written, found) if found is not None else None
        return made if made is not None and made.is_short() else None

    def is_short(self) -> bool:
        """True when there is not too much to write out: it is then faster, even if no tangent is zero."""
        size = sum(prod(ends) for ends in self.ends.values())
        return max(self.count, self.rows * size) <= MOST_TANGENTS

    def finished(self, ending: str) -> Function:
        """The function that computes them."""
        arrays = {value for value in self.written.results if isinstance(value.type, Buffer)}
        self.matrix.sparse = set(fixed_results(self.written)) != arrays  # of the others not every element is stored
        return self.matrix.finished(self.fill, ending)

    def fill(self) -> None:
        """Emit the code, and store the entries."""
        matrix, builder, written = self.matrix, self.matrix.builder, self.written
        blocks = dict(zip((value for value in written.results if is_float(value.type)), matrix.blocks))
        mapping = dict(zip(written.parameters, matrix.parameters))
        for (value, place), derivatives in entries(builder, written, mapping, self.inputs).items():
            for x, block in zip(self.inputs, blocks.get(value, ())):
                for at in itertools.product(*map(range, self.ends[x])):
                    part = derivatives.get((x, at)) or builder.const(0.0, _element(block))
                    builder.store(block, part, map(builder.index, (*place, *at)))
        builder.span = written.span
        if matrix.sparse:
            return
        for value, row in zip(matrix.values, matrix.blocks):
            for x, own, block in zip(self.inputs, matrix.inputs, row):
                self.zeros(block, matrix.extents(value), matrix.extents(own), self.ends[x])

    def zeros(self, block: Value, rows: Sequence[Value], extents: Sequence[Value], ends: Sequence[int]) -> None:
        """Store zeros for the elements behind those that are used: along one axis after the other."""
        builder = self.matrix.builder
        zero = builder.const(0.0, _element(block))
        for axis, end in enumerate(map(builder.index, ends)):
            counts = [*map(builder.index, ends[:axis]), builder.op(ops.SUB, extents[axis], end), *extents[axis + 1 :]]

            def store(*index: Value, axis: int = len(rows) + axis, end: Value = end) -> None:
                behind = builder.op(ops.ADD, index[axis], end)
                builder.store(block, zero, (*index[:axis], behind, *index[axis + 1 :]))

            builder.nest([*rows, *counts], store)


def _operations(function: Function, row: Row) -> list[Operation]:
    return [operation for operation in function.body.operations if operation.row is row]


def _element(buffer: Value) -> Scalar:
    assert isinstance(buffer.type, Buffer)
    return buffer.type.element


def _without_checks(builder: Builder, operation: Operation, mapping: Mapping) -> bool:
    return operation.row is core.CHECK and "trace" not in operation.attributes


def _by_columns(matrix: _Matrix, pushed: Sequence[Function]) -> tuple[Value, ...]:
    for k, (x, product) in enumerate(zip(matrix.inputs, pushed, strict=True)):
        seeds = _Seeds(matrix, x, product, 0)

        def fill(found: Sequence[Value], k: int = k, seeds: _Seeds = seeds) -> None:
            for j, (row, tangent) in enumerate(zip(matrix.blocks, found, strict=True)):
                seeds.fill(row[k], tangent, j, columns=True)

        seeds.each(lambda direction: [direction], fill)
    return ()


def _by_rows(matrix: _Matrix, pulled: Function) -> tuple[Value, ...]:
    for k, (value, row) in enumerate(zip(matrix.values, matrix.blocks, strict=True)):
        seeds = _Seeds(matrix, value, pulled, k)

        def given(direction: Value, k: int = k, seeds: _Seeds = seeds) -> list[Value]:
            return [direction if j == k else seeds.zero(other) for j, other in enumerate(matrix.values)]

        def fill(found: Sequence[Value], row: list[Value] = row, seeds: _Seeds = seeds) -> None:
            for j, (block, gradient) in enumerate(zip(row, found, strict=True)):
                seeds.fill(block, gradient, j, columns=False)

        seeds.each(given, fill)
    return ()


class _Seeds:
    """The unit directions of a value, `WIDTH` of them side by side where the product can be taken so."""

    def __init__(self, matrix: _Matrix, value: Value, product: Function, position: int) -> None:
        self.matrix = matrix
        self.builder = matrix.builder
        self.value = value
        self.size = matrix.count([value])
        known = self.builder.known(self.size)
        width = WIDTH if known is None else min(known, WIDTH)
        first = len(matrix.parameters)
        self.given = len(product.parameters) - first
        narrow = matrix.narrowed(product, position)
        self.windows = narrow.results if narrow else ()
        product = narrow.function if narrow else product
        wide = None
        if width > 1 and isinstance(value.type, Buffer):
            tangents = product.parameters[first : first + self.given]
            wide = (several if width <= WRITTEN_OUT else abreast)(product, tangents, width)
        self.product = wide or product
        self.width = width if wide else 1
        self.sides = (self.builder.index(width),) if wide else ()
        self.first = self.builder.index(0)
        self.count = self.builder.index(1)

    def each(self, given: Callable[[Value], Sequence[Value]], fill: Callable[[Sequence[Value]], None]) -> None:
        """Emit the product for each direction.

        `given` are all directions that the product is given with this one, `fill` emits what becomes of its results.
        """
        builder, value, matrix, product = self.builder, self.value, self.matrix, self.product
        tangents = product.parameters[len(matrix.parameters) :][: self.given]
        window = product.parameters[len(matrix.parameters) + self.given :]
        shared, moving = once(product, tangents, window)
        mapping = dict(zip(product.parameters, matrix.parameters))
        clone(builder, shared, mapping)

        def along(direction: Value) -> None:
            own = mapping | dict(zip(tangents, given(direction), strict=True))
            own.update(zip(window, (self.first, self.end)))
            clone(builder, moving, own)
            builder.span = matrix.function.span
            fill(mapped(product.results, own))

        if not isinstance(value.type, Buffer):
            along(builder.const(1.0, value.type))
            return
        element = value.type.element
        flat = builder.alloc(element, (self.size, *self.sides), "direction")
        direction = _shaped(builder, flat, (*matrix.extents(value), *self.sides))

        def some(first: Value) -> tuple[Value, ...]:
            self.first = first
            if self.sides:
                self.count = builder.op(ops.MINIMUM, self.sides[0], builder.op(ops.SUB, self.size, first))
            self.set(flat, builder.const(1.0, element))
            along(direction)
            self.set(flat, builder.const(0.0, element))
            return ()

        if builder.known(self.size) == self.width:
            some(builder.index(0))
        else:
            builder.loop(builder.index(0), self.size, (), some, step=self.width)

    @property
    def end(self) -> Value:
        """Behind the last direction that is taken."""
        return self.builder.op(ops.ADD, self.first, self.count)

    def set(self, flat: Value, number: Value) -> None:
        """Put a number where the directions have their one."""
        self.lanes(lambda place, lane: self.builder.store(flat, number, (place, *lane)))

    def zero(self, value: Value) -> Value:
        """No direction of another value."""
        if isinstance(value.type, Buffer):
            return self.builder.alloc(value.type.element, (*self.matrix.extents(value), *self.sides), "direction")
        if isinstance(value.type, Scalar) and self.sides:
            return self.builder.alloc(value.type, self.sides, "direction")
        return self.builder.const(0.0, value.type)

    def lanes(self, body: Callable[[Value, tuple[Value, ...]], None]) -> None:
        """Emit `body(number of the direction, its index in the last axis if there is one)` for each direction."""
        if not self.sides:
            body(self.first, ())
            return
        self.builder.nest([self.count], lambda k: body(self.builder.op(ops.ADD, self.first, k), (k,)), "k")

    def fill(self, block: Value, part: Value, result: int, columns: bool) -> None:
        """Store columns or rows of a block, in the block's type, where they can be other than zero."""
        matrix, builder = self.matrix, self.builder
        assert isinstance(block.type, Buffer)
        target = block.type.element
        scalar = not isinstance(self.value.type, Buffer)
        own = matrix.extents(part)[: -len(self.sides) or None]
        shape = () if scalar else (self.size,)
        flat = _shaped(builder, block, (*own, *shape) if columns else (*shape, *own))

        def at(*index: Value) -> None:
            def store(place: Value, lane: tuple[Value, ...]) -> None:
                number = matrix.element(part, (*index, *lane))
                if number.type != target:
                    number = builder.op(ops.CASTS[target], number)
                places = () if scalar else (place,)
                builder.store(flat, number, (*index, *places) if columns else (*places, *index))

            self.lanes(store)

        window = self.windows[result] if self.windows else None
        if window is None:
            builder.nest(own, at)
            return

        def inside(index: Value) -> tuple[Value, ...]:
            builder.nest(own[1:], lambda *others: at(index, *others))
            return ()

        first = builder.op(ops.ADD, self.first, builder.index(window.low))
        last = builder.op(ops.ADD, self.end, builder.index(window.high))
        start, stop = builder.op(ops.MAXIMUM, first, builder.index(0)), builder.op(ops.MINIMUM, last, own[0])
        builder.loop(start, stop, (), inside)


def _shaped(builder: Builder, buffer: Value, extents: tuple[Value, ...]) -> Value:
    """A buffer with other extents."""
    assert isinstance(buffer.type, Buffer)
    if len(extents) == buffer.type.rank:
        return buffer
    return builder.op(core.RESHAPE, buffer, *extents)
