"""Closing a loop whose body has been lowered: what it carries, the cells of its arrays, the state after it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from adgen import ops
from adgen.diagnostics import AdgenError
from adgen.frontend import memory
from adgen.frontend.control import DEAD
from adgen.frontend.join import never
from adgen.frontend.same import same
from adgen.frontend.scan import BROKEN, CONTINUED, RESULT, RETURNED
from adgen.frontend.state import Slot, State
from adgen.frontend.templates import Flattener, Template
from adgen.frontend.values import UNBOUND, Maybe
from adgen.ir import core
from adgen.ir.builder import Block
from adgen.ir.nodes import Value
from adgen.ir.types import BOOL

if TYPE_CHECKING:
    from adgen.frontend.context import Context


class Unstable(AdgenError):
    """What the loop carries is not of one kind from iteration to iteration."""


class Choosing(Unstable):
    """It is of several kinds, which one is chosen at run time."""


@dataclass(eq=False)
class Header:
    """How a loop runs.  A `for` has bounds; a `while` has a test that is lowered in a region of its own.

    `choosing`: what it carries may be of several kinds.  `memory`: how many bytes its residuals may take.
    """

    node: ast.For | ast.While
    start: Value | None = None
    stop: Value | None = None
    step: int = 1
    trip: int | None = None
    name: str = "i"
    test: Callable[[], bool | Value] | None = None
    choosing: bool = True
    memory: int | None = None


@dataclass(eq=False)
class Plan:
    """The present assumption: `head` slots enter an iteration, `late` ones only leave the loop."""

    head: dict[Slot, Template] = field(default_factory=dict)
    late: dict[Slot, Template] = field(default_factory=dict)


def value_of(state: State, slot: Slot) -> Any:
    if slot.owner == 0:
        return state.names.get(slot.key, UNBOUND)
    return state.containers[slot.owner][1].get(slot.key, UNBOUND) if slot.owner in state.containers else UNBOUND


def arguments_of(templates: dict[Slot, Template]) -> list[Value]:
    return [Value(kind, name) for template in templates.values() for kind, name in template.types()]


def cell_buffers(plan: Plan) -> frozenset[Value]:
    """The buffers of the arrays that enter an iteration."""
    bases = (memory.base_of(cell.array) for template in plan.head.values() for cell in template.cells())
    return frozenset(base for base in bases if base is not None)


def enter(ctx: Context, entry: State, plan: Plan, arguments: list[Value]) -> None:
    """Set the state that an iteration starts with."""
    entry.restore()
    values = iter(arguments)
    for slot, template in plan.head.items():
        set_slot(ctx, entry, slot, template.rebuild(ctx, values))
    for flag in (RETURNED, BROKEN, CONTINUED):
        ctx.frame.names[flag] = False
    ctx.frame.names.pop(RESULT, None)


def set_slot(ctx: Context, state: State, slot: Slot, value: Any) -> None:
    """Change a slot of the present state, but not of the snapshot."""
    if slot.owner == 0:
        ctx.frame.names[slot.key] = value
        return
    container, _ = state.containers[slot.owner]
    if value is UNBOUND:
        container.pop(slot.key, None)
    elif isinstance(container, list | dict):
        container[slot.key] = value
    else:
        object.__setattr__(container, slot.key, value)


def fill_cells(ctx: Context, out: Flattener, plan: Plan) -> None:
    """Make the cells of the head and copy the arrays at entry into them."""
    sources = {cell: memory.wrap(ctx, value) for cell, value in out.copies}
    for template in plan.head.values():
        for cell in template.cells():
            if cell not in sources:
                message = f"`{cell.name}` is an array that is first made inside the loop and used in the next iteration"
                raise Unstable("AD317", message, ctx.span, "make it before the loop")
            source = sources[cell]
            name = cell.name if cell.name.isidentifier() else ""
            cell.array = memory.allocate(ctx, cell.element, source.extents, name, zero=False)
            memory.move(ctx, [(cell.array, source, cell.name)])


def emit(
    ctx: Context,
    header: Header,
    plan: Plan,
    entry: State,
    end: State,
    block: Block,
    inits: list[Value],
    arguments: list[Value],
) -> None:
    """Close the body with what it yields, emit the loop, set the state after it."""
    builder = ctx.builder
    broken, returned = end.names.get(BROKEN, False), end.names.get(RETURNED, False)
    wants_broken = bool(header.node.orelse)
    late = {s: t for s, t in plan.late.items() if s.key != BROKEN or wants_broken}
    late = {s: t for s, t in late.items() if never(t) is None and _alive(ctx, header, s)}
    out, opening = Flattener(end.items), Flattener(entry.items)
    builder.blocks.append(block)
    for slot, template in plan.head.items():
        template.flatten(ctx, value_of(end, slot), out)
    for slot, template in late.items():
        template.flatten(ctx, value_of(end, slot), out)
    stopping = _either(ctx, broken, returned)
    going = None if stopping is None else builder.op(ops.NOT, stopping)
    builder.blocks.pop()
    for slot, template in late.items():
        template.flatten(ctx, value_of(entry, slot), opening)
    _late_cells(ctx, late, opening, out, block)
    builder.blocks.append(block)
    memory.move(ctx, [(cell.array, memory.wrap(ctx, value), cell.name) for cell, value in out.copies], checked=True)
    builder.blocks.pop()
    block.arguments = (*block.arguments, *arguments_of(late))
    carried = [*inits, *opening.values]
    names = [name for t in [*plan.head.values(), *late.values()] for _, name in t.types()]
    endless = False
    if header.test is None:
        assert header.start is not None and header.stop is not None
        block.results = (*([going] if going is not None else []), *out.values)
        attributes = {"step": header.step, "exit": going is not None}
        if header.memory is not None:
            if going is not None:
                help = "let it run to its end, or leave the checkpoint out"
                ctx.fail("AD244", "a loop that may stop early cannot be run again from a checkpoint", help)
            attributes["memory"] = header.memory
        operands = (header.start, header.stop, *carried)
        results = builder.emit(core.FOR, operands, attributes, (block.region(),), names)
    else:
        results, endless = _emit_while(ctx, header, plan, late, entry, block, out.values, going, carried, names)
    values = iter(_with_trip(ctx, header, out.values, results))
    for slot, template in [*plan.head.items(), *late.items()]:
        set_slot(ctx, entry, slot, template.rebuild(ctx, values))
    for slot, template in plan.late.items():
        if slot not in late and slot.key not in (BROKEN, CONTINUED):
            reason = never(template)
            set_slot(ctx, entry, slot, DEAD if reason is None else reason)
    if endless and broken is False and returned is not False:
        ctx.frame.names[RETURNED] = True  # nothing but a `return` leaves the loop


def _alive(ctx: Context, header: Header, slot: Slot) -> bool:
    if slot.owner or slot.key in (BROKEN, RETURNED, RESULT):
        return True
    return slot.key in ctx.frame.code.flow.after[header.node]


def _either(ctx: Context, *flags: Any) -> Value | None:
    """The disjunction of flags that may be static; None when it is statically false."""
    total: Value | None = None
    for flag in flags:
        if flag is False:
            continue
        value = ctx.builder.const(True, BOOL) if flag is True else flag.value
        total = value if total is None else ctx.builder.op(ops.OR, total, value)
    return total


def _with_trip(ctx: Context, header: Header, finals: list[Value], results: tuple[Value, ...]) -> Iterator[Value]:
    """A flag that every iteration sets is set after a loop that runs at least once."""
    for final, result in zip(finals, results):
        ran = header.trip is not None and header.trip > 0
        yield final if ran and ctx.builder.known(final) is True else result


def _late_cells(ctx: Context, late: dict[Slot, Template], opening: Flattener, out: Flattener, block: Block) -> None:
    """Make the cells of arrays that leave the loop but do not enter an iteration."""
    inside = memory.defined_in(block)
    before = {cell: memory.wrap(ctx, value) for cell, value in opening.copies}
    finals = {cell: memory.wrap(ctx, value) for cell, value in out.copies}
    for template in late.values():
        for cell in template.cells():
            source = before.get(cell, finals.get(cell))
            extents = [memory.hoist(ctx, extent, inside) for extent in source.extents] if source is not None else []
            if source is None or any(extent is None for extent in extents):
                message = f"the array `{cell.name}` is first made inside the loop, with a shape that is decided there"
                ctx.fail_dynamic("AD317", message, "make it before the loop and fill it inside")
            known = [extent for extent in extents if extent is not None]
            cell.array = memory.allocate(ctx, cell.element, known, cell.name if cell.name.isidentifier() else "")
            if cell in before:
                memory.move(ctx, [(cell.array, before[cell], cell.name)])


def _emit_while(
    ctx: Context,
    header: Header,
    plan: Plan,
    late: dict[Slot, Template],
    entry: State,
    body: Block,
    finals: list[Value],
    going: Value | None,
    carried: list[Value],
    names: list[str],
) -> tuple[tuple[Value, ...], bool]:
    """Emit a `while`; leaving from inside is a flag that the test looks at first.  Also: whether the test is `True`."""
    builder = ctx.builder
    assert header.test is not None
    arguments = [*arguments_of(plan.head), *arguments_of(late)]
    flag = Value(BOOL, "going")
    extra = [flag] if going is not None else []
    with builder.block([*arguments, *extra]) as test:
        enter(ctx, entry, plan, arguments)
        before = State.capture(ctx)
        if going is None:
            outcome = header.test()
            test.results = (outcome if isinstance(outcome, Value) else builder.const(outcome, BOOL),)
        else:
            with builder.block() as inner:
                outcome = header.test()
                inner.results = (outcome if isinstance(outcome, Value) else builder.const(outcome, BOOL),)
            test.results = (_and_then(ctx, flag, inner),)
        _check_test(ctx, before)
        entry.restore()
    if going is not None:
        body.arguments = (*body.arguments, Value(BOOL, "going"))
        body.results = (*finals, going)
        carried, names = [*carried, builder.const(True, BOOL)], [*names, "going"]
    else:
        body.results = tuple(finals)
    return builder.emit(core.WHILE, carried, {}, (test.region(), body.region()), names), outcome is True


def _check_test(ctx: Context, before: State) -> None:
    """The test of a `while` may write arrays, but not change names or containers: the body would not see it."""
    after = dict(State.capture(ctx).slots())
    for slot, value in before.slots():
        if not same(value, after.get(slot)) and not isinstance(value, Maybe):
            help = "move it into the body: `while True: ... if not ...: break`"
            raise Unstable("AD243", "a list, dict or name is changed by the test of this loop", ctx.span, help)


def _and_then(ctx: Context, flag: Value, inner: Block) -> Value:
    """`flag and <inner>`, where the inner block must not run when the flag is false."""
    builder = ctx.builder
    if all(operation.row.pure for operation in inner.operations):
        for operation in inner.operations:
            builder.append(operation)
        if builder.known(inner.results[0]) is True:
            return flag
        return builder.op(ops.AND, flag, inner.results[0])
    with builder.block() as other:
        other.results = (builder.const(False, BOOL),)
    (result,) = builder.emit(core.IF, (flag,), {"types": ("bool",)}, (inner.region(), other.region()))
    return result
