"""The entries of a sparse matrix from products with sums of unit vectors, in one function.

Comes in: a function that is linear in some parameters, the tangents, whose results are all tangents.  Goes out: a
function that is told which elements each of many directions sums up, and where which element of a result belongs, and
gives the entries; None where what is executed depends on the direction.  Guaranteed: each direction is taken once,
several side by side; what no direction enters is computed once.

Beside the first parameters it has `first` and `seeds` for each tangent: batch `b` sets the elements
`seeds[first[b]:first[b + 1]]` to one, counted through the array with its last axis, of directions.  For each result it
has `first`, `elements` and `places`: after batch `b` the elements between `first[b]` and `first[b + 1]` are entries,
and stand at `places` in the vector that the function gives, which has `count` elements.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce

from adgen import ops
from adgen.ir import core
from adgen.ir.builder import Builder
from adgen.ir.nodes import Function, Value
from adgen.ir.rebuild import Mapping, clone, mapped
from adgen.ir.types import F64, I64, Buffer, Scalar
from adgen.passes.abreast import abreast
from adgen.passes.apart import apart, once

LIST = Buffer(I64, 1)


def compressed(function: Function, of: Sequence[int], width: int) -> Function | None:
    """The entries of the matrix whose product a function is.

    Of `f(%x: f64[:], %x_dot: f64[:]) -> (y_dot)` it makes `f(%x: f64[:], %first: i64[:], %seeds: i64[:],
    %first_1: i64[:], %elements: i64[:], %places: i64[:], %count: i64) -> (entries)`.  `of` are the positions of the
    parameters that the tangents are of, and `width` is how many directions stand side by side.
    """
    count = len(function.parameters) - len(of)
    split = apart(function, function.parameters[count:])
    wide = abreast(split, split.parameters[count:], width)
    return None if wide is None else _Entries(wide, of, width).made()


class _Entries:
    def __init__(self, wide: Function, of: Sequence[int], width: int) -> None:
        self.wide = wide
        self.builder = Builder()
        self.builder.span = wide.span
        self.width = width
        count = len(wide.parameters) - len(of)
        self.tangents = wide.parameters[count:]
        self.given = [Value(value.type, value.name) for value in wide.parameters[:count]]
        self.of = [self.given[position] for position in of]
        self.seeds = [(Value(LIST, "first"), Value(LIST, "seeds")) for _ in of]
        names = "first", "elements", "places"
        self.lists = [tuple(Value(LIST, name) for name in names) for _ in wide.results]
        self.count = Value(I64, "count")
        kinds = {_element(value) for value in wide.results}
        self.kind = kinds.pop() if len(kinds) == 1 else F64

    def made(self) -> Function:
        builder, wide = self.builder, self.wide
        given = [
            *self.given,
            *(v for pair in self.seeds for v in pair),
            *(v for own in self.lists for v in own),
            self.count,
        ]
        with builder.block(given) as block:
            mapping = dict(zip(wide.parameters, self.given))
            shared, moving = once(wide, self.tangents)
            clone(builder, shared, mapping)
            entries = builder.alloc(self.kind, (self.count,), "entries", zero=False)
            tangents = [self.tangent(x, value) for x, value in zip(self.of, self.tangents)]

            def batch(number: Value) -> tuple[Value, ...]:
                self.set(tangents, number, 1.0)
                own: Mapping = mapping | dict(zip(self.tangents, tangents))
                clone(builder, moving, own)
                builder.span = wide.span
                for result, lists in zip(mapped(wide.results, own), self.lists):
                    self.take(result, entries, number, *lists)
                following = builder.op(ops.LT, builder.op(ops.ADD, number, builder.index(1)), batches)
                builder.branch(following, lambda: self.set(tangents, number, 0.0))
                return ()

            batches = builder.op(ops.SUB, builder.dim(self.seeds[0][0], 0), builder.index(1))
            self.single = builder.op(ops.EQ, batches, builder.index(1))
            builder.loop(builder.index(0), batches, (), batch, name="batch")
            block.results = (entries,)
        return builder.function(f"{wide.name}_entries", block, ("entries",), **wide.notes)

    def tangent(self, x: Value, like: Value) -> Value:
        """Memory for the tangents of a parameter."""
        extents = self.builder.dims(x) if isinstance(x.type, Buffer) else ()
        return self.builder.alloc(_element(like), (*extents, self.builder.index(self.width)), like.name)

    def flat(self, buffer: Value) -> Value:
        """The same memory as a vector."""
        builder, extents = self.builder, self.builder.dims(buffer)
        size = reduce(lambda a, b: builder.op(ops.MUL, a, b), extents)
        return buffer if len(extents) == 1 else builder.op(core.RESHAPE, buffer, size)

    def set(self, tangents: Sequence[Value], batch: Value, number: float) -> tuple[Value, ...]:
        """Set the seeds of a batch."""
        builder = self.builder
        for tangent, (first, seeds) in zip(tangents, self.seeds):
            vector, value = self.flat(tangent), builder.const(number, _element(tangent))

            def one(k: Value, vector: Value = vector, value: Value = value, seeds: Value = seeds) -> None:
                builder.store(vector, value, (builder.load(seeds, (k,)),))

            self.each(batch, first, one)
        return ()

    def take(self, result: Value, vector: Value, batch: Value, first: Value, elements: Value, places: Value) -> None:
        """Note the entries that a batch gives."""
        builder, flat = self.builder, self.flat(result)

        def one(k: Value, place: Value) -> None:
            number = builder.load(flat, (builder.load(elements, (k,)),))
            if number.type != self.kind:
                number = builder.op(ops.CASTS[self.kind], number)
            builder.store(vector, number, (place,))

        def in_order() -> tuple[Value, ...]:
            self.each(batch, first, lambda k: one(k, k))
            return ()

        def anywhere() -> tuple[Value, ...]:
            self.each(batch, first, lambda k: one(k, builder.load(places, (k,))))
            return ()

        # what one batch gives of one result stands in the order of the places: if that is all, they need not be read
        all_of = builder.op(ops.EQ, builder.dim(elements, 0), self.count)
        builder.branch(builder.op(ops.AND, self.single, all_of), in_order, anywhere)

    def each(self, batch: Value, first: Value, body: Callable[[Value], None]) -> None:
        """Emit a loop over what belongs to a batch."""
        builder = self.builder

        def iteration(k: Value) -> tuple[Value, ...]:
            body(k)
            return ()

        bounds = builder.load(first, (batch,)), builder.load(first, (builder.op(ops.ADD, batch, builder.index(1)),))
        builder.loop(*bounds, (), iteration, name="k")


def _element(value: Value) -> Scalar:
    assert isinstance(value.type, Buffer)
    return value.type.element
