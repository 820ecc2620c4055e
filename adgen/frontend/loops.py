"""Loops whose trip count is known at run time only: what they carry from iteration to iteration.

The body is lowered under an assumption about what each changed slot holds; when the end of the body contradicts the
assumption, the attempt is discarded and made again with a wider one.  Types only widen, so this ends.  `Unstable` says
that no assumption works; the caller may then take the loop apart.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from adgen import ops
from adgen.diagnostics import AdgenError
from adgen.frontend import memory, scan
from adgen.frontend.join import choices_in, meet, never, number_template, separate, widen
from adgen.frontend.loop_emission import (
    Choosing,
    Header,
    Plan,
    Unstable,
    arguments_of,
    cell_buffers,
    emit,
    enter,
    fill_cells,
    value_of,
)
from adgen.frontend.same import same
from adgen.frontend.scan import BROKEN, CONTINUED, RESULT, RETURNED
from adgen.frontend.state import Items, Slot, State
from adgen.frontend.templates import Cell, Flattener, Optional, Scalars, Template
from adgen.frontend.values import UNBOUND, Maybe, Unbound, is_number
from adgen.ir.nodes import Value
from adgen.ir.types import F64, I64

if TYPE_CHECKING:
    from adgen.frontend.context import Context

ATTEMPTS = 16


def run_loop(ctx: Context, header: Header, run: Callable[[Value | None], None]) -> None:
    """Lower a loop; `run(index)` binds the target and lowers the body once.

    Raises Unstable when the loop has to be taken apart.
    """
    entry = State.capture(ctx)
    undo = ctx.mark()
    plan = _first_plan(ctx, header, entry)
    for _ in range(ATTEMPTS):
        try:
            if _attempt(ctx, header, run, entry, plan):
                ctx.loops[_memo_key(ctx, header)] = _memo(plan)
                return
        except AdgenError as error:
            entry.restore()
            undo()
            if not _guess_again(plan):
                if any(_guessed(template) for template in plan.head.values()):
                    raise Unstable(error.code, error.message, error.span, error.help) from None
                raise
            continue
        entry.restore()
        undo()
    ctx.fail("AD314", "the types of this loop's variables do not settle", "give them their final type before the loop")


def _memo_key(ctx: Context, header: Header) -> Any:
    return (ctx.sites, id(header.node))


def _memo(plan: Plan) -> dict[Slot, Template]:
    return {slot: t for slot, t in plan.head.items() if slot.owner == 0 and isinstance(t, Scalars)}


def _guess_again(plan: Plan) -> bool:
    """Where a variable has no value before the loop its type is guessed: first a float, then an int."""
    guesses = [t.inner if isinstance(t, Optional) else t for t in plan.head.values() if _guessed(t)]
    floats = [guess for guess in guesses if isinstance(guess, Scalars) and guess.element == F64]
    for guess in floats:
        guess.element = I64
    return bool(floats)


def _guessed(template: Template) -> bool:
    inner = template.inner if isinstance(template, Optional) else template
    return isinstance(inner, Scalars) and inner.guess


def _first_plan(ctx: Context, header: Header, entry: State) -> Plan:
    """Numbers that the body assigns are dynamic from the start; everything else is taken to stay as it is."""
    flow = ctx.frame.code.flow
    node = header.node
    body = [*node.body, node.target] if isinstance(node, ast.For) else [*node.body, node.test]
    names = scan.assigned(body) & ctx.frame.code.locals
    memo = ctx.loops.get(_memo_key(ctx, header), {})
    plan = Plan()
    for name in sorted(names & flow.head[node]):
        value, slot = entry.names.get(name, UNBOUND), Slot(0, name)
        template: Template | None = None
        if isinstance(value, Unbound):
            template = Optional(Scalars(F64, True, name, guess=True), True, name)
        elif isinstance(value, Maybe) and is_number(value.value):
            template = Optional(number_template(ctx, [value.value], name), True, name)
        elif is_number(value):
            template = number_template(ctx, [value], name)
            if slot in memo and isinstance(memo[slot], Scalars):
                template = widen(ctx, memo[slot], value, name)
        if template is not None:
            plan.head[slot] = template
    return plan


# -- one attempt -------------------------------------------------------------------------------------------------


def _attempt(ctx: Context, header: Header, run: Callable[[Value | None], None], entry: State, plan: Plan) -> bool:
    """Lower the loop under the plan.  False: the plan has been widened and nothing is left of the attempt."""
    builder = ctx.builder
    span = builder.span
    inits = Flattener(entry.items)
    for slot, template in plan.head.items():
        template.flatten(ctx, value_of(entry, slot), inits)
    fill_cells(ctx, inits, plan)
    index = Value(I64, header.name) if header.start is not None else None
    arguments = arguments_of(plan.head)
    with builder.block([*([index] if index is not None else []), *arguments]) as block:
        if index is not None:
            assert header.start is not None and header.stop is not None
            if header.step > 0:
                ctx.ranges.declare(index, header.start, header.stop)
            elif header.step < 0:
                one = builder.index(1)
                ctx.ranges.declare(index, builder.op(ops.ADD, header.stop, one), builder.op(ops.ADD, header.start, one))
        enter(ctx, entry, plan, arguments)
        begin = State.capture(ctx)
        run(index)
        ctx.frame.names[CONTINUED] = False
        end = State.capture(ctx)
    entry.restore()
    builder.span = span
    around, ctx.renewed = ctx.renewed, cell_buffers(plan)
    try:
        if _revise(ctx, header, plan, entry, begin, end):
            return False
    finally:
        ctx.renewed = around
    emit(ctx, header, plan, entry, end, block, inits.values, arguments)
    return True


def _revise(ctx: Context, header: Header, plan: Plan, entry: State, begin: State, end: State) -> bool:
    """Compare the end of the iteration with the plan.  True: the plan was widened."""
    changed = False
    flow = ctx.frame.code.flow
    for owner, (_, content) in entry.containers.items():
        if owner in end.containers and owner not in ctx.scopes and list(content) != list(end.containers[owner][1]):
            help = "use an array of the final size, or a loop whose number of iterations is a constant"
            raise Unstable("AD315", "a list or dict changes its size in this loop", ctx.span, help)
    for slot, template in list(plan.head.items()):
        wider = widen(ctx, template, value_of(end, slot), str(slot.key), end.items)
        if wider is not template:
            plan.head[slot] = wider
            changed = True
    plan.late.clear()
    finals = dict(end.slots())
    for slot in dict.fromkeys([*finals, *dict(begin.slots())]):
        if slot in plan.head or (slot.owner and slot.owner not in entry.containers):
            continue
        before, after = value_of(begin, slot), finals.get(slot, UNBOUND)
        if slot.owner == 0 and slot.key in (BROKEN, CONTINUED, RETURNED, RESULT):
            if slot.key != CONTINUED and not same(before, after):
                plan.late[slot] = meet(ctx, before, after, str(slot.key), slot.key != RESULT, begin.items, end.items)
        elif same(before, after):
            continue
        elif slot.owner or slot.key in flow.head[header.node]:
            plan.head[slot] = _at_head(ctx, value_of(entry, slot), after, slot, entry.items, end.items)
            changed = True
        else:
            plan.late[slot] = meet(ctx, value_of(entry, slot), after, str(slot.key), True, entry.items, end.items)
    pairs = []
    for slot, template in [*plan.head.items(), *plan.late.items()]:
        before, after = value_of(entry, slot), value_of(end, slot)
        pairs.append((template, ((before, entry.items), (after, end.items)), before))
    changed |= separate(ctx, pairs)
    for slot, template in plan.head.items():
        if (reason := never(template)) is not None:
            if ctx.inference is not None:
                ctx.inference.conflict(ctx, [value_of(entry, slot), value_of(end, slot)])
            raise Unstable(reason.code, reason.message, ctx.span, reason.help)
        if not header.choosing and (chosen := next(choices_in(template), None)) is not None:
            raise Choosing(chosen.reason.code, chosen.reason.message, ctx.span, chosen.reason.help)
    return changed


def _at_head(ctx: Context, before: Any, after: Any, slot: Slot, at_entry: Items, at_end: Items) -> Template:
    """The template of a slot that turned out to change."""
    name = str(slot.key)
    if isinstance(before, Unbound):
        return meet(ctx, before, after, name, slot.key != RESULT, at_entry, at_end)
    if is_number(before) and is_number(after):
        return number_template(ctx, [before, after], name)
    template = meet(ctx, before, after, name, True, at_entry, at_end)
    if isinstance(template, Cell) and memory.wrap(ctx, before).element != memory.wrap(ctx, after).element:
        raise Unstable("AD316", f"`{name}` becomes an array of another type in this loop", ctx.span, None)
    return template
