"""Loops that only iterate where a tangent is other than zero.

Comes in: a function that is linear in some tangents, and one of them, a vector that is zero outside a window: the
elements from `begin` to `end`.  Goes out: the function with `begin` and `end` as two more parameters, in which
loops leave out the iterations that would add zeros, and the windows of its results.  Guaranteed: each result
is what it was, but for the zeros that are made of an infinity or not-a-number; outside its window it is zero.

An iteration is left out when all that it reads of tangents is zero for its index: elements at `i + c` of vectors, or
of arrays along their first axis, that have windows.  What it stores into memory that was zero then has a window too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from adgen import ops
from adgen.ir import core
from adgen.ir.builder import Builder
from adgen.ir.nodes import Function, Operation, Region, Value, walk
from adgen.ir.rebuild import Mapping, clone, clone_operation, mapped
from adgen.ir.types import I64, Buffer, Stack, is_float
from adgen.passes.indices import Definitions, Indices
from adgen.passes.memory import Memory
from adgen.passes.several import Moving, moving_values

WRITES = {core.STORE: 2, core.ACCUMULATE: 2}  # where the indices start


class Window(NamedTuple):
    """The indices from `begin + low` to `end + high`."""

    low: int
    high: int

    def moved(self, by: int) -> Window:
        """The window of what is further along."""
        return Window(self.low + by, self.high + by)


Spread = Window | None  # None: everywhere
NOWHERE = Window(1 << 30, -(1 << 30))


def _union(spreads: Iterable[Spread]) -> Spread:
    found = NOWHERE
    for spread in spreads:
        if spread is None:
            return None
        found = Window(min(found.low, spread.low), max(found.high, spread.high))
    return found


class Windowed(NamedTuple):
    """The function with `begin` and `end` as its last parameters, and the windows of its results."""

    function: Function
    results: tuple[Spread, ...]


def windowed(function: Function, tangents: Sequence[Value], seed: Value) -> Windowed | None:
    """Leave iterations out; None where that is not possible anywhere.

    With the window of `%x_dot`, of `for %0, %n` with `load %x_dot, %i` in it there remain the iterations from
    `max(%0, %begin)` to `min(%n, %end)`.
    """
    search = _Search(function, tangents, seed)
    search.top(function.body)
    if not search.loops:
        return None
    begin, end = Value(I64, "begin"), Value(I64, "end")

    def narrowed(builder: Builder, operation: Operation, mapping: Mapping) -> bool:
        window = search.loops.get(id(operation))
        if window is None:
            return False
        start, stop = mapped(operation.operands[:2], mapping)
        first = builder.op(ops.ADD, begin, builder.index(window.low))
        last = builder.op(ops.ADD, end, builder.index(window.high))
        if operation.attributes["step"] > 0:
            start, stop = builder.op(ops.MAXIMUM, start, first), builder.op(ops.MINIMUM, stop, last)
        else:
            one = builder.index(1)
            start = builder.op(ops.MINIMUM, start, builder.op(ops.SUB, last, one))
            stop = builder.op(ops.MAXIMUM, stop, builder.op(ops.SUB, first, one))
        bounds = Value(I64, "start"), Value(I64, "stop")
        inner = mapping | dict(zip(bounds, (start, stop)))
        clone_operation(builder, replace(operation, operands=(*bounds, *operation.operands[2:])), inner)
        mapping.update((value, inner[value]) for value in operation.results)
        return True

    builder = Builder()
    builder.span = function.span
    mapping: Mapping = {value: Value(value.type, value.name) for value in function.parameters}
    with builder.block((*mapping.values(), begin, end)) as block:
        clone(builder, function.body.operations, mapping, narrowed)
        block.results = mapped(function.results, mapping)
    made = replace(function, body=block.region())
    return Windowed(made, tuple(search.of_result(value) for value in function.results))


class _Search:
    """Where each tangent of memory can be other than zero, and which loops can be narrowed, by identity."""

    def __init__(self, function: Function, tangents: Sequence[Value], seed: Value) -> None:
        self.moving = moving_values(function, tangents)
        self.memory = Memory(function)
        definitions = Definitions(function)
        self.indices = Indices(definitions)
        self.made = definitions.definitions
        self.buffers: dict[Value, Spread] = {seed: Window(0, 0)}
        self.fresh: set[Value] = set()  # zero everywhere
        self.loops: dict[int, Window] = {}

    def of_result(self, value: Value) -> Spread:
        """The window of a result."""
        if not isinstance(value.type, Buffer):
            return None
        return NOWHERE if value in self.fresh else self.buffers.get(value)

    def top(self, region: Region) -> None:
        """The operations of the top level, in order."""
        for operation in region.operations:
            row = operation.row
            if row is core.ALLOC and operation.result in self.moving:
                if operation.attributes["zero"]:
                    self.fresh.add(operation.result)
            elif row is core.FOR and self._narrowed(operation):
                continue
            else:
                for root in self._written(operation):
                    self.buffers.pop(root, None)
                    self.fresh.discard(root)
                for inner in operation.regions:
                    self._within(inner)

    def _within(self, region: Region) -> None:
        """Loops inside of one that is not narrowed; what has a window there is not written by any of them."""
        for operation in region.operations:
            if operation.row is not core.FOR or not self._narrowed(operation):
                for inner in operation.regions:
                    self._within(inner)

    def _written(self, operation: Operation) -> set[Value]:
        if operation.row in WRITES:
            return {self.memory.root[operation.operands[0]]}
        return set(self.memory.written(operation))

    def _narrowed(self, loop: Operation) -> bool:
        """Note the window of a loop and of what it writes; False where it has none."""
        if loop.attributes["exit"] or abs(loop.attributes["step"]) != 1:
            return False
        body = _Body(self, loop)
        window = body.window()
        if window is None or window == NOWHERE:
            return False
        self.loops[id(loop)] = window
        for root, spread in body.spreads().items():
            if root not in self.fresh and root not in self.buffers:
                continue
            before = NOWHERE if root in self.fresh else self.buffers.get(root)
            self.fresh.discard(root)
            self.buffers[root] = _union((before, spread))
        return True


class _Body:
    """The body of an outermost loop: for which indices each tangent in it can be other than zero."""

    def __init__(self, search: _Search, loop: Operation) -> None:
        self.search = search
        self.moving: Moving = search.moving
        self.root = search.memory.root
        (self.region,) = loop.regions
        self.loop = loop
        self.index = self.region.arguments[0]
        self.inside = list(walk(self.region))
        self.private = {operation.result for operation in self.inside if operation.row is core.ALLOC}
        self.spread: dict[Value, Spread] = dict.fromkeys(self.region.arguments[1:])
        self.defined = {value for operation in self.inside for value in operation.results}
        self.defined.update(v for o in self.inside for region in o.regions for v in region.arguments)
        self.defined.update(self.region.arguments)
        size: object = None
        while size != (size := dict(self.spread)):
            for operation in self.inside:
                self._visit(operation)

    def window(self) -> Spread:
        """The iterations that do anything; None where these are all, or the loop does something else as well."""
        found = [self._of(value) for value in self._summands()]
        for operation in self.inside:
            if operation.row in (core.PUSH, core.POP, core.CALL, core.CHECK, core.CUSTOM, core.EXTERNAL, core.WHILE):
                return None
            if operation.row not in WRITES or (root := self.root[operation.operands[0]]) in self.private:
                continue
            if root not in self.moving or (operation.row is core.STORE and self._place(operation, root) is None):
                return None
            found.append(self._of(operation.operands[1]))
        sums = self._sums()
        return _union(found) if sums else None

    def spreads(self) -> dict[Value, Spread]:
        """Where the memory that the loop writes can be other than zero because of it."""
        found: dict[Value, Spread] = {}
        for operation in self.inside:
            if operation.row in WRITES and (root := self.root[operation.operands[0]]) not in self.private:
                shift, spread = self._shift(operation), self._of(operation.operands[1])
                own = None if shift is None or spread is None else spread.moved(shift)
                own = NOWHERE if spread == NOWHERE else own
                found[root] = _union((found.get(root, NOWHERE), own))
        return found

    def _place(self, store: Operation, root: Value) -> int | None:
        """How far from the index all writes into memory that was zero are; None where they are elsewhere."""
        writes = [o for o in self.inside if o.row in WRITES and self.root[o.operands[0]] is root]
        shifts = {self._shift(operation) for operation in writes}
        return shifts.pop() if root in self.search.fresh and len(shifts) == 1 else None

    def _shift(self, access: Operation) -> int | None:
        """The `c` of an access at `i + c` along the first axis of memory with its own extents."""
        buffer, *rest = access.operands
        indices = rest[1:] if access.row in WRITES else rest
        if not indices or self.root[buffer] is not buffer:
            return None
        base, constant = self.search.indices.split(indices[0])
        return constant if base is self.index else None

    def _of(self, value: Value) -> Spread:
        if value not in self.moving:
            return NOWHERE if self._is_zero(value) else None
        return self.spread.get(value, NOWHERE) if value in self.defined else None

    def _is_zero(self, value: Value) -> bool:
        operation = self.search.made.get(value)
        return operation is not None and operation.row is core.CONST and operation.attributes["value"] == 0

    def _visit(self, operation: Operation) -> None:
        row, operands, results = operation.row, operation.operands, operation.results
        if row is core.LOAD and operands[0] in self.moving:
            self.spread[operation.result] = self._loaded(operation)
        elif row in WRITES and (root := self.root[operands[0]]) in self.private:
            self._join(root, self._of(operands[1]))
        elif row is core.FOR:
            region, exit = operation.regions[0], bool(operation.attributes["exit"])
            yielded = region.results[exit:]
            for start, argument, end, result in zip(operands[2:], region.arguments[1:], yielded, results, strict=True):
                if result in self.moving:
                    self._join(argument, _union((self._of(start), self._of(end))))
                    self._join(result, self.spread[argument])
        elif row is core.IF:
            for result, *ends in zip(results, *(region.results for region in operation.regions), strict=True):
                if result in self.moving:
                    self._join(result, _union(map(self._of, ends)))
        elif row.pure and results and results[0] in self.moving:
            # a factor may be anything, a summand must be zero
            factors = row in (ops.MUL, ops.DIV)
            terms = [v for v in operands if v in self.moving or (is_float(v.type) and not factors)]
            self.spread[results[0]] = _union(map(self._of, terms))
        elif any(value in self.moving for value in results) and not isinstance(results[0].type, Buffer | Stack):
            self.spread.update((value, None) for value in results)

    def _join(self, value: Value, spread: Spread) -> None:
        self.spread[value] = _union((self.spread.get(value, NOWHERE), spread))

    def _loaded(self, load: Operation) -> Spread:
        root = self.root[load.operands[0]]
        if root in self.private:
            return self.spread.get(root, NOWHERE)
        writes = [o for o in self.inside if o.row in WRITES and self.root[o.operands[0]] is root]
        shift = self._shift(load)
        known = NOWHERE if root in self.search.fresh and not writes else self.search.buffers.get(root)
        if known == NOWHERE:
            return NOWHERE
        if known is None or shift is None or writes:
            return None
        return known.moved(-shift)

    def _summands(self) -> list[Value]:
        """What is added to the carried values of the loop."""
        running = set(self.region.arguments[1:])
        found = []
        for operation in self.region.operations:
            mine = [value for value in operation.operands if value in running]
            if mine and operation.row in (ops.ADD, ops.SUB):
                running.add(operation.result)
                found += [value for value in operation.operands if value not in running]
        return found

    def _sums(self) -> bool:
        """True when all that happens to carried values is that something is added to them."""
        running: set[Value] = set(self.region.arguments[1:])
        allowed = {id(self.region)}
        for operation in self.region.operations:
            mine = [k for k, value in enumerate(operation.operands) if value in running]
            if mine == [0] or (mine == [1] and operation.row is ops.ADD):
                if operation.row not in (ops.ADD, ops.SUB):
                    continue
                running.add(operation.result)
                allowed.add(id(operation))
        carried = self.loop.results
        if not all(value in self.moving and end in running for value, end in zip(carried, self.region.results)):
            return False
        return not any(value in running and id(o) not in allowed for o in self.inside for value in o.operands)
