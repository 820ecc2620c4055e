"""Which loops are kernels of a device, one iteration a thread.

Comes in: an optimised function.  Goes out: the same with `grid` on loops whose iterations may run at the same time, and
with sums over them taken in parts.  Guaranteed: a loop that is marked carries nothing, and its iterations share no
memory that one of them writes, but by an `accumulate` that is marked `atomic`, with the reason.  The loops around it
are those that a host runs: it knows where they end.  `order` is the place of a loop's index in what tells which
iteration of a kernel comes first in the program, a `load` marked `cell` reads a number that nothing writes again, and
other loops have the reason why they are none over threads as `serial`.

- A loop is `x`; a loop whose body is another one, after what any thread may work out again, is `y` around `x`.
- A nest that is a product of matrices is a `contract` of the host's.
- What a loop adds to carried values is added in parts, one for each thread, that `add_up` brings together in a fixed
  order: no more than `sizes.THREADS` threads, each of which takes every so many-th iteration.
- Where the outer loop of two adds to memory of which the inner one owns the elements, as in the sum of the columns of
  a matrix or in forces between pairs, these additions are made with the loops exchanged (`turned`), where what is added
  can be worked out again.
- A maximum, a product and the like of one long array is taken in parts (`folds`), and so are running sums that a loop
  looks at on its way (`scans`).
- A loop of few iterations with long loops inside of it is done in steps, so that threads share each iteration (`rows`).
- Where all iterations add to the same elements, several threads share each of a few copies, by atomic additions.
- Other memory that iterations add to: with `deterministic` each of at most `THREADS` threads takes neighbouring
  iterations and adds to an array of its own, which `add_up` brings together; else by atomic additions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from adgen import ops
from adgen.ir import core, sizes
from adgen.ir.builder import Builder
from adgen.ir.hosted import Hosted
from adgen.ir.nodes import Function, Operation, Region, Value, walk
from adgen.ir.rebuild import clone_operation, clone_region, mapped, rebuild, record
from adgen.ir.types import BOOL, I64, Buffer, Scalar
from adgen.passes.activity import roots
from adgen.passes.contractions import contractions
from adgen.passes.dead_code import dead_code
from adgen.passes.extents import index_of, trip_count
from adgen.passes.folds import fold_of, folds
from adgen.passes.forms import Forms
from adgen.passes.independence import Tie
from adgen.passes.indices import Definitions
from adgen.passes.partial import chunk, copies, division, moved
from adgen.passes.rotations import rotations
from adgen.passes.row_steps import emit_rows
from adgen.passes.rows import rows_of
from adgen.passes.scans import emit_scan, scan_of
from adgen.passes.sharing import Sharing, arguments_of, sharing
from adgen.passes.turned import Turned, emit_turned, turned

SHORT = 16  # iterations that are not worth a kernel
SHARED = 4  # times the memory that copies count for, where threads share them: so much stays in a cache
NARROW = 8  # iterations of an inner loop that stay with the thread of the outer one


def grids(function: Function, deterministic: bool = False) -> Function:
    """Mark the loops that are kernels.

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
               for %0, %n {exit=false, grid="x", order=0, step=1} (%i: i64) {
                 %a = load %x, %i : f64
                 %b = exp %a : f64
                 store %y, %b, %i
                 yield
               }
               return
             }
    """
    found = _Grids(function, deterministic)
    for step in (_with_products, _with_folds, _with_scans, *TURNS, _with_rows, *TURNS):
        made = step(found)
        found = found if made is found.function else _Grids(made, deterministic)
    return _with_swaps(_Grids(found.function, deterministic, False).made(), deterministic)


def _with_swaps(marked: Function, deterministic: bool) -> Function:
    """The function in which buffers change places in loops of the host, instead of being copied by kernels."""

    def chosen(function: Function) -> set[Operation]:
        now = _Grids(function, deterministic)
        return {loop for loop in now.outermost() if "grid" not in loop.attributes}

    made = rotations(marked, chosen)
    return marked if made is marked else rebuild(made, _Grids(made, deterministic, False).transform)


def _with_products(found: _Grids) -> Function:
    """The function with products of matrices that a host launches as such."""
    outermost = found.outermost()
    made = contractions(found.function, lambda loop: loop in outermost)
    hosted = Hosted(made)
    products = [operation for operation in walk(made.body) if operation.row is core.CONTRACT]
    return made if all(hosted.knows(operation.operands[4:]) for operation in products) else found.function


def _with_folds(found: _Grids) -> Function:
    """The function with maxima and the like of long arrays in parts."""
    left = {loop for loop in found.outermost() if not isinstance(found.nest(loop), Nest)}
    fewer = {loop for loop in left if (count := found.trips(loop)) is None or count > SHORT}
    return folds(found.function, fewer) if any(fold_of(loop) for loop in fewer) else found.function


def _with_scans(found: _Grids) -> Function:
    """The function with running sums in parts."""
    plans = {}
    for loop in found.outermost():
        count = found.trips(loop)
        if not isinstance(found.nest(loop), Nest) and (count is None or count > SHORT):
            plans[loop] = scan_of(loop, found.root, found.forms)

    def transform(builder: Builder, operation: Operation, mapping: dict[Value, Value]) -> bool:
        plan = plans.get(operation)
        if plan is None:
            return False
        emit_scan(builder, plan, mapping)
        return True

    return dead_code(rebuild(found.function, transform)) if any(plans.values()) else found.function


def _with_turned(found: _Grids) -> Function:
    """The function with additions that meet made with two loops exchanged."""
    nests = {loop: nest for loop in found.outermost() if isinstance(nest := found.nest(loop), Nest) and nest.turned}
    additions = {each for nest in nests.values() for plan in nest.turned for each in plan.additions}

    def transform(builder: Builder, operation: Operation, mapping: dict[Value, Value]) -> bool:
        nest = nests.get(operation)
        if nest is None:
            return operation in additions
        outside = dict(mapping)
        clone_operation(builder, operation, mapping, transform)
        for plan in nest.turned:
            emit_turned(builder, plan, outside)
        return True

    return dead_code(rebuild(found.function, transform)) if nests else found.function


def _with_rows(found: _Grids) -> Function:
    """The function with loops of few iterations in steps, so that threads share each of them."""
    plans = {}
    for loop in found.outermost():
        nest = found.nest(loop)
        if isinstance(nest, Nest) and nest.inner is None and not loop.attributes.get("simd"):  # not in parts yet
            plans[loop] = rows_of(loop, found.root, found.forms, found.known, found.hosted.values)

    def transform(builder: Builder, operation: Operation, mapping: dict[Value, Value]) -> bool:
        plan = plans.get(operation)
        if plan is None:
            return False
        emit_rows(builder, plan, found.hosted.values, mapping)
        return True

    return dead_code(rebuild(found.function, transform)) if any(plans.values()) else found.function


TURNS = (_with_turned,) * 3  # what has been exchanged may have to be once more; what is left then is atomic


@dataclass(frozen=True)
class Nest:
    """How a loop becomes a kernel: alone, or with the loop inside of it, in which its parts are all."""

    outer: Operation
    shared: Sharing
    inner: Operation | None = None
    atomic: Mapping[Operation, str] = field(default_factory=dict)
    copied: tuple[Value, ...] = ()  # handles of memory of which each thread has a copy
    spread: tuple[Value, ...] = ()  # handles of memory of which several threads share a copy
    turned: tuple[Turned, ...] = ()  # additions that are made with two loops exchanged


class _Grids:
    def __init__(self, function: Function, deterministic: bool, turning: bool = True) -> None:
        self.function = function
        self.deterministic = deterministic
        self.turning = turning  # additions that meet may be exchanged
        self.hosted = Hosted(function)
        self.decided = {region for operation in self.hosted.control for region in operation.regions}
        self.root = roots(function)
        self.known = Definitions(function)
        self.forms = Forms(self.known)
        self.nests: dict[Operation, Nest | str] = {}

    def made(self) -> Function:
        return rebuild(dead_code(rebuild(self.function, self.transform)), _left_alone)

    def outermost(self) -> set[Operation]:
        """The loops that a host runs, and those that become kernels."""
        found: set[Operation] = set()

        def visit(region: Region) -> None:
            for operation in region.operations:
                if operation not in self.hosted.control or operation in self.hosted.guarded:
                    continue
                marked = "grid" in operation.attributes
                kernel = marked or (operation.row is core.FOR and isinstance(self.nest(operation), Nest))
                if operation.row is core.FOR:
                    found.add(operation)
                for inner in operation.regions if not kernel else ():
                    visit(inner)

        visit(self.function.body)
        return found

    def transform(self, builder: Builder, operation: Operation, mapping: dict[Value, Value]) -> bool:
        """Take over whatever has regions: a kernel, control flow of the host, or what is left as it is."""
        if not operation.regions:
            return False
        if "grid" in operation.attributes:  # it has been marked
            clone_operation(builder, operation, mapping)
            return True
        if operation.row is core.FOR and operation in self.hosted.control:
            nest = self.nest(operation)
            if isinstance(nest, Nest):
                _Writer(self, builder, mapping, nest).emit()
                return True
            operation = _noted(operation, nest)
        elif operation.row in core.LOOPS:
            operation = _noted(operation, "where it ends depends on what is in arrays")
        inside = self.transform if operation.regions[0] in self.decided else None
        clone_operation(builder, operation, mapping, inside)
        return True

    # -- which -----------------------------------------------------------------------------------------------------

    def trips(self, loop: Operation) -> int | None:
        """The number of iterations, where it is a number."""
        start, stop = (self.known.known(value) for value in loop.operands[:2])
        return None if start is None or stop is None else len(range(start, stop, loop.attributes["step"]))

    def nest(self, loop: Operation) -> Nest | str:
        """How a loop becomes a kernel, or why it does not."""
        if loop not in self.nests:
            self.nests[loop] = self.looked_at(loop)
        return self.nests[loop]

    def looked_at(self, loop: Operation) -> Nest | str:
        """The same, found out now."""
        if "serial" in loop.attributes:
            return str(loop.attributes["serial"])
        trips = self.trips(loop)
        if trips is not None and trips <= SHORT:
            return "it is short"
        found = sharing(loop, self.root, self.forms)
        if isinstance(found, Tie):
            return found.reason
        inner = None if loop.regions[0].arguments[1:] else self.inner(loop)
        own = None if inner is None or inner.regions[0].arguments[1:] else sharing(inner, self.root, self.forms)
        apart = isinstance(own, Sharing) and not found.own & own.added.keys()
        return self.scattering(loop, found, inner if apart else None)

    def inner(self, loop: Operation) -> Operation | None:
        """The loop that is all of a loop's body, but for what each thread may work out again before it."""
        operations = loop.regions[0].operations
        if not operations or operations[-1].row is not core.FOR:
            return None
        inner = operations[-1]
        trips = self.trips(inner)
        if trips is not None and trips <= NARROW:
            return None
        written = {self.root[value] for each in walk(inner.regions[0]) for value in core.writes_of(each)}
        for operation in operations[:-1]:
            again = operation.row.pure or operation.row in (core.RESHAPE, core.CHECK)
            reads = operation.row is core.LOAD and self.root[operation.operands[0]] not in written
            if operation.regions or not (again or reads):
                return None
        return inner if inner in self.hosted.control and not self.varies(inner, loop) else None

    def varies(self, inner: Operation, loop: Operation) -> bool:
        """True when the ends of the inner loop change with the outer one."""
        made = {value for operation in loop.regions[0].operations for value in operation.results}
        moving = made | {loop.regions[0].arguments[0]}
        return any(value in moving for value in inner.operands[:2])

    def scattering(self, loop: Operation, found: Sharing, inner: Operation | None) -> Nest | str:
        """The kernel of a loop, with what to do about memory that iterations add to without owning it."""
        if not found.added:
            return Nest(loop, found, inner)
        hosted = self.hosted.values
        exchanged = turned(loop, found, self.root, self.forms, hosted.__contains__) if self.turning else None
        if exchanged is not None:
            moved = {operation for plan in exchanged for operation in plan.additions}
            kept = any(operation not in moved for touching in found.added.values() for operation in touching)
            return Nest(loop, found, None if kept else inner, turned=exchanged)  # threads of `inner` share what is kept
        inside = {value for operation in walk(loop.regions[0]) for value in operation.results}
        moving = inside | arguments_of(loop)
        copied, spread, atomic = [], [], {}
        for buffer, touching in found.added.items():
            handles = {o.operands[0] for o in touching}
            (handle, *others) = handles
            still = not any(value in moving for o in touching for value in core.indices_of(o))
            small = still and self.size(buffer) is not None
            if not others and handle not in inside and (self.deterministic or small):
                copied.append(handle)
            elif self.deterministic:
                return "what its iterations add to has no fixed place to be added up in"
            elif not others and handle not in inside and is_uniform(touching, loop):
                spread.append(handle)
            else:
                reason = f"iterations of `for {loop.regions[0].arguments[0].name}` may meet here"
                atomic.update(dict.fromkeys(touching, reason))
        if copied or spread:
            return Nest(loop, found, None, atomic, tuple(copied), tuple(spread))
        return Nest(loop, found, inner, atomic)

    def size(self, buffer: Value) -> int | None:
        """The number of elements of a small buffer; None for one that is large, or of which that is not known."""
        assert isinstance(buffer.type, Buffer)
        operation = self.known.definitions.get(buffer)
        if buffer.type.rank == 0:
            return 1
        extents = (
            [self.known.known(v) for v in operation.operands] if operation and operation.row is core.ALLOC else [None]
        )
        total = 1
        for extent in extents:
            if extent is None:
                return None
            total *= max(0, extent)
        return total if total <= 64 else None


class _Writer:
    """Writes one loop as a kernel, and what brings its parts together."""

    def __init__(self, grids: _Grids, builder: Builder, mapping: dict[Value, Value], nest: Nest) -> None:
        self.grids = grids
        self.builder = builder
        self.mapping = mapping
        self.nest = nest
        self.loop = nest.outer
        self.step: int = nest.outer.attributes["step"]

    def emit(self) -> None:
        """The loops, the sums."""
        assert not self.nest.turned, "exchanged loops are a step of their own"
        if self.loop.regions[0].arguments[1:] or self.nest.copied or self.nest.spread:
            self.parts()
        else:
            self.plain()

    def plain(self) -> None:
        """A kernel without sums."""
        self.region_loop(self.loop, "y" if self.nest.inner else "x")

    def region_loop(self, loop: Operation, grid: str) -> None:
        start, stop = mapped(loop.operands[:2], self.mapping)
        region = clone_region(self.builder, loop.regions[0], self.mapping, self.inside)
        attributes = {**_without(loop), "grid": grid, "order": 0 if loop is self.loop else 1}
        self.builder.emit(core.FOR, (start, stop), attributes, (region,), span=loop.span)

    def inside(self, builder: Builder, operation: Operation, mapping: dict[Value, Value]) -> bool:
        """What is another operation in a kernel: the inner loop of a nest, additions that may meet."""
        if operation is self.nest.inner:
            self.region_loop(operation, "x")
            return True
        if operation in self.nest.atomic:
            attributes = {"atomic": self.nest.atomic[operation]}
            builder.emit(core.ACCUMULATE, mapped(operation.operands, mapping), attributes, span=operation.span)
            return True
        return False

    # -- sums ------------------------------------------------------------------------------------------------------

    def parts(self) -> None:
        """Threads that take several iterations each, with sums of their own."""
        builder, loop = self.builder, self.loop
        region, here = loop.regions[0], moved(loop, self.mapping)
        count = trip_count(builder, here)
        apart = bool(self.nest.copied) or self.in_order()
        handles = mapped(self.nest.copied, self.mapping)
        threads = division(builder, count, builder.index(1), handles)
        carried = region.arguments[1:]
        sums = [
            builder.alloc(_scalar(value), (threads,), f"{value.name or 'sum'}_parts", zero=False) for value in carried
        ]
        apiece = {handle: copies(builder, handle, threads) for handle in handles}
        together = self.spread(count)
        argument = Value(I64, "part")
        with builder.block((argument,)) as block:
            if apart:
                ends, step = chunk(builder, here, count, argument, threads), self.step
            else:
                ends, step = (index_of(builder, here, argument), here.operands[1]), self.step * sizes.THREADS
            slots = {h: (copy, builder.op(ops.MOD, argument, number)) for h, (copy, number) in together.items()}
            self.run(ends, step, argument, sums, apiece, slots)
        attributes = {"step": 1, "exit": False, "grid": "x"}
        builder.emit(core.FOR, (builder.index(0), threads), attributes, (block.region(),), span=loop.span)
        for handle, copy in [*apiece.items(), *((h, copy) for h, (copy, _) in together.items())]:
            builder.emit(core.ADD_UP, (handle, copy), span=loop.span)
        totals = [
            self.total(*each) for each in zip(mapped(loop.operands[2:], self.mapping), sums, loop.results, strict=True)
        ]
        record(builder, loop, tuple(totals), self.mapping)

    def spread(self, count: Value) -> dict[Value, tuple[Value, Value]]:
        """Copies of memory that all iterations add to, each for several threads; how many there are."""
        builder, found = self.builder, {}
        for handle in mapped(self.nest.spread, self.mapping):
            number = division(builder, count, builder.index(1), [handle], SHARED)
            number = builder.op(ops.MAXIMUM, number, builder.index(1), name="copies")
            found[handle] = copies(builder, handle, number), number
        return found

    def in_order(self) -> bool:
        """True when a thread that takes several parts may have to take them one after the other.

        There are fewer threads where each has much memory, and the first check that fails in a thread ends it.
        """
        rows = {operation.row for operation in walk(self.loop.regions[0])}
        return core.CHECK in rows and core.ALLOC in rows

    def run(
        self,
        ends: tuple[Value, Value],
        step: int,
        number: Value,
        sums: Sequence[Value],
        copies: Mapping[Value, Value],
        slots: Mapping[Value, tuple[Value, Value]],
    ) -> None:
        """The iterations of one part."""
        builder, region = self.builder, self.loop.regions[0]
        local = dict(self.mapping)
        zeros = [builder.const(0, value.type) for value in region.arguments[1:]]

        shared = {operation for touching in self.nest.shared.added.values() for operation in touching}

        def redirected(builder: Builder, operation: Operation, mapping: dict[Value, Value]) -> bool:
            if operation in shared:
                handle, value, *indices = mapped(operation.operands, mapping)
                if handle in copies:
                    builder.accumulate(copies[handle], value, (*indices, number))
                    return True
                if handle in slots:
                    copy, slot = slots[handle]
                    builder.emit(core.ACCUMULATE, (copy, value, *indices, slot), {"atomic": "threads share a copy"})
                    return True
            return self.inside(builder, operation, mapping)

        inner = clone_region(builder, region, local, redirected)
        names = [value.name for value in self.loop.results]
        attributes = {**_without(self.loop), "step": step, "order": 0}
        results = builder.emit(core.FOR, (*ends, *zeros), attributes, (inner,), names, self.loop.span)
        for buffer, value in zip(sums, results, strict=True):
            builder.store(buffer, value, (number,))

    def total(self, start: Value, parts: Value, result: Value) -> Value:
        """A carried sum after the loop."""
        builder = self.builder
        nothing = builder.known(start) == 0
        cell = builder.alloc(_scalar(result), (), result.name, zero=nothing)
        if not nothing:
            builder.store(cell, start)
        builder.emit(core.ADD_UP, (cell, parts), span=self.loop.span)
        (total,) = builder.emit(core.LOAD, (cell,), {"cell": True}, names=(result.name,))
        return total


def _left_alone(builder: Builder, operation: Operation, mapping: dict[Value, Value]) -> bool:
    """A loop is `x` where nothing is left of the one inside of it."""
    if operation.attributes.get("grid") != "y" or any("grid" in each.attributes for each in walk(operation.regions[0])):
        return False
    attributes = MappingProxyType({**operation.attributes, "grid": "x"})
    clone_operation(builder, replace(operation, attributes=attributes), mapping)
    return True


def is_uniform(touching: Sequence[Operation], loop: Operation) -> bool:
    """True when all iterations of a loop touch the same elements, so that they would meet all the time."""
    varying: set[Value] = {loop.regions[0].arguments[0]}

    def visit(region: Region) -> None:
        for operation in region.operations:
            if operation.row is core.FOR and not varying.intersection(operation.operands[:2]):
                varying.update(operation.regions[0].arguments[1:])
            else:
                varying.update(value for inner in operation.regions for value in inner.arguments)
            for inner in operation.regions:
                visit(inner)
            again = operation.row.pure and not operation.regions and not varying.intersection(operation.operands)
            if not again:
                varying.update(operation.results)

    visit(loop.regions[0])
    return not any(varying.intersection(core.indices_of(operation)) for operation in touching)


def _noted(loop: Operation, reason: str) -> Operation:
    """A loop with why it is none over threads."""
    return replace(loop, attributes=MappingProxyType({**loop.attributes, "serial": reason}))


def _without(loop: Operation) -> dict[str, object]:
    """The attributes of a loop that are not about vectors or threads of a host."""
    return {name: value for name, value in loop.attributes.items() if name not in ("simd", "parallel", "abreast")}


def _scalar(value: Value) -> Scalar:
    assert isinstance(value.type, Scalar) and value.type != BOOL
    return value.type
