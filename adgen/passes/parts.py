"""Independent loops divided among threads.

Comes in: an optimised function and a number of threads.  Goes out: the same, with independent loops divided into as
many parts as there are threads, by a loop over the parts that is marked `parallel`.  Guaranteed: the parts touch no
memory in common that one of them writes; what the iterations add to shared memory is added up part by part in the order
of the parts, so the same number of threads gives the same bits.  Loops with sums that the program did not declare
unordered stay whole.

A part's own memory is made in the part.  What can fail is looked at before, in the order of iterations.  Below so much
work the loop is one part.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from adgen import ops
from adgen.ir import core
from adgen.ir.builder import Builder
from adgen.ir.nodes import Function, Operation, Region, Value, walk
from adgen.ir.rebuild import clone, clone_region, mapped, rebuild, record
from adgen.ir.types import I64, Buffer, Scalar, is_float
from adgen.passes.activity import roots
from adgen.passes.independence import Independence, checks_first, independence

WORTH = 100_000  # operations: dividing a loop takes some microseconds
UNKNOWN = 8  # iterations of a loop whose bounds are not known before


def parts(function: Function, count: int = 2) -> Function:
    """Divide independent loops into `count` parts.

    Before:  function f(%x: f64[:], %y: f64[:]) -> () {
               %0 = const {type="i64", value=0} : i64
               %n = dim %x {axis=0} : i64
               for %0, %n {exit=false, step=1} (%i: i64) {
                 %a = load %x, %i : f64
                 %b = exp %a : f64
                 store %y, %b, %i
                 yield
               }
               return
             }
    After:   function f(%x: f64[:], %y: f64[:]) -> () {
               %0 = const {type="i64", value=0} : i64
               %n = dim %x {axis=0} : i64
               %1 = const {type="i64", value=3} : i64
               %2 = mul %1, %n : i64
               %3 = const {type="i64", value=100000} : i64
               %4 = gt %2, %3 : bool
               %5 = const {type="i64", value=2} : i64
               %6 = const {type="i64", value=1} : i64
               %parts = select %4, %5, %6 : i64
               for %0, %parts {exit=false, parallel=2, step=1} (%part: i64) {
                 %7 = add %part, %6 : i64
                 %8 = mul %n, %part : i64
                 %9 = floordiv %8, %parts : i64
                 %10 = mul %n, %7 : i64
                 %11 = floordiv %10, %parts : i64
                 for %9, %11 {exit=false, step=1} (%i: i64) {
                   %a = load %x, %i : f64
                   %b = exp %a : f64
                   store %y, %b, %i
                   yield
                 }
                 yield
               }
               return
             }
    """
    if count < 2:
        return function
    root = roots(function)
    found = dict(_divisible(function.body, function, root))
    if not found:
        return function

    def divided(builder: Builder, operation: Operation, mapping: dict[Value, Value]) -> bool:
        if operation not in found:
            return False
        _Parts(builder, operation, found[operation], root, mapping, count).emit()
        return True

    return rebuild(function, divided)


def _divisible(
    region: Region, function: Function, root: Mapping[Value, Value]
) -> Iterator[tuple[Operation, Independence]]:
    """The outermost loops that can be divided."""
    for operation in region.operations:
        if operation.row is core.FOR:
            found = None if operation.attributes.get("abreast") else _independent(operation, function, root)
            if found is not None:
                yield operation, found
                continue
        for inner in operation.regions:
            yield from _divisible(inner, function, root)


def _independent(loop: Operation, function: Function, root: Mapping[Value, Value]) -> Independence | None:
    found = independence(loop, root)
    if not isinstance(found, Independence) or abs(loop.attributes["step"]) != 1:
        return None
    carried = loop.regions[0].arguments[1:]
    inside = list(walk(loop.regions[0]))
    sums = [o.operands[1] for o in inside if o.row is core.ACCUMULATE and root[o.operands[0]] in found.added]
    ordered = any(is_float(value.type) for value in (*carried, *sums)) and not loop.attributes.get("unordered")
    made = {value for o in inside for value in o.results} | set(loop.regions[0].arguments)
    handles = {o.operands[0] for o in inside if o.row is core.ACCUMULATE and root[o.operands[0]] in found.added}
    one_each = len({root[handle] for handle in handles}) == len(handles) and not handles & made
    sized = all(not made & set(o.operands) for o in inside if o.row is core.ALLOC)
    apart = checks_first(loop, found, root, set(function.parameters))
    numbers = any(o.row.pure and any(is_float(value.type) for value in o.results) for o in inside)
    return found if not ordered and one_each and sized and apart and numbers else None


class _Parts:
    """Writes one loop as a loop over parts."""

    def __init__(
        self,
        builder: Builder,
        loop: Operation,
        found: Independence,
        root: Mapping[Value, Value],
        mapping: dict[Value, Value],
        count: int,
    ) -> None:
        self.builder = builder
        self.loop = loop
        self.found = found
        self.root = root
        self.mapping = mapping
        self.count = count
        self.inside = {value for o in walk(loop.regions[0]) for value in o.results} | set(loop.regions[0].arguments)

    def emit(self) -> None:
        """The checks, the parts, and what they have added."""
        builder, loop = self.builder, self.loop
        start, stop, *carried = mapped(loop.operands, self.mapping)
        self.checks(start, stop)
        step = loop.attributes["step"]
        trips = builder.op(ops.SUB, *((stop, start) if step > 0 else (start, stop)))
        work = builder.op(ops.MUL, trips, self.work(loop.regions[0]))
        worth = builder.op(ops.GT, work, builder.index(WORTH))
        parts = builder.op(ops.SELECT, worth, builder.index(self.count), builder.index(1), name="parts")
        shared, stretches = self.shared(), self.stretches()
        partial = {
            handle: builder.alloc(_element(handle), (parts, *builder.dims(handle)), f"{handle.name}_parts")
            for handle in shared
        }
        sums = [
            builder.alloc(value.type, (parts,), f"{value.name}_parts")
            for value in carried
            if isinstance(value.type, Scalar)
        ]

        def part(number: Value) -> Sequence[Value]:
            def stretch(place: Value) -> Sequence[Value]:
                ends = (place, builder.op(ops.ADD, place, builder.index(1)))
                low, high = (self.boundary(start, trips, end, parts, stretches) for end in ends)
                self.piece(low, high, number, partial, sums)
                return ()

            if stretches == 1:
                return stretch(number)
            last = builder.op(ops.SUB, builder.op(ops.MUL, parts, builder.index(2)), builder.index(1))
            distance = builder.op(ops.SUB, last, builder.op(ops.MUL, number, builder.index(2)))

            def side(which: Value) -> Sequence[Value]:  # one stretch from the front, and one from the back
                return stretch(builder.op(ops.ADD, number, builder.op(ops.MUL, which, distance)))

            return builder.loop(builder.index(0), builder.index(2), (), side, name="side")

        attributes = {"step": 1, "exit": False, "parallel": self.count}
        argument = Value(I64, "part")
        with builder.block((argument,)) as block:
            block.results = tuple(part(argument))
        zero = builder.index(0)
        builder.emit(core.FOR, (zero, parts), attributes, (block.region(),))
        for handle, buffer in partial.items():
            self.add_up(handle, buffer, parts)
        record(builder, loop, tuple(self.total(*pair, parts) for pair in zip(carried, sums)), self.mapping)

    def checks(self, start: Value, stop: Value) -> None:
        """A loop over what can fail, if anything can."""
        region = self.loop.regions[0]
        if not any(operation.row is core.CHECK for operation in region.operations):
            return
        needed = {v for o in region.operations if o.row is core.CHECK for v in o.operands}
        kept = []
        for operation in reversed(region.operations):
            if operation.row is core.CHECK or needed & set(operation.results):
                kept.append(operation)
                needed.update(operation.operands)

        def iteration(index: Value) -> Sequence[Value]:
            clone(self.builder, reversed(kept), {**self.mapping, region.arguments[0]: index})
            return ()

        name = region.arguments[0].name
        self.builder.loop(start, stop, (), iteration, self.loop.attributes["step"], name=name)

    def work(self, region: Region) -> Value:
        """About how many operations a region takes, by what is known before the loop."""
        builder = self.builder
        total = builder.index(sum(o.row.pure or o.row in core.ACCESSES for o in region.operations))
        for operation in region.operations:
            for inner in operation.regions:
                here = self.work(inner)
                if operation.row is core.FOR:
                    here = builder.op(ops.MUL, here, self.turns(operation))
                total = builder.op(ops.ADD, total, here)
        return total

    def turns(self, inner: Operation) -> Value:
        """About how many iterations an inner loop has."""
        builder = self.builder
        start, stop = inner.operands[:2]
        if start in self.inside or stop in self.inside:
            end = stop if inner.attributes["step"] > 0 else start
            if end in self.inside:
                return builder.index(UNKNOWN)
            half = builder.op(ops.FLOORDIV, mapped((end,), self.mapping)[0], builder.index(2))
            return builder.op(ops.MAXIMUM, half, builder.index(0))
        start, stop = mapped((start, stop), self.mapping)
        span = builder.op(ops.SUB, *((stop, start) if inner.attributes["step"] > 0 else (start, stop)))
        return builder.op(ops.MAXIMUM, span, builder.index(0))

    def shared(self) -> list[Value]:
        """The handles of shared memory that is added to, in the order of the program."""
        found: dict[Value, None] = {}
        for operation in walk(self.loop.regions[0]):
            if operation.row is core.ACCUMULATE and self.root[operation.operands[0]] in self.found.added:
                found[operation.operands[0]] = None
        return [mapped((handle,), self.mapping)[0] for handle in found]

    def stretches(self) -> int:
        """How many stretches of iterations a part has: two where iterations differ in length, as in a triangle."""
        inner = [o for o in walk(self.loop.regions[0]) if o.row is core.FOR]
        return 2 if any(value in self.inside for o in inner for value in o.operands[:2]) else 1

    def boundary(self, start: Value, trips: Value, place: Value, parts: Value, stretches: int) -> Value:
        """The index of the first iteration of a stretch."""
        builder = self.builder
        whole = builder.op(ops.MUL, parts, builder.index(stretches))
        number = builder.op(ops.FLOORDIV, builder.op(ops.MUL, trips, place), whole)
        return builder.op(ops.ADD if self.loop.attributes["step"] > 0 else ops.SUB, start, number)

    def piece(
        self,
        low: Value,
        high: Value,
        number: Value,
        partial: Mapping[Value, Value],
        sums: Sequence[Value],
    ) -> None:
        """One stretch of iterations."""
        builder, region = self.builder, self.loop.regions[0]
        local = dict(self.mapping)

        def redirected(builder: Builder, operation: Operation, mapping: dict[Value, Value]) -> bool:
            if operation.row is core.CHECK:
                return operation in region.operations
            if operation.row is not core.ACCUMULATE:
                return False
            handle, value, *indices = mapped(operation.operands, mapping)
            if handle not in partial:
                return False
            builder.accumulate(partial[handle], value, (number, *indices))
            return True

        zeros = [builder.const(0, value.type) for value in region.arguments[1:]]
        inner = clone_region(builder, region, local, redirected)
        names = [value.name for value in self.loop.results]
        results = builder.emit(core.FOR, (low, high, *zeros), self.loop.attributes, (inner,), names)
        for buffer, value in zip(sums, results, strict=True):
            builder.accumulate(buffer, value, (number,))

    def add_up(self, handle: Value, partial: Value, parts: Value) -> None:
        """What the parts have added to an array."""
        builder, zero = self.builder, self.builder.index(0)
        dims = builder.dims(handle)

        def along(number: Value, *places: Value) -> Sequence[Value]:
            if len(places) == len(dims):
                builder.accumulate(handle, builder.load(partial, (number, *places)), places)
                return ()
            return builder.loop(zero, dims[len(places)], (), lambda i: along(number, *places, i), unordered=True)

        builder.loop(zero, parts, (), lambda number: along(number), name="part")

    def total(self, start: Value, partial: Value, parts: Value) -> Value:
        """A carried sum after the loop."""
        builder = self.builder

        def added(number: Value, total: Value) -> Sequence[Value]:
            return (builder.op(ops.ADD, total, builder.load(partial, (number,))),)

        (result,) = builder.loop(builder.index(0), parts, (start,), added, name="part")
        return result


def _element(handle: Value) -> Scalar:
    assert isinstance(handle.type, Buffer)
    return handle.type.element
