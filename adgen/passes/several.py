"""A product with one direction made one with several at once, which share everything that no direction enters.

Comes in: a function that is linear in some parameters, the tangents.  Goes out: the same with one more axis, the last
one, on each tangent parameter and on each result, a number becoming a vector.  Guaranteed: each direction gives bit for
bit what it gives alone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

from adgen.ir import core
from adgen.ir.builder import Builder
from adgen.ir.nodes import Function, Operation, Value, walk
from adgen.ir.rebuild import Mapping, clone_operation, mapped
from adgen.ir.types import Buffer, Scalar, Stack
from adgen.passes.activity import roots


def several(function: Function, tangents: Sequence[Value], width: int) -> Function | None:
    """The function for `width` directions, or None when its loops and branches depend on the direction.

    Of `%c = cos %x` and `%y_dot = mul %c, %x_dot` the first stays and the second becomes one multiplication for each
    direction; `load %x_dot, %i` becomes `load %x_dot, %i, %0`, `load %x_dot, %i, %1` and so on.
    """
    moving = moving_values(function, tangents)
    if any(decides(operation, moving) for operation in walk(function.body)):
        return None
    return _Several(function, set(tangents), moving, width).function()


class Moving:
    """The values that depend on a direction; memory by root."""

    def __init__(self, root: Mapping, values: Iterable[Value]) -> None:
        self.root = root
        self.values = set(values)

    def __contains__(self, value: Value) -> bool:
        return self.root.get(value, value) in self.values

    def mark(self, targets: Iterable[Value], sources: Iterable[Value]) -> None:
        """The targets depend on the sources."""
        if any(source in self for source in sources):
            self.values.update(self.root.get(target, target) for target in targets)


def moving_values(function: Function, tangents: Sequence[Value]) -> Moving:
    root = roots(function)
    moving = Moving(root, (*tangents, *(root[value] for value in function.results if value in root)))
    operations = list(walk(function.body))
    size = -1
    while size != (size := len(moving.values)):
        for operation in operations:
            for targets, sources in _flows(operation):
                moving.mark(targets, sources)
    return moving


def _flows(operation: Operation) -> list[tuple[tuple[Value, ...], tuple[Value, ...]]]:
    """Where what depends on a direction flows: from the second to the first."""
    row, operands, results = operation.row, operation.operands, operation.results
    if row in (core.STORE, core.ACCUMULATE, core.PUSH):
        return [(operands[:1], operands[1:2])]
    if row in core.LOOPS:
        skip = row is core.FOR
        body, exit = operation.regions[-1], bool(operation.attributes.get("exit"))
        groups = [operands[2 * skip :], results, body.results[exit:], body.arguments[skip:]]
        if row is core.WHILE:
            groups.append(operation.regions[0].arguments)
        pairs = []
        for start, result, following, *arguments in zip(*groups, strict=True):
            pairs.append(((result, *arguments), (start, result, following, *arguments)))
        return pairs
    if row is core.IF:
        return [((r,), (y,)) for region in operation.regions for r, y in zip(results, region.results, strict=True)]
    if row in (core.ALLOC, core.DIM, core.CHECK, core.RESHAPE):
        return []
    return [(results, operands)]


def decides(operation: Operation, moving: Moving) -> bool:
    """True when a direction decides what is executed or which memory is touched."""
    row, operands = operation.row, operation.operands
    if row is core.FOR:
        exits = operation.regions[0].results[: bool(operation.attributes.get("exit"))]
        deciding: Sequence[Value] = (*operands[:2], *exits)
    elif row is core.WHILE:
        deciding = operation.regions[0].results
    elif row in (core.LOAD, core.RESHAPE):
        deciding = operands[1:]
    elif row in (core.STORE, core.ACCUMULATE):
        deciding = operands[2:]
    else:
        deciding = operands if row in (core.IF, core.CHECK, core.ALLOC, core.CUSTOM) else ()
    return any(value in moving for value in deciding)


class _Several:
    def __init__(self, source: Function, tangents: set[Value], moving: Moving, width: int) -> None:
        self.source = source
        self.tangents = tangents
        self.moving = moving
        self.builder = Builder()
        self.width = width
        self.shared: Mapping = {}  # what no direction enters, and memory
        self.parts: dict[Value, tuple[Value, ...]] = {}  # a number for each direction

    def function(self) -> Function:
        source, builder = self.source, self.builder
        builder.span = source.span
        for value in source.parameters:
            self.shared[value] = parameter(value, self.tangents)
        with builder.block(mapped(source.parameters, self.shared)) as block:
            self.lanes = [builder.index(k) for k in range(self.width)]
            for value in source.parameters:
                if value in self.tangents and isinstance(value.type, Scalar):
                    buffer = self.shared[value]
                    self.parts[value] = tuple(builder.load(buffer, (lane,), value.name) for lane in self.lanes)
            self.run(source.body.operations)
            block.results = tuple(self.result(value) for value in source.results)
        return Function(source.name, block.region(), source.result_names, source.span, source.notes, source.callees)

    def result(self, value: Value) -> Value:
        if isinstance(value.type, Buffer):
            return self.shared[value]
        assert isinstance(value.type, Scalar)
        extent = self.builder.index(self.width)
        buffer = self.builder.alloc(value.type, (extent,), value.name, zero=False)
        for lane, part in zip(self.lanes, self.of(value)):
            self.builder.store(buffer, part, (lane,))
        return buffer

    def of(self, value: Value) -> tuple[Value, ...]:
        """A number in each direction."""
        return self.parts[value] if value in self.parts else (self.shared.get(value, value),) * self.width

    def each(self, values: Iterable[Value], places: Iterable[Value]) -> list[Value]:
        """What is carried to places: to one that depends on a direction a number for each of them."""
        pairs = zip(values, places, strict=True)
        return [part for value, place in pairs for part in self.of(value)[: self.count(place)]]

    def count(self, value: Value) -> int:
        """How many numbers stand for a value."""
        return self.width if value in self.moving else 1

    def run(self, operations: Iterable[Operation]) -> None:
        for operation in operations:
            self.builder.span = operation.span
            if operation.row in _RULES:
                _RULES[operation.row](self, operation)
            elif any(value in self.moving for value in operation.results):
                self.repeat(operation)
            else:
                clone_operation(self.builder, operation, self.shared)

    def repeat(self, operation: Operation) -> None:
        """Once for each direction."""
        names = [value.name for value in operation.results]
        made = []
        for operands in zip(*map(self.of, operation.operands)):
            made.append(self.builder.emit(operation.row, operands, operation.attributes, (), names))
        self.parts.update(zip(operation.results, zip(*made)))

    # -- memory --------------------------------------------------------------------------------------------------

    def make(self, operation: Operation) -> None:
        made = operation.result
        if made not in self.moving or isinstance(made.type, Stack):
            clone_operation(self.builder, operation, self.shared)
            return
        operands = (*mapped(operation.operands, self.shared), self.builder.index(self.width))
        (self.shared[made],) = self.builder.emit(operation.row, operands, operation.attributes, (), [made.name])

    def load(self, operation: Operation) -> None:
        buffer, *indices = mapped(operation.operands, self.shared)
        if operation.operands[0] not in self.moving:
            clone_operation(self.builder, operation, self.shared)
            return
        name = operation.result.name
        self.parts[operation.result] = tuple(self.builder.load(buffer, (*indices, lane), name) for lane in self.lanes)

    def write(self, operation: Operation) -> None:
        if operation.operands[0] not in self.moving:
            clone_operation(self.builder, operation, self.shared)
            return
        buffer, value, *indices = operation.operands
        place = mapped(indices, self.shared)
        for lane, part in zip(self.lanes, self.of(value)):
            self.builder.emit(operation.row, (self.shared[buffer], part, *place, lane))

    def push(self, operation: Operation) -> None:
        stack, value = operation.operands
        for part in self.of(value) if stack in self.moving else self.of(value)[:1]:
            self.builder.emit(core.PUSH, (self.shared[stack], part))

    def pop(self, operation: Operation) -> None:
        (stack,) = operation.operands
        if stack not in self.moving:
            clone_operation(self.builder, operation, self.shared)
            return
        popped = [self.builder.emit(core.POP, (self.shared[stack],))[0] for _ in self.lanes]
        self.parts[operation.result] = tuple(popped[::-1])

    # -- control -------------------------------------------------------------------------------------------------

    def carry(self, values: Sequence[Value]) -> list[Value]:
        """New values for region arguments, in the order of `each`."""
        made = [Value(value.type, value.name) for value in values for _ in range(self.count(value))]
        self.define(values, made)
        return made

    def define(self, values: Iterable[Value], made: Sequence[Value]) -> None:
        """Note what values have become, in the order of `each`."""
        first = 0
        for value in values:
            parts = tuple(made[first : first + self.count(value)])
            first += len(parts)
            if value in self.moving:
                self.parts[value] = parts
            else:
                self.shared[value] = parts[0]

    def owner(self, operation: Operation) -> None:
        row, results = operation.row, operation.results
        head = {core.FOR: 2, core.WHILE: 0, core.IF: 1}[row]
        given = [*mapped(operation.operands[:head], self.shared)]
        if row is not core.IF:
            given += self.each(operation.operands[head:], results)
        regions = []
        for region in operation.regions:
            deciding = len(region.results) - len(results) if region is operation.regions[-1] or row is core.IF else 1
            with self.builder.block(self.carry(region.arguments)) as block:
                self.run(region.operations)
                decided = mapped(region.results[:deciding], self.shared)
                block.results = (
                    *decided,
                    *self.each(region.results[deciding:], results[: len(region.results) - deciding]),
                )
            regions.append(block.region())
        attributes = dict(operation.attributes)
        if row is core.IF:
            attributes["types"] = tuple(str(value.type) for value in regions[0].results)
        names = [value.name for value in results for _ in range(self.count(value))]
        self.define(results, self.builder.emit(row, given, attributes, regions, names))


_RULES: dict[object, Callable[[_Several, Operation], None]] = {
    core.ALLOC: _Several.make,
    core.RESHAPE: _Several.make,
    core.STACK: _Several.make,
    core.LOAD: _Several.load,
    core.STORE: _Several.write,
    core.ACCUMULATE: _Several.write,
    core.PUSH: _Several.push,
    core.POP: _Several.pop,
    core.FOR: _Several.owner,
    core.WHILE: _Several.owner,
    core.IF: _Several.owner,
}


def parameter(value: Value, tangents: Collection[Value]) -> Value:
    """What a parameter becomes: a tangent has one axis more, which counts the directions."""
    kind = value.type
    if value in tangents:
        assert isinstance(kind, Scalar | Buffer)
        kind = Buffer(kind, 1) if isinstance(kind, Scalar) else Buffer(kind.element, kind.rank + 1)
    return Value(kind, value.name)
