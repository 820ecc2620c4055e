"""Loops of few iterations with long loops inside of them, which leave threads without work.

Comes in: a loop that would be a kernel with a thread for each iteration, as over the rows of a matrix.  Goes out: in
which steps all iterations can do it, so that threads share each row: the long loops of its body, and what stands
between them.  Guaranteed: iterations are independent, so each step can be done for all of them before the next one
begins; what a step needs of another is in memory by then, or is worked out again.

    for i:                                    for i: for part: for j of the part: parts[i, part] += f(i, j)
        s = 0.0                               s[i] = sum of parts[i, :]
        for j:                    becomes     for i: y[i] = g(s[i])
            s += f(i, j)                      for i: for j: z[i, j] = h(s[i], j)
        y[i] = g(s)
        for j:
            z[i, j] = h(s, j)

`row_steps` writes the steps.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field, replace

from adgen import ops
from adgen.ir import core
from adgen.ir.nodes import Operation, Value, walk, walk_one
from adgen.ir.translate import free_values
from adgen.ir.types import Scalar, is_float
from adgen.passes.folds import fold_of
from adgen.passes.forms import Forms
from adgen.passes.independence import STRANGE
from adgen.passes.indices import Definitions, known_trips
from adgen.passes.sharing import Sharing, sharing

SHORTEST = 64  # inner loops that are known to be shorter are left to one thread
LARGEST = 200  # operations of a loop that is worth another form
LITTLE = (ops.ADD, ops.SUB, ops.MUL, ops.NEG, ops.SELECT)  # of what is done again on floating-point numbers


@dataclass
class Rows:
    """A loop in steps: long loops, and runs of other operations between them.

    `private` is memory of one iteration, of which all have their own at the same time; `again` is what each step can
    work out again; `kept` are the numbers that later steps find in memory; `last` are the operations on what the loop
    carries, which come after all else.
    """

    loop: Operation
    steps: list[list[Operation]] = field(default_factory=list)
    long: dict[Operation, None] = field(default_factory=dict)
    private: dict[Value, None] = field(default_factory=dict)
    again: set[Operation] = field(default_factory=set)
    makers: dict[Value, Operation] = field(default_factory=dict)
    kept: dict[Value, None] = field(default_factory=dict)
    last: list[Operation] = field(default_factory=list)


def rows_of(
    loop: Operation, root: Mapping[Value, Value], forms: Forms, known: Definitions, hosted: Container[Value]
) -> Rows | None:
    """The steps of a loop whose iterations are independent; None where it has no long loops, or does not come apart.

    `hosted` are the scalars from outside that a host knows.
    """
    region = loop.regions[0]
    inside = list(walk(region))
    if len(inside) > LARGEST or any(operation.row in (core.CHECK, *STRANGE) for operation in inside):
        return None
    plan = Rows(loop)
    plan.makers = {value: operation for operation in region.operations for value in operation.results}
    here = plan.makers.keys() | set(region.arguments[1:])
    for operation in region.operations:
        if operation.row is core.ALLOC:
            if here & set(operation.operands):
                return None
            plan.private[operation.result] = None
    if any(_hands_on(operation, plan.private) for operation in inside):
        return None
    written = {root[value] for operation in inside for value in core.writes_of(operation)}
    tied = set(region.arguments[1:])
    for operation in region.operations:
        if operation.row is core.ALLOC:
            continue
        free = set(free_values(without_starts(operation)))
        if not free & tied and _is_long(operation, here, root, forms, known, hosted):
            plan.long[operation] = None
            plan.steps.append([operation])
        elif tied & {*free, *operation.operands}:
            if has_effects([operation]) or _reads_any(operation, root, written):  # it comes after what writes
                return None
            plan.last.append(operation)
        else:
            if not plan.steps or plan.steps[-1][0] in plan.long:
                plan.steps.append([])
            plan.steps[-1].append(operation)
            if _is_again(operation, plan, here, root, written):
                plan.again.add(operation)
        if tied & {*free, *operation.operands}:
            tied.update(operation.results)
    if not plan.long:
        return None
    return plan if all(isinstance(value.type, Scalar) for value in _kept(plan, here)) else None


def without_starts(loop: Operation) -> Operation:
    """A long loop without what it carries into its first iteration; any other operation as it is."""
    return replace(loop, operands=loop.operands[:2]) if loop.row is core.FOR else loop


def has_effects(operations: Iterable[Operation]) -> bool:
    """True when something writes into memory."""
    return any(core.writes_of(each) for operation in operations for each in walk_one(operation))


def _reads_any(operation: Operation, root: Mapping[Value, Value], written: set[Value]) -> bool:
    return any(each.row is core.LOAD and root[each.operands[0]] in written for each in walk_one(operation))


def _hands_on(operation: Operation, private: Container[Value]) -> bool:
    """True when an operation does more with memory of an iteration than read, write or measure it."""
    mine = [place for place, value in enumerate(operation.operands) if value in private]
    return bool(mine) and not (operation.row is core.DIM or (operation.row in core.ACCESSES and mine == [0]))


def _is_long(
    operation: Operation,
    here: set[Value],
    root: Mapping[Value, Value],
    forms: Forms,
    known: Definitions,
    hosted: Container[Value],
) -> bool:
    """True for a loop whose iterations may be shared out among threads."""
    if operation.row is not core.FOR or operation.attributes.get("exit"):
        return False
    trips = known_trips(known, operation)
    if trips is not None and trips < SHORTEST:
        return False
    if fold_of(operation) is not None:  # whose parts must not be empty
        return all(value in hosted and value not in here for value in operation.operands[:2])
    found = sharing(operation, root, forms)
    return isinstance(found, Sharing) and not found.added


def _is_again(
    operation: Operation, plan: Rows, here: set[Value], root: Mapping[Value, Value], written: set[Value]
) -> bool:
    """True for what is worked out sooner than it is read from memory, or can be read anew."""
    if operation.row is core.LOAD and root[operation.operands[0]] in written:
        return False
    floating = any(is_float(value.type) for value in operation.results)
    little = operation.row in LITTLE or operation.row is core.CONST if floating else operation.row.pure
    if operation.regions or not (little or operation.row in (core.LOAD, core.RESHAPE)):
        return False
    makers = [plan.makers.get(value) for value in operation.operands if value in here and value not in plan.private]
    return all(maker in plan.again for maker in makers)


def _kept(plan: Rows, here: set[Value]) -> Mapping[Value, None]:
    """What steps need of others that they cannot work out again, found for all of them."""
    for step in [*plan.steps, plan.last]:
        mine = {value for operation in step for value in operation.results}
        pending = [value for operation in step for value in free_values(without_starts(operation))]
        if step is plan.last:
            pending = [value for operation in step for value in free_values(operation)]
            pending += plan.loop.regions[0].results
        seen: set[Value] = set()
        while pending:
            value = pending.pop()
            if value in seen or value not in here or value in plan.private or value not in plan.makers:
                continue
            seen.add(value)
            maker = plan.makers[value]
            if maker in plan.long and maker not in step:
                pending += maker.operands[2:]
            elif maker in plan.again:
                pending += maker.operands
            elif value not in mine:
                plan.kept[value] = None
    return plan.kept
