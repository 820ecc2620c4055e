"""A product with one direction made one with several side by side, as short loops over the directions.

Comes in: a function that is linear in some parameters, the tangents.  Goes out: the same with one more axis, the last
one, on each tangent parameter and on each result, a number becoming a vector.  Guaranteed: each direction gives bit for
bit what it gives alone; what no direction enters is there once; the text grows by a constant factor, whatever the
number of directions is.

`passes.several` writes every operation once for each direction.  Here what stands between two loops becomes one loop
over the directions, with its numbers in registers and its memory contiguous; a number that is needed beyond this loop
is kept in a vector.
"""

from __future__ import annotations

from collections.abc import Sequence

from adgen.ir import core
from adgen.ir.builder import Builder
from adgen.ir.nodes import Function, Operation, Region, Value, walk
from adgen.ir.rebuild import Mapping, clone_operation, mapped
from adgen.ir.types import I64, Buffer, Scalar
from adgen.passes.several import Moving, decides, moving_values, parameter
from adgen.passes.surgery import users_of

UNSUPPORTED = (core.STACK, core.PUSH, core.POP, core.CUSTOM)


def abreast(function: Function, tangents: Sequence[Value], width: int) -> Function | None:
    """The function for `width` directions, or None when what is executed depends on the direction.

    Of `%c = cos %x` and `%y_dot = mul %c, %x_dot` the first stays and the second becomes a loop
    `%a = load %x_dot, %k`, `%b = mul %c, %a`, `store %y_dot, %b, %k`.
    """
    moving = moving_values(function, tangents)
    for operation in walk(function.body):
        touched = any(value in moving for value in (*operation.operands, *operation.results))
        if decides(operation, moving) or (touched and operation.row in UNSUPPORTED):
            return None
    return _Abreast(function, tangents, moving, width).made()


class _Abreast:
    def __init__(self, source: Function, tangents: Sequence[Value], moving: Moving, width: int) -> None:
        self.source = source
        self.tangents = set(tangents)
        self.moving = moving
        self.builder = Builder()
        self.width = width
        self.shared: Mapping = {}  # what no direction enters, and memory
        self.vectors: Mapping = {}  # the numbers of all directions
        self.pending: list[Operation] = []
        self.users = users_of(source.body)

    def made(self) -> Function:
        source, builder = self.source, self.builder
        builder.span = source.span
        for value in source.parameters:
            self.shared[value] = parameter(value, self.tangents)
            if value in self.tangents:
                self.vectors[value] = self.shared[value]
        with builder.block(mapped(source.parameters, self.shared)) as block:
            numbers = [value for value in source.results if isinstance(value.type, Scalar)]
            vectors = [self.vector(value) for value in numbers]
            self.region(source.body, numbers, vectors)
            made = iter(vectors)
            block.results = tuple(
                next(made) if isinstance(value.type, Scalar) else self.shared[value] for value in source.results
            )
        return Function(source.name, block.region(), source.result_names, source.span, source.notes, source.callees)

    def vector(self, value: Value) -> Value:
        """Memory for a number of each direction."""
        assert isinstance(value.type, Scalar)
        return self.builder.alloc(value.type, (self.builder.index(self.width),), value.name, zero=False)

    def region(self, region: Region, values: Sequence[Value] = (), vectors: Sequence[Value] = ()) -> None:
        """Emit the operations of a region; last of all `values` go into `vectors`."""
        outer, self.pending = self.pending, []
        for operation in region.operations:
            self.builder.span = operation.span
            self.one(operation)
        self.flush(region, values, vectors)
        self.pending = outer

    def one(self, operation: Operation) -> None:
        row, operands = operation.row, operation.operands
        if operation.regions:
            if self.moves(operation):
                self.owner(operation)
            else:
                clone_operation(self.builder, operation, self.shared)
        elif row in (core.ALLOC, core.RESHAPE) and operation.result in self.moving:
            given = (*mapped(operands, self.shared), self.builder.index(self.width))
            names = [operation.result.name]
            (self.shared[operation.result],) = self.builder.emit(row, given, operation.attributes, (), names)
        elif row in (core.ALLOC, core.RESHAPE, core.DIM) or not self.moves(operation):
            clone_operation(self.builder, operation, self.shared)
        else:
            self.pending.append(operation)

    def moves(self, operation: Operation) -> bool:
        """True for an operation that is done for each direction, and for the owner of one."""
        if operation.row is core.DIM:
            return False
        touched = (*operation.operands, *operation.results)
        inner = (o for region in operation.regions for o in region.operations)
        return any(value in self.moving for value in touched) or any(self.moves(o) for o in inner)

    # -- loops over the directions -------------------------------------------------------------------------------

    def flush(self, end: Region | None = None, values: Sequence[Value] = (), vectors: Sequence[Value] = ()) -> None:
        """The loop over the directions with what is pending; then `values` are put into `vectors`."""
        operations, self.pending = self.pending, []
        if not operations and not values:
            return
        inside = {id(operation) for operation in operations} | {id(end)}
        outside = [v for o in operations for v in o.results if not self.users.get(v, set()) <= inside]
        kept = [(value, self.vector(value)) for value in outside]

        def body(lane: Value) -> None:
            known: Mapping = {}
            for operation in operations:
                self.builder.span = operation.span
                self.emit(operation, lane, known)
            found = [self.part(value, lane, known) for value in values]
            for value, vector in kept:
                self.builder.store(vector, known[value], (lane,))
            for number, vector in zip(found, vectors, strict=True):
                self.builder.store(vector, number, (lane,))

        lane = Value(I64, "k")
        with self.builder.block((lane,)) as block:
            body(lane)
        bounds = self.builder.index(0), self.builder.index(self.width)
        attributes = {"step": 1, "exit": False, "abreast": self.width}
        self.builder.emit(core.FOR, bounds, attributes, (block.region(),))
        self.vectors.update(kept)

    def part(self, value: Value, lane: Value, known: Mapping) -> Value:
        """A number of one direction."""
        if value not in known and value in self.vectors:
            known[value] = self.builder.load(self.vectors[value], (lane,), value.name)
        return known.get(value) or self.shared.get(value, value)

    def emit(self, operation: Operation, lane: Value, known: Mapping) -> None:
        row = operation.row
        operands = [
            self.shared[value] if isinstance(value.type, Buffer) else self.part(value, lane, known)
            for value in operation.operands
        ]
        if row in (core.LOAD, core.STORE, core.ACCUMULATE):
            operands.append(lane)
        names = [value.name for value in operation.results]
        known.update(zip(operation.results, self.builder.emit(row, operands, operation.attributes, (), names)))

    # -- control -------------------------------------------------------------------------------------------------

    def owner(self, operation: Operation) -> None:
        row = operation.row
        head = {core.FOR: 2, core.WHILE: 0, core.IF: 1}[row]
        places = [k for k, value in enumerate(operation.results) if value in self.moving]
        results = [operation.results[k] for k in places]
        vectors = [self.vector(value) for value in results]
        start = [operation.operands[head + k] for k in places] if row in core.LOOPS else []
        self.flush(None, start, vectors if start else ())
        skip = 1 if row is core.FOR else 0
        regions = []
        for number, region in enumerate(operation.regions):
            arguments = [v for v in region.arguments if v not in self.moving]
            fresh = [Value(value.type, value.name) for value in arguments]
            self.shared.update(zip(arguments, fresh, strict=True))
            if row in core.LOOPS:
                self.vectors.update((region.arguments[skip + k], vector) for k, vector in zip(places, vectors))
            last = row is core.IF or number == len(operation.regions) - 1
            first = len(region.results) - len(operation.results) if last else 0  # what decides
            yielded = [region.results[first + k] for k in places] if last else []
            with self.builder.block(fresh) as block:
                self.region(region, yielded, vectors if last else ())
                moved = {first + k for k in places} if last else set()
                block.results = mapped([v for k, v in enumerate(region.results) if k not in moved], self.shared)
            regions.append(block.region())
        self.builder.span = operation.span
        moved = {head + k for k in places} if row in core.LOOPS else set()
        given = mapped([v for k, v in enumerate(operation.operands) if k not in moved], self.shared)
        attributes = dict(operation.attributes)
        if row is core.IF:
            attributes["types"] = tuple(str(value.type) for value in regions[0].results)
        same = [value for value in operation.results if value not in self.moving]
        made = self.builder.emit(row, given, attributes, regions, [value.name for value in same])
        self.shared.update(zip(same, made, strict=True))
        self.vectors.update(zip(results, vectors, strict=True))
