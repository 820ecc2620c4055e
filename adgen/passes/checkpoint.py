"""Loops whose residuals do not fit into a given memory: states are kept now and then, and steps run again from there.

Comes in: a pure function that is about to be reversed, and how many bytes the residuals of one loop may take.  Goes
out: the function with each sequential loop in two parts.  The first runs as before, and takes all steps if what they
leave behind for the reverse sweep fits; which it is, is decided by the number of steps, when the function runs.  The
second is a `custom` operation that takes the others in chunks and keeps the state at the beginning of each.  Its rule
runs each chunk again, the last one first, and reverses it.

Guaranteed: the same gradient, but for the order in which sums over steps are added up; no step is taken more than
twice in the forward direction; with `n` steps that leave `b` bytes each and a state of `s` bytes the memory is about
`2 sqrt(n b s)`, the least for two levels (Griewank and Walther, Evaluating Derivatives, chapter 12).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce

from adgen import ops
from adgen.diagnostics import AdgenError, Span
from adgen.ir import core
from adgen.ir.builder import Builder
from adgen.ir.calls import reachable, unused
from adgen.ir.nodes import Function, Operation, Value, walk
from adgen.ir.rebuild import Mapping, clone, clone_operation, mapped, rebuild, record
from adgen.ir.types import I64, Buffer, Scalar, Stack, is_float
from adgen.passes.activity import roots
from adgen.passes.adjoint import adjoint, without_values
from adgen.passes.boxes import defined
from adgen.passes.callees import floats
from adgen.passes.chunk_sizes import buffer_bytes, chunk_count, chunk_size, chunk_steps, named, residual_bytes
from adgen.passes.custom import inlined, zeros_like
from adgen.passes.extents import index_of, trip_count
from adgen.passes.forward import forward
from adgen.passes.linear import steps_linearly
from adgen.passes.localise import add_into, copy_into, copy_of
from adgen.passes.moves import Moves
from adgen.passes.pipeline import PRIMAL, apply

CACHED = 2**25  # bytes that stay in the last cache of common machines
FEWEST = 64  # steps; of fewer, chunks and what they start from would take about as much
LARGEST = 100  # operations of a step, whose text is written out three times


def checkpointed(
    function: Function, memory: int | None, chunked: list[tuple[Span | None, int]] | None = None, states: bool = False
) -> Function:
    """The function with chunks for the steps of loops whose residuals take more than `memory` bytes.

    What a loop says of itself (`memory` among its attributes) counts more; None: the others are left as they are, but
    with `states` for long ones that replace a state, see `stepping`.
    The places of these loops and their limits are appended to `chunked`.
    A loop is followed by a `custom` operation that takes the steps that the loop leaves to it, which is all or none.
    """
    made: dict[str, Function] = {}
    root = roots(function)
    known = {op.result: op for op in walk(function.body) if op.row in (core.CONST, core.TABLE)}

    long = stepping(function) if states and memory is None else set()
    limits = {id(op): limit for op in walk(function.body) if (limit := _limit(op, memory, long)) is not None}
    if not limits:
        return function
    kept = {
        root[value]
        for op in walk(function.body)
        if id(op) in limits and (parts := _parts(op, root, known)) is not None
        for value in parts.state
    }

    def transform(builder: Builder, operation: Operation, mapping: Mapping) -> bool:
        if operation.row is core.ALLOC and operation.result in kept and not operation.attributes["zero"]:
            # what a chunk starts from is copied, written or not
            attributes = {**operation.attributes, "zero": True}
            clone_operation(builder, replace(operation, attributes=attributes), mapping)
            return True
        limit = limits.get(id(operation))
        parts = _parts(operation, root, known) if limit is not None else None
        if parts is None or limit is None:
            return False
        around = {**function.callees, **made}
        fewest = FEWEST if id(operation) in long else 0
        changed = _Chunks(function, parts, around, made, limit, fewest).emit(builder, mapping)
        if changed and chunked is not None:
            chunked.append((operation.span, limit))
        return changed

    body = rebuild(function, transform)
    return reachable(replace(body, callees={**function.callees, **made})) if made else function


def _limit(operation: Operation, memory: int | None, long: set[int]) -> int | None:
    """How many bytes the residuals of a loop may take; None for no limit, and for what is no loop."""
    if operation.row is not core.FOR:
        return None
    limit: int | None = operation.attributes.get("memory", memory)
    return CACHED if limit is None and id(operation) in long else limit


def stepping(function: Function) -> set[int]:
    """The loops of the body itself, by identity, that do nothing to memory but replace states by new ones.

    Those apart that do so linearly: the reverse sweep needs no state of them.
    """
    moves = Moves(function)
    found = set()
    for loop in function.body.operations:
        if loop.row is not core.FOR or loop.attributes.get("exit"):
            continue
        inside = [*walk(loop.regions[0])]
        marked = any("memory" in op.attributes for op in (loop, *inside))  # has limits of its own
        made = [moves.stepped(loop, each) for each in loop.regions[0].operations if each.row is core.ALLOC]
        states = {move.target for move in made if move is not None}
        written = {moves.uses.root[op.operands[0]] for op in inside if op.row in core.WRITES}
        small = not marked and len(inside) <= LARGEST
        if states and small and written - defined(loop) == states and not steps_linearly(loop, [*states]):
            found.add(id(loop))
    return found


@dataclass(frozen=True, eq=False)
class Parts:
    """What a loop needs from around it."""

    loop: Operation
    state: tuple[Value, ...]  # the buffers that it changes
    tables: tuple[Value, ...]  # the buffers that it reads only
    numbers: tuple[Value, ...]
    known: tuple[Operation, ...]  # the constants that it uses

    @property
    def start(self) -> tuple[Value, ...]:
        """The first values of what it carries."""
        return self.loop.operands[2:]

    @property
    def constants(self) -> tuple[Value, ...]:
        """What it reads and does not change."""
        return (*self.tables, *self.numbers)

    @property
    def needs(self) -> tuple[Value, ...]:
        """All that it needs, in the order in which the functions here take it."""
        return (*self.state, *self.constants, *self.start)


def _parts(loop: Operation, root: Mapping, known: dict[Value, Operation]) -> Parts | None:
    """The parts of a loop that takes its steps one after the other; None for others."""
    (region,) = loop.regions
    inside = [*walk(region)]
    own = {*region.arguments, *(value for op in inside for value in op.results)}
    own |= {value for op in inside for each in op.regions for value in each.arguments}
    regions = [region, *(inner for op in inside for inner in op.regions)]
    used = [value for op in inside for value in op.operands]
    used += [value for each in regions for value in each.results]
    free = dict.fromkeys(value for value in used if value not in own)
    constants = tuple(known[value] for value in free if value in known)
    free = {value: None for value in free if value not in known}
    written = {root[op.operands[0]] for op in inside if op.row in core.WRITES} - own
    read = {root[op.operands[0]] for op in inside if op.row is core.LOAD}
    stacks = any(isinstance(value.type, Stack) for value in free)
    aliased = any(value not in written and root.get(value) in written for value in free)
    alone = "memory" not in loop.attributes and not (written & read or loop.operands[2:])
    if loop.attributes.get("exit") or stacks or aliased or alone:
        return None
    buffers = [value for value in free if isinstance(value.type, Buffer)]
    state = tuple(value for value in buffers if value in written)
    tables = tuple(value for value in buffers if value not in written)
    return Parts(loop, state, tables, tuple(v for v in free if isinstance(v.type, Scalar)), constants)


@dataclass(frozen=True, eq=False)
class Operands:
    """What the `custom` operation takes, gives and fills, or the parameters of a rule that stand for that."""

    state: tuple[Value, ...]
    constants: tuple[Value, ...]
    start: tuple[Value, ...]
    integers: tuple[Value, Value, Value]  # the lower end of the index, the number of steps, that of a chunk
    end: tuple[Value, ...]
    after: tuple[Value, ...]  # the state at the end
    kept: tuple[Value, ...]  # for each part of the state, then for each number that is carried, one row a chunk

    @property
    def inputs(self) -> tuple[Value, ...]:
        """What is taken."""
        return (*self.state, *self.constants, *self.start, *self.integers)

    def parameters(self) -> Operands:
        """Values of the same types and names."""

        def fresh(values: Iterable[Value]) -> tuple[Value, ...]:
            return tuple(Value(value.type, value.name) for value in values)

        low, steps, size = fresh(self.integers)
        state, constants, start = fresh(self.state), fresh(self.constants), fresh(self.start)
        integers = (low, steps, size)
        return Operands(state, constants, start, integers, fresh(self.end), fresh(self.after), fresh(self.kept))


def _floats(values: Iterable[Value]) -> list[Value]:
    return [value for value in values if is_float(value.type)]


class _Chunks:
    """One loop, taken apart."""

    def __init__(
        self,
        function: Function,
        parts: Parts,
        around: dict[str, Function],
        made: dict[str, Function],
        memory: int,
        fewest: int,
    ) -> None:
        self.parts, self.around, self.made, self.memory, self.fewest = parts, around, made, memory, fewest
        self.name = unused(f"{function.name}_loop", {*around, *(name.removesuffix("_vjp") for name in around)})
        self.span = parts.loop.span

    def steps(
        self, builder: Builder, mapping: Mapping, start: Sequence[Value], low: Value, first: Value, count: Value
    ) -> tuple[Value, ...]:
        """Emit some steps of the loop, in whose needs the mapping puts other values; gives what is carried."""
        loop = self.parts.loop
        from_low = replace(loop, operands=(low, *loop.operands[1:]))
        region, mapping = loop.regions[0], dict(mapping)
        clone(builder, self.parts.known, mapping)

        def body(j: Value, *carried: Value) -> tuple[Value, ...]:
            index = index_of(builder, from_low, builder.op(ops.ADD, first, j))
            inner = {**mapping, **dict(zip(region.arguments, (index, *carried), strict=True))}
            clone(builder, region.operations, inner)
            return mapped(region.results, inner)

        names = [value.name for value in loop.results]
        unordered = bool(loop.attributes.get("unordered"))
        return builder.loop(builder.index(0), count, start, body, names=names, unordered=unordered)

    def emit(self, builder: Builder, mapping: Mapping) -> bool:
        """The two parts, if the loop leaves anything behind for a reverse sweep."""
        pulled = self._pulled()
        parts = self.parts
        loop = replace(parts.loop, operands=mapped(parts.loop.operands, mapping))
        low, zero, count = loop.operands[0], builder.index(0), trip_count(builder, loop)

        def left(number: Value) -> Value | None:
            values = (*mapped(parts.needs, mapping), low, zero, number)
            return residual_bytes(
                builder, pulled, dict(zip(pulled.parameters, values)), pulled.parameters[len(values) - 1]
            )

        bytes_ = left(count)
        if bytes_ is None and "memory" not in parts.loop.attributes:
            return False
        whole = zero  # what is kept within a step may be much for a loop around
        if bytes_ is not None and self.memory:
            fits = builder.op(ops.LE, bytes_, builder.index(self.memory))
            if self.fewest:
                fits = builder.op(ops.OR, fits, builder.op(ops.LT, count, builder.index(self.fewest)))
            whole = named(builder.op(ops.SELECT, fits, count, zero), "whole")
        rest = builder.op(ops.SUB, count, whole)
        carried = self.steps(builder, mapping, mapped(parts.start, mapping), low, zero, whole)
        each = left(builder.index(1))
        size = chunk_size(builder, rest, self._state(builder, mapping), each or builder.index(1))
        room = self._filled(builder, mapped(parts.state, mapping), carried, (low, rest, size))
        made = partial(self._custom, builder, mapping, (low, rest, size), carried, pulled, room)
        if self.fewest:
            left_over = builder.op(ops.GT, rest, zero)
            results = builder.branch(left_over, made, lambda: carried, [value.name for value in parts.loop.results])
        else:
            results = made()
        record(builder, parts.loop, results, mapping)
        return True

    def _state(self, builder: Builder, mapping: Mapping) -> Value:
        """The bytes of what a step changes."""
        sizes = [builder.index(8 * len(self.parts.start))]
        sizes += [buffer_bytes(builder, value, builder.dims(value)) for value in mapped(self.parts.state, mapping)]
        return reduce(lambda a, b: builder.op(ops.ADD, a, b), sizes)

    def _pulled(self) -> Function:
        """From a state, and cotangents after some steps, to the cotangents before them."""
        parts = self.parts
        state, constants, start = (
            [Value(value.type, value.name) for value in group] for group in (parts.state, parts.constants, parts.start)
        )
        integers = [Value(I64, name) for name in ("low", "first", "count")]
        builder = Builder()
        builder.span = self.span
        with builder.block((*state, *constants, *start, *integers)) as block:
            copies = [copy_of(builder, value, value.name) for value in state]
            mapping = dict(zip((*parts.state, *parts.constants), (*copies, *constants), strict=True))
            block.results = (*self.steps(builder, mapping, start, *integers), *copies)
        made = builder.function(f"{self.name}_steps", block, [value.name or "out" for value in block.results])
        steps = apply(checkpointed(replace(made, callees=self.around), None), PRIMAL)
        return without_values(adjoint(steps, floats(steps.parameters)), steps)

    def _custom(
        self,
        builder: Builder,
        mapping: Mapping,
        integers: tuple[Value, Value, Value],
        carried: tuple[Value, ...],
        pulled: Function,
        room: tuple[tuple[Value, ...], tuple[Value, ...]],
    ) -> tuple[Value, ...]:
        """The other steps, in chunks; afterwards the state is what they have made of it."""
        parts, (after, kept) = self.parts, room
        state = mapped(parts.state, mapping)
        operands = Operands(state, mapped(parts.constants, mapping), carried, integers, carried, after, kept)
        with builder.block() as block:
            block.results = self._run(builder, mapping, operands)
        vjp, jvp = self._rules(pulled, operands)
        types = tuple(str(value.type) for value in carried)
        results = builder.emit(
            core.CUSTOM,
            (*operands.inputs, *after, *kept),
            {"vjp": vjp, "jvp": jvp, "outputs": len(after) + len(kept), "types": types},
            (block.region(),),
            [value.name for value in parts.loop.results],
        )
        for source, target in zip(after, state):
            copy_into(builder, source, target)
        return results

    def _filled(
        self, builder: Builder, state: Sequence[Value], carried: Sequence[Value], integers: tuple[Value, Value, Value]
    ) -> tuple[tuple[Value, ...], tuple[Value, ...]]:
        """Room for the state at the end, and for what each chunk starts from."""
        chunks = chunk_count(builder, *integers[1:])
        after, kept = [], []
        for value in state:
            assert isinstance(value.type, Buffer)
            element, extents = value.type.element, builder.dims(value)
            after.append(builder.alloc(element, extents, f"{value.name}_after", zero=False))
            kept.append(builder.alloc(element, (chunks, *extents), f"{value.name}_kept"))
        for value in carried:
            assert isinstance(value.type, Scalar)
            kept.append(builder.alloc(value.type, (chunks,), f"{value.name}_kept"))
        return tuple(after), tuple(kept)

    def _run(self, builder: Builder, mapping: Mapping, operands: Operands) -> tuple[Value, ...]:
        """Take the steps in `after`, and keep what they start from; the mapping knows what does not change."""
        low, steps, size = operands.integers
        for source, target in zip(operands.state, operands.after):
            copy_into(builder, source, target)
        inner = {**mapping, **dict(zip(self.parts.state, operands.after))}

        def chunk(c: Value, *running: Value) -> tuple[Value, ...]:
            for source, target in zip((*operands.after, *running), operands.kept, strict=True):
                _keep(builder, source, target, c)
            first, count = chunk_steps(builder, c, steps, size)
            return self.steps(builder, inner, running, low, first, count)

        chunks = chunk_count(builder, steps, size)
        return builder.loop(builder.index(0), chunks, operands.start, chunk, name="chunk")

    # -- the rules -----------------------------------------------------------------------------------------------

    def _rules(self, pulled: Function, operands: Operands) -> tuple[str, str]:
        vjp, jvp = f"{self.name}_vjp", f"{self.name}_jvp"
        self._add_callees(pulled)
        self.made[vjp] = self._vjp(vjp, pulled, operands.parameters())
        try:
            pushed = self._jvp(jvp, operands.parameters())
        except AdgenError:  # something in the loop has no forward mode, and then the loop has none
            return vjp, ""
        self._add_callees(pushed)
        self.made[jvp] = replace(pushed, callees={})
        return vjp, jvp

    def _add_callees(self, derived: Function) -> None:
        self.made.update({name: each for name, each in derived.callees.items() if name not in self.around})

    def _vjp(self, name: str, pulled: Function, given: Operands) -> Function:
        """The reverse of all chunks, the last one first; each is run again from what was kept."""
        state, start = _floats(given.state), _floats(given.start)
        numbers = [value for value in _floats(given.constants) if isinstance(value.type, Scalar)]
        end_bars, after_bars, kept_bars = (
            [Value(value.type, f"{value.name}_bar") for value in _floats(group)]
            for group in (given.end, given.after, given.kept)
        )  # the last are not zero when a gradient is differentiated again
        moving = _floats(given.inputs)
        low, steps, size = given.integers
        builder = Builder()
        builder.span = self.span
        parameters = (*given.inputs, *given.end, *given.after, *given.kept, *end_bars, *after_bars, *kept_bars)
        with builder.block(parameters) as block:
            chunks = chunk_count(builder, steps, size)
            shadows = [copy_of(builder, bar, bar.name) for bar in after_bars]
            begins = [_room(builder, value) for value in given.state]
            sums = {v: zeros_like(builder, v, f"{v.name}_bar") for v in _floats(given.constants) if v not in numbers}
            zeros = [builder.const(0.0, value.type) for value in numbers]

            def chunk(c: Value, *running: Value) -> tuple[Value, ...]:
                bars, totals = running[: len(end_bars)], running[len(end_bars) :]
                place = builder.op(ops.SUB, builder.op(ops.SUB, chunks, c), builder.index(1))
                for source, target in zip(given.kept, begins):
                    _take(builder, source, target, place)
                carried = [builder.load(source, (place,)) for source in given.kept[len(begins) :]]
                first, count = chunk_steps(builder, place, steps, size)
                values = (*begins, *given.constants, *carried, low, first, count, *bars, *shadows)
                found = dict(zip(moving, inlined(builder, pulled, values), strict=True))
                for value, shadow, kept_bar in zip(state, shadows, kept_bars):
                    _take(builder, kept_bar, shadow, place)
                    add_into(builder, found[value], shadow)
                for value, total in sums.items():
                    add_into(builder, found[value], total)
                rows = [builder.load(kept_bar, (place,)) for kept_bar in kept_bars[len(state) :]]
                added = zip((*start, *numbers), (*rows, *totals), strict=True)
                return tuple(builder.op(ops.ADD, found[value], more) for value, more in added)

            names = [value.name for value in (*end_bars, *numbers)]
            ended = builder.loop(builder.index(0), chunks, (*end_bars, *zeros), chunk, names=names)
            last = dict(zip((*start, *numbers, *state), (*ended, *shadows), strict=True)) | sums
            block.results = tuple(last[value] for value in moving)
        return builder.function(name, block, [f"{value.name}_bar" for value in moving])

    def _jvp(self, name: str, given: Operands) -> Function:
        """The tangents of all chunks, from those of the inputs."""
        builder = Builder()
        builder.span = self.span
        with builder.block(given.inputs) as block:
            after, kept = self._filled(builder, given.state, given.start, given.integers)
            mapping = dict(zip((*self.parts.state, *self.parts.constants), given.inputs))
            ended = self._run(builder, mapping, replace(given, after=after, kept=kept))
            block.results = (*ended, *after, *kept)
        plain = builder.function(name, block, [value.name or "out" for value in block.results])
        pushed = forward(replace(plain, callees=self.around), floats(given.inputs))
        own, tangents = pushed.parameters[: len(given.inputs)], pushed.parameters[len(given.inputs) :]
        body = replace(pushed.body, arguments=(*own, *given.end, *given.after, *given.kept, *tangents))
        return replace(without_values(replace(pushed, body=body), plain), name=name)


def _room(builder: Builder, like: Value) -> Value:
    """Memory for a state, which is going to be filled."""
    assert isinstance(like.type, Buffer)
    return builder.alloc(like.type.element, builder.dims(like), like.name, zero=False)


def _keep(builder: Builder, source: Value, target: Value, place: Value) -> None:
    """A state, or a number, becomes one row of what is kept."""
    if isinstance(source.type, Scalar):
        builder.store(target, source, (place,))
        return
    builder.nest(
        builder.dims(source), lambda *index: builder.store(target, builder.load(source, index), (place, *index))
    )


def _take(builder: Builder, source: Value, target: Value, place: Value) -> None:
    """One row of what is kept becomes a state."""
    builder.nest(
        builder.dims(target), lambda *index: builder.store(target, builder.load(source, (place, *index)), index)
    )
