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

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TypeVar

from adgen.ir import core
from adgen.ir.builder import Builder
from adgen.ir.hosted import Hosted
from adgen.ir.nodes import Function, Operation, Region, Value, walk
from adgen.ir.rebuild import clone_operation, rebuild
from adgen.ir.types import Buffer
from adgen.passes.activity import roots
from adgen.passes.contractions import contractions
from adgen.passes.dead_code import dead_code
from adgen.passes.folds import fold_of, folds
from adgen.passes.forms import Forms
from adgen.passes.grid_nests import Nest, NestWriter
from adgen.passes.independence import Tie
from adgen.passes.indices import Definitions, known_trips
from adgen.passes.rotations import rotations
from adgen.passes.row_steps import emit_rows
from adgen.passes.rows import rows_of
from adgen.passes.scans import emit_scan, scan_of
from adgen.passes.sharing import Sharing, arguments_of, sharing
from adgen.passes.turned import emit_turned, turned

Plan = TypeVar("Plan")

SHORT = 16  # iterations that are not worth a kernel
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
        """Loops that have kernels in them, also when one is left out that copies."""
        loops = (loop for loop in _Grids(function, deterministic).outermost() if "grid" not in loop.attributes)
        return {loop for loop in loops if sum(1 for _ in kernels_in(loop.regions[0])) > 1}

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
    left = found.left()
    return folds(found.function, left) if any(fold_of(loop) for loop in left) else found.function


def _with_scans(found: _Grids) -> Function:
    """The function with running sums in parts."""
    plans = {loop: scan_of(loop, found.root, found.forms) for loop in found.left()}
    return _written(found, plans, emit_scan)


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
    return _written(found, plans, lambda builder, plan, mapping: emit_rows(builder, plan, found.hosted.values, mapping))


def _written(
    found: _Grids, plans: Mapping[Operation, Plan | None], emit: Callable[[Builder, Plan, dict[Value, Value]], None]
) -> Function:
    """The function in which loops for which there are plans are written in another way."""

    def transform(builder: Builder, operation: Operation, mapping: dict[Value, Value]) -> bool:
        plan = plans.get(operation)
        if plan is not None:
            emit(builder, plan, mapping)
        return plan is not None

    return dead_code(rebuild(found.function, transform)) if any(plans.values()) else found.function


TURNS = (_with_turned,) * 3  # what has been exchanged may have to be once more; what is left then is atomic


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

    def left(self) -> set[Operation]:
        """The loops of the host that are no kernels, without short ones."""
        loops = (loop for loop in self.outermost() if not isinstance(self.nest(loop), Nest))
        return {loop for loop in loops if not self.is_short(loop, SHORT)}

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
                NestWriter(builder, mapping, nest).emit()
                return True
            operation = _noted(operation, nest)
        elif operation.row in core.LOOPS:
            operation = _noted(operation, "where it ends depends on what is in arrays")
        inside = self.transform if operation.regions[0] in self.decided else None
        clone_operation(builder, operation, mapping, inside)
        return True

    # -- which -----------------------------------------------------------------------------------------------------

    def is_short(self, loop: Operation, most: int) -> bool:
        """True for a loop that is known to have few iterations."""
        trips = known_trips(self.known, loop)
        return trips is not None and trips <= most

    def nest(self, loop: Operation) -> Nest | str:
        """How a loop becomes a kernel, or why it does not."""
        if loop not in self.nests:
            self.nests[loop] = self.looked_at(loop)
        return self.nests[loop]

    def looked_at(self, loop: Operation) -> Nest | str:
        """The same, found out now."""
        if "serial" in loop.attributes:
            return str(loop.attributes["serial"])
        if self.is_short(loop, SHORT):
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
        if self.is_short(inner, NARROW):
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


def kernels_in(region: Region) -> Iterator[Operation]:
    """The loops that are kernels, those inside of them left out."""
    for operation in region.operations:
        if "grid" in operation.attributes:
            yield operation
        else:
            for inner in operation.regions:
                yield from kernels_in(inner)


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
