"""Independent loops in blocks of iterations that run side by side.

Comes in: an optimised function.  Goes out: the same, with loops whose iterations do not depend on each other taken
64 iterations at a time: a value of one iteration becomes an array over the iterations of a block, its private
memory gets one more axis, and each run of statements one loop over the block, which a vector unit takes several steps
of at once.  Loops that all iterations take the same way stay around those; what is the same for all is computed once.

Guaranteed: each iteration does the same operations in the same order.  Sums that the program did not declare unordered
are taken in the program's order.  Checks come before everything else of a block, in the order of iterations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from adgen import ops
from adgen.ir import core
from adgen.ir.builder import Builder
from adgen.ir.nodes import Function, Operation, Region, Value, walk, walk_inside, walk_one
from adgen.ir.rebuild import clone, mapped, rebuild_with, record
from adgen.ir.types import I64, Buffer, Scalar, is_float
from adgen.passes.activity import roots
from adgen.passes.lane_choice import Blocks, Choice
from adgen.passes.lane_rows import Key, Row, writes_rows
from adgen.passes.scoped import ScopedBuilder
from adgen.passes.surgery import free_values, users_of
from adgen.passes.variance import Kind

LONGEST = 8  # integer operations that are repeated rather than kept


def lanes(function: Function, everywhere: bool = False) -> Function:
    """Run independent iterations side by side where that pays, or `everywhere` that it can be done.

    Before:  function f(%A: f64[:,:], %x: f64[:]) -> () {
               %0 = const {type="i64", value=0} : i64
               %n = dim %x {axis=0} : i64
               %m = dim %A {axis=0} : i64
               for %0, %n {exit=false, step=1} (%i: i64) {
                 %a = load %x, %i : f64
                 %s = for %0, %m, %a {exit=false, step=1} (%k: i64, %t: f64) {
                   %b = load %A, %k, %i : f64
                   %c = sin %t : f64
                   %u = mul %b, %c : f64
                   yield %u
                 } : f64
                 store %x, %s, %i
                 yield
               }
               return
             }
    After:   function f(%A: f64[:,:], %x: f64[:]) -> () {
               %0 = const {type="i64", value=0} : i64
               %n = dim %x {axis=0} : i64
               %m = dim %A {axis=0} : i64
               for %0, %n {exit=false, step=64} (%i: i64) {
                 %1 = sub %n, %i : i64
                 %2 = const {type="i64", value=64} : i64
                 %lanes = minimum %1, %2 : i64
                 %t = alloc %2 {element="f64", zero=false} : f64[:]
                 for %0, %lanes {exit=false, simd=true, step=1, unordered=true} (%p: i64) {
                   %3 = add %i, %p : i64
                   %a = load %x, %3 : f64
                   store %t, %a, %p
                   yield
                 }
                 for %0, %m {exit=false, step=1} (%k: i64) {
                   for %0, %lanes {exit=false, simd=true, step=1, unordered=true} (%p_1: i64) {
                     %4 = add %i, %p_1 : i64
                     %b = load %A, %k, %4 : f64
                     %5 = load %t, %p_1 : f64
                     %c = sin %5 : f64
                     %u = mul %b, %c : f64
                     store %t, %u, %p_1
                     yield
                   }
                   yield
                 }
                 for %0, %lanes {exit=false, simd=true, step=1, unordered=true} (%p_2: i64) {
                   %6 = load %t, %p_2 : f64
                   %7 = add %i, %p_2 : i64
                   store %x, %6, %7
                   yield
                 }
                 yield
               }
               return
             }
    """
    root = roots(function)
    chosen = dict(Choice(function, root, everywhere).among(function.body))
    if not chosen:
        return function

    def blocked(builder: Builder, operation: Operation, mapping: dict[Value, Value]) -> bool:
        if operation not in chosen:
            return False
        assert isinstance(builder, ScopedBuilder)
        _Writer(builder, operation, chosen[operation], mapping).emit()
        return True

    return rebuild_with(ScopedBuilder(), function, blocked)


class _Writer:
    """Writes one loop as a loop over blocks."""

    def __init__(
        self,
        builder: ScopedBuilder,
        loop: Operation,
        plan: Blocks,
        mapping: dict[Value, Value],
    ) -> None:
        self.builder = builder
        self.loop = loop
        self.variance = plan.variance
        self.rows = plan.rows
        self.found = plan.variance.found
        self.root = plan.variance.root
        self.mapping = mapping  # what is the same for all iterations
        self.unordered = bool(loop.attributes.get("unordered"))
        self.width, self.vector = plan.width, plan.vector
        self.kept: dict[Value, Value] = {}  # what varies, by the array over the block that holds it
        self.wide: set[Value] = set()  # private memory with one axis more
        self.group: list[Operation] = []
        self.definitions = {value: o for o in walk(loop.regions[0]) for value in o.results}
        self.users = users_of(loop.regions[0])
        self.lane: dict[Value, Value] = {}  # what varies, inside the loop over the block that is being written
        self.place: Value | None = None  # that loop's index
        self.exact = False  # whether it ends with the last iteration

    # -- the loop over blocks ------------------------------------------------------------------------------------

    def emit(self) -> None:
        """The loop, with its carried sums."""
        builder, loop, region = self.builder, self.loop, self.loop.regions[0]
        start, stop, *carried = mapped(loop.operands, self.mapping)
        step = loop.attributes["step"]
        names = [value.name for value in loop.results]

        def block(base: Value, *sums: Value) -> Sequence[Value]:
            self.base, self.level = base, len(builder.blocks)
            left = builder.op(ops.SUB, *((stop, base) if step > 0 else (base, stop)))
            self.begin(builder.op(ops.MINIMUM, left, builder.index(self.width), name="lanes"))
            self.checks()
            self.copies = {key: self.copied(key, row) for key, row in self.rows.found.items()}
            self.region(region)
            return self.sums(sums)

        made = builder.loop(
            start,
            stop,
            carried,
            block,
            step * self.width,
            name=region.arguments[0].name,
            names=names,
            unordered=self.unordered,
        )
        record(builder, loop, made, self.mapping)

    def begin(self, count: Value) -> None:
        """How many iterations a block has, and how many are computed.

        Where iterations only store, each where no other looks, the last one may be computed several times: then the
        loops over the block have whole vectors, and what is left over needs no code of its own.
        """
        builder = self.builder
        self.count = self.bound = count
        if self.vector > 1:
            self.last = builder.op(ops.SUB, count, builder.index(1), name="last")
            whole = builder.op(ops.ADD, count, builder.index(self.vector - 1))
            vectors = builder.op(ops.FLOORDIV, whole, builder.index(self.vector))
            full = builder.op(ops.MUL, vectors, builder.index(self.vector), name="lanes")
            self.bound = builder.index(self.vector) if self.width == self.vector else full

    def copied(self, key: Key, row: Row) -> Value:
        """An array with the rows that the iterations of a block read, one element of all of them after the other."""
        builder = self.builder
        ranges = row.ranges(builder, self.mapping)
        element = key.buffer.type
        assert isinstance(element, Buffer)
        extents = [*(end for _, end in ranges), builder.index(self.width)]
        made = builder.alloc(element.element, extents, f"{key.buffer.name}_rows", zero=False)
        own = self.loop.regions[0].arguments[0]

        def along(*places: Value) -> tuple[Value, ...]:
            def iteration() -> None:
                following = iter(places)
                whole = [self.get(own) if loop is None else next(following) for loop in row.loops]
                builder.store(made, builder.load(mapped((key.buffer,), self.mapping)[0], whole), (*places, self.at))

            if len(places) == len(ranges):
                return self.along(iteration)
            first, end = ranges[len(places)]
            return builder.loop(first, end, (), lambda place: along(*places, place), name="i")

        read = row.is_read(builder, self.mapping)
        if builder.known(read) is True:
            along()
        else:
            builder.branch(read, along)
        return made

    def checks(self) -> None:
        """What can fail, one iteration after the other."""
        found = [operation for operation in self.loop.regions[0].operations if operation.row is core.CHECK]
        if found:

            def iteration() -> None:
                for operation in found:
                    self.builder.span = operation.span
                    operands = [self.anew(value) for value in operation.operands]
                    self.builder.emit(core.CHECK, operands, operation.attributes)

            self.along(iteration, simd=False, exact=True)

    def sums(self, carried: Sequence[Value]) -> Sequence[Value]:
        """What is left of the last group, and the carried sums."""
        arguments = self.loop.regions[0].arguments[1:]
        if not carried:
            self.flush()
            return ()
        free = self.unordered or not any(is_float(value.type) for value in carried)
        if free:
            return self.flush(sums=tuple(zip(arguments, carried, strict=True)))
        self.flush()

        def iteration(*sums: Value) -> Sequence[Value]:
            return self.added(dict(zip(arguments, sums, strict=True)))

        return self.along(iteration, carried, simd=False, exact=True)

    def added(self, running: dict[Value, Value]) -> Sequence[Value]:
        """One iteration of the carried sums."""
        self.lane.update(running)
        for operation in self.found.sums:
            self.side_by_side(operation)
        return [self.get(value) for value in self.loop.regions[0].results]

    # -- regions that all iterations run -------------------------------------------------------------------------

    def region(self, region: Region) -> None:
        """The operations of a region; the last of them may still wait in the group."""
        for operation in region.operations:
            if operation in self.found.sums or operation.row is core.CHECK:
                continue
            kind = self.variance.kinds[operation]
            if kind is Kind.UNIFORM:
                if not (operation.row.pure or operation.row in (core.LOAD, core.ALLOC)):
                    self.flush()
                clone(self.builder, [operation], self.mapping)
            elif operation.row in (core.ALLOC, core.RESHAPE):
                self.widened(operation, self.mapping)
            elif kind is Kind.SIDE_BY_SIDE:
                self.group.append(operation)
            elif kind is Kind.AROUND and writes_rows(operation, self.variance):
                self.flush()
                self.one_by_one(operation, exact=True)
            elif kind is Kind.AROUND and operation.row is core.FOR:
                self.around_loop(operation)
            else:
                self.flush()
                WAYS[kind](self, operation)

    def widened(self, operation: Operation, mapping: dict[Value, Value]) -> None:
        """Private memory, one for each iteration of the block; or a handle of it."""
        operands = [*mapped(operation.operands, mapping), self.builder.index(self.width)]
        self.builder.span = operation.span
        names = [operation.result.name]
        (mapping[operation.result],) = self.builder.emit(operation.row, operands, operation.attributes, names=names)
        self.wide.add(operation.result)

    def around_loop(self, operation: Operation) -> None:
        """A loop with the same bounds for all; what it carries and varies lives in arrays."""
        region = operation.regions[0]
        flows = list(zip(operation.operands[2:], region.arguments[1:], region.results, operation.results, strict=True))
        varying = [flow for flow in flows if flow[1] in self.variance.values]
        steady = [flow for flow in flows if flow[1] not in self.variance.values]
        self.kept.update((argument, self.array(argument)) for _, argument, _, _ in varying)
        self.flush([(self.kept[argument], start) for start, argument, _, _ in varying], operation)
        for _, argument, _, result in varying:
            self.kept[result] = self.kept[argument]

        def iteration(index: Value, *carried: Value) -> Sequence[Value]:
            self.mapping[region.arguments[0]] = index
            self.mapping.update(zip((argument for _, argument, _, _ in steady), carried, strict=True))
            self.region(region)
            self.flush([(self.kept[argument], following) for _, argument, following, _ in varying], region)
            return mapped((following for _, _, following, _ in steady), self.mapping)

        start, stop = mapped(operation.operands[:2], self.mapping)
        initial = mapped((start for start, _, _, _ in steady), self.mapping)
        names = [result.name for _, _, _, result in steady]
        self.builder.span = operation.span
        made = self.builder.loop(
            start,
            stop,
            initial,
            iteration,
            operation.attributes["step"],
            name=region.arguments[0].name,
            names=names,
            unordered=bool(operation.attributes.get("unordered")),
        )
        self.mapping.update(zip((result for _, _, _, result in steady), made, strict=True))

    def around_branch(self, operation: Operation) -> None:
        """An `if` that all iterations decide the same way."""
        varies = [result in self.variance.values for result in operation.results]
        for result, varying in zip(operation.results, varies, strict=True):
            if varying:
                self.kept[result] = self.array(result)
        regions = []
        for region in operation.regions:
            with self.builder.block() as block:
                self.branch(operation, region)
                steady = [value for value, varying in zip(region.results, varies, strict=True) if not varying]
                block.results = mapped(steady, self.mapping)
            regions.append(block.region())
        steady = [result for result, varying in zip(operation.results, varies, strict=True) if not varying]
        types = tuple(str(value.type) for value in steady)
        self.builder.span = operation.span
        condition = mapped(operation.operands, self.mapping)
        names = [value.name for value in steady]
        made = self.builder.emit(core.IF, condition, {"types": types}, regions, names)
        self.mapping.update(zip(steady, made, strict=True))

    def branch(self, operation: Operation, region: Region) -> tuple[Value, ...]:
        """One branch, side by side; what varies of its results goes to their arrays."""
        self.region(region)
        pairs = zip(operation.results, region.results, strict=True)
        assigned = [(self.kept[result], value) for result, value in pairs if result in self.variance.values]
        self.flush(assigned, region)
        return ()

    def agreed(self, operation: Operation) -> None:
        """A branch that all iterations of the block take, or none; else each takes its own."""
        builder = self.builder
        self.kept.update((result, self.array(result)) for result in operation.results)
        (condition,) = operation.operands

        def counted(total: Value) -> Sequence[Value]:
            one = builder.op(ops.SELECT, self.get(condition), builder.index(1), builder.index(0))
            return (builder.op(ops.ADD, total, one),)

        (taking,) = self.along(counted, (builder.const(0, I64, name="taking"),))
        ways = [(operation, region) for region in operation.regions]

        all_of, none = builder.op(ops.EQ, taking, self.bound), builder.op(ops.EQ, taking, builder.index(0))
        apart = partial(builder.branch, none, partial(self.branch, *ways[1]), partial(self.one_by_one, operation))
        builder.branch(all_of, partial(self.branch, *ways[0]), apart)

    # -- loops over the iterations of a block --------------------------------------------------------------------

    @property
    def at(self) -> Value:
        """The place in the block."""
        assert self.place is not None
        return self.place

    def along(
        self,
        iteration: Callable[..., Sequence[Value] | None],
        carried: Sequence[Value] = (),
        simd: bool = True,
        exact: bool = False,
    ) -> tuple[Value, ...]:
        """A loop over the block; `iteration` takes and gives what it carries.

        `exact`: it ends with the last iteration, whatever vectors hold.
        """

        def body(place: Value, *sums: Value) -> Sequence[Value]:
            self.lane, self.place, self.exact = {}, place, exact
            return iteration(*sums) or ()

        builder = self.builder
        arguments = [Value(I64, "p"), *(Value(value.type, value.name) for value in carried)]
        with builder.block(arguments) as block:
            block.results = tuple(body(*arguments))
        self.lane, self.place = {}, None
        attributes = {"step": 1, "exit": False} | ({"unordered": True, "simd": True} if simd else {})
        names = [value.name for value in carried]
        bounds = (builder.index(0), self.count if exact else self.bound)
        return builder.emit(core.FOR, (*bounds, *carried), attributes, (block.region(),), names)

    def flush(
        self,
        assigned: Sequence[tuple[Value, Value]] = (),
        taker: Region | Operation | None = None,
        sums: Sequence[tuple[Value, Value]] = (),
    ) -> tuple[Value, ...]:
        """Write the group: what it computes, then what it adds to elements that iterations share.

        `assigned` are arrays and what they get at the end, as the taker does: a region that yields it, or a loop that
        begins with it.  `sums` are the carried sums of the loop itself.
        """
        group, self.group = self.group, []
        apart = self.apart(group)
        after = set(apart)
        together = [operation for operation in group if operation not in after]
        totals = [operation for operation in together if self.is_total(operation)]
        assigned = [(array, value) for array, value in assigned if self.kept.get(value) is not array]
        fused = not apart
        inside = {id(o) for operation in together for o in walk_one(operation)}
        inside |= {id(taker)} if fused else set()
        inside |= {id(operation) for operation in self.found.sums} if sums else set()
        results: tuple[Value, ...] = ()

        def iteration(*carried: Value) -> Sequence[Value]:
            running = dict(zip(totals, carried))
            for operation in together:
                if operation in running:
                    self.builder.span = operation.span
                    value = self.get(operation.operands[1])
                    running[operation] = self.builder.op(ops.ADD, running[operation], value)
                else:
                    self.side_by_side(operation)
            self.keep(together, inside)
            if fused:
                self.assign(assigned)
            rest = self.added(dict(zip((argument for argument, _ in sums), carried[len(totals) :]))) if sums else ()
            return [*running.values(), *rest]

        if together or sums or (fused and assigned):
            zeros = [self.zero(operation.operands[1]) for operation in totals]
            results = self.along(iteration, [*zeros, *(value for _, value in sums)])
            for operation, total in zip(totals, results):
                self.builder.span = operation.span
                buffer, _, *indices = mapped(operation.operands, self.mapping)
                self.builder.accumulate(buffer, total, indices)
        if apart:
            self.along(lambda: self.all_of(apart), simd=self.vector > 1, exact=True)
            if assigned:
                self.along(lambda: self.assign(assigned))
        return results[len(totals) :]

    def zero(self, value: Value) -> Value:
        """Where a sum of such values starts."""
        return self.builder.const(0, value.type, name=f"{value.name}_sum" if value.name else "")

    def apart(self, group: Sequence[Operation]) -> list[Operation]:
        """What comes after the rest of a group, and what is only read for that."""
        found = {id(operation) for operation in group if self.is_apart(operation)}
        if not found:
            return []
        written = {self.root[o.operands[0]] for o in group if o.row in (core.STORE, core.ACCUMULATE)}
        for operation in group:
            read = operation.row is core.LOAD and self.root[operation.operands[0]] not in written
            if read and all(user in found for user in self.users.get(operation.result, ())):
                found.add(id(operation))
        return [operation for operation in group if id(operation) in found]

    def is_apart(self, operation: Operation) -> bool:
        """True for additions to shared elements that may be the same in several iterations, or have an order, and for
        all that must not be done again for the last iteration."""
        if operation.row not in (core.STORE, core.ACCUMULATE):
            return False
        buffer = self.root[operation.operands[0]]
        if buffer in self.found.own:
            return self.vector > 1
        if buffer not in self.found.added:
            return False
        varying = any(value in self.variance.values for value in operation.operands[2:])
        return varying or (is_float(operation.operands[1].type) and not self.unordered)

    def is_total(self, operation: Operation) -> bool:
        """True for additions of all iterations to one shared element."""
        return operation.row is core.ACCUMULATE and self.root[operation.operands[0]] in self.found.added

    def assign(self, pairs: Sequence[tuple[Value, Value]]) -> None:
        """Give arrays their next values as if at once."""
        values = [self.get(value) for _, value in pairs]
        for (array, _), value in zip(pairs, values, strict=True):
            self.builder.store(array, value, (self.at,))

    def keep(self, operations: Sequence[Operation], inside: set[int]) -> None:
        """Store what is used beyond the loop over the block that is being written."""
        for operation in operations:
            for value in operation.results:
                if any(user not in inside for user in self.users.get(value, ())) and self.cost(value) > LONGEST:
                    if value not in self.kept:
                        self.kept[value] = self.array(value)
                    self.builder.store(self.kept[value], self.lane[value], (self.at,))

    def array(self, value: Value) -> Value:
        """An array over the block, made where the block begins."""
        assert isinstance(value.type, Scalar)
        with self.builder.at(self.level):
            return self.builder.alloc(value.type, (self.builder.index(self.width),), value.name, zero=False)

    def cost(self, value: Value) -> int:
        """How many integer operations make a value again from what all iterations share and the index."""
        if value not in self.variance.values or value is self.loop.regions[0].arguments[0]:
            return 0
        operation = self.definitions.get(value)
        if operation is None or not operation.row.pure or is_float(value.type) or operation.regions:
            return LONGEST + 1
        if any(is_float(operand.type) for operand in operation.operands):
            return LONGEST + 1
        return min(1 + sum(self.cost(operand) for operand in operation.operands), LONGEST + 1)

    # -- one iteration -------------------------------------------------------------------------------------------

    def get(self, value: Value) -> Value:
        """A value of the iteration at the current place of the block."""
        if value in self.lane:
            return self.lane[value]
        if value not in self.variance.values:
            return self.mapping.get(value, value)
        if value is self.loop.regions[0].arguments[0]:
            sign = ops.ADD if self.loop.attributes["step"] > 0 else ops.SUB
            place = self.builder.op(ops.MINIMUM, self.at, self.last) if self.vector > 1 and not self.exact else self.at
            self.lane[value] = self.builder.op(sign, self.base, place)
        elif value in self.kept:
            self.lane[value] = self.builder.load(self.kept[value], (self.at,))
        else:
            self.side_by_side(self.definitions[value])
        return self.lane[value]

    def anew(self, value: Value) -> Value:
        """A value of the iteration, from the memory that the loop only reads."""
        operation = self.definitions.get(value)
        if operation is not None and value not in self.lane:
            for operand in operation.operands:
                self.anew(operand)
            self.side_by_side(operation)
        return self.get(value)

    def all_of(self, operations: Sequence[Operation]) -> None:
        """Operations of the iteration."""
        for operation in operations:
            self.side_by_side(operation)

    def side_by_side(self, operation: Operation) -> None:
        """An operation of the iteration."""
        builder, row = self.builder, operation.row
        builder.span = operation.span
        if row is core.IF:
            self.choice(operation)
            return
        if operation in self.rows.of:
            self.lane[operation.result] = self.from_copy(operation)
            return
        operands = [self.get(value) for value in operation.operands]
        if row in core.ACCESSES and operation.operands[0] in self.wide:
            operands.append(self.at)
        names = [value.name for value in operation.results]
        made = builder.emit(row, operands, operation.attributes, names=names)
        self.lane.update(zip(operation.results, made, strict=True))

    def from_copy(self, load: Operation) -> Value:
        """An element of a row that was copied."""
        own = self.loop.regions[0].arguments[0]
        places = [self.get(value) for value in load.operands[1:] if value is not own]
        return self.builder.load(self.copies[self.rows.of[load]], (*places, self.at), name=load.result.name)

    def choice(self, operation: Operation) -> None:
        """Both branches of an `if`, and the results that hold."""
        condition = self.get(operation.operands[0])
        for region in operation.regions:
            self.all_of(region.operations)
        for k, result in enumerate(operation.results):
            both = [self.get(region.results[k]) for region in operation.regions]
            self.lane[result] = self.builder.op(ops.SELECT, condition, *both, name=result.name)

    def one_by_one(self, operation: Operation, exact: bool = False) -> tuple[Value, ...]:
        """What one iteration after the other does, as it was."""

        made = {inner.result for inner in walk_inside(operation) if inner.row is core.ALLOC}
        own = {handle for handle in self.wide if self.root[handle] in made}

        def access(builder: Builder, inner: Operation, local: dict[Value, Value]) -> bool:
            if not inner.operands or inner.operands[0] not in self.wide - own or inner.row is core.DIM:
                return False
            if inner.row is core.RESHAPE:
                self.widened(inner, local)
                return True
            operands = (*mapped(inner.operands, local), self.at)
            names = [value.name for value in inner.results]
            record(builder, inner, builder.emit(inner.row, operands, names=names), local)
            return True

        def iteration() -> None:
            local = {value: self.get(value) for value in free_values([operation])}
            clone(self.builder, [operation], local, access)
            self.lane.update((value, local[value]) for value in operation.results)
            self.keep([operation], set())

        return self.along(iteration, simd=False, exact=exact)


WAYS: dict[Kind, Callable[[_Writer, Operation], object]] = {
    Kind.AROUND: _Writer.around_branch,
    Kind.AGREED: _Writer.agreed,
    Kind.ONE_BY_ONE: _Writer.one_by_one,
}
