"""Store-to-load forwarding, load sharing and dead stores.

Comes in: a function.  Goes out: the function in which a load of an element whose value is known is that value, a store
of what is there already is gone, and so is a store that another one overwrites before anything can read it.
Guaranteed: bit-identical results, but for the sign of a zero that is all that an `unordered` loop adds to an element;
linear in the size of the function.

What is known flows down straight lines and into the regions of an `if`, and into loops as far as they do not write
to the memory in question.  Memory that is zero everywhere before a loop whose iterations keep to elements of their own
is zero where each of them begins.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace

from adgen import ops
from adgen.ir import core
from adgen.ir.builder import Builder
from adgen.ir.nodes import Function, Operation, Region, Value, walk
from adgen.ir.rebuild import Mapping, clone, clone_operation, mapped, record
from adgen.ir.types import Buffer
from adgen.passes.contents import Contents
from adgen.passes.independence import are_own
from adgen.passes.indices import Indices, Place
from adgen.passes.memory import Memory


def forward_stores(function: Function) -> Function:
    """Use the stored value instead of loading it.

    Before:  function f(%A: f64[:], %x: f64, %i: i64) -> (out) {
               %a = load %A, %i : f64
               %b = load %A, %i : f64
               %c = mul %a, %b : f64
               store %A, %c, %i
               accumulate %A, %x, %i
               %d = load %A, %i : f64
               return %d
             }
    After:   function f(%A: f64[:], %x: f64, %i: i64) -> (out) {
               %a = load %A, %i : f64
               %c = mul %a, %a : f64
               %d = add %c, %x : f64
               store %A, %d, %i
               return %d
             }
    """
    memory = Memory(function)
    if not memory.has_memory:
        return function
    builder = Builder()
    builder.span = function.span
    body = _Forwarder(builder, memory).region(function.body, {})
    return replace(function, body=body)


Pending = dict[Value, dict[Hashable, dict[tuple[int, ...], Operation]]]


class _Forwarder:
    """Copies a function while it knows the contents of memory.

    `pending` holds the stores of the open region that nothing has read yet, `dead` those overwritten since.
    """

    def __init__(self, builder: Builder, memory: Memory) -> None:
        self.builder = builder
        self.memory = memory
        self.contents = Contents()
        self.indices = Indices(builder)
        self.pending: Pending = {}
        self.dead: set[int] = set()
        self.unordered = False  # the loop around adds up without an order: `0.0 + x` is as good as `x`

    def region(self, region: Region, mapping: Mapping, fresh: Iterable[Value] = ()) -> Region:
        """A copy of a region in a scope of its own; `fresh` memory is zero wherever the region looks first."""
        arguments = tuple(Value(value.type, value.name) for value in region.arguments)
        mapping.update(zip(region.arguments, arguments))
        outer, self.pending, self.dead = (self.pending, self.dead), {}, set()
        self.contents.open()
        for root in fresh:
            self.contents.fill(root)
        with self.builder.block(arguments) as block:
            clone(self.builder, region.operations, mapping, self)
            block.results = mapped(region.results, mapping)
            if self.dead:
                block.operations = [operation for operation in block.operations if id(operation) not in self.dead]
        self.contents.close()
        self.pending, self.dead = outer
        return block.region()

    def __call__(self, builder: Builder, operation: Operation, mapping: Mapping) -> bool:
        row = operation.row
        if row is core.LOAD:
            self._load(operation, mapping)
        elif row is core.STORE:
            self._store(operation, mapping)
        elif row is core.ACCUMULATE:
            self._accumulate(operation, mapping)
        elif row is core.ALLOC:
            clone_operation(builder, operation, mapping)
            if operation.attributes.get("zero", True):
                self.contents.fill(operation.result)
        elif operation.regions:
            self._owner(operation, mapping)
        else:
            return False
        return True

    def _place(self, operation: Operation, mapping: Mapping, skip: int) -> Place:
        handle, *indices = mapped((operation.operands[0], *operation.operands[skip:]), mapping)
        return self.indices.place(self.memory.root[operation.operands[0]], handle, indices)

    def _known(self, place: Place, kind: object) -> Value | None:
        value = self.contents.value(place)
        if value is None and self.contents.is_zero(place):
            assert isinstance(kind, Buffer)
            return self.builder.const(0, kind.element)
        return value

    def _load(self, operation: Operation, mapping: Mapping) -> None:
        place = self._place(operation, mapping, 1)
        value = self._known(place, operation.operands[0].type)
        if value is None:
            value = self._element_of_table(operation, mapping)
        if value is not None:
            record(self.builder, operation, (value,), mapping)
            return
        self._reads(place)
        clone_operation(self.builder, operation, mapping)
        self.contents.learn(place, mapping[operation.result])

    def _element_of_table(self, operation: Operation, mapping: Mapping) -> Value | None:
        buffer, *indices = mapped(operation.operands, mapping)
        maker = self.builder.definitions.get(buffer)
        numbers = [self.builder.known(value) for value in indices]
        if maker is None or maker.row is not core.TABLE or any(number is None for number in numbers):
            return None
        return self.builder.const(maker.attributes["data"][tuple(numbers)].item(), operation.result.type)

    def _store(self, operation: Operation, mapping: Mapping) -> None:
        place = self._place(operation, mapping, 2)
        value = mapping.get(operation.operands[1], operation.operands[1])
        known = self._known(place, operation.operands[0].type)
        if known is not None and self._same(known, value):
            return
        self._overwrite(place)
        clone_operation(self.builder, operation, mapping)
        self._written(place, value)

    def _accumulate(self, operation: Operation, mapping: Mapping) -> None:
        place = self._place(operation, mapping, 2)
        known = self._known(place, operation.operands[0].type)
        if known is None:
            self._reads(place)
            clone_operation(self.builder, operation, mapping)
            self.contents.write(place, None)
            return
        handle, value, *indices = mapped(operation.operands, mapping)
        first = self.unordered and self.contents.value(place) is None
        total = value if first else self.builder.op(ops.ADD, known, value)
        self._overwrite(place)
        self.builder.store(handle, total, indices)
        self._written(place, total)

    def _same(self, first: Value, second: Value) -> bool:
        number = self.builder.known(first)
        return first is second or (number is not None and repr(number) == repr(self.builder.known(second)))

    def _overwrite(self, place: Place) -> None:
        """A store that nobody has read since is dead."""
        earlier = self.pending.get(place.root, {}).get(place.group, {}).pop(place.offsets, None)
        if earlier is not None:
            self.dead.add(id(earlier))

    def _written(self, place: Place, value: Value) -> None:
        self.contents.write(place, value)
        store = self.builder.blocks[-1].operations[-1]
        self.pending.setdefault(place.root, {}).setdefault(place.group, {})[place.offsets] = store

    def _reads(self, place: Place) -> None:
        """An element is read: pending stores that may have written it are needed."""
        groups = self.pending.get(place.root)
        if groups:
            mine = groups.get(place.group, {})
            mine.pop(place.offsets, None)
            self.pending[place.root] = {place.group: mine}

    def _owner(self, operation: Operation, mapping: Mapping) -> None:
        for root in self.memory.read(operation):
            self.pending.pop(root, None)
        written = self.memory.written(operation)
        fresh = self._fresh(operation) if operation.row is core.FOR else ()
        if operation.row in core.LOOPS:
            for root in written:
                self.contents.forget(root)
        unordered = self.unordered
        if operation.row in core.LOOPS:
            self.unordered = bool(operation.attributes.get("unordered"))
        regions = tuple(self.region(region, mapping, fresh) for region in operation.regions)
        self.unordered = unordered
        for root in written:
            self.contents.forget(root)
        names = [value.name for value in operation.results]
        operands = mapped(operation.operands, mapping)
        results = self.builder.emit(operation.row, operands, operation.attributes, regions, names, self.builder.span)
        record(self.builder, operation, results, mapping)

    def _fresh(self, loop: Operation) -> Sequence[Value]:
        """Memory that is zero before a loop and of which each iteration has elements of its own."""
        candidates = [root for root in self.memory.written(loop) if self.contents.is_fresh(root)]
        if not candidates:
            return ()
        touching: dict[Value, list[Operation]] = {root: [] for root in candidates}
        for operation in walk(loop.regions[0]):
            for value in operation.operands:
                root = self.memory.root.get(value)
                if root in touching:
                    touching[root].append(operation)
        index = loop.regions[0].arguments[0]
        return [
            root
            for root, operations in touching.items()
            if all(operation.row in core.ACCESSES for operation in operations) and are_own(operations, index)
        ]
