"""The text of one kernel.

Comes in: a kernel's function, whose memory is planned.  Goes out: its signature, its lines, and which extents of the
arrays that it takes it needs.  Guaranteed: a thread that finds a check failed notes it and ends; what is noted in the
end is the failure of the first iteration in the program's order.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from adgen import ops
from adgen.diagnostics import Span
from adgen.emit import control, storage
from adgen.emit.body import RULES, Body
from adgen.emit.cuda.outline import Kernel
from adgen.emit.cuda.wrapping import WRAPPED, wrapping
from adgen.emit.expression import Expression, assignment, negated, reads_of
from adgen.emit.functions import FunctionWriter
from adgen.emit.layout import Block, Layout, wrapped
from adgen.emit.names import Names
from adgen.emit.text import c_type, literal
from adgen.emit.uses import Uses, written
from adgen.ir import core
from adgen.ir.nodes import Operation, Row, Value
from adgen.ir.sizes import BLOCK
from adgen.ir.types import I64, Buffer
from adgen.ops.spelling import ADDITIVE

ALONG = "(int64_t)blockIdx.{0} * blockDim.{0} + threadIdx.{0}"
EVERY = "(int64_t)gridDim.{0} * blockDim.{0}"
THREAD = {"x": "thread", "y": "thread_y"}
THREADS = {"x": "threads", "y": "threads_y"}
NOTED = ("failure", "launch")  # where a failed check is noted, and by the how-manieth kernel


@dataclass(frozen=True)
class KernelText:
    """A kernel as text; `taken` are its parameters that it uses, `extents` those it takes, by parameter and axis."""

    name: str
    signature: str
    lines: list[str]
    taken: frozenset[Value]
    extents: tuple[tuple[Value, int], ...]
    noting: bool
    block: int = BLOCK


class KernelBody(Body):
    """Writes the body of a kernel."""

    slices: dict[Value, str]
    order: dict[int, tuple[Value, int]]

    def __init__(self, kernel: Kernel, names: Names, sites: list[Operation], helpers: dict[str, None]) -> None:
        super().__init__(Uses(kernel.function), kernel.plan, names, sites, helpers, {})
        self.rules = {**RULES, core.FOR: loop, core.ACCUMULATE: accumulate, core.ALLOC: alloc}
        self.slices = {}
        self.order = {}
        self.wrapping = wrapping(kernel.function, kernel.small)

    def elementwise(self, operation: Operation) -> None:
        """An operation on scalars."""
        if operation not in self.wrapping or self.folded(operation):
            super().elementwise(operation)
            return
        parts = [self.values.use(operand) for operand in operation.operands]
        self.values.define(operation.result, self.wrapped(operation.row, parts, operation.span))

    def wrapped(self, row: Row, parts: Sequence[Expression], span: Span | None) -> Expression:
        """Integer arithmetic that may leave the range of its type."""
        if row is ops.ADD and (opposite := negated(parts[1])) is not None:
            row, parts = ops.SUB, (parts[0], opposite)
        spelling = WRAPPED[row]
        self.helpers[spelling.helper(I64) or ""] = None
        return Expression(*spelling.render([part.pair for part in parts], I64), reads_of(parts), span)

    def element(self, buffer: Value, indices: list[Expression]) -> Expression:
        """An element; those of a slice are as far apart as there are threads."""
        made = super().element(buffer, indices)
        if self.uses.root[buffer] not in self.slices:
            return made
        name = self.buffers[buffer]
        inner = made.text[len(name) + 1 : -1]
        if inner == "0":
            return Expression(f"*{name}", 15, made.reads)
        inner = inner if re.fullmatch(r"\w+", inner) else f"({inner})"
        return Expression(f"{name}[{inner} * threads]", reads=made.reads)

    @property
    def detail(self) -> str:
        """What `adgen_fail` is told before the details: where to note it, and which iteration it is."""
        places = []
        for rank in (0, 1):
            index, step = self.order.get(rank, (None, 1))
            text = self.values.use(index).text if index is not None else "0"
            places.append(text if step > 0 else f"-{text}")
        return ", ".join([*NOTED, *places])

    def fail(self, condition: str, status: str) -> str:
        """End the thread when a condition holds."""
        return f"if ({condition}) return {status};"


def loop(body: KernelBody, operation: Operation) -> None:
    """A loop inside a thread, or over threads."""
    rank = operation.attributes.get("order")
    outside = dict(body.order)
    if rank is not None:
        body.order[rank] = (operation.regions[0].arguments[0], operation.attributes["step"])
    if "grid" in operation.attributes:
        over_threads(body, operation)
    else:
        control.for_loop(body, operation)
    body.order = outside


def over_threads(body: KernelBody, operation: Operation) -> None:
    """`for (int64_t i = ...; i < n; i += ...)`: a thread takes every so many iterations as there are threads."""
    values, region, axis = body.values, operation.regions[0], operation.attributes["grid"]
    stop = control.steady(body, operation.operands[1], operation)
    start = values.use(operation.operands[0])
    control.enter(body, operation, [])
    step: int = operation.attributes["step"]
    with values.block() as statements:
        index = region.arguments[0]
        counter = values.names.claim(index.name or "i")
        values.known[index] = Expression(counter)
        body.region(region)
    values.note(start.reads | stop.reads)
    first, every = THREAD[axis], THREADS[axis]
    if abs(step) != 1:
        first, every = f"{abs(step)} * {first}", f"{abs(step)} * {every}"
    sign, test = ("+", "<") if step > 0 else ("-", ">")
    if start.text != "0" or sign == "-":
        first = f"{start.inside(ADDITIVE)} {sign} {first}"
    head = f"for (int64_t {counter} = {first}; {counter} {test} {stop.inside(ADDITIVE)}; {counter} {sign}= {every})"
    values.statements.append(Block(head, statements, operation.span))


def accumulate(body: KernelBody, operation: Operation) -> None:
    """An addition, atomic where other threads may add to the same element."""
    reason = operation.attributes.get("atomic")
    buffer, value, *indices = operation.operands
    if reason is None and value.type != I64:
        storage.write(body, operation)
        return
    target, source = storage.place(body, buffer, indices), body.values.use(value)
    body.values.settle((body.uses.root[buffer],))
    if reason is None:
        total = body.wrapped(ops.ADD, (target, source), operation.span)
        body.values.emit(assignment(target, total), operation.span, total.reads)
        return
    place, added = f"&{target.text}", source.text
    if value.type == I64:
        place, added = f"(unsigned long long *){place}", f"(unsigned long long){source.inside(15)}"
    body.values.emit(f"atomicAdd({place}, {added});  /* {reason} */", operation.span, target.reads | source.reads)


def alloc(body: KernelBody, operation: Operation) -> None:
    """Memory of a thread's own."""
    buffer = operation.result
    if buffer not in body.slices:
        storage.alloc(body, operation)
        return
    extents = body.extents[buffer] = storage.extents_of(body, operation, operation.operands)
    if operation.attributes["zero"]:
        reads = frozenset[object]().union(*(extent.reads for extent in extents))
        count = storage.counted(body, operation.operands, extents)
        assert isinstance(buffer.type, Buffer)
        zero = literal(0, buffer.type.element)[0]
        name, counter = body.buffers[buffer], body.values.names.claim("z")
        head = f"for (int64_t {counter} = 0; {counter} < {count.inside(ADDITIVE)}; ++{counter})"
        body.values.emit(f"{head} {name}[{counter} * threads] = {zero};", operation.span, reads | {buffer})


class KernelWriter:
    """Writes one kernel; checks are appended to `sites`, helper functions to `helpers`."""

    def __init__(
        self,
        kernel: Kernel,
        name: str,
        sites: list[Operation],
        helpers: dict[str, None],
        tables: dict[Value, str],
        file_names: Iterable[str],
        noting: bool,
        blocks: Mapping[str, int],
    ) -> None:
        self.kernel = kernel
        self.name = name
        free = kernel.axes < 2 and not kernel.slices  # the division of others is worked out for the usual number
        self.block = blocks.get(name, BLOCK) if free else BLOCK
        self.noting = noting
        names = Names(file_names)
        self.parameters = {value: names.claim(value.name) for value in kernel.function.parameters}
        self.extents = {
            (value, axis): names.claim(f"{name}_n{axis}")
            for value, name in self.parameters.items()
            if isinstance(value.type, Buffer)
            for axis in range(value.type.rank)
        }
        self.given = {buffer: names.claim(f"{buffer.name or 'buffer'}_slices") for buffer in kernel.slices}
        self.body = KernelBody(kernel, names, sites, helpers)
        self.body.buffers.update(tables)

    def write(self) -> KernelText:
        """The signature and the lines."""
        body, values = self.body, self.body.values
        body.take(self.parameters, self.extents)
        for axis in ("x", "y")[: self.kernel.axes]:
            values.emit(f"const int64_t {THREAD[axis]} = {ALONG.format(axis)};", None)
            values.emit(f"const int64_t {THREADS[axis]} = {EVERY.format(axis)};", None)
        if self.given and not self.kernel.axes:
            values.emit("const int64_t thread = 0, threads = 1;", None)
        if self.noting:
            values.emit("if (adgen_failed(failure, launch)) return;", None)
        self.own_slices()
        body.region(self.kernel.function.body)
        FunctionWriter.close(body)
        lines = list(Layout().lines(values.statements, 1))
        words = set(re.findall(r"[A-Za-z_]\w*", re.sub(r"/\*.*?\*/", "", "\n".join(lines))))
        extents = tuple(place for place, name in self.extents.items() if name in words)
        taken = frozenset(value for value, name in self.parameters.items() if name in words)
        declared = ", ".join(self.declarations(taken, extents))
        head = f"static __global__ void __launch_bounds__({self.block}) {self.name}({declared})"
        return KernelText(self.name, "\n".join(wrapped(head, 0)), lines, taken, extents, self.noting, self.block)

    def own_slices(self) -> None:
        """The pointers of a thread into the arrays of slices."""
        body, values = self.body, self.body.values
        for buffer, given in self.given.items():
            name = body.buffers[buffer] = values.hold(buffer, buffer.name or "buffer")
            body.slices[buffer] = name
            values.emit(f"{c_type(buffer.type)} *const {name} = {given} + thread;", None)

    def declarations(self, taken: frozenset[Value], extents: tuple[tuple[Value, int], ...]) -> list[str]:
        """The parameters: what the host gives, then slices, then where failures are noted."""
        stored = written(self.kernel.function)
        found = []
        for value, name in self.parameters.items():
            if isinstance(value.type, Buffer):
                const = "" if value in stored else "const "
                found += [f"{const}{c_type(value.type)} *__restrict__ {name}"] if value in taken else []
                found += [f"int64_t {self.extents[place]}" for place in extents if place[0] is value]
            elif value in taken:
                found.append(f"{c_type(value.type)} {name}")
        found += [f"{c_type(buffer.type)} *__restrict__ {name}" for buffer, name in self.given.items()]
        return [*found, *(["int64_t *failure", "int64_t launch"] if self.noting else [])]
