"""Branches on run-time conditions: both sides are lowered and what they changed is joined."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from adgen import ops
from adgen.diagnostics import AdgenError
from adgen.frontend import memory
from adgen.frontend.arrays.agreement import under
from adgen.frontend.context import PythonError
from adgen.frontend.join import choices_in, meet, narrowed, never, separate
from adgen.frontend.same import same
from adgen.frontend.scan import BROKEN, CONTINUED, RESULT, RETURNED
from adgen.frontend.state import Items, Slot, State, collect, fill
from adgen.frontend.templates import Cell, Flattener, Template
from adgen.frontend.values import UNBOUND, Maybe, Poison, Unbound
from adgen.ir import core
from adgen.ir.builder import Block
from adgen.ir.nodes import Value
from adgen.ir.types import BOOL

if TYPE_CHECKING:
    from adgen.frontend.context import Context

DEAD = Poison("AD410", "this name differs between two branches")
FLAGS = (RETURNED, BROKEN, CONTINUED, RESULT)
OF_TYPES = (TypeError, AttributeError, LookupError)  # what kinds of values and which keys there are raises these
Join = tuple[Any, Template, Any, Any]


def fork(
    ctx: Context,
    condition: Value,
    then: Callable[[], Any],
    otherwise: Callable[[], Any],
    keep: frozenset[str] | None = None,
    name: str = "",
) -> Any:
    """Lower both sides of a dynamic condition; the result is the join of what the two callbacks return.

    `keep`: the names that may be read afterwards; None keeps all.  A side on which Python certainly raises because of
    the types of its values ends there.
    """
    builder = ctx.builder
    span = builder.span
    before = State.capture(ctx)
    with builder.block() as first, under(ctx, condition):
        ctx.ranges.assume(condition)
        left = _side(ctx, then)
    state_left = State.capture(ctx)
    before.restore()
    with builder.block() as second, under(ctx, condition):
        ctx.ranges.assume(condition, False)
        right = _side(ctx, otherwise)
    state_right = State.capture(ctx)
    before.restore()
    builder.span = span
    dead = isinstance(left, Raised), isinstance(right, Raised)
    if isinstance(left, Raised):
        left = right if isinstance(right, Raised) else UNBOUND
    if isinstance(right, Raised):
        if right is left:
            builder.span = right.error.span
            ctx.fail(right.error.code, right.error.message, right.error.help, right.error.instance)
        right = UNBOUND
    try:
        joins, plain = _joins(ctx, before, (state_left, first), (state_right, second), keep, dead)
        sides = state_left.items, state_right.items
        left, right = (left, right) if same(left, right) else (narrowed(ctx, left, first), narrowed(ctx, right, second))
        result = meet(ctx, left, right, name, not any(dead), *sides)
        joins.append((None, result, left, right))
        held = dict(before.slots())
        separate(ctx, [(t, tuple(zip((a, b), sides)), held.get(slot, UNBOUND)) for slot, t, a, b in joins])
        values = iter(_emit(ctx, condition, first, second, joins, sides))
    except AdgenError:
        ctx.decides(condition)
        raise
    if any(never(template) or any(choices_in(template)) for _, template, _, _ in joins):
        ctx.decides(condition)
    rebuilt = [(slot, template.rebuild(ctx, values)) for slot, template, _, _ in joins]
    _apply(ctx, before, plain, rebuilt[:-1])
    if any(dead):
        ctx.ranges.assume(condition, dead[1])
    joined = rebuilt[-1][1]
    if isinstance(joined, Poison):
        ctx.fail(joined.code, joined.message, joined.help)
    return joined


@dataclass(frozen=True)
class Raised:
    """The outcome of a side on which Python raises."""

    error: PythonError


def _side(ctx: Context, run: Callable[[], Any]) -> Any:
    """What a side gives; where Python certainly raises because of the types of values, a check that fails."""
    try:
        return run()
    except PythonError as error:
        here = error.context is ctx and error.depth == len(ctx.builder.blocks)
        if not here or not issubclass(error.exception, OF_TYPES) or ctx.catching(error.exception):
            raise
        ctx.builder.span = error.span
        ctx.builder.check(ctx.builder.const(False), error.exception.__name__, str(error.instance))
        return Raised(error)


def _joins(
    ctx: Context,
    before: State,
    first: tuple[State, Block],
    second: tuple[State, Block],
    keep: frozenset[str] | None,
    dead: tuple[bool, bool],
) -> tuple[list[Join], dict[Slot, Any]]:
    """What has to be joined, and the slots whose value is the same on both sides."""
    left, right = first[0], second[0]
    for owner in before.containers:
        if owner not in left.containers or owner not in right.containers:
            continue  # nothing holds it any more on one path
        if owner in ctx.scopes:
            continue
        if list(left.containers[owner][1]) != list(right.containers[owner][1]):
            help = "change it on both paths alike, or use an array"
            ctx.fail_dynamic("AD311", "a list or dict changes its size in one branch of a run-time `if`", help)
    values_left, values_right = dict(left.slots()), dict(right.slots())
    gone_left, gone_right = dead
    if not any(dead):
        gone_left, gone_right = left.names.get(RETURNED) is True, right.names.get(RETURNED) is True
    outer = frozenset() if any(dead) or not (gone_left or gone_right) else _outlasting(ctx, (left, right))
    joins: list[Join] = []
    plain: dict[Slot, Any] = {}
    for slot in dict.fromkeys([*values_left, *values_right]):
        if slot.owner and slot.owner not in before.containers:
            continue
        a, b = values_left.get(slot, UNBOUND), values_right.get(slot, UNBOUND)
        if same(a, b):
            plain[slot] = a
            continue
        a, b = narrowed(ctx, a, first[1]), narrowed(ctx, b, second[1])
        flag = not slot.owner and slot.key in FLAGS
        if any(dead) or ((gone_left or gone_right) and slot.owner not in outer and not flag):
            items = right.items if gone_left else left.items
            _join_one_side(ctx, slot, (a, b), items, gone_left, gone_right, keep, joins, plain)
        elif slot.owner == 0 and keep is not None and slot.key not in keep and slot.key not in FLAGS:
            plain[slot] = DEAD
        else:
            template = meet(ctx, a, b, str(slot.key), slot.key != RESULT, left.items, right.items)
            if slot.key == RESULT and (reason := never(template)) is not None:
                ctx.fail(reason.code, reason.message, "return the same kind of value on every path")
            joins.append((slot, template, a, b))
    return joins, plain


def _outlasting(ctx: Context, sides: tuple[State, State]) -> frozenset[int]:
    """The containers that can be seen once the present call has returned."""
    found: dict[int, Any] = {}
    for frame in ctx.frames:
        scope = frame.parent if frame is ctx.frame else frame
        while scope is not None:
            collect(ctx, tuple(scope.names.values()), found)
            scope = scope.parent
    for side in sides:
        collect(ctx, side.names.get(RESULT), found)
    return frozenset([*found, *ctx.scopes])


def _join_one_side(
    ctx: Context,
    slot: Slot,
    values: tuple[Any, Any],
    items: Items,
    gone_left: bool,
    gone_right: bool,
    keep: frozenset[str] | None,
    joins: list[Join],
    plain: dict[Slot, Any],
) -> None:
    """Where one side has returned, its variables do not matter any more."""
    value = values[1] if gone_left else values[0]
    dead = slot.owner == 0 and keep is not None and slot.key not in keep and slot.key not in FLAGS
    if (gone_left and gone_right) or dead or isinstance(value, Poison | Unbound):
        plain[slot] = value if isinstance(value, Poison | Unbound) and not dead else DEAD
        return
    template = meet(ctx, value, UNBOUND, str(slot.key), isinstance(value, Maybe), items)
    joins.append((slot, template, UNBOUND if gone_left else value, value if gone_left else UNBOUND))


def _emit(
    ctx: Context, condition: Value, first: Block, second: Block, joins: list[Join], sides: tuple[Items, Items]
) -> tuple[Value, ...]:
    """Close both blocks with what they yield and emit the `if`; cells are made before it."""
    builder = ctx.builder
    yields = []
    for block, side, items in ((first, 2, sides[0]), (second, 3, sides[1])):
        out = Flattener(items)
        builder.blocks.append(block)
        for join in joins:
            join[1].flatten(ctx, join[side], out)
        builder.blocks.pop()
        block.results = tuple(out.values)
        yields.append(out)
    _make_cells(ctx, condition, first, second, yields)
    for block, out in zip((first, second), yields):
        builder.blocks.append(block)
        memory.move(ctx, [(cell.array, memory.wrap(ctx, value), cell.name) for cell, value in out.copies])
        builder.blocks.pop()
    if not yields[0].values and not first.operations and not second.operations:
        return ()
    names = [hint for join in joins for _, hint in join[1].types()]
    if _trivial(first) and _trivial(second):
        for block in (first, second):
            for operation in block.operations:
                builder.append(operation)
        pairs = zip(first.results, second.results, names)
        return tuple(_select(ctx, condition, a, b, hint) for a, b, hint in pairs)
    return _emit_if(ctx, condition, first, second, names)


def _emit_if(ctx: Context, condition: Value, first: Block, second: Block, names: list[str]) -> tuple[Value, ...]:
    """The `if`; a flag that one side sets and the other clears is the condition itself, nothing is yielded for it."""
    builder = ctx.builder
    flags = {}
    for k, pair in enumerate(zip(first.results, second.results)):
        known = [builder.known(value) for value in pair]
        if pair[0].type == BOOL and None not in known and known[0] != known[1]:
            flags[k] = known[0]
    count = len(first.results)
    kept = [k for k in range(count) if k not in flags]
    for block in (first, second):
        block.results = tuple(block.results[k] for k in kept)
    types = tuple(str(value.type) for value in first.results)
    regions = (first.region(), second.region())
    yielded = dict(zip(kept, builder.emit(core.IF, (condition,), {"types": types}, regions, [names[k] for k in kept])))
    negated = builder.op(ops.NOT, condition) if False in flags.values() else condition
    return tuple(yielded[k] if k in yielded else condition if flags[k] else negated for k in range(count))


def _trivial(block: Block) -> bool:
    return all(operation.row is core.CONST for operation in block.operations)


def _select(ctx: Context, condition: Value, a: Value, b: Value, name: str) -> Value:
    if a is b:
        return a
    return ctx.builder.op(ops.SELECT, condition, a, b, name=name)


def _make_cells(ctx: Context, condition: Value, first: Block, second: Block, yields: list[Flattener]) -> None:
    """Allocate, before the branch, the buffers for arrays that the two sides bind to different memory."""
    sides: dict[Cell, list[Any]] = {}
    for side, out in enumerate(yields):
        for cell, array in out.copies:
            sides.setdefault(cell, [None, None])[side] = memory.wrap(ctx, array)
    inside = memory.defined_in(first) | memory.defined_in(second)
    for cell, (left, right) in sides.items():
        extents = []
        for axis in range(cell.rank):
            options = [memory.hoist(ctx, side.extents[axis], inside) for side in (left, right) if side is not None]
            if any(option is None for option in options):
                help = "make the array before the `if` and fill it inside"
                ctx.fail_dynamic("AD313", f"the shape of `{cell.name}` is decided inside a run-time `if`", help)
            known = [option for option in options if option is not None]
            extents.append(known[0] if len(known) == 1 else _select(ctx, condition, known[0], known[1], ""))
        filled = left is not None and right is not None
        cell.array = memory.allocate(ctx, cell.element, extents, _visible(cell.name), zero=not filled)


def _visible(name: str) -> str:
    return name if name.isidentifier() else "result"


def _apply(ctx: Context, before: State, plain: dict[Slot, Any], joined: list[tuple[Any, Any]]) -> None:
    """Bring names and containers to the state after the branch."""
    contents: dict[int, dict[Any, Any]] = {}
    for slot, value in [*plain.items(), *joined]:
        if slot.owner == 0:
            ctx.frame.names[slot.key] = value
            if value is UNBOUND:
                del ctx.frame.names[slot.key]
        else:
            contents.setdefault(slot.owner, {})[slot.key] = value
    for owner, content in contents.items():
        container, _ = before.containers[owner]
        ordered = sorted(content.items()) if isinstance(container, list) else content.items()
        fill(container, {key: value for key, value in ordered if value is not UNBOUND})


def jumped(ctx: Context) -> bool | Value:
    """Whether control has left the normal order: a `return`, `break` or `continue` was done on this path."""
    total: bool | Value = False
    for flag in (RETURNED, BROKEN, CONTINUED):
        value = ctx.frame.names.get(flag, False)
        if value is True:
            return True
        if value is not False:
            total = ctx.builder.op(ops.OR, total, value.value) if isinstance(total, Value) else value.value
    return total


def guarded(ctx: Context, left: bool | Value, rest: Callable[[], None], keep: frozenset[str] | None) -> None:
    """Run the rest of a block on the paths that have not jumped."""
    if left is True:
        return
    if left is False:
        rest()
        return
    assert isinstance(left, Value)
    dynamic = [flag for flag in (RETURNED, BROKEN, CONTINUED) if not isinstance(ctx.frame.names.get(flag, False), bool)]

    def proceed() -> None:
        for flag in dynamic:
            ctx.frame.names[flag] = False
        if RETURNED in dynamic:
            ctx.frame.names.pop(RESULT, None)
        rest()

    def skip() -> None:
        if len(dynamic) == 1:
            ctx.frame.names[dynamic[0]] = True

    fork(ctx, ctx.builder.op(ops.NOT, left), proceed, skip, keep)


def guarded_by(ctx: Context, condition: Value, body: Callable[[], None], keep: frozenset[str] | None) -> None:
    """Run `body` where the condition holds, which excludes the paths that have jumped."""
    dynamic = [flag for flag in (RETURNED, BROKEN, CONTINUED) if not isinstance(ctx.frame.names.get(flag, False), bool)]

    def proceed() -> None:
        for flag in dynamic:
            ctx.frame.names[flag] = False
        if RETURNED in dynamic:
            ctx.frame.names.pop(RESULT, None)
        body()

    fork(ctx, condition, proceed, lambda: None, keep)
