"""Recursion whose depth is known at run time only: such a function becomes a callee of the IR, which calls itself.

Comes in: a call of a function that was found to call itself with the same static arguments (`check` finds it, and
the lowering starts again with the pattern known).  Goes out: a `call` of a callee that takes the numbers among the
arguments, how many calls are active, and the numbers that it reads from the functions around it.  Guaranteed: a
recursion deeper than `DEEPEST_CALL` raises Python's RecursionError; what is no number, or changes something outside,
is refused.

What a call returns must be known before the body is lowered: that begins as a truth value and is what the body gave
the last time, until both agree.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

from adgen import ops
from adgen.diagnostics import AdgenError
from adgen.frontend import aliasing, results
from adgen.frontend.complexes.builder import ComplexBuilder
from adgen.frontend.complexes.types import Complex
from adgen.frontend.context import Active, Context, Frame, Pattern
from adgen.frontend.infer import Inference
from adgen.frontend.kinds import kind
from adgen.frontend.same import same
from adgen.frontend.specs import Path
from adgen.frontend.state import State
from adgen.frontend.values import Closure, Number, Poison, is_number, is_static
from adgen.ir import core
from adgen.ir.calls import renamed
from adgen.ir.nodes import Function, Operation, Region, Value, walk
from adgen.ir.printer import print_function
from adgen.ir.types import BOOL, F64, I64, Scalar

DEEPEST_CALL = 1000  # active calls of one function, as in Python unless it is told otherwise
DEEPEST_INLINED = 300
MOST_INLINED = 600  # calls of one function by itself that are unrolled where they could be calls
MOST_PATTERNS = 20
MOST_ROUNDS = 8
Lowering = Callable[[Context, Frame], Any]
Outputs = tuple[tuple[Scalar, bool], ...]


class Recursive(Exception):
    """The function being lowered calls another one that calls itself: lower it again, knowing the pattern."""

    def __init__(self, pattern: Pattern) -> None:
        super().__init__(pattern.key)
        self.pattern = pattern


@dataclass(frozen=True)
class AnyNumber:
    """An argument that is a number of this type, known when compiling or not."""

    element: Scalar


# -- recognising -------------------------------------------------------------------------------------------------------


def check(ctx: Context, frame: Frame) -> None:
    """Recursion is unrolled while something static about the arguments changes from call to call.

    Raises Recursive when nothing changes any more, or too long; AdgenError when arguments are not numbers.
    """
    active = [f for f in ctx.stack if f.code.key is frame.code.key]
    if not active:
        return
    last = active[-1]
    entry = dict(frame.entry)
    if last.entry == frame.entry and last.cells == frame.cells:
        if last.parent is not frame.parent:
            return
    else:
        ctx.inlined[frame.code.key] += 1
        deep, many = len(active) > DEEPEST_INLINED, ctx.inlined[frame.code.key] > MOST_INLINED
        changing = [name for name, form in frame.entry.items() if form != last.entry.get(name)]
        if not deep and not (many and all(_plain(value) for value in frame.names.values())):
            return
        if not all(is_number(frame.names[name]) for name in changing):
            if deep:
                refuse(ctx, frame)
            return
        entry |= {name: AnyNumber(kind(ctx, frame.names[name])[0]) for name in changing}
    for value in frame.names.values():
        if not _plain(value):
            refuse(ctx, frame)
    pattern = Pattern(frame.code.key, entry, _identities(frame))
    if len(ctx.patterns) >= MOST_PATTERNS or any(_equal(known, pattern) for known in ctx.patterns):
        refuse(ctx, frame)
    raise Recursive(pattern)


def _plain(value: Any) -> bool:
    """True for what a callee can take: a number, or what is known when compiling."""
    if isinstance(value, Number):
        return not isinstance(value.element, Complex)
    return isinstance(value, Closure) or is_static(value)


def refuse(ctx: Context, frame: Frame, place: Operation | None = None) -> NoReturn:
    """The diagnostic for recursion that cannot be compiled, at the present place or that of an operation."""
    if place is not None and place.span is not None:
        ctx.builder.span = place.span
    ctx.fail(
        "AD218",
        f"recursion of `{frame.code.name}`: how deep it goes is known at run time only",
        "pass and return real numbers only, write it as a loop, or let constants decide the depth",
    )


def pattern_of(ctx: Context, frame: Frame) -> Pattern | None:
    """The known pattern that a call fits."""
    return next((pattern for pattern in ctx.patterns if _fits(ctx, pattern, frame)), None)


def _fits(ctx: Context, pattern: Pattern, frame: Frame) -> bool:
    if pattern.key is not frame.code.key or pattern.cells != _identities(frame):
        return False
    if pattern.entry.keys() != frame.entry.keys():
        return False
    for name, form in pattern.entry.items():
        if isinstance(form, AnyNumber):
            value = frame.names[name]
            if not is_number(value) or kind(ctx, value)[0] != form.element:
                return False
        elif form != frame.entry[name]:
            return False
    return True


def _identities(frame: Frame) -> dict[str, int]:
    return {name: id(value) for name, value in frame.cells.items()}


def _equal(first: Pattern, second: Pattern) -> bool:
    return first.key is second.key and first.entry == second.entry and first.cells == second.cells


# -- calling -----------------------------------------------------------------------------------------------------------


def call(ctx: Context, frame: Frame, pattern: Pattern, lowering: Lowering) -> Any:
    """A call of a function that calls itself; `lowering` lowers the body of a frame."""
    span = ctx.builder.span
    active = next((active for active in ctx.compiling if active.pattern is pattern), None)
    if active is None:
        active = _compiled(ctx, frame, pattern, lowering)
    elif not _same_statics(active.frame, frame):
        refuse(ctx, frame)
    ctx.builder.span = span
    operands = [ctx.number(frame.names[name]).value for name in active.arguments]
    attributes = {"callee": active.name, "types": [str(element) for element, _ in active.outputs]}
    names = [frame.code.name if frame.code.name.isidentifier() else ""] * len(active.outputs)
    made = ctx.builder.emit(core.CALL, (*operands, _depth(ctx), *active.captures), attributes, (), names)
    numbers = tuple(Number(value, weak) for value, (_, weak) in zip(made, active.outputs, strict=True))
    return numbers if active.packed else numbers[0]


def _same_statics(first: Frame, second: Frame) -> bool:
    """Closures among the arguments are the same, and so are the variables around the function."""
    closures = ((value, second.names.get(name)) for name, value in first.names.items() if isinstance(value, Closure))
    return first.parent is second.parent and all(
        isinstance(b, Closure) and a.node is b.node and a.frame is b.frame for a, b in closures
    )


def _depth(ctx: Context) -> Value:
    """The number of active calls once this one is made."""
    builder = ctx.builder
    if not ctx.compiling:
        return builder.index(1)
    depth = builder.op(ops.ADD, ctx.compiling[-1].depth, builder.index(1))
    fine = builder.op(ops.LE, depth, builder.index(DEEPEST_CALL))
    builder.check(fine, "RecursionError", "maximum recursion depth exceeded")
    return depth


def _compiled(ctx: Context, frame: Frame, pattern: Pattern, lowering: Lowering) -> Active:
    """Lower the function until what it returns is what was assumed of it."""
    arguments = tuple(
        name
        for name, value in frame.names.items()
        if isinstance(value, Number) or isinstance(pattern.entry[name], AnyNumber)
    )
    width = _width(frame)
    guesses: Iterator[Scalar] = iter((I64, F64))
    outputs: Outputs = ((BOOL, True),) * (width or 1)
    captures: tuple[Value, ...] = ()
    for _ in range(MOST_ROUNDS):
        name = _claimed(ctx, frame.code.name)
        active = Active(pattern, name, frame, arguments, outputs, width is not None, captures)
        before = _Outside(ctx)
        try:
            made = _lowered(ctx, active, lowering)
        except AdgenError:
            before.restore()
            wider = next(guesses, None)
            if wider is None:
                raise
            outputs = ((wider, True),) * len(outputs)
            continue
        if before.changed():
            before.restore()
            refuse(ctx, frame)
        if (made.outputs, made.captures) == (outputs, captures):
            return replace(active, name=_added(ctx, made.function))
        outputs, captures = made.outputs, made.captures
    refuse(ctx, frame)


@dataclass
class _Made:
    function: Function
    outputs: Outputs
    captures: tuple[Value, ...]


def _lowered(ctx: Context, active: Active, lowering: Lowering) -> _Made:
    """The callee with what is assumed of calls of it."""
    frame, builder = active.frame, ComplexBuilder(ctx.builder.known_parts)
    names = dict(frame.names)
    parameters: dict[Value, Path] = {}
    arguments = []
    for name in active.arguments:
        element, weak = kind(ctx, names[name])
        argument = Value(element, name if name.isidentifier() else "")
        arguments.append(argument)
        origins = ctx.inference.origins(ctx, names[name]) if ctx.inference else []
        if len(origins) == 1 and origins[0][1]:
            parameters[argument] = origins[0][0]
        names[name] = Number(argument, weak)
    arguments.append(active.depth)
    inner = Context(
        push=ctx.push,
        builder=builder,
        frames=list(ctx.frames),
        warnings=ctx.warnings,
        record=ctx.record,
        owned=ctx.owned,
        patterns=ctx.patterns,
        callees=ctx.callees,
        compiling=(*ctx.compiling, active),
    )
    if ctx.inference is not None:
        inner.inference = Inference(ctx.inference.specs, {**ctx.inference.parameters, **parameters})
    span = builder.span = frame.code.span
    with builder.block(arguments) as block:
        called = Frame(frame.code, names, frame.parent, frame.cells)
        called.entry = {
            name: (str(form.element), True) if isinstance(form, AnyNumber) else form
            for name, form in active.pattern.entry.items()
        }
        values = _values(ctx, inner, frame, lowering(inner, called), active.packed)
        block.results = tuple(number.value for number in values)
    region = block.region()
    aliasing.verify(region, results.owners(inner), inner.moves, inner.upkeep)
    builder.span = span
    for operation in region.operations:
        if operation.row is core.CALL and operation.attributes["callee"] == active.name:
            refuse(ctx, frame, operation)  # a call that is always made never ends
    captures = tuple(_free_values(region))
    arrays = {value for value in captures if not isinstance(value.type, Scalar)}
    if arrays:
        refuse(ctx, frame, next(o for o in walk(region) if arrays.intersection(o.operands)))
    body = Region((*arguments, *captures), region.operations, region.results)
    titles = tuple(f"out_{k}" for k in range(len(values))) if active.packed else ("out",)
    outputs = tuple((number.element, number.weak) for number in values)
    return _Made(Function(active.name, body, titles, span), outputs, captures)


def _values(ctx: Context, inner: Context, frame: Frame, result: Any, packed: bool) -> list[Number]:
    """What the body, lowered in a context of its own, returned: as numbers."""
    if isinstance(result, Poison):
        ctx.fail(result.code, result.message, result.help)
    items = list(result) if packed and type(result) is tuple else [result]
    if not items or not all(is_number(item) for item in items) or packed != (type(result) is tuple):
        refuse(ctx, frame)
    numbers = [inner.number(item) for item in items]
    if not all(_plain(number) for number in numbers):
        refuse(ctx, frame)
    return numbers


def _width(frame: Frame) -> int | None:
    """The number of items when the function returns tuples."""

    def tuples(node: ast.AST) -> Iterator[ast.Tuple]:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            return
        if isinstance(node, ast.Return) and node.value is not None:
            sides = [node.value]
            while sides:
                side = sides.pop()
                if isinstance(side, ast.IfExp):
                    sides += [side.body, side.orelse]
                elif isinstance(side, ast.Tuple):
                    yield side
        for inner in ast.iter_child_nodes(node):
            yield from tuples(inner)

    found = next((each for statement in frame.code.statements for each in tuples(statement)), None)
    return len(found.elts) if found is not None else None


# -- the table of callees ----------------------------------------------------------------------------------------------


def _claimed(ctx: Context, name: str) -> str:
    """A name for a callee that neither another one has nor the function that is being lowered."""
    base = name if name.isidentifier() else "recursive"
    taken = {*ctx.callees, *(active.name for active in ctx.compiling), ctx.title}
    made, number = base, 1
    while made in taken:
        number += 1
        made = f"{base}_inner" if number == 2 else f"{base}_inner_{number - 1}"
    return made


def _added(ctx: Context, function: Function) -> str:
    """The name of a callee, which is an earlier one that is the same if there is one."""
    text = _text(function)
    for name, known in ctx.callees.items():
        if _text(known) == text:
            return name
    ctx.callees[function.name] = function
    return function.name


def _text(function: Function) -> str:
    body = renamed(function.body, {function.name: "itself"})
    return print_function(replace(function, name="itself", body=body), spans=True)


def _free_values(region: Region) -> list[Value]:
    """What a region reads and does not define, in the order of first use."""
    found: dict[Value, None] = {}
    defined: set[Value] = set(region.arguments)

    def visit(operations: Sequence[Operation], yielded: Sequence[Value]) -> None:
        for operation in operations:
            found.update((value, None) for value in operation.operands if value not in defined)
            for inner in operation.regions:
                defined.update(inner.arguments)
                visit(inner.operations, inner.results)
            defined.update(operation.results)
        found.update((value, None) for value in yielded if value not in defined)

    visit(region.operations, region.results)
    return list(found)


@dataclass
class _Outside:
    """What the lowering of a callee must leave alone: the variables and containers of the functions around it."""

    ctx: Context
    names: list[tuple[Frame, dict[str, Any]]] = field(init=False)
    state: State = field(init=False)

    def __post_init__(self) -> None:
        frames: list[Frame] = []
        pending: list[Frame | None] = list(self.ctx.frames)
        while pending:
            frame = pending.pop()
            if frame is not None and frame not in frames:
                frames.append(frame)
                pending.append(frame.parent)
        self.names = [(frame, dict(frame.names)) for frame in frames]
        self.state = State.capture(self.ctx)

    def changed(self) -> bool:
        """True when something is not as it was."""
        for frame, names in self.names:
            if frame.names.keys() != names.keys() or not all(same(frame.names[k], v) for k, v in names.items()):
                return True
        now = State.capture(self.ctx).containers
        for owner, (_, content) in self.state.containers.items():
            after = now[owner][1] if owner in now else {}
            if after.keys() != content.keys() or not all(same(after[key], v) for key, v in content.items()):
                return True
        return False

    def restore(self) -> None:
        """Make everything as it was."""
        for frame, names in self.names:
            frame.names.clear()
            frame.names.update(names)
        self.state.restore()


__all__ = ["Recursive", "call", "check", "pattern_of", "refuse"]
