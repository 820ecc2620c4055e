"""Products of matrices that are written as loops become one operation.

Comes in: an optimised function, as the last thing before emission.  Goes out: the same function, in which sums of
products over nests of three loops are `contract` operations before the rest of their nest.  Guaranteed: the same up to
the order in which sums are taken.

Three loops around an addition to an element, or two around a sum, do the work of a product of matrices wherever what is
added is a product of two elements whose indices are the counters of the loops, two each.  It does not matter who wrote
them: `a @ b`, a program's own loops, or the reverse sweep of either.  The additions of one nest are taken apart because
nothing in it reads what they change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from adgen import ops
from adgen.ir import core
from adgen.ir.builder import Builder
from adgen.ir.contraction import Contraction, Operand
from adgen.ir.nodes import Function, Operation, Region, Value, walk
from adgen.ir.types import is_float
from adgen.passes.activity import roots
from adgen.passes.fold import fold
from adgen.passes.surgery import prune, substitute

HARMLESS = (core.LOAD, core.STORE, core.ACCUMULATE, core.FOR, core.IF, core.ALLOC)
FEWEST = 8  # a loop that is known to run less often is not worth it


def contractions(function: Function, wanted: Callable[[Operation], bool] | None = None) -> Function:
    """Take products of matrices out of nests of loops, of those that are `wanted`.

    Before:  function f(%a: f64[:,:], %b: f64[:,:], %c: f64[:,:]) -> () {
               %zero = const {type="i64", value=0} : i64
               %n = dim %a {axis=0} : i64
               %m = dim %a {axis=1} : i64
               %k = dim %b {axis=1} : i64
               for %zero, %n {exit=false, step=1} (%i: i64) {
                 for %zero, %m {exit=false, step=1, unordered=true} (%l: i64) {
                   %x = load %a, %i, %l : f64
                   for %zero, %k {exit=false, step=1} (%j: i64) {
                     %y = load %b, %l, %j : f64
                     %z = mul %x, %y : f64
                     accumulate %c, %z, %i, %j
                     yield
                   }
                   yield
                 }
                 yield
               }
               return
             }
    After:   function f(%a: f64[:,:], %b: f64[:,:], %c: f64[:,:]) -> () {
               %zero = const {type="i64", value=0} : i64
               %n = dim %a {axis=0} : i64
               %m = dim %a {axis=1} : i64
               %k = dim %b {axis=1} : i64
               %0 = const {type="f64", value=1.0} : f64
               contract %c, %a, %b, %0, %n, %k, %m, %zero, %zero, %zero, %zero, %zero, %zero {axes=[0, 1, 0, 1, 0, 1]}
               return
             }
    """
    root = roots(function)
    known = {o.result: o.attributes["value"] for o in walk(function.body) if o.row is core.CONST}
    body = _region(function.body, root, known, wanted or (lambda loop: True))
    return function if body is function.body else fold(replace(function, body=body))


def _region(
    region: Region, root: dict[Value, Value], known: dict[Value, object], wanted: Callable[[Operation], bool]
) -> Region:
    operations: list[Operation] = []
    for operation in region.operations:
        eligible = operation.row is core.FOR and wanted(operation)
        taken = _taken_apart(operation, root, known) if eligible else None
        if taken is None and operation.regions:
            inner = tuple(_region(each, root, known, wanted) for each in operation.regions)
            if any(new is not old for new, old in zip(inner, operation.regions, strict=True)):
                operation = replace(operation, regions=inner)
        operations.extend([operation] if taken is None else taken)
    if len(operations) == len(region.operations) and all(a is b for a, b in zip(operations, region.operations)):
        return region
    return replace(region, operations=tuple(operations))


# -- one nest ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Count:
    """The counter of a loop, and the numbers that it takes: `size` from `first` on."""

    index: Value
    first: Value
    size: Value
    unordered: bool


@dataclass(frozen=True)
class Product:
    """The product of two values that the nest makes and of numbers that it does not change; `sign` is 1 or -1."""

    sign: int
    factors: tuple[Value, ...]
    numbers: tuple[Value, ...]


@dataclass(frozen=True)
class Side:
    """What two counters count along, the one along the earlier axis first: an operand, or numbers that are `held`."""

    counts: tuple[Count, Count]
    operand: Operand | None = None
    held: Value | None = None


class Body:
    """What is inside of a loop: what makes and reads each value, what touches each memory."""

    def __init__(self, outer: Operation, root: dict[Value, Value], known: dict[Value, object]) -> None:
        self.root, self.known = root, known
        self.made: dict[Value, Operation] = {}
        self.accesses: dict[Value, list[Operation]] = {}
        self.users: dict[Value, list[Operation]] = {}
        self.inside: set[Value] = set(outer.regions[0].arguments)
        self.harmless = True
        for operation in walk(outer.regions[0]):
            self.harmless &= operation.row.pure or operation.row in HARMLESS
            self.made.update((value, operation) for value in operation.results)
            self.inside.update(operation.results, *(region.arguments for region in operation.regions))
            for value in set(operation.operands):
                self.users.setdefault(value, []).append(operation)
            if operation.row in (core.LOAD, core.STORE, core.ACCUMULATE):
                self.accesses.setdefault(self.owner(operation), []).append(operation)

    def owner(self, access: Operation) -> Value:
        """The memory that an operation reads or writes."""
        return self.root.get(access.operands[0], access.operands[0])


class Nest:
    """Three loops, each in the one before, and the products of matrices in them."""

    def __init__(self, loops: tuple[Operation, Operation, Operation], body: Body) -> None:
        self.loops, self.body = loops, body
        self.held = {value for o in loops[1].regions[0].operations for value in o.results if is_float(value.type)}
        self.before, self.behind = Builder(), Builder()
        self.before.span = self.behind.span = loops[0].span
        self.counts: list[Count] = []
        self.changes = Changes()

    def take_apart(self) -> tuple[list[Operation], list[Operation]]:
        """The products that come before the nest and those behind it; `changes` says what becomes of the nest."""
        with self.before.block() as before, self.behind.block() as behind:
            counts = [self.count(loop) for loop in self.loops]
            self.counts = [count for count in counts if count is not None]
            if len(self.counts) == 3:
                self.find()
        return before.operations, behind.operations

    def find(self) -> None:
        """Note all products."""
        inner = self.loops[2].regions[0]
        for operation in inner.operations:
            if self.only_added_to(operation) and is_float(operation.operands[1].type):
                self.added(operation, self.product(operation.operands[1]))
        sums = zip(self.loops[2].operands[2:], inner.arguments[1:], inner.results, self.loops[2].results)
        for start, total, last, final in sums:
            product = self.summed(total, last) if self.body.known.get(start) == 0.0 else None
            users = self.body.users.get(final, [])
            near = len(users) == 1 and users[0] in self.loops[1].regions[0].operations
            if product and not (near and self.only_added_to(users[0]) and self.added(users[0], product)):
                self.kept(final, product)

    # -- what is added ---------------------------------------------------------------------------------------------

    def product(self, value: Value) -> Product | None:
        """A value as a product of two factors, if it is one."""
        found = self.factors(value)
        return found if len(found.factors) == 2 and not set(found.factors) & self.loose(found) else None

    def loose(self, product: Product) -> set[Value]:
        """Factors that are neither elements nor made outside of the innermost loop."""
        return {v for v in product.factors if v not in self.held and not self.loaded(v)}

    def loaded(self, value: Value) -> bool:
        """The value is an element of memory."""
        return value in self.body.made and self.body.made[value].row is core.LOAD

    def factors(self, value: Value) -> Product:
        """A value as a product; a factor that the second loop makes of several is one."""
        operation = self.body.made.get(value)
        if operation is None or operation.row not in (ops.MUL, ops.NEG):
            outside = value not in self.body.inside
            return Product(1, () if outside else (value,), (value,) if outside else ())
        parts = [self.factors(operand) for operand in operation.operands]
        sign = parts[0].sign * (parts[1].sign if len(parts) == 2 else -1)
        factors = tuple(factor for part in parts for factor in part.factors)
        if value in self.held and len(factors) > 1:
            return Product(1, (value,), ())
        return Product(sign, factors, tuple(number for part in parts for number in part.numbers))

    def summed(self, total: Value, final: Value) -> Product | None:
        """The product that a loop adds to a sum, if that is all that happens to the sum."""
        step = self.body.made.get(final)
        if step is None or step.row not in (ops.ADD, ops.SUB) or self.body.users[total] != [step]:
            return None
        first, second = step.operands
        if step.row is ops.ADD and second is total:
            first, second = second, first
        product = self.product(second) if first is total else None
        return product and (product if step.row is ops.ADD else replace(product, sign=-product.sign))

    def only_added_to(self, addition: Operation) -> bool:
        """An operation adds to memory that nothing in the nest reads or overwrites."""
        if addition.row is not core.ACCUMULATE:
            return False
        accesses = self.body.accesses[self.body.owner(addition)]
        return all(access.row is core.ACCUMULATE for access in accesses)

    # -- where it is -----------------------------------------------------------------------------------------------

    def count(self, loop: Operation) -> Count | None:
        """The counter of a loop whose bounds the nest does not change, and which runs to its end."""
        start, stop = loop.operands[:2]
        step = loop.attributes["step"]
        if loop.attributes.get("exit") or abs(step) != 1 or {start, stop} & self.body.inside:
            return None
        sizes = [self.body.known.get(value) for value in (start, stop)]
        if None not in sizes and abs(int(sizes[1]) - int(sizes[0])) < FEWEST:  # type: ignore[call-overload]
            return None
        b = self.before
        index, unordered = loop.regions[0].arguments[0], bool(loop.attributes.get("unordered"))
        if step == 1:
            size = stop if self.body.known.get(start) == 0 else b.op(ops.SUB, stop, start)
            return Count(index, b.index(0) if self.body.known.get(start) == 0 else start, size, unordered)
        if self.body.known.get(stop) == -1:
            return Count(index, b.index(0), b.op(ops.ADD, start, b.index(1)), unordered)
        return Count(index, b.op(ops.ADD, stop, b.index(1)), b.op(ops.SUB, start, stop), unordered)

    def place(self, handle: Value, indices: Sequence[Value]) -> Side | None:
        """What two of the counters count along in a buffer; None when it is something else."""
        if handle in self.body.inside:
            return None
        found: list[tuple[Count, int]] = []
        first = []
        for axis, index in enumerate(indices):
            split = self.split(index)
            if split is None:
                return None
            first.append(split[1])
            found += [(split[0], axis)] if split[0] is not None else []
        if len(found) != 2 or found[0][0] is found[1][0] or found[1][1] != len(indices) - 1:
            return None
        (one, row), (other, column) = found
        return Side((one, other), Operand(handle, tuple(first), row, column))

    def split(self, index: Value) -> tuple[Count | None, Value] | None:
        """The counter that an index follows, and its value when that begins."""
        if index not in self.body.inside:
            return None, index
        for count in self.counts:
            if index is count.index:
                return count, count.first
        operation = self.body.made.get(index)
        if operation is None or operation.row not in (ops.ADD, ops.SUB):
            return None
        a, b = operation.operands
        if operation.row is ops.ADD and a not in self.body.inside:
            a, b = b, a
        found = self.split(a) if b not in self.body.inside else None
        return None if found is None else (found[0], self.before.op(operation.row, found[1], b))

    def side(self, factor: Value) -> Side | None:
        """Where a factor is: in memory that the nest does not write, or held by the second loop."""
        operation = self.body.made[factor]
        if operation.row is core.LOAD:
            accesses = self.body.accesses[self.body.owner(operation)]
            found = self.place(operation.operands[0], operation.operands[1:])
            if found is not None and all(access.row is core.LOAD for access in accesses):
                return found
        return Side((self.counts[0], self.counts[1]), held=factor) if factor in self.held else None

    # -- the operations --------------------------------------------------------------------------------------------

    def added(self, addition: Operation, product: Product | None) -> bool:
        """A product is added to elements once all is known that it is made of; False when it is none of matrices."""
        target, _, *indices = addition.operands
        into = self.place(target, indices)
        sides = self.sides(into.counts, product) if into and product else None
        if into is None or product is None or sides is None or into.operand is None:
            return False
        self.contract(self.behind, into.counts, into.operand, sides, product)
        self.changes.gone.add(addition)
        return True

    def kept(self, final: Value, product: Product) -> None:
        """Sums that the nest goes on computing with are taken before it, into memory of their own."""
        rows, columns, _ = self.counts
        sides = self.sides((rows, columns), product)
        if sides is None or any(side.held for side in sides):
            return
        target = self.memory(final)
        self.contract(self.before, (rows, columns), target, sides, product)
        inside = Builder()
        with inside.block() as block:
            self.changes.instead[final] = inside.load(target.buffer, self.numbers(inside), final.name)
        self.changes.after[self.loops[2]] = [*block.operations, *self.changes.after.get(self.loops[2], [])]

    def sides(self, target: tuple[Count, Count], product: Product) -> tuple[Side, Side] | None:
        """The factors as the left one, along the rows of the target, and the right one; None when they are not."""
        row, column = target
        found = [self.side(factor) for factor in product.factors]
        if found[1] is not None and row in found[1].counts:
            found.reverse()
        left, right = found
        if left is None or right is None:
            return None
        shared = [count for count in left.counts if count in right.counts]
        fits = len(shared) == 1 and shared[0] not in target and row in left.counts and column in right.counts
        return (left, right) if fits and shared[0].unordered else None

    def contract(
        self, builder: Builder, along: tuple[Count, Count], target: Operand, sides: tuple[Side, Side], product: Product
    ) -> None:
        """Emit the operation."""
        row, column = along
        left, right = (side.operand or self.written(side) for side in sides)
        (depth,) = (count for count in sides[0].counts if count is not row)
        if sides[0].counts[0] is not row:
            left = replace(left, rows=left.columns, columns=left.rows)
        if sides[1].counts[1] is not column:
            right = replace(right, rows=right.columns, columns=right.rows)
        factor = builder.const(float(product.sign), target.buffer.type.element)  # type: ignore[union-attr]
        for number in product.numbers:
            factor = builder.op(ops.MUL, factor, number)
        made = Contraction(target, left, right, factor, row.size, column.size, depth.size)
        builder.emit(core.CONTRACT, made.operands, {"axes": made.axes})

    def written(self, side: Side) -> Operand:
        """Numbers that the second loop makes, in memory."""
        assert side.held is not None
        if side.held not in self.changes.written:
            operand = self.changes.written[side.held] = self.memory(side.held)
            inside = Builder()
            with inside.block() as block:
                inside.store(operand.buffer, side.held, self.numbers(inside))
            self.changes.after.setdefault(self.body.made[side.held], []).extend(block.operations)
        return self.changes.written[side.held]

    def memory(self, value: Value) -> Operand:
        """Memory for a number of each round of the two outer loops."""
        b, zero = self.before, self.before.index(0)
        sizes = [count.size for count in self.counts[:2]]
        return Operand(b.alloc(value.type, sizes, value.name or "products"), (zero, zero), 0, 1)  # type: ignore[arg-type]

    def numbers(self, builder: Builder) -> list[Value]:
        """Which round of each of the two outer loops it is."""
        return [builder.op(ops.SUB, count.index, count.first) for count in self.counts[:2]]


@dataclass
class Changes:
    """What becomes of a nest."""

    gone: set[Operation] = field(default_factory=set)
    instead: dict[Value, Value] = field(default_factory=dict)  # sums that are read from memory
    written: dict[Value, Operand] = field(default_factory=dict)  # numbers that are written to memory
    after: dict[Operation, list[Operation]] = field(default_factory=dict)  # what reads and writes them

    def applied(self, operations: Iterable[Operation]) -> list[Operation]:
        """The operations after the change."""
        return substitute(self._kept(operations), self.instead)

    def _kept(self, operations: Iterable[Operation]) -> list[Operation]:
        kept = []
        for operation in operations:
            if operation in self.gone:
                continue
            following = self.after.get(operation, [])
            if operation.regions:
                regions = tuple(replace(r, operations=tuple(self._kept(r.operations))) for r in operation.regions)
                operation = replace(operation, regions=regions)
            kept += [operation, *following]
        return kept


def _taken_apart(outer: Operation, root: dict[Value, Value], known: dict[Value, object]) -> list[Operation] | None:
    """The operations that take the place of a loop; None when there is no product of matrices in it."""
    triples = list(_triples(outer))
    body = Body(outer, root, known) if triples else None
    if body is None or not body.harmless:
        return None
    for loops in triples:
        nest = Nest(loops, body)
        before, behind = nest.take_apart()
        if nest.changes.gone or nest.changes.instead:
            rest = prune(nest.changes.applied([outer]), set())
            again = [_taken_apart(each, root, known) or [each] for each in rest]
            return [*before, *(operation for each in again for operation in each), *behind]
    return None


def _triples(outer: Operation) -> Iterator[tuple[Operation, Operation, Operation]]:
    if len(outer.operands) == 2:
        for middle in outer.regions[0].operations:
            if middle.row is core.FOR and len(middle.operands) == 2:
                yield from ((outer, middle, o) for o in middle.regions[0].operations if o.row is core.FOR)


__all__ = ["contractions"]
