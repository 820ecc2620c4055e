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

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from adgen import ops
from adgen.diagnostics import AdgenError
from adgen.ir import core
from adgen.ir.builder import Builder
from adgen.ir.calls import reachable, unused
from adgen.ir.nodes import Function, Operation, Value, walk
from adgen.ir.types import I64, WIDTHS, Buffer, Scalar, Stack, is_float
from adgen.passes.activity import roots
from adgen.passes.adjoint import adjoint
from adgen.passes.callees import floats
from adgen.passes.custom import inlined
from adgen.passes.dead_code import dead_code
from adgen.passes.forward import forward
from adgen.passes.localise import copy_into, copy_of
from adgen.passes.pipeline import PRIMAL, apply
from adgen.passes.rebuild import Mapping, clone, mapped, rebuild, record

Steps = Callable[[Builder, Mapping, Value, Value, Sequence[Value]], tuple[Value, ...]]


def checkpointed(function: Function, memory: int) -> Function:
    """The function with chunks for the steps of loops whose residuals take more than `memory` bytes.

    A loop is followed by a `custom` operation that takes the steps that the loop leaves to it, which is all or none.
    """
    made: dict[str, Function] = {}
    root = roots(function)

    known = {op.result: op for op in walk(function.body) if op.row in (core.CONST, core.TABLE)}

    def transform(builder: Builder, operation: Operation, mapping: Mapping) -> bool:
        parts = _parts(operation, root, known) if operation.row is core.FOR else None
        if parts is None:
            return False
        around = {**function.callees, **made}
        return _Chunks(function, parts, around, made, memory).emit(builder, mapping)

    body = rebuild(function, transform)
    return reachable(replace(body, callees={**function.callees, **made})) if made else function


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
    def needs(self) -> tuple[Value, ...]:
        """All that it needs, in the order in which the functions here take it."""
        return (*self.state, *self.tables, *self.numbers, *self.start)


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
    if loop.attributes.get("exit") or stacks or aliased or not (written & read or loop.operands[2:]):
        return None
    buffers = [value for value in free if isinstance(value.type, Buffer)]
    state = tuple(value for value in buffers if value in written)
    tables = tuple(value for value in buffers if value not in written)
    return Parts(loop, state, tables, tuple(v for v in free if isinstance(v.type, Scalar)), constants)


class _Chunks:
    """One loop, taken apart."""

    def __init__(
        self, function: Function, parts: Parts, around: dict[str, Function], made: dict[str, Function], memory: int
    ) -> None:
        self.parts, self.around, self.made, self.memory = parts, around, made, memory
        self.name = unused(f"{function.name}_loop", {*around, *(name.removesuffix("_vjp") for name in around)})
        self.span = parts.loop.span

    def steps(
        self, builder: Builder, mapping: Mapping, start: Sequence[Value], lo: Value, first: Value, count: Value
    ) -> tuple[Value, ...]:
        """Emit some steps of the loop, in whose needs the mapping puts other values; gives what is carried."""
        loop = self.parts.loop
        mapping = dict(mapping)
        clone(builder, self.parts.known, mapping)
        region, step = loop.regions[0], builder.index(loop.attributes["step"])

        def body(j: Value, *carried: Value) -> tuple[Value, ...]:
            index = builder.op(ops.ADD, lo, builder.op(ops.MUL, builder.op(ops.ADD, first, j), step))
            inner = {**mapping, **dict(zip(region.arguments, (index, *carried), strict=True))}
            clone(builder, region.operations, inner)
            return mapped(region.results, inner)

        names = [value.name for value in loop.results]
        attributes = loop.attributes.get("unordered", False)
        return builder.loop(builder.index(0), count, start, body, names=names, unordered=bool(attributes))

    def emit(self, builder: Builder, mapping: Mapping) -> bool:
        """The two parts, if the loop leaves anything behind for a reverse sweep."""
        pulled = self._pulled()
        parts = self.parts
        lo, hi = mapped(parts.loop.operands[:2], mapping)
        count = _trips(builder, lo, hi, parts.loop.attributes["step"])
        zero = builder.index(0)

        def left(number: Value) -> Value | None:
            values = (*mapped(parts.needs, mapping), lo, zero, number)
            return _residuals(builder, pulled, dict(zip(pulled.parameters, values)), pulled.parameters[len(values) - 1])

        bytes_ = left(count)
        if bytes_ is None:
            return False
        fits = builder.op(ops.LE, bytes_, builder.index(self.memory))
        whole = builder.op(ops.SELECT, fits, count, zero)
        rest = builder.op(ops.SUB, count, whole)
        carried = self.steps(builder, mapping, mapped(parts.start, mapping), lo, zero, whole)
        each = left(builder.index(1))
        assert each is not None
        size = _chunk(builder, rest, self._state(builder, mapping), each)
        results = self._custom(builder, mapping, lo, rest, size, carried, pulled)
        record(builder, parts.loop, results, mapping)
        return True

    def _state(self, builder: Builder, mapping: Mapping) -> Value:
        """The bytes of what a step changes."""
        sizes = [builder.index(8 * len(self.parts.start))]
        sizes += [_bytes(builder, value, builder.dims(value)) for value in mapped(self.parts.state, mapping)]
        return reduce(lambda a, b: builder.op(ops.ADD, a, b), sizes)

    # -- the steps as functions ----------------------------------------------------------------------------------

    def _function(self, name: str, emit: Callable[[Builder, list[Value]], Sequence[Value]]) -> Function:
        """A function of all that the loop needs and three integers."""
        parameters = [Value(value.type, value.name) for value in self.parts.needs]
        parameters += [Value(I64, name) for name in ("low", "first", "count")]
        builder = Builder()
        builder.span = self.span
        with builder.block(parameters) as block:
            block.results = tuple(emit(builder, parameters))
        made = builder.function(name, block, [value.name or "out" for value in block.results])
        return replace(made, callees=self.around)

    def _pulled(self) -> Function:
        """From a state, and cotangents after some steps, to the cotangents before them."""

        def emit(builder: Builder, values: list[Value]) -> Sequence[Value]:
            count = len(self.parts.start)
            mapping = dict(zip(self.parts.needs, values[: len(values) - 3 - count]))
            copies = [copy_of(builder, value, value.name) for value in values[: len(self.parts.state)]]
            mapping.update(zip(self.parts.state, copies))
            carried = self.steps(builder, mapping, values[len(values) - 3 - count : -3], *values[-3:])
            return (*carried, *copies)

        steps = apply(self._function(f"{self.name}_steps", emit), PRIMAL)
        pulled = adjoint(steps, floats(steps.parameters))
        count = len(steps.results)
        body = replace(pulled.body, results=pulled.results[count:])
        return dead_code(replace(pulled, body=body, result_names=pulled.result_names[count:]))

    def _custom(
        self,
        builder: Builder,
        mapping: Mapping,
        lo: Value,
        rest: Value,
        size: Value,
        carried: tuple[Value, ...],
        pulled: Function,
    ) -> tuple[Value, ...]:
        """The other steps, in chunks; afterwards the state is what they have made of it."""
        parts = self.parts
        chunks = _chunk_count(builder, rest, size)
        state = mapped(parts.state, mapping)
        outs = [builder.alloc(_element(v), builder.dims(v), f"{v.name}_after", zero=False) for v in state]
        kept = [builder.alloc(_element(v), (chunks, *builder.dims(v)), f"{v.name}_kept") for v in state]
        kept += [builder.alloc(v.type, (chunks,), f"{v.name}_kept") for v in carried if isinstance(v.type, Scalar)]
        inputs = (*state, *mapped((*parts.tables, *parts.numbers), mapping), *carried, lo, rest, size)
        with builder.block() as block:
            block.results = self._run(builder, mapping, (lo, rest, size), carried, outs, kept)
        names = self._rules(pulled, inputs, len(carried), outs, kept)
        attributes = {
            **dict(zip(("vjp", "jvp"), names)),
            "outputs": len(outs) + len(kept),
            "types": tuple(str(value.type) for value in carried),
        }
        results = builder.emit(
            core.CUSTOM,
            (*inputs, *outs, *kept),
            attributes,
            (block.region(),),
            [value.name for value in parts.loop.results],
        )
        for source, target in zip(outs, state):
            copy_into(builder, source, target)
        return results

    def _run(
        self,
        builder: Builder,
        mapping: Mapping,
        numbers: tuple[Value, Value, Value],
        carried: Sequence[Value],
        outs: Sequence[Value],
        kept: Sequence[Value],
    ) -> tuple[Value, ...]:
        """Take the steps in `outs`, and keep what they start from."""
        lo, rest, size = numbers
        for source, target in zip(mapped(self.parts.state, mapping), outs):
            copy_into(builder, source, target)
        inner = {**mapping, **dict(zip(self.parts.state, outs))}

        def chunk(c: Value, *running: Value) -> tuple[Value, ...]:
            for source, target in zip((*outs, *running), kept, strict=True):
                _keep(builder, source, target, c)
            first, count = _range(builder, c, rest, size)
            return self.steps(builder, inner, running, lo, first, count)

        return builder.loop(builder.index(0), _chunk_count(builder, rest, size), carried, chunk, name="chunk")

    # -- the rules -----------------------------------------------------------------------------------------------

    def _rules(
        self, pulled: Function, inputs: Sequence[Value], carried: int, outs: Sequence[Value], kept: Sequence[Value]
    ) -> tuple[str, str]:
        names = f"{self.name}_vjp", f"{self.name}_jvp"
        self.made.update({name: each for name, each in pulled.callees.items() if name not in self.around})
        self.made[names[0]] = self._vjp(names[0], pulled, inputs, carried, outs, kept)
        try:
            pushed = self._jvp(names[1], inputs, carried, outs, kept)
        except AdgenError:  # something in the loop has no forward mode, and then the loop has none
            return names[0], ""
        self.made.update({name: each for name, each in pushed.callees.items() if name not in self.around})
        self.made[names[1]] = replace(pushed, callees={})
        return names

    def _given(
        self, inputs: Sequence[Value], carried: int, outs: Sequence[Value], kept: Sequence[Value]
    ) -> tuple[list[Value], list[Value], list[Value]]:
        """Parameters of a rule: the inputs, the results, the outputs."""
        results = inputs[len(inputs) - 3 - carried : len(inputs) - 3]
        groups = (inputs, results, (*outs, *kept))
        first, second, third = ([Value(value.type, value.name) for value in group] for group in groups)
        return first, second, third

    def _vjp(
        self,
        name: str,
        pulled: Function,
        inputs: Sequence[Value],
        carried: int,
        outs: Sequence[Value],
        kept: Sequence[Value],
    ) -> Function:
        """The reverse of all chunks, the last one first; each is run again from what was kept."""
        given, results, filled = self._given(inputs, carried, outs, kept)
        bars = [Value(v.type, f"{v.name}_bar") for v in (*results, *filled) if is_float(v.type)]
        moving = [value for value in given if is_float(value.type)]
        count = len(self.parts.state)
        states, constants = given[:count], given[count : len(given) - 3 - carried]
        lo, rest, size = given[-3:]
        builder = Builder()
        builder.span = self.span
        with builder.block((*given, *results, *filled, *bars)) as block:
            numbers = sum(is_float(value.type) for value in results)
            moved = [value for value in states if is_float(value.type)]
            shadows = [copy_of(builder, bar, bar.name) for bar in bars[numbers : numbers + len(moved)]]
            kept_bars = bars[numbers + len(moved) :]  # not zero when a gradient is differentiated again
            starts = [copy_of(builder, value, value.name) for value in states]
            sums = {
                value: builder.alloc(_element(value), builder.dims(value), f"{value.name}_bar")
                for value in constants
                if isinstance(value.type, Buffer) and is_float(value.type)
            }
            scalars = [value for value in constants if isinstance(value.type, Scalar) and is_float(value.type)]
            zeros = [builder.const(0.0, value.type) for value in scalars]

            def chunk(c: Value, *running: Value) -> tuple[Value, ...]:
                own, totals = running[:numbers], running[numbers:]
                place = builder.op(ops.SUB, builder.op(ops.SUB, _chunk_count(builder, rest, size), c), builder.index(1))
                for source, target in zip(filled[len(outs) :], starts):
                    _take(builder, source, target, place)
                begun = [builder.load(source, (place,)) for source in filled[len(outs) + count :]]
                first, steps = _range(builder, place, rest, size)
                parts = inlined(builder, pulled, (*starts, *constants, *begun, lo, first, steps, *own, *shadows))
                found = dict(zip(moving, parts, strict=True))
                for value, shadow, kept_bar in zip(moved, shadows, kept_bars):
                    _take(builder, kept_bar, shadow, place)
                    _add(builder, found[value], shadow)
                for value, total in sums.items():
                    _add(builder, found[value], total)
                added = [builder.op(ops.ADD, total, found[value]) for value, total in zip(scalars, totals)]
                begins = [value for value in given[-3 - carried : -3] if is_float(value.type)]
                rows = [builder.load(kept_bar, (place,)) for kept_bar in kept_bars[len(moved) :]]
                return (*(builder.op(ops.ADD, found[v], row) for v, row in zip(begins, rows, strict=True)), *added)

            names = [value.name for value in (*bars[:numbers], *scalars)]
            begin = (*bars[:numbers], *zeros)
            ended = builder.loop(builder.index(0), _chunk_count(builder, rest, size), begin, chunk, names=names)
            last = dict(zip((*(v for v in given[-3 - carried : -3] if is_float(v.type)), *scalars), ended))
            last |= dict(zip(moved, shadows)) | sums
            block.results = tuple(last[value] for value in moving)
        return builder.function(name, block, [f"{value.name}_bar" for value in moving])

    def _jvp(
        self, name: str, inputs: Sequence[Value], carried: int, outs: Sequence[Value], kept: Sequence[Value]
    ) -> Function:
        """The tangents of all chunks, from those of the inputs."""
        given, results, filled = self._given(inputs, carried, outs, kept)
        builder = Builder()
        builder.span = self.span
        with builder.block(given) as block:
            chunks = _chunk_count(builder, given[-2], given[-1])
            made = [builder.alloc(_element(v), builder.dims(w), v.name, zero=False) for v, w in zip(outs, given)]
            saved = [
                builder.alloc(_element(v), (chunks, *(builder.dims(w) if isinstance(w.type, Buffer) else ())), v.name)
                for v, w in zip(kept, (*given[: len(outs)], *results))
            ]
            count = len(given) - 3 - carried
            needs = (*self.parts.state, *self.parts.tables, *self.parts.numbers)
            mapping = dict(zip(needs, given))
            ended = self._run(builder, mapping, tuple(given[-3:]), given[count:-3], made, saved)  # type: ignore[arg-type]
            block.results = (*ended, *made, *saved)
        plain = builder.function(name, block, [value.name or "out" for value in block.results])
        pushed = forward(replace(plain, callees=self.around), floats(given))
        tangents = pushed.parameters[len(given) :]
        body = replace(
            pushed.body,
            arguments=(*pushed.parameters[: len(given)], *results, *filled, *tangents),
            results=pushed.results[len(block.results) :],
        )
        made_names = pushed.result_names[len(block.results) :]
        return dead_code(replace(pushed, name=name, body=body, result_names=made_names))


# -- integers ----------------------------------------------------------------------------------------------------------


def _trips(builder: Builder, lo: Value, hi: Value, step: int) -> Value:
    """How many steps a loop takes."""
    span = builder.op(ops.SUB, hi, lo) if step > 0 else builder.op(ops.SUB, lo, hi)
    up = builder.op(ops.ADD, span, builder.index(abs(step) - 1))
    return builder.op(ops.MAXIMUM, builder.op(ops.FLOORDIV, up, builder.index(abs(step))), builder.index(0))


def _chunk(builder: Builder, steps: Value, state: Value, each: Value) -> Value:
    """The steps of a chunk for which states and residuals take the least memory together: `sqrt(n s / b)`."""
    wide = [builder.op(ops.TO_F64, value) for value in (steps, state, builder.op(ops.MAXIMUM, each, builder.index(1)))]
    ratio = builder.op(ops.DIV, builder.op(ops.MUL, wide[0], wide[1]), wide[2])
    root = builder.op(ops.TO_I64, builder.op(ops.CEIL, builder.op(ops.SQRT, ratio)))
    return builder.op(ops.MAXIMUM, root, builder.index(1))


def _chunk_count(builder: Builder, steps: Value, size: Value) -> Value:
    return builder.op(ops.FLOORDIV, builder.op(ops.SUB, builder.op(ops.ADD, steps, size), builder.index(1)), size)


def _range(builder: Builder, chunk: Value, steps: Value, size: Value) -> tuple[Value, Value]:
    """The first step of a chunk, and how many there are."""
    first = builder.op(ops.MUL, chunk, size)
    return first, builder.op(ops.MINIMUM, size, builder.op(ops.SUB, steps, first))


def _element(value: Value) -> Scalar:
    assert isinstance(value.type, Buffer)
    return value.type.element


def _bytes(builder: Builder, buffer: Value, extents: Iterable[Value]) -> Value:
    element = _element(buffer)
    size = {"f64": 8, "f32": 4, "bool": 1}.get(element.name) or WIDTHS[element.name] // 8
    return reduce(lambda a, b: builder.op(ops.MUL, a, b), extents, builder.index(size))


def _residuals(builder: Builder, pulled: Function, mapping: Mapping, count: Value) -> Value | None:
    """The bytes that the reverse of some steps keeps of them; None when it keeps nothing of each.

    Memory whose size depends on the number of steps is counted; None too where that is not known beforehand.
    """
    made = {value: operation for operation in walk(pulled.body) for value in operation.results}
    dependent: dict[Value, bool] = {count: True}

    def depends(value: Value) -> bool:
        if value not in dependent:
            operation = made.get(value)
            dependent[value] = operation is not None and any(depends(operand) for operand in operation.operands)
        return dependent[value]

    def again(value: Value) -> Value | None:
        if value in mapping or value not in made:
            return mapping.get(value)
        operation = made[value]
        operands = [again(operand) for operand in operation.operands]
        if not operation.row.pure or None in operands:
            return None
        if operation.row is core.DIM:
            mapping[value] = builder.dim(operands[0], operation.attributes["axis"])  # type: ignore[arg-type]
        else:
            (mapping[value],) = builder.emit(operation.row, operands, operation.attributes)  # type: ignore[arg-type]
        return mapping[value]

    total = None
    for operation in made.values():
        if operation.row is not core.ALLOC or not any(depends(extent) for extent in operation.operands):
            continue
        extents = [again(extent) for extent in operation.operands]
        if None in extents:
            return None
        own = _bytes(builder, operation.result, extents)  # type: ignore[arg-type]
        total = own if total is None else builder.op(ops.ADD, total, own)
    return total


# -- memory ------------------------------------------------------------------------------------------------------------


def _keep(builder: Builder, source: Value, target: Value, place: Value) -> None:
    """A state, or a number, becomes one row of what is kept."""
    if isinstance(source.type, Scalar):
        builder.store(target, source, (place,))
        return
    builder.nest(
        builder.dims(source), lambda *index: builder.store(target, builder.load(source, index), (place, *index))
    )


def _take(builder: Builder, source: Value, target: Value, place: Value) -> None:
    builder.nest(
        builder.dims(target), lambda *index: builder.store(target, builder.load(source, (place, *index)), index)
    )


def _add(builder: Builder, source: Value, target: Value) -> None:
    builder.nest(builder.dims(target), lambda *index: builder.accumulate(target, builder.load(source, index), index))
