"""Which loops have iterations that do not depend on each other, and what stands in the way of the others.

Comes in: a `for` of an optimised function.  Goes out: what its iterations do to memory and to carried sums, or the
operation that ties them together and why.  Guaranteed: the iterations of a loop that is described may be interleaved
in any way that keeps the order within each of them, but for the order of sums.

An iteration may read shared memory that the loop does not write, add to shared memory that the loop does not read,
touch elements of shared memory that are its own (the loop's index stands at one and the same axis of every access),
and do as it likes with memory that it makes itself.  Carried values may be sums.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from adgen import ops
from adgen.ir import core
from adgen.ir.nodes import Operation, Region, Value, walk
from adgen.ir.types import is_float

STRANGE = (
    core.CALL, core.STACK, core.PUSH, core.POP, core.CUSTOM, core.EXTERNAL, core.CONTRACT, core.TAP, core.SWAP,
)  # fmt: skip


@dataclass(frozen=True)
class Tie:
    """What makes the iterations of a loop depend on each other, or what is not understood."""

    operation: Operation
    reason: str


@dataclass
class Independence:
    """What the iterations of a loop do; memory is named by its root."""

    private: set[Value] = field(default_factory=set)  # made by the iteration
    own: set[Value] = field(default_factory=set)  # shared, and each iteration has elements of its own
    added: set[Value] = field(default_factory=set)  # shared, and only added to
    sums: dict[Operation, Value] = field(default_factory=dict)  # what adds to a carried value: what it carries on


def independence(loop: Operation, root: Mapping[Value, Value]) -> Independence | Tie:
    """What the iterations of a `for` do, or what ties them together."""
    region = loop.regions[0]
    if loop.attributes.get("exit"):
        return Tie(loop, "the loop may end early")
    found = Independence()
    for argument, result in zip(region.arguments[1:], region.results, strict=True):
        chain = sum_of(region, argument, result)
        if chain is None:
            return Tie(loop, f"`{argument.name or 'a value'}` is carried from one iteration to the next")
        found.sums.update(chain)
    accesses = accesses_of(region, root, found.private)
    if isinstance(accesses, Tie):
        return accesses
    for buffer, touching in accesses.items():
        if buffer in found.private:
            continue
        rows = {operation.row for operation in touching}
        if rows == {core.LOAD}:
            continue
        if are_own(touching, region.arguments[0]):
            found.own.add(buffer)
        elif rows == {core.ACCUMULATE}:
            found.added.add(buffer)
        else:
            writer = next(o for o in touching if o.row is not core.LOAD)
            return Tie(writer, f"`{buffer.name or 'memory'}` is written where other iterations may look")
    return found


def accesses_of(region: Region, root: Mapping[Value, Value], private: set[Value]) -> dict[Value, list[Operation]] | Tie:
    """The accesses of a region by memory, or what is not understood; memory that it makes is added to `private`."""
    accesses: dict[Value, list[Operation]] = {}
    for operation in walk(region):
        if operation.row is core.ALLOC:
            private.add(operation.result)
        elif operation.row in core.ACCESSES:
            accesses.setdefault(root[operation.operands[0]], []).append(operation)
        elif operation.row in STRANGE:
            return Tie(operation, f"`{operation.row.name}` is not run for several iterations at once")
    return accesses


def are_own(touching: list[Operation], index: Value) -> bool:
    """True when the loop's index stands at one axis of every access, through one handle."""
    handles = {operation.operands[0] for operation in touching}
    places = [{axis for axis, value in enumerate(core.indices_of(o)) if value is index} for o in touching]
    return len(handles) == 1 and bool(set.intersection(*places))


def sum_of(region: Region, start: Value, result: Value) -> dict[Operation, Value] | None:
    """The operations that add to a carried value, each with the value that it adds to; None when more happens to it."""
    uses = Counter(value for operation in walk(region) for value in operation.operands)
    uses.update(region.results)
    for operation in walk(region):
        for inner in operation.regions:
            uses.update(inner.results)
    running, chain = start, {}
    for operation in region.operations:
        mine = [place for place, value in enumerate(operation.operands) if value is running]
        if not mine:
            continue
        adds = (operation.row is ops.ADD and len(mine) == 1) or (operation.row is ops.SUB and mine == [0])
        if not adds or uses[running] != 1:
            return None
        chain[operation] = running
        running = operation.result
    return chain if result is running and running is not start and uses[running] == 1 else None


def keeps_order(loop: Operation, found: Independence, root: Mapping[Value, Value]) -> bool:
    """True when each element that the iterations add floats to is added to once in each of them.

    Then adding one iteration after the other, statement by statement, is the user's order.
    """
    region = loop.regions[0]
    seen: set[Value] = set()
    for operation, loops in accumulations(region, ()):
        buffer = root[operation.operands[0]]
        if buffer not in found.added or not is_float(operation.operands[1].type):
            continue
        indices = operation.operands[2:]
        around = [inner.regions[0].arguments[0] for inner in loops]
        if buffer in seen or not all(index in indices for index in around):
            return False
        seen.add(buffer)
    return True


def accumulations(region: Region, loops: tuple[Operation, ...]) -> list[tuple[Operation, tuple[Operation, ...]]]:
    """Every `accumulate` of a region with the loops around it; a `while` counts as one that has no index."""
    found = []
    for operation in region.operations:
        if operation.row is core.ACCUMULATE:
            found.append((operation, loops))
        around = (*loops, operation) if operation.row in core.LOOPS else loops
        for inner in operation.regions:
            found += accumulations(inner, around)
    return found


def checks_first(loop: Operation, found: Independence, root: Mapping[Value, Value], parameters: set[Value]) -> bool:
    """True when all that can fail depends on memory that is only read, so that it can be looked at first."""
    region = loop.regions[0]
    checks = [operation for operation in walk(region) if operation.row is core.CHECK]
    if not checks:
        return True
    if any(root[o.operands[0]] in parameters for o in walk(region) if o.row in (core.STORE, core.ACCUMULATE)):
        return False  # the caller may look at what was written before something failed
    made = {value: operation for operation in region.operations for value in operation.results}
    written = found.private | found.own | found.added

    def plain(value: Value) -> bool:
        operation = made.get(value)
        if operation is None:
            return True
        reads = operation.row is core.LOAD and root[operation.operands[0]] not in written
        return (reads or operation.row.pure) and not operation.regions and all(map(plain, operation.operands))

    inside = {id(operation) for operation in region.operations}
    return all(id(check) in inside and all(map(plain, check.operands)) for check in checks)
