"""The text of the host's part of an entry: memory, loops around kernels, launches.

Comes in: what `outline` made of a function, and the texts of its kernels.  Goes out: a function that takes device
pointers, a workspace and a stream.  Guaranteed: it allocates nothing and waits for nothing, so that its calls can be
recorded; all it does is put work into the stream.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from adgen.diagnostics import AdgenError
from adgen.emit import storage
from adgen.emit.body import RULES, Body
from adgen.emit.cuda.kernel import KernelText
from adgen.emit.cuda.outline import LAUNCH, Kernel, Outlined
from adgen.emit.cuda.products import MULTIPLY, multiply
from adgen.emit.expression import Expression, product, reads_of
from adgen.emit.functions import CFunction, FunctionWriter
from adgen.emit.interface import Interface
from adgen.emit.layout import Layout, wrapped
from adgen.emit.memory import TAKE, Plan
from adgen.emit.names import Names
from adgen.emit.profile import Profile
from adgen.emit.text import c_type
from adgen.emit.uses import Uses, written
from adgen.ir import core, sizes
from adgen.ir.builder import sharing_key
from adgen.ir.nodes import Function, Operation, Region, Value, walk
from adgen.ir.sizes import BLOCK, SIZES
from adgen.ir.types import Buffer

CUDA = Profile("cuda", frame=0)
FAILURE = 16  # numbers in which a failed check is noted
LARGEST_GRID = 2147483647
REST = ("void *work", "int64_t *detail", "int64_t *failure", "cudaStream_t stream")


class HostBody(Body):
    """Writes the body of a host's function."""

    names_pointers = False  # it only hands them on

    def __init__(
        self,
        texts: Mapping[Kernel, KernelText],
        uses: Uses,
        plan: Plan,
        names: Names,
        sites: list[Operation],
        helpers: dict[str, None],
    ) -> None:
        super().__init__(uses, plan, names, sites, helpers, {})
        self.texts = texts
        self.rules = {
            **RULES,
            core.ALLOC: alloc,
            core.TABLE: lambda body, operation: None,
            core.ADD_UP: add_up,
            MULTIPLY: multiply,
            **dict.fromkeys(SIZES, size),
            TAKE: take,
            LAUNCH: launch,
        }


def size(body: HostBody, operation: Operation) -> None:
    """How work is divided."""
    values = body.values
    given = [values.use(operand) for operand in operation.operands]
    text = f"adgen_{operation.row.name}({', '.join(expression.text for expression in given)})"
    values.declare(operation.result, Expression(text, reads=reads_of(given)))


def take(body: HostBody, operation: Operation) -> None:
    """A buffer's part of the workspace."""
    buffer: Value = operation.attributes["buffer"]
    name = body.buffers[buffer]
    extents = [body.values.lasting(extent) for extent in operation.operands]
    size = storage.bytes_of(name, storage.counted(body, operation.operands, extents))
    kind = c_type(buffer.type)
    fixed = "" if buffer in body.plan.exchanged else "const "
    size = size.replace(f"sizeof *{name}", f"sizeof({kind})").removeprefix("1 * ")
    text = f"{kind} *{fixed}{name} = ({kind} *)adgen_take(&work, {size});"
    body.values.emit(text, None, reads_of(extents) if extents else ())


def alloc(body: HostBody, operation: Operation) -> None:
    """Memory of the device, cleared unless its contents do not matter."""
    buffer = operation.result
    if buffer in body.plan.heap:
        raise AdgenError(
            "AD345",
            f"how much memory `{buffer.name or 'an array'}` takes is not known before the first kernel starts",
            operation.span,
            "make its extents of those of the arguments, of integer arguments and of numbers",
        )
    extents = body.extents[buffer] = storage.extents_of(body, operation, operation.operands)
    if operation.attributes["zero"]:
        name = body.buffers[buffer]
        size = storage.bytes_of(name, storage.counted(body, operation.operands, extents))
        reads = frozenset[object]().union(*(extent.reads for extent in extents))
        body.values.emit(f"cudaMemsetAsync({name}, 0, {size}, stream);", operation.span, reads | {buffer})


def pieces(body: HostBody, buffer: Value, axes: Iterable[int]) -> tuple[list[str], frozenset[object]]:
    """A buffer and some of its extents as arguments, and what they read."""
    extents = [body.extents[buffer][axis] for axis in axes]
    reads = frozenset[object]((body.uses.root[buffer],)).union(*(extent.reads for extent in extents))
    return [body.buffers[buffer], *(extent.text for extent in extents)], reads


def launch(body: HostBody, operation: Operation) -> None:
    """`f_grad_1<<<blocks, threads, 0, stream>>>(...)`."""
    kernel: Kernel = operation.attributes["kernel"]
    text, values = body.texts[kernel], body.values
    parameters = kernel.function.parameters
    given = operation.operands[: len(parameters)]
    slices = operation.operands[len(parameters) : len(operation.operands) - kernel.axes]
    trips = [values.lasting(value) for value in operation.operands[len(operation.operands) - kernel.axes :]]
    arguments: list[str] = []
    reads: frozenset[object] = reads_of(trips) if trips else frozenset()
    for parameter, value in zip(parameters, given, strict=True):
        if isinstance(value.type, Buffer):
            texts, read = pieces(body, value, [axis for owner, axis in text.extents if owner is parameter])
            arguments += texts if parameter in text.taken else texts[1:]
        elif parameter not in text.taken:
            continue
        else:
            expression = values.lasting(value)
            arguments.append(expression.text)
            read = expression.reads
        reads |= read
    for value in slices:
        texts, read = pieces(body, value, ())
        arguments += texts
        reads |= read
    if text.noting:
        arguments += ["failure", "++launch"]
    shape = configuration([trip.text for trip in trips], bool(slices), text.block)
    values.emit(f"{text.name}<<<{shape}, 0, stream>>>({', '.join(arguments)});", operation.span, reads)


def configuration(trips: Sequence[str], sliced: bool, block: int) -> str:
    """Blocks and threads for iterations along x, or x and y."""
    match trips:
        case []:
            return "1, 1"
        case [x]:
            most = sizes.SLICED // BLOCK if sliced else LARGEST_GRID
            return f"adgen_blocks({x}, {block}, {most}), {block}"
        case _:
            x, y = trips
            return f"adgen_plane({y}, {x}), adgen_threads({x})"


def add_up(body: HostBody, operation: Operation) -> None:
    """Parts of sums are brought together."""
    target, parts = operation.operands
    assert isinstance(target.type, Buffer)
    count = Expression("1")
    for extent in body.extents[target]:
        count = product(count, extent)
    width = body.extents[parts][-1]
    kind = c_type(target.type)
    reads = reads_of([count, width, *body.extents[target]]) | {body.uses.root[target], body.uses.root[parts]}
    body.values.emit(
        f"adgen_add_up_{kind}<<<adgen_blocks({count.text}, 1, {LARGEST_GRID}), adgen_width({width.text}), 0, stream>>>("
        f"{body.buffers[target]}, {count.text}, {body.buffers[parts]}, {width.text});",
        operation.span,
        reads,
    )


def _shared(function: Function) -> Function:
    """The function in which what has been worked out for the workspace is not worked out again."""
    instead: dict[Value, Value] = {}

    def visit(region: Region, known: dict[object, tuple[Value, ...]]) -> Region:
        operations: list[Operation] = []
        for operation in region.operations:
            operands = tuple(instead.get(value, value) for value in operation.operands)
            if operation.row.pure and not operation.regions:
                key = sharing_key(operation.row, operands, operation.attributes)
                if key in known:
                    instead.update(zip(operation.results, known[key], strict=True))
                    continue
                known[key] = operation.results
            regions = tuple(visit(inner, dict(known)) for inner in operation.regions)
            operations.append(replace(operation, operands=operands, regions=regions))
        results = tuple(instead.get(value, value) for value in region.results)
        return Region(region.arguments, tuple(operations), results)

    return replace(function, body=visit(function.body, {}))


class HostWriter(FunctionWriter):
    """Writes the host's part of one function."""

    def __init__(
        self,
        original: Function,
        outlined: Outlined,
        texts: Mapping[Kernel, KernelText],
        c_name: str,
        sites: list[Operation],
        helpers: dict[str, None],
        file_names: Iterable[str],
        fixed: Mapping[tuple[int, int], int],
    ) -> None:
        self.original = original
        self.texts = texts
        super().__init__(
            outlined.host,
            c_name,
            sites,
            helpers,
            {},
            file_names,
            profile=CUDA,
            fixed=fixed,
        )

    def _written(self) -> set[Value]:
        """The parameters that kernels store into."""
        return written(self.original)

    @property
    def noting(self) -> bool:
        """True when something can fail in a kernel."""
        return any(text.noting for text in self.texts.values())

    def inputs(self) -> list[str]:
        """The declarations of the parameters."""
        return [text.replace("*restrict ", "*__restrict__ ") for text in super().inputs()]

    def outputs(self) -> list[str]:
        """The declarations of the results."""
        return [text.replace("*restrict ", "*__restrict__ ") for text in super().outputs()]

    def write(self, note: str) -> CFunction:
        """The text; `note` is added to the comment above the function."""
        made = super().write(note)
        prototype = f"int {self.c_name}({', '.join([*self.inputs(), *self.outputs(), *REST])})"
        unused = self.unused(made.lines, ["work", "failure", "stream"])
        known = [line for line in unused if line not in made.lines]
        return replace(made, prototype="\n".join(wrapped(prototype, 0)), lines=[*known, *made.lines])

    def interface(self, formula: str) -> Interface:
        """What a caller must know: the results as the function of the user's has them."""
        made = super().interface(formula)
        results = [
            replace(parameter, type=value.type)
            for parameter, value in zip(made.results, self.original.results, strict=True)
        ]
        return replace(made, results=tuple(results), noting=self.noting)

    def body(self, function: Function) -> Body:
        """A writer that knows the parameters."""
        uses = Uses(function, frozenset(self.first_extents(function)))
        body = HostBody(self.texts, uses, self.plan, Names(self.taken), self.sites, self.helpers)
        body.take(self.names, self.extents)
        return body

    def first_extents(self, function: Function) -> Iterator[Value]:
        """The buffers whose first extents are arguments of kernels."""
        for operation in walk(function.body):
            if operation.row is LAUNCH:
                kernel: Kernel = operation.attributes["kernel"]
                given = dict(zip(kernel.function.parameters, operation.operands))
                yield from (given[owner] for owner, axis in self.texts[kernel].extents if axis == 0)
            elif operation.row is core.ADD_UP:
                yield from operation.operands

    def main(self) -> list[str]:
        """The lines of the function itself."""
        body, plan = self.body(_shared(self.plan.main())), self.plan
        values = body.values
        for buffer in plan.workspace:
            body.buffers[buffer] = values.hold(buffer, buffer.name or "buffer")
        for buffer, position in plan.result.items():
            body.buffers[buffer] = self.result_names[position]
        if self.noting:
            values.emit("int64_t launch = 0;", None)
            values.emit(f"cudaMemsetAsync(failure, 0, {FAILURE} * sizeof *failure, stream);", None)
        body.region(body.uses.function.body)
        self.close(body)
        return [*Layout().lines(values.statements, 1), "    return adgen_launched(detail);"]
