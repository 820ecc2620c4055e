"""What no direction enters, apart from what is done for each direction.

Comes in: a function that is linear in some parameters, the tangents.  Goes out: from `apart` the function in which an
outermost loop that does both is two loops, and from `once` which operations of its top level can be executed once for
any number of directions.  Guaranteed: each result is bit for bit what it was.

The second loop computes again what is cheap, and reads what the first one noted of the rest: a few numbers for each
iteration at most.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from adgen.ir import core
from adgen.ir.builder import Builder
from adgen.ir.nodes import Function, Operation, Value, walk
from adgen.ir.rebuild import Mapping, clone, mapped, rebuild
from adgen.ir.types import Buffer, Scalar, Stack
from adgen.passes.dead_code import dead_code
from adgen.passes.extents import number_of, trip_count
from adgen.passes.memory import Memory
from adgen.passes.residuals import RECOMPUTED_COST
from adgen.passes.several import Moving, moving_values

MOST_NOTED = 4  # numbers for each iteration
WRITING = (core.STORE, core.ACCUMULATE)
UNSUPPORTED = (core.STACK, core.PUSH, core.POP, core.CALL, core.CUSTOM, core.CHECK, core.RESHAPE, core.WHILE)


def apart(function: Function, tangents: Sequence[Value]) -> Function:
    """Split outermost loops.

    Of a loop with `%t = exp %a`, `store %A, %t, %i`, `%b = load %A_dot, %i`, `%c = mul %t, %b` and
    `store %B_dot, %c, %i` the first two operations become a loop that notes `%t`, and the others one that reads it.
    """
    moving = moving_values(function, tangents)
    memory = Memory(function)
    plans: dict[int, _Plan] = {}
    for operation in function.body.operations:
        if operation.row is core.FOR and not operation.attributes["exit"]:
            plan = _Plan(operation, moving, memory)
            if plan.splits:
                plans[id(operation)] = plan
    if not plans:
        return function

    def split(builder: Builder, operation: Operation, mapping: Mapping) -> bool:
        plan = plans.get(id(operation))
        if plan is not None:
            _Split(builder, plan, mapping).emit()
        return plan is not None

    return dead_code(rebuild(function, split))


class _Plan:
    """Whether a loop can be split, and what the second one reads: `noted`."""

    def __init__(self, loop: Operation, moving: Moving, memory: Memory) -> None:
        self.loop = loop
        self.moving = moving
        self.memory = memory
        (region,) = loop.regions
        inside = list(walk(region))
        self.made = {value: operation for operation in inside for value in operation.results}
        self.near = {value for operation in region.operations for value in operation.results}
        self.near.update(region.arguments[1:])
        self.arguments = {value for operation in inside for r in operation.regions for value in r.arguments}
        self.indices = {o.regions[0].arguments[0] for o in inside if o.row is core.FOR} | {region.arguments[0]}
        stores = [o for o in inside if o.row in WRITING and o.operands[0] not in moving]
        self.written = {memory.root[operation.operands[0]] for operation in stores}
        self.noted: dict[Value, None] = {}
        self.seen: set[Value] = set()
        moved = [operation for operation in (loop, *inside) if self.moves(operation)]
        possible = (
            bool(moved)
            and not any(operation.row in UNSUPPORTED for operation in inside)
            and not any(self.is_inner_extent(operation) for operation in inside)
            and all(self.available(value) for operation in moved for value in self.used(operation))
        )
        shared = any(value not in moving for value in loop.results)
        self.splits = possible and len(self.noted) <= MOST_NOTED and bool(stores or shared or self.noted)

    def moves(self, operation: Operation) -> bool:
        """True for an operation that has to do with directions, and for the owner of one."""
        if operation.row is core.DIM:
            return False
        inner = (o for region in operation.regions for o in region.operations)
        touched = (*operation.operands, *operation.results)
        return any(value in self.moving for value in touched) or any(map(self.moves, inner))

    def is_inner_extent(self, operation: Operation) -> bool:
        return operation.row is core.DIM and operation.operands[0] in self.made

    def used(self, operation: Operation) -> Iterable[Value]:
        """The numbers that an operation needs to do what it does for directions."""
        if not operation.regions:
            return operation.operands
        head = {core.FOR: 2, core.IF: 1}[operation.row]
        places = [k for k, value in enumerate(operation.results) if value in self.moving]
        found = list(operation.operands[:head]) if operation is not self.loop else []
        if operation.row is core.FOR:
            found += [operation.operands[head + k] for k in places if operation is not self.loop]
        for region in operation.regions:
            first = len(region.results) - len(operation.results)
            found += [*region.results[:first], *(region.results[first + k] for k in places)]
        return found

    def available(self, value: Value) -> bool:
        """True when the second loop can compute a value, or read it as noted."""
        if value in self.seen or value in self.moving or isinstance(value.type, Buffer | Stack):
            return True
        self.seen.add(value)
        operation = self.made.get(value)
        if value in self.indices or (operation is None and value not in self.near and value not in self.arguments):
            return True
        near = value in self.near
        if operation is not None and not operation.regions:
            if operation.row is core.LOAD:
                repeated = self.memory.root[operation.operands[0]] not in self.written
            else:
                repeated = operation.row.pure and (operation.row.cost <= RECOMPUTED_COST or not near)
            if repeated:
                return all(self.available(operand) for operand in operation.operands)
        if near:
            self.noted[value] = None
        return near


class _Split:
    """Emits the two loops."""

    def __init__(self, builder: Builder, plan: _Plan, mapping: Mapping) -> None:
        self.builder = builder
        self.plan = plan
        self.moving = plan.moving
        self.mapping = mapping
        self.loop = plan.loop
        (self.region,) = plan.loop.regions
        self.bounds = Operation(
            core.FOR, mapped(plan.loop.operands, mapping), (), plan.loop.attributes, (), plan.loop.span
        )
        trips = trip_count(builder, self.bounds) if plan.noted else None
        self.notes: dict[Value, Value] = {}
        for value in plan.noted:
            assert trips is not None and isinstance(value.type, Scalar)
            self.notes[value] = builder.alloc(value.type, (trips,), value.name, zero=False)

    def emit(self) -> None:
        self.part(lambda value: value not in self.moving, self.noting, self.shared)
        self.part(lambda value: value in self.moving, self.reading, self.repeated)

    def part(
        self,
        mine: Callable[[Value], bool],
        each: Callable[[Iterable[Value], Mapping, Value], None],
        transform: Callable[[Builder, Operation, Mapping], bool],
    ) -> None:
        """The loop that carries what is `mine`; `each` is done for the values of each operation after it."""
        builder, loop = self.builder, self.loop
        places = [k for k, value in enumerate(loop.results) if mine(value)]
        inner = dict(self.mapping)
        index, *carried = self.region.arguments
        arguments = [Value(index.type, index.name), *(Value(carried[k].type, carried[k].name) for k in places)]
        inner.update(zip((index, *(carried[k] for k in places)), arguments))
        with builder.block(arguments) as block:
            number = number_of(builder, self.bounds, arguments[0])
            each(carried, inner, number)
            for operation in self.region.operations:
                clone(builder, (operation,), inner, transform)
                each(operation.results, inner, number)
            block.results = mapped([self.region.results[k] for k in places], inner)
        operands = [*loop.operands[:2], *(loop.operands[2 + k] for k in places)]
        names = [loop.results[k].name for k in places]
        made = builder.emit(core.FOR, mapped(operands, self.mapping), loop.attributes, (block.region(),), names)
        self.mapping.update((loop.results[k], value) for k, value in zip(places, made))

    def noting(self, values: Iterable[Value], inner: Mapping, number: Value) -> None:
        for value in values:
            if value in self.notes:
                self.builder.store(self.notes[value], inner[value], (number,))

    def reading(self, values: Iterable[Value], inner: Mapping, number: Value) -> None:
        for value in values:
            if value in self.notes:
                inner[value] = self.builder.load(self.notes[value], (number,), value.name)

    def repeated(self, builder: Builder, operation: Operation, mapping: Mapping) -> bool:
        """Of what no direction enters everything but the writing is there again, as far as it is needed."""
        return operation.row in WRITING and operation.operands[0] not in self.moving

    def shared(self, builder: Builder, operation: Operation, mapping: Mapping) -> bool:
        """What directions enter is left out."""
        if not operation.regions:
            return self.plan.moves(operation)
        if not self.plan.moves(operation):
            return False
        head = {core.FOR: 2, core.IF: 1}[operation.row]
        places = [k for k, value in enumerate(operation.results) if value not in self.moving]
        regions = []
        for region in operation.regions:
            arguments = [value for value in region.arguments if value not in self.moving]
            fresh = [Value(value.type, value.name) for value in arguments]
            mapping.update(zip(arguments, fresh))
            first = len(region.results) - len(operation.results)
            kept = [*region.results[:first], *(region.results[first + k] for k in places)]
            with builder.block(fresh) as block:
                clone(builder, region.operations, mapping, self.shared)
                block.results = mapped(kept, mapping)
            regions.append(block.region())
        operands = list(operation.operands[:head])
        attributes = dict(operation.attributes)
        if operation.row is core.FOR:
            operands += [operation.operands[head + k] for k in places]
        else:
            attributes["types"] = tuple(str(value.type) for value in regions[0].results)
        names = [operation.results[k].name for k in places]
        made = builder.emit(operation.row, mapped(operands, mapping), attributes, regions, names)
        mapping.update((operation.results[k], value) for k, value in zip(places, made))
        return True


def once(
    function: Function, tangents: Sequence[Value], others: Sequence[Value] = ()
) -> tuple[list[Operation], list[Operation]]:
    """The operations of the top level: those that are the same for all directions and all `others`, and the rest."""
    moving = moving_values(function, tangents)
    memory = Memory(function)
    operations = function.body.operations
    again = {id(operation) for operation in operations if _touches(operation, moving)}
    size = -1
    while size != len(again):
        size = len(again)
        made: set[Value] = set(others)
        read: set[Value] = set()
        written = {root for o in operations if id(o) in again for root in _written(o, memory)}
        for operation in operations:
            writes = _written(operation, memory)
            inner = (o for region in operation.regions for o in walk(region))
            used = {value for o in (operation, *inner) for value in o.operands}
            if used & made or writes & (written | read) or _read(operation, memory) & written:
                again.add(id(operation))
            if id(operation) in again:
                made.update(operation.results)
                read |= _read(operation, memory)
    return [o for o in operations if id(o) not in again], [o for o in operations if id(o) in again]


def _touches(operation: Operation, moving: Moving) -> bool:
    inner = (o for region in operation.regions for o in walk(region))
    return any(value in moving for o in (operation, *inner) for value in (*o.operands, *o.results))


def _written(operation: Operation, memory: Memory) -> set[Value]:
    """The memory that an operation makes or writes; a stack is other than before after a `pop`, too."""
    if operation.row in (core.ALLOC, core.STACK):
        return {operation.result}
    if operation.row in WRITING:
        return {memory.root[operation.operands[0]]}
    inner = (o for region in operation.regions for o in walk(region))
    stacks = {memory.root[o.operands[0]] for o in (operation, *inner) if o.row in (core.PUSH, core.POP)}
    return stacks | memory.written(operation)


def _read(operation: Operation, memory: Memory) -> set[Value]:
    if operation.row in (core.LOAD, core.ACCUMULATE):
        return {memory.root[operation.operands[0]]}
    return set(memory.read(operation))
