"""From a tangent program to the program that finds its sparsity pattern.

Comes in: a function that is linear in some of its parameters, the tangents.  Goes out: a function of the other
parameters, of which it reads integers and shapes alone, that runs the same loops on the same indices with a node of a
`dependence_graph` in place of every tangent.  Guaranteed: what a result can depend on for these integers and shapes,
whatever the floating-point numbers are, can be reached from its node; the program ends, and touches no memory that
the original one would not.

Decisions that need floating-point numbers are not taken.  Both sides of such an `if` run, and what they write is added
to what was there.  Of a loop that may be left early all iterations run, and any of them may have been the last.  A loop
without a known bound runs once, on nodes that depend on the state before it and on that at its own end: a circle.  An
axis whose extent is unknown is one element that stands for all; an unknown index means every element.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from adgen import ops
from adgen.diagnostics import AdgenError
from adgen.ir import core
from adgen.ir.builder import Builder
from adgen.ir.nodes import Function, Operation, Region, Value, walk
from adgen.ir.rebuild import clone_operation
from adgen.ir.types import I64, Buffer, Scalar, Stack, is_float
from adgen.passes.activity import varied
from adgen.passes.dependence_graph import LOOP_NODE, Graph
from adgen.passes.unknowns import Unknowns

Nodes = tuple[Value, ...]
FEW = 32  # more parents than these become a node of their own at once


def pattern(function: Function, tangents: Mapping[Value, Value]) -> Function:
    """The pattern of a function; each tangent parameter has the shape of another parameter.

    The results are how much of the last parameter, `edges`, was needed, and for each result of the function its nodes.
    """
    for operation in walk(function.body):
        if operation.row is core.CUSTOM:  # those with a text are inlined
            raise AdgenError(
                "AD165",
                f"the C function `{str(operation.attributes['external']).partition('@')[0]}` is called here, "
                "so there is no sparsity pattern",
                operation.span,
                "leave out `sparse=True`",
            )
    return _Pattern(function, tangents).function()


class _Pattern:
    def __init__(self, source: Function, tangents: Mapping[Value, Value]) -> None:
        self.source = source
        self.tangents = tangents
        self.unknown = Unknowns(source)
        self.root = self.unknown.root
        self.moving = varied(source, tangents) | {self.root.get(value, value) for value in source.results}
        self.builder = Builder()
        self.kept: dict[Value, Value] = {}
        self.nodes: dict[Value, Nodes] = {}
        self.memory: dict[Value, Value] = {}  # nodes in place of numbers, by handle
        self.level = 0
        self.graph: Graph

    def function(self) -> Function:
        source, builder = self.source, self.builder
        builder.span = source.span
        own = [value for value in source.parameters if value not in self.tangents]
        self.kept.update((value, Value(value.type, value.name)) for value in own)
        self.kept.update((tangent, self.kept[value]) for tangent, value in self.tangents.items())
        edges = Value(Buffer(I64, 1), "edges")
        with builder.block((*(self.kept[value] for value in own), edges)) as block:
            self.graph = Graph(builder, edges, self.inputs())
            self.run(source.body.operations)
            nodes = [self.result(value) for value in source.results]
            block.results = (self.graph.used, *nodes)
        names = ("used", *(f"{name}_nodes" for name in source.result_names))
        return Function(source.name, block.region(), names, source.span, source.notes, source.callees)

    def inputs(self) -> Value:
        """Number the elements of the tangents, from 1; gives how many there are."""
        builder = self.builder
        one = builder.index(1)
        count = builder.index(0)
        for tangent, value in self.tangents.items():
            first = builder.op(ops.ADD, count, one)
            if isinstance(tangent.type, Scalar):
                self.nodes[tangent] = (first,)
                count = first
                continue
            extents = builder.dims(self.kept[value])
            memory = self.memory[tangent] = builder.alloc(I64, extents, tangent.name, zero=False)

            def number(*place: Value, memory: Value = memory, first: Value = first) -> None:
                builder.store(memory, builder.op(ops.ADD, first, self.flat(memory, place)), place)

            builder.nest(extents, number)
            for extent in extents[1:]:
                extents = (builder.op(ops.MUL, extents[0], extent),)
            count = builder.op(ops.ADD, count, extents[0] if extents else one)
        return count

    def flat(self, memory: Value, place: Sequence[Value]) -> Value:
        """The number of an element in the order of memory."""
        number = self.builder.index(0)
        for extent, index in zip(self.builder.dims(memory), place, strict=True):
            number = self.builder.op(ops.ADD, self.builder.op(ops.MUL, number, extent), index)
        return number

    def result(self, value: Value) -> Value:
        if isinstance(value.type, Scalar):
            return self.graph.node(self.nodes.get(value, ()))
        assert isinstance(value.type, Buffer)
        if any(self.unknown.blurred(value, axis) for axis in range(value.type.rank)):
            raise AdgenError(
                "AD162",
                f"the shape of `{value.name}` depends on floating-point numbers, so there is no sparsity pattern",
                self.source.span,
                "make shapes of integers and of other shapes",
            )
        return self.memory[value]

    # -- operations ----------------------------------------------------------------------------------------------

    def run(self, operations: Iterable[Operation]) -> None:
        for operation in operations:
            self.builder.span = operation.span
            _RULES.get(operation.row, _Pattern.elementwise)(self, operation)

    def moves(self, value: Value) -> bool:
        return self.root.get(value, value) in self.moving and is_float(value.type)

    def of(self, value: Value) -> Value:
        """The one node of a number."""
        return self.graph.node(self.nodes.get(value, ()))

    def union(self, values: Iterable[Value]) -> Nodes:
        """All that some numbers depend on."""
        found = tuple(dict.fromkeys(node for value in values for node in self.nodes.get(value, ())))
        return found if len(found) <= FEW else (self.graph.node(found),)

    def elementwise(self, operation: Operation) -> None:
        if not self.unknown.any(operation.results):
            clone_operation(self.builder, operation, self.kept)
        elif self.moves(operation.result):
            self.nodes[operation.result] = self.union(operation.operands)

    def call(self, operation: Operation) -> None:
        if self.level == 0 and not self.unknown.any(operation.operands):
            clone_operation(self.builder, operation, self.kept)
            return
        nodes = self.union(operation.operands)
        self.nodes.update((value, nodes) for value in operation.results if self.moves(value))

    def check(self, operation: Operation) -> None:
        """What fails certainly fails; what is perhaps not reached is made harmless where memory is touched."""
        if self.level == 0 and operation.operands[0] not in self.unknown:
            clone_operation(self.builder, operation, self.kept)

    def dim(self, operation: Operation) -> None:
        (buffer,) = operation.operands
        if operation.result not in self.unknown:
            memory = self.memory[buffer] if buffer in self.memory else self.kept[buffer]
            self.kept[operation.result] = self.builder.dim(memory, operation.attributes["axis"])

    # -- memory --------------------------------------------------------------------------------------------------

    def make(self, operation: Operation) -> None:
        """Memory with nodes in place of numbers: none at first, as what nobody wrote depends on nothing."""
        made, builder = operation.result, self.builder
        if made not in self.unknown:
            clone_operation(builder, operation, self.kept)
        if not self.moves(made):
            return
        if isinstance(made.type, Stack):
            merged = made in self.unknown.merged
            self.memory[made] = builder.alloc(I64, (), made.name) if merged else builder.stack(I64, made.name)
            return
        given = operation.operands[operation.row is core.RESHAPE :]
        extents = [
            builder.index(1) if self.unknown.blurred(made, axis) else self.kept[extent]
            for axis, extent in enumerate(given)
        ]
        if operation.row is core.RESHAPE:
            memory = self.memory[operation.operands[0]]
            (self.memory[made],) = builder.emit(core.RESHAPE, (memory, *extents), names=(made.name,))
        else:
            self.memory[made] = builder.alloc(I64, extents, made.name)

    def load(self, operation: Operation) -> None:
        buffer, *indices = operation.operands
        result = operation.result
        if result not in self.unknown:
            memory, place = self.kept[buffer], [self.kept[index] for index in indices]
            zero = self.builder.const(0, result.type)
            (self.kept[result],) = self.guarded(memory, place, lambda: (self.builder.load(memory, place),), (zero,))
        elif self.moves(buffer):
            memory = self.memory[buffer]

            def join(place: Sequence[Value], nodes: tuple[Value, ...]) -> tuple[Value, ...]:
                found = self.builder.load(memory, place)
                return (self.graph.join(nodes[0], found) if self.everywhere(buffer, indices) else found,)

            self.nodes[result] = self.at(buffer, indices, (self.graph.none,), join)

    def write(self, operation: Operation) -> None:
        buffer, value, *indices = operation.operands
        if buffer not in self.unknown:
            memory, place = self.kept[buffer], [self.kept[index] for index in indices]
            stored = (memory, self.kept[value], *place)

            def store() -> tuple[Value, ...]:
                self.builder.emit(operation.row, stored)
                return ()

            self.guarded(memory, place, store, ())
        if not self.moves(buffer):
            return
        memory, node = self.memory[buffer], self.of(value)
        perhaps = self.level > self.unknown.made[self.root[buffer]] or self.everywhere(buffer, indices)
        added = perhaps or operation.row is core.ACCUMULATE
        if added and self.builder.known(node) == 0:
            return

        def write(place: Sequence[Value], carried: tuple[Value, ...]) -> tuple[Value, ...]:
            new = self.graph.join(self.builder.load(memory, place), node) if added else node
            self.builder.store(memory, new, place)
            return carried

        self.at(buffer, indices, (), write)

    def push(self, operation: Operation) -> None:
        stack, value = operation.operands
        if stack not in self.unknown:
            clone_operation(self.builder, operation, self.kept)
        elif self.moves(stack) and stack in self.unknown.merged:
            memory = self.memory[stack]
            self.builder.store(memory, self.graph.join(self.builder.load(memory), self.of(value)))
        elif self.moves(stack):
            self.builder.emit(core.PUSH, (self.memory[stack], self.of(value)))

    def pop(self, operation: Operation) -> None:
        (stack,) = operation.operands
        if stack not in self.unknown:
            clone_operation(self.builder, operation, self.kept)
        elif self.moves(stack):
            row = core.LOAD if stack in self.unknown.merged else core.POP
            self.nodes[operation.result] = self.builder.emit(row, (self.memory[stack],))

    def everywhere(self, buffer: Value, indices: Sequence[Value]) -> bool:
        """True when an access may be to several elements, as far as anybody knows."""
        return self.unknown.any(indices) or any(self.unknown.blurred(buffer, axis) for axis in range(len(indices)))

    def at(
        self,
        buffer: Value,
        indices: Sequence[Value],
        carried: Nodes,
        body: Callable[[Sequence[Value], Nodes], Nodes],
    ) -> Nodes:
        """`body(place, carried)` at every place that an access may be to."""
        memory, builder = self.memory[buffer], self.builder
        place: list[Value | None] = []
        for axis, index in enumerate(indices):
            if self.unknown.blurred(buffer, axis):
                place.append(self.graph.none)
            else:
                place.append(None if index in self.unknown else self.kept[index])

        def visit(place: list[Value | None], carried: Nodes) -> Nodes:
            if None not in place:
                return body([index for index in place if index is not None], carried)
            axis = place.index(None)

            def iteration(index: Value, *carried: Value) -> Nodes:
                return visit([*place[:axis], index, *place[axis + 1 :]], carried)

            return builder.loop(self.graph.none, builder.dim(memory, axis), carried, iteration)

        return self.guarded(memory, place, lambda: visit(place, carried), carried)

    def guarded(
        self, memory: Value, place: Sequence[Value | None], access: Callable[[], Nodes], otherwise: Nodes
    ) -> Nodes:
        """An access, left out when it is out of range: then the program itself would not have come here."""
        known = [(axis, index) for axis, index in enumerate(place) if index is not None]
        if self.level == 0 or not known:
            return access()
        builder, inside = self.builder, self.builder.const(True)
        for axis, index in known:
            inside = builder.op(ops.AND, inside, builder.op(ops.GE, index, self.graph.none))
            inside = builder.op(ops.AND, inside, builder.op(ops.LT, index, builder.dim(memory, axis)))
        return builder.branch(inside, access, lambda: otherwise)

    # -- control -------------------------------------------------------------------------------------------------

    @contextmanager
    def deeper(self, levels: int = 1) -> Iterator[None]:
        self.level += levels
        try:
            yield
        finally:
            self.level -= levels

    def branch(self, operation: Operation) -> None:
        if operation.operands[0] in self.unknown:
            with self.deeper():
                for region in operation.regions:
                    self.run(region.operations)
            for value, *yielded in zip(operation.results, *(region.results for region in operation.regions)):
                self.nodes[value] = self.union(yielded)
            return
        kept, moved = self.split(operation.results)

        def side(region: Region) -> Callable[[], Sequence[Value]]:
            def run() -> Sequence[Value]:
                self.run(region.operations)
                return self.yielded(region.results, kept, moved)

            return run

        first, second = operation.regions
        names = [operation.results[k].name for k in (*kept, *moved)]
        results = self.builder.branch(self.kept[operation.operands[0]], side(first), side(second), names)
        self.define([operation.results[k] for k in kept], [operation.results[k] for k in moved], results)

    def split(self, values: Sequence[Value]) -> tuple[list[int], list[int]]:
        """The positions of known numbers, and of those that have nodes."""
        kept = [k for k, value in enumerate(values) if value not in self.unknown]
        return kept, [k for k, value in enumerate(values) if k not in kept and self.moves(value)]

    def yielded(self, values: Sequence[Value], kept: Sequence[int], moved: Sequence[int]) -> list[Value]:
        return [*(self.kept[values[k]] for k in kept), *(self.of(values[k]) for k in moved)]

    def define(self, kept: Sequence[Value], moved: Sequence[Value], values: Sequence[Value]) -> None:
        self.kept.update(zip(kept, values, strict=False))
        self.nodes.update((value, (node,)) for value, node in zip(moved, values[len(kept) :], strict=True))

    def loop(self, operation: Operation) -> None:
        if self.unknown.is_open(operation, self.level):
            self.open_loop(operation)
        elif operation.row is core.WHILE:
            self.while_loop(operation)
        else:
            self.for_loop(operation)

    def for_loop(self, operation: Operation) -> None:
        (region,) = operation.regions
        index, *carried = region.arguments
        start, stop, *initial = operation.operands
        leaves = self.unknown.may_leave(operation)
        exit = int(bool(operation.attributes.get("exit")))
        kept, moved = self.split(carried)
        arguments = [Value(I64, index.name), *(Value(carried[k].type, carried[k].name) for k in kept)]
        arguments += [Value(I64, carried[k].name) for k in moved]
        so_far = [Value(I64, carried[k].name) for k in moved if leaves]  # what the values after any iteration depend on
        given = self.yielded(initial, kept, moved)
        given += given[len(kept) :] if leaves else []
        self.define([index, *(carried[k] for k in kept)], [carried[k] for k in moved], arguments)
        with self.builder.block((*arguments, *so_far)) as block, self.deeper(leaves):
            self.run(region.operations)
            following = self.yielded(region.results[exit:], kept, moved)
            joined = [self.graph.join(old, new) for old, new in zip(so_far, following[len(kept) :], strict=False)]
            going = [self.kept[region.results[0]]] if exit and not leaves else []
            block.results = (*going, *following, *joined)
        attributes = {"step": operation.attributes["step"], "exit": bool(going)}
        bounds = (self.kept[start], self.kept[stop])
        names = [value.name for value in (*arguments[1:], *so_far)]
        results = self.builder.emit(core.FOR, (*bounds, *given), attributes, (block.region(),), names)
        if leaves:
            self.define([], [operation.results[k] for k in moved], results[len(given) - len(moved) :])
        else:
            self.define([operation.results[k] for k in kept], [operation.results[k] for k in moved], results)

    def while_loop(self, operation: Operation) -> None:
        kept, moved = self.split(operation.results)
        regions = []
        for region in operation.regions:
            arguments = [Value(region.arguments[k].type, region.arguments[k].name) for k in kept]
            arguments += [Value(I64, region.arguments[k].name) for k in moved]
            self.define([region.arguments[k] for k in kept], [region.arguments[k] for k in moved], arguments)
            with self.builder.block(arguments) as block:
                self.run(region.operations)
                if region is operation.regions[0]:
                    block.results = (self.kept[region.results[0]],)
                else:
                    block.results = tuple(self.yielded(region.results, kept, moved))
            regions.append(block.region())
        names = [operation.results[k].name for k in (*kept, *moved)]
        given = self.yielded(operation.operands, kept, moved)
        results = self.builder.emit(core.WHILE, given, None, regions, names)
        self.define([operation.results[k] for k in kept], [operation.results[k] for k in moved], results)

    def open_loop(self, operation: Operation) -> None:
        """Run the body once, on nodes that are closed to circles afterwards."""
        first = int(operation.row is core.FOR)
        body = operation.regions[-1]
        exit = int(bool(operation.attributes.get("exit")))
        initial = operation.operands[2 * first :]
        _, moved = self.split(operation.results)
        circles = {k: self.graph.loop_node(self.of(initial[k])) for k in moved}
        memory = {root: self.open_memory(self.memory[root]) for root in self.changed(operation)}
        for region in operation.regions:
            arguments = region.arguments[first:]
            self.nodes.update((arguments[k], (node,)) for k, (node, _) in circles.items())
            with self.deeper():
                self.run(region.operations)
        for k, (node, place) in circles.items():
            self.graph.close(place, self.of(body.results[exit + k]))
            self.nodes[operation.results[k]] = (node,)
        for root, start in memory.items():
            self.close_memory(self.memory[root], start)

    def changed(self, loop: Operation) -> list[Value]:
        """The memory from outside of a loop whose nodes it changes."""
        inside = {value for operation in walk(loop.regions[-1]) for value in operation.results}
        inside |= {value for operation in walk(loop.regions[0]) for value in operation.results}
        written = {
            self.root[operation.operands[0]]: None
            for region in loop.regions
            for operation in walk(region)
            if operation.row in (core.STORE, core.ACCUMULATE, core.PUSH)
        }
        return [root for root in written if root not in inside and self.moves(root)]

    def open_memory(self, memory: Value) -> Value:
        """Put a node of a loop at every element; gives the place of the first."""
        builder, start = self.builder, self.graph.used

        def element(*place: Value) -> None:
            node, _ = self.graph.loop_node(builder.load(memory, place))
            builder.store(memory, node, place)

        builder.nest(builder.dims(memory), element)
        return start

    def close_memory(self, memory: Value, start: Value) -> None:
        builder, size = self.builder, self.builder.index(LOOP_NODE)

        def element(*place: Value) -> None:
            offset = builder.op(ops.MUL, self.flat(memory, place), size)
            self.graph.close(builder.op(ops.ADD, start, offset), builder.load(memory, place))

        builder.nest(builder.dims(memory), element)


_RULES: dict[object, Callable[[_Pattern, Operation], None]] = {
    core.ALLOC: _Pattern.make,
    core.RESHAPE: _Pattern.make,
    core.STACK: _Pattern.make,
    core.DIM: _Pattern.dim,
    core.LOAD: _Pattern.load,
    core.STORE: _Pattern.write,
    core.ACCUMULATE: _Pattern.write,
    core.CHECK: _Pattern.check,
    core.FOR: _Pattern.loop,
    core.WHILE: _Pattern.loop,
    core.IF: _Pattern.branch,
    core.PUSH: _Pattern.push,
    core.POP: _Pattern.pop,
    core.CALL: _Pattern.call,
}
