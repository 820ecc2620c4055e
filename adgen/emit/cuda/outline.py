"""A function as what a host does and the kernels that it launches.

Comes in: a function in which `passes.grids` has marked the loops that are kernels.  Goes out: a function of the host,
whose operations are integers, memory, loops and branches around kernels, and `launch`.  Guaranteed: every operation on
the contents of memory is in a kernel; kernels are launched in the order of the program, so one sees what those before
it have written.

A marked loop is a kernel; what stands between two of them is one that a single thread runs.  Where a branch around
kernels depends on arrays, or a loop around them may end early, each kernel looks whether it has anything to do.

A scalar that one kernel makes and another needs goes through a *cell*, an array of the device without axes; so does
what a loop of the host carries.  Memory that a thread makes and that is not small is a *slice*: element `k` of thread
`t` is at `k * threads + t`, so neighbouring threads touch neighbouring memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NoReturn

from adgen import ops
from adgen.diagnostics import AdgenError
from adgen.emit.cuda.capture import Capture
from adgen.emit.cuda.products import MULTIPLY
from adgen.emit.cuda.wrapping import small
from adgen.emit.memory import Plan, nothing, plan_memory
from adgen.ir import core
from adgen.ir.builder import Builder
from adgen.ir.calls import recursion
from adgen.ir.hosted import Hosted
from adgen.ir.nodes import Attributes, Function, Operation, Region, Row, Value, walk, walk_one
from adgen.ir.rebuild import clone
from adgen.ir.sizes import ROOM, SLICES, SPLITS
from adgen.ir.translate import free_values
from adgen.ir.types import BOOL, Buffer, Scalar

FRAME = 256  # elements of all arrays together that a thread has for itself
SIZED = (
    "make its extents of those of the arguments, of integer arguments and of numbers; annotations of a compiled file, "
    "as `A: f64[n,n]`, say which are equal"
)
LAUNCHED = (core.ADD_UP, core.CONTRACT)  # by the host as they are
LONGEST = 1000  # operations of a kernel, where it can be cut: what nvcc takes grows with their square
MOST_AGAIN = 8  # operations on the function's numbers that every kernel does again


LAUNCH = Row("launch", nothing)  # a kernel with what it takes, its slices, and the iterations along x and y


@dataclass(frozen=True, eq=False)
class Kernel:
    """One kernel: its body, whose parameters are what it takes; the buffers that are slices; how many axes it has; the
    parameters that follow from extents, which are small."""

    function: Function
    plan: Plan
    axes: int
    small: frozenset[Value] = frozenset()

    @property
    def slices(self) -> tuple[Value, ...]:
        """The buffers of each thread that are parts of one array."""
        return tuple(self.plan.workspace)


@dataclass
class Outlined:
    """A function of the host and its kernels, in the order of their launches."""

    host: Function
    kernels: list[Kernel] = field(default_factory=list)


def outline(function: Function) -> Outlined:
    """The host's function and the kernels.

    Raises AdgenError when a device cannot run the function.
    """
    for operation in walk(function.body):
        _require(function, operation)
    return Outliner(function).made()


def _require(function: Function, operation: Operation) -> None:
    if operation.row is core.STACK:
        _refuse(
            operation,
            f"`{function.name}` records a `while` whose iterations cannot be counted, which takes memory of a size "
            "that is not known before a kernel starts",
            "bound them, as `for _ in range(100):` with `break`, or leave out reverse mode: --emit value,jvp",
        )
    if operation.row is core.CALL:
        name = operation.attributes["callee"]
        _refuse(recursion(function, operation), f"`{name}` calls itself, which kernels do not", "write it as a loop")
    if operation.row is core.EXTERNAL:
        name = operation.attributes["external"].name
        _refuse(operation, f"`{name}` is a C function, which a device cannot call", "compile for the target c")


def _refuse(operation: Operation, message: str, help: str) -> NoReturn:
    raise AdgenError("AD345", message, operation.span, help)


class Outliner:
    def __init__(self, function: Function) -> None:
        self.function = function
        self.hosted = Hosted(function)
        self.definitions = {value: operation for operation in walk(function.body) for value in operation.results}
        self.marked = _around(function.body)
        self.users = _users(function)
        self.small = small(function)  # with what the host has for them
        self.again = _again(function, self.hosted)
        self.builder = Builder()
        self.builder.span = function.span
        self.mapping: dict[Value, Value] = {}
        self.cells: dict[Value, Value] = {}  # of the device's scalars
        self.homes: dict[Value, Value] = {}  # cells that are results, for what is to be found there
        self.shelves: dict[Value, tuple[Value, int]] = {}  # where pieces of long code leave numbers for later ones
        self.pending: list[Operation] = []
        self.guards: list[tuple[Value, bool]] = []  # cells of conditions, and what they must be
        self.kernels: list[Kernel] = []

    def made(self) -> Outlined:
        function = self.function
        with self.builder.block(function.parameters) as block:
            results = [self.result(*pair) for pair in zip(function.results, function.result_names, strict=True)]
            self.region(function.body.operations)
            stored = {value for operation in self.pending for value in operation.results if value in self.homes}
            for value, box in zip(function.results, results, strict=True):
                there = self.homes[value] if value in stored else self.cells.get(value)
                if box is not None and there is not box and not self.is_nothing(value):
                    self.pending.append(_store(box, value))
            self.flush()
            pairs = zip(function.results, results, strict=True)
            block.results = tuple(box or self.mapping[value] for value, box in pairs)
        host = Function(function.name, block.region(), function.result_names, function.span, function.notes)
        return Outlined(host, self.kernels)

    def result(self, value: Value, name: str) -> Value | None:
        """Memory for a scalar result, which is its cell where it needs one anyway; None for an array."""
        if not isinstance(value.type, Scalar):
            return None
        read = self.definitions.get(value)
        if read is not None and "cell" in read.attributes:
            value = read.operands[0]
        made = self.definitions.get(value)
        zero = self.is_nothing(value) or (made is not None and bool(made.attributes.get("zero")))
        element = value.type.element if isinstance(value.type, Buffer) else value.type
        assert isinstance(element, Scalar)
        box = self.builder.alloc(element, (), name, zero=zero)
        self.homes.setdefault(value, box)
        return box

    def is_nothing(self, value: Value) -> bool:
        """True for a zero, whose bits are zeros."""
        made = self.definitions.get(value)
        return made is not None and made.row is core.CONST and str(made.attributes["value"]) in ("0", "0.0", "False")

    # -- the host --------------------------------------------------------------------------------------------------

    def region(self, operations: Iterable[Operation]) -> None:
        """Sort operations into those of the host and those of kernels."""
        for operation in operations:
            rule = self.rule(operation)
            if rule is None:
                self.pending.append(operation)
            else:
                outer, self.builder.span = self.builder.span, operation.span or self.builder.span
                rule(operation)
                self.builder.span = outer

    def rule(self, operation: Operation) -> Callable[[Operation], None] | None:
        """What the host does about an operation; None for one that belongs to a kernel."""
        row = operation.row
        if row is core.FOR and "grid" in operation.attributes:
            return self.launch_loop
        if operation in self.marked:
            return self.loop if row is core.FOR else self.branch
        if row in (core.ALLOC, core.RESHAPE):
            return self.memory
        if "cell" in operation.attributes:
            return self.read_cell
        if operation in self.again:
            return self.nothing
        if row is core.TABLE or (row.pure and not operation.regions and self.hosted.knows(operation.results)):
            return self.copy
        if row is core.CONTRACT:
            return self.product
        if row in (core.ADD_UP, core.SWAP) or (
            row is core.CHECK and self.hosted.knows(operation.operands) and not self.guards
        ):
            return self.in_turn
        return None

    def copy(self, operation: Operation) -> None:
        """An operation of the host's."""
        operands = [self.mapping.get(value, value) for value in operation.operands]
        names = [value.name for value in operation.results]
        if operation.row is core.DIM:
            results: tuple[Value, ...] = (self.builder.dim(operands[0], operation.attributes["axis"]),)
        else:
            results = self.builder.emit(operation.row, operands, operation.attributes, (), names)
        self.mapping.update(zip(operation.results, results, strict=True))

    def nothing(self, operation: Operation) -> None:
        """What every kernel that needs it does again."""

    def in_turn(self, operation: Operation) -> None:
        """An operation of the host's that comes after all before it."""
        self.flush()
        self.copy(operation)

    def read_cell(self, operation: Operation) -> None:
        """A number that is in memory of its own."""
        self.cells[operation.result] = self.mapping[operation.operands[0]]

    def product(self, operation: Operation) -> None:
        """A product of matrices, whose factor may be the device's."""
        factor = operation.operands[3]
        known = self.hosted.knows((factor,))
        scale = self.on_host(factor) if known else self.kept(factor)
        self.flush()
        builder = self.builder
        numbers = [self.on_host(value) for value in operation.operands[4:]]
        rows, columns, depth = numbers[:3]
        splits = builder.op(SPLITS, rows, columns, depth, name="splits")
        room = builder.op(ROOM, rows, columns, depth)
        buffers = [self.mapping.get(value, value) for value in operation.operands[:3]]
        assert isinstance(buffers[0].type, Buffer)
        parts = builder.alloc(buffers[0].type.element, (room,), "product_parts", zero=False)
        builder.emit(MULTIPLY, (*buffers, scale, *numbers, splits, parts), {"axes": operation.attributes["axes"]})

    def memory(self, operation: Operation) -> None:
        """Memory that kernels share."""
        extents = operation.operands[operation.row is core.RESHAPE :]
        if not self.hosted.knows(extents):
            name = operation.result.name or "an array"
            _refuse(
                operation,
                f"the size of `{name}` is known only when the device gets there",
                SIZED,
            )
        if operation.result in self.homes:
            self.mapping[operation.result] = self.homes[operation.result]
        else:
            self.copy(operation)

    def loop(self, operation: Operation) -> None:
        """A loop of the host around kernels; what it carries is in cells."""
        region = operation.regions[0]
        cells = self.carried(operation.results, operation.operands[2:])
        index = Value(region.arguments[0].type, region.arguments[0].name)
        self.mapping[region.arguments[0]] = index
        self.cells.update(zip(region.arguments[1:], cells, strict=True))
        ends = [self.on_host(value) for value in operation.operands[:2]]
        alive = self.alive() if operation.attributes.get("exit") else []
        self.guards += [(cell, True) for cell in alive]
        with self.builder.block((index,)) as block:
            self.yielding(region, [*alive, *cells], operation)
        del self.guards[len(self.guards) - len(alive) :]
        attributes = {"step": operation.attributes["step"], "exit": False}
        self.builder.emit(core.FOR, ends, attributes, (block.region(),))
        self.cells.update(zip(operation.results, cells, strict=True))

    def branch(self, operation: Operation) -> None:
        """A branch of the host around kernels; what it chooses is in cells."""
        cells = self.carried(operation.results, ())
        if operation in self.hosted.guarded:
            condition = self.kept(operation.operands[0])
            for region, sense in zip(operation.regions, (True, False), strict=True):
                self.guards.append((condition, sense))
                self.yielding(region, cells, operation)
                self.guards.pop()
            self.cells.update(zip(operation.results, cells, strict=True))
            return
        regions = []
        for region in operation.regions:
            with self.builder.block() as block:
                self.yielding(region, cells, operation)
            regions.append(block.region())
        condition = self.on_host(operation.operands[0])
        self.builder.emit(core.IF, (condition,), {"types": ()}, regions)
        self.cells.update(zip(operation.results, cells, strict=True))

    def alive(self) -> list[Value]:
        """The cell that says whether a loop that may end early still goes on."""
        cell = self.builder.alloc(BOOL, (), "alive", zero=False)
        true = Value(BOOL)
        self.pending += [Operation(core.CONST, (), (true,), MappingProxyType({"value": True, "type": "bool"}))]
        self.pending.append(_store(cell, true))
        self.flush()
        return [cell]

    def kept(self, value: Value) -> Value:
        """The cell of a scalar, which gets one now if it has none."""
        if value not in self.cells:
            cell = self.cell(value)
            self.pending.append(_store(cell, value))
            self.flush()
            self.cells[value] = cell
        return self.cells[value]

    def carried(self, results: Sequence[Value], initial: Sequence[Value]) -> list[Value]:
        """Cells for some results, with their first values."""
        cells = [self.cell(value) for value in results]
        self.pending += [_store(cell, value) for cell, value in zip(cells, initial)]
        self.flush()
        return cells

    def yielding(self, region: Region, cells: Sequence[Value], owner: Operation) -> None:
        """The operations of a region, and what it yields into cells."""
        self.region(region.operations)
        pairs = zip(cells, region.results, strict=True)
        self.pending += [_store(cell, value) for cell, value in pairs if self.cells.get(value) is not cell]
        self.flush(owner)

    def cell(self, value: Value) -> Value:
        """Memory for a scalar."""
        assert isinstance(value.type, Scalar)
        return self.homes.get(value) or self.builder.alloc(value.type, (), f"{value.name or 'number'}_cell", zero=False)

    def on_host(self, value: Value) -> Value:
        """A known scalar as the host has it."""
        if value in self.mapping:
            return self.mapping[value]
        operation = self.definitions.get(value)
        if operation is None:
            return value
        for operand in operation.operands:
            if isinstance(operand.type, Scalar):
                self.on_host(operand)
        self.copy(operation)
        return self.mapping[value]

    # -- kernels ---------------------------------------------------------------------------------------------------

    def launch_loop(self, operation: Operation) -> None:
        """A marked loop is a kernel."""
        self.flush()
        self.kernel([operation], [o for o in walk_one(operation) if "grid" in o.attributes], None)

    def flush(self, owner: Operation | None = None) -> None:
        """What has been left for one thread is a kernel; `owner` is the control flow that its stores yield to."""
        operations, self.pending = self.pending, []
        pieces = cut(operations)
        self.shelve(pieces, owner)
        for piece in pieces:
            self.kernel(piece, [], owner)

    def shelve(self, pieces: Sequence[Sequence[Operation]], owner: Operation | None) -> None:
        """Places for what later pieces of the same code need and nothing else does: one array for each type."""
        made = {value: k for k, piece in enumerate(pieces) for operation in piece for value in operation.results}
        needed: dict[Value, None] = {}
        for k, piece in enumerate(pieces[1:], 1):
            for operation in piece:
                needed.update((value, None) for value in free_values(operation) if made.get(value, k) < k)
        if not needed:
            return
        inside = {inner for piece in pieces for operation in piece for inner in walk_one(operation)}
        kinds: dict[Scalar, list[Value]] = {}
        for value in needed:
            if isinstance(value.type, Scalar) and value not in self.homes and not self.leaves(value, inside, owner):
                kinds.setdefault(value.type, []).append(value)
        for kind, values in kinds.items():
            shelf = self.builder.alloc(kind, (self.builder.index(len(values)),), "numbers", zero=False)
            self.shelves.update((value, (shelf, k)) for k, value in enumerate(values))

    def kernel(self, operations: Sequence[Operation], loops: Sequence[Operation], owner: Operation | None) -> None:
        """Make a kernel of some operations and launch it."""
        kernel, given = self.body(operations, owner)
        axes = len(loops)
        if axes > 1 and kernel.workspace:  # slices are counted along one axis
            operations = [_flat(operation) for operation in operations]
            kernel, given = self.body(operations, owner)
            axes = 1
        trips = [self.trips(loop) for loop in reversed(loops[:axes])]
        few = frozenset(parameter for parameter, value in given.items() if value in self.small)
        found = Kernel(kernel.function, kernel, axes, few)
        self.kernels.append(found)
        slices = [self.slice(kernel, buffer, given, trips) for buffer in kernel.workspace]
        operands = [*given.values(), *slices, *trips]
        span = operations[0].span
        self.builder.emit(LAUNCH, operands, {"kernel": found}, span=span)

    def body(self, operations: Sequence[Operation], owner: Operation | None) -> tuple[Plan, dict[Value, Value]]:
        """A kernel's function and where its memory is; what the host gives it, by its parameters."""
        capture = Capture(self)
        builder = capture.builder
        builder.span = operations[0].span
        inside = {inner for operation in operations for inner in walk_one(operation)}
        made = [value for operation in operations for value in operation.results if isinstance(value.type, Scalar)]
        shelved = {value: capture.buffer(self.shelves[value][0]) for value in made if value in self.shelves}
        left = [value for value in made if value not in shelved]
        outputs = [value for value in left if value in self.homes or self.leaves(value, inside, owner)]
        self.cells.update((value, self.cells.get(value) or self.cell(value)) for value in outputs)
        given = {value: capture.buffer(self.cells[value]) for value in outputs}

        def statements() -> tuple[Value, ...]:
            clone(builder, operations, capture.mapping)
            for value, cell in given.items():
                builder.store(cell, capture.mapping[value])
            for value, shelf in shelved.items():
                builder.store(shelf, capture.mapping[value], (builder.index(self.shelves[value][1]),))
            return ()

        with builder.block() as block:
            capture.all(operations)
            under(builder, [(builder.load(capture.buffer(cell)), sense) for cell, sense in self.guards], statements)
        block.arguments = tuple(capture.given)
        function = Function(self.function.name, block.region(), (), operations[0].span)
        plan = plan_memory(function, False, FRAME)
        for buffer in plan.heap:
            made_by = plan.definition[buffer]
            _refuse(
                made_by,
                f"the size of `{buffer.name or 'an array'}` is known only when a kernel gets there",
                SIZED,
            )
        return plan, capture.given

    def leaves(self, value: Value, inside: set[Operation], owner: Operation | None) -> bool:
        """True for a value that something outside of a kernel's operations uses."""
        return any(user not in inside and user is not owner for user in self.users.get(value, ()))

    def trips(self, loop: Operation) -> Value:
        """The number of iterations of a loop."""
        builder = self.builder
        start, stop = (self.on_host(value) for value in loop.operands[:2])
        step: int = loop.attributes["step"]
        first, last = (start, stop) if step > 0 else (stop, start)
        span = builder.op(ops.SUB, last, first)
        if abs(step) > 1:
            more = builder.op(ops.ADD, span, builder.index(abs(step) - 1))
            span = builder.op(ops.FLOORDIV, more, builder.index(abs(step)))
        return span

    def slice(self, plan: Plan, buffer: Value, given: Mapping[Value, Value], trips: Sequence[Value]) -> Value:
        """The array of which each thread has a part."""
        builder = self.builder
        mapping = dict(given)
        clone(builder, plan.entry, mapping)
        threads = builder.index(1)
        if trips:
            threads = builder.op(SLICES, trips[0], name="sliced")
        extents = [builder.op(ops.MAXIMUM, mapping.get(e, e), builder.index(0)) for e in plan.workspace[buffer]]
        assert isinstance(buffer.type, Buffer)
        total = threads
        for extent in extents:
            total = builder.op(ops.MUL, total, extent)
        return builder.alloc(buffer.type.element, (total,), f"{buffer.name or 'buffer'}_slices", zero=False)


def cut(operations: Sequence[Operation]) -> list[list[Operation]]:
    """Code of one thread in pieces that a compiler can take; it has one piece unless it is long.

    What is stored into cells in the end is stored by one piece, which has read the old contents by then.
    """
    pieces: list[list[Operation]] = []
    size = LONGEST
    for operation in operations:
        more = sum(1 for _ in walk_one(operation))
        into_cell = operation.row is core.STORE and len(operation.operands) == 2
        if not pieces or (size + more > LONGEST and not into_cell):
            pieces.append([])
            size = 0
        pieces[-1].append(operation)
        size += more
    return pieces


def under(builder: Builder, guards: Sequence[tuple[Value, bool]], then: Callable[[], tuple[Value, ...]]) -> None:
    """Statements under conditions."""
    if not guards:
        then()
        return
    (condition, sense), *rest = guards

    def inner() -> tuple[Value, ...]:
        under(builder, rest, then)
        return ()

    builder.branch(condition, inner if sense else tuple, tuple if sense else inner)


def _store(cell: Value, value: Value) -> Operation:
    return Operation(core.STORE, (cell, value), ())


def _flat(loop: Operation) -> Operation:
    """A loop of threads along y, whose inner one is one inside the thread."""
    region = loop.regions[0]
    operations = tuple(
        Operation(o.row, o.operands, o.results, _plain(o.attributes), o.regions, o.span)
        if "grid" in o.attributes
        else o
        for o in region.operations
    )
    return Operation(
        loop.row,
        loop.operands,
        loop.results,
        MappingProxyType({**loop.attributes, "grid": "x"}),
        (Region(region.arguments, operations, region.results),),
        loop.span,
    )


def _plain(attributes: Attributes) -> Attributes:
    return MappingProxyType({name: value for name, value in attributes.items() if name != "grid"})


def _again(function: Function, hosted: Hosted) -> set[Operation]:
    """The arithmetic on the function's numbers that is so little that kernels do it again."""
    cost: dict[Value, int] = {}
    found: set[Operation] = set()
    for operation in function.body.operations:
        if not operation.row.pure or operation.regions or hosted.knows(operation.results) or not operation.operands:
            continue
        if all(value in cost or value in hosted.values for value in operation.operands):
            total = 1 + sum(cost.get(value, 0) for value in operation.operands)
            if total <= MOST_AGAIN:
                cost.update(dict.fromkeys(operation.results, total))
                found.add(operation)
    return found


def _around(region: Region) -> set[Operation]:
    """The operations that have kernels inside of them."""
    found: set[Operation] = set()
    for operation in region.operations:
        if "grid" in operation.attributes:
            continue
        for inner in operation.regions:
            below = _around(inner)
            here = any("grid" in o.attributes or o.row in LAUNCHED for o in inner.operations)
            if below or here:
                found |= below | {operation}
    return found


def _users(function: Function) -> dict[Value, list[Operation | None]]:
    """What uses each value: operations, and the owners of regions that yield it."""
    found: dict[Value, list[Operation | None]] = {}

    def visit(region: Region, owner: Operation | None) -> None:
        for operation in region.operations:
            for value in operation.operands:
                found.setdefault(value, []).append(operation)
            for inner in operation.regions:
                visit(inner, operation)
        for value in region.results:
            found.setdefault(value, []).append(owner)

    visit(function.body, None)
    return found
