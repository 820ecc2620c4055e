"""Buffers and stacks as C: elements, and memory made where an `alloc` stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from adgen.emit.expression import Expression, assignment, increment, product
from adgen.emit.text import c_type
from adgen.emit.values import described
from adgen.ir import core
from adgen.ir.nodes import Operation, Value
from adgen.ir.types import BOOL, Buffer
from adgen.ops.spelling import UNARY

if TYPE_CHECKING:
    from adgen.emit.body import Body


def place(body: Body, buffer: Value, indices: Sequence[Value]) -> Expression:
    """An element of a buffer."""
    used = [body.values.use(index) for index in indices]
    made = body.element(buffer, used)
    spoken = body.pointers.get(buffer, body.buffers[buffer])
    return replace(made, hint=described(spoken, used))


def load(body: Body, operation: Operation) -> None:
    """An element is read."""
    buffer, *indices = operation.operands
    body.values.define(operation.result, replace(place(body, buffer, indices), span=operation.span))


def write(body: Body, operation: Operation) -> None:
    """An element is written or added to, after what waits for its old value has been evaluated."""
    buffer, value, *indices = operation.operands
    target, source = place(body, buffer, indices), body.values.use(value)
    body.values.settle((body.uses.root[buffer],))
    made = assignment(target, source) if operation.row is core.STORE else increment(target, source)
    root = body.uses.root[buffer]
    stored = target.reads if root not in body.plan.local else target.reads - {root}  # an array must also be read
    body.values.emit(made, operation.span, stored | source.reads)


def dim(body: Body, operation: Operation) -> None:
    """An extent is known by a name or is a number."""
    body.values.known[operation.result] = body.extents[operation.operands[0]][operation.attributes["axis"]]


def table(body: Body, operation: Operation) -> None:
    """A constant array stands at the top of the file."""
    body.extents[operation.result] = [Expression(str(extent)) for extent in operation.attributes["data"].shape]


def reshape(body: Body, operation: Operation) -> None:
    """The same memory with other extents."""
    body.buffers[operation.result] = body.buffers[operation.operands[0]]
    body.extents[operation.result] = extents_of(body, operation, operation.operands[1:])


def extents_of(body: Body, operation: Operation, extents: Sequence[Value]) -> list[Expression]:
    """The extents of a buffer, under names that last; one that nothing reads is left out."""
    read = body.uses.read(operation)
    return [body.values.lasting(extent) if extent in read else Expression("") for extent in extents]


def alloc(body: Body, operation: Operation) -> None:
    """Memory for a buffer, cleared unless its contents do not matter."""
    buffer, values, plan = operation.result, body.values, body.plan
    assert isinstance(buffer.type, Buffer)
    extents = body.extents[buffer] = extents_of(body, operation, operation.operands)
    reads = frozenset[object]().union(*(extent.reads for extent in extents))
    if buffer in plan.local:
        name = body.buffers[buffer] = values.hold(buffer, buffer.name or "buffer")
        cleared = f" = {{{'false' if buffer.type.element == BOOL else '0'}}}" if operation.attributes["zero"] else ""
        values.emit(f"{c_type(buffer.type)} {name}[{plan.local[buffer]}]{cleared};", operation.span)
        return
    name = body.buffers[buffer]
    if buffer in plan.heap:
        room = saturated(c_type(buffer.type), extents)
        values.emit(f"{name} = adgen_grow({name}, &{name}_room, {room});", operation.span, reads)
        values.emit(body.fail(f"!{name}", "-1"), operation.span)
    if operation.attributes["zero"]:
        count = counted(body, operation.operands, extents)
        values.emit(f"memset({name}, 0, {bytes_of(name, count)});", operation.span, reads)


def counted(body: Body, operands: Sequence[Value], extents: Sequence[Expression]) -> Expression:
    """The number of elements of a buffer; an extent that might be negative counts as 0."""
    total = Expression("1")
    for operand, extent in zip(operands, extents, strict=True):
        natural = body.plan.natural(operand)
        total = product(total, extent if natural else Expression(f"adgen_extent({extent.text})"))
    return total


def bytes_of(name: str, count: Expression) -> str:
    """The size of so many elements."""
    if count.text.isdigit():
        return f"{count.text} * sizeof *{name}"
    return f"(size_t){count.inside(UNARY)} * sizeof *{name}"


def saturated(kind: str, extents: Sequence[Expression]) -> str:
    """The size of a buffer of a C type; one that does not fit becomes the largest there is."""
    text = f"sizeof({kind})"
    for extent in extents:
        text = f"adgen_times({text}, {extent.text})"
    return text


def take(body: Body, operation: Operation) -> None:
    """A buffer's part of the workspace."""
    buffer: Value = operation.attributes["buffer"]
    name = body.buffers[buffer]
    extents = [body.values.lasting(extent) for extent in operation.operands]
    reads = frozenset[object]().union(*(extent.reads for extent in extents))
    size = bytes_of(name, counted(body, operation.operands, extents))
    fixed = "" if buffer in body.plan.exchanged else "const restrict "
    body.values.emit(f"{c_type(buffer.type)} *{fixed}{name} = adgen_take(&work, {size});", None, reads)


def take_part(body: Body, buffer: Value, thread: str) -> None:
    """The slice of a buffer's part of the workspace that belongs to a thread."""
    extents = body.plan.workspace[buffer][1:]
    size = counted(body, extents, [body.values.use(extent) for extent in extents])
    whole = body.buffers[buffer]
    name = body.buffers[buffer] = body.values.names.claim(buffer.name or "buffer")
    size = product(Expression(thread), size)
    text = f"{c_type(buffer.type)} *const restrict {name} = {whole} + {size.text};"
    body.values.emit(text, None, frozenset((buffer,)) | size.reads)


def reserve(body: Body, operation: Operation) -> None:
    """What a buffer adds to the size of the workspace."""
    buffer: Value = operation.attributes["buffer"]
    extents = [body.values.use(extent) for extent in operation.operands]
    reads = frozenset[object]().union(*(extent.reads for extent in extents))
    body.values.emit(f"used = adgen_reserve(used, {saturated(c_type(buffer.type), extents)});", None, reads)


def stack(body: Body, operation: Operation) -> None:
    """A stack is empty when it is made."""
    body.values.emit(f"{body.buffers[operation.result]}.size = 0;", operation.span)


def push(body: Body, operation: Operation) -> None:
    """A value goes onto a stack."""
    target, value = operation.operands
    source = body.values.use(value)
    call = f"adgen_push_{c_type(target.type)}(&{body.buffers[target]}, {source.text})"
    body.values.emit(body.fail(f"!{call}", "-1"), operation.span, source.reads)


def pop(body: Body, operation: Operation) -> None:
    """The last value of a stack."""
    (source,) = operation.operands
    name, value = body.buffers[source], operation.result
    popped = Expression(f"{name}.data[--{name}.size]", span=operation.span, hint="popped")
    if body.uses.count[value]:
        variable = body.values.variables.of[value]
        if variable.mutable:
            body.values.assign(variable, popped)
        else:
            body.values.declare(value, popped)
    else:
        body.values.emit(f"--{name}.size;", operation.span)
