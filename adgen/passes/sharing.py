"""What the iterations of a loop do to memory that they share, so that each can be a thread of its own.

Comes in: a `for` and the forms of the integers of its function.  Goes out: which memory has elements for each iteration
alone, which is only added to, and which values are running sums; or the operation that ties iterations together.
Guaranteed: the iterations may run in any order and at the same time, if what they add is added without losing anything,
but for the order of sums.

Memory is an iteration's own where one axis of every access is the same expression, linear in the loop's index with a
factor that is a number other than zero, and everything else in it stands still.  Accesses of one array are apart where
an index that stands still is another number, as in `A[t]` and `A[t + 1]`.  All of it is its own in a loop that was made
so (`simd`).
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, field

from adgen import ops
from adgen.ir import core
from adgen.ir.nodes import Operation, Region, Value, walk
from adgen.passes.forms import Forms
from adgen.passes.independence import Tie, accesses_of


@dataclass
class Sharing:
    """What the iterations do; memory is named by its root, accesses that add are those to `added` memory."""

    private: set[Value] = field(default_factory=set)
    own: set[Value] = field(default_factory=set)
    added: dict[Value, list[Operation]] = field(default_factory=dict)


def sharing(
    loop: Operation, root: Mapping[Value, Value], forms: Forms, running: Container[Value] = ()
) -> Sharing | Tie:
    """What the iterations of a `for` do, or what ties them together, but for the carried values that are `running`."""
    region = loop.regions[0]
    if loop.attributes.get("exit"):
        return Tie(loop, "the loop may end early")
    for argument, result in zip(region.arguments[1:], region.results, strict=True):
        if argument not in running and not is_sum(region, argument, result):
            return Tie(loop, f"`{argument.name or 'a value'}` is carried from one iteration to the next")
    found = Sharing()
    accesses = accesses_of(region, root, found.private)
    if isinstance(accesses, Tie):
        return accesses
    inside = {value for operation in walk(region) for value in operation.results} | arguments_of(loop)
    apart = [(buffer, group) for buffer, touching in accesses.items() for group in separate(touching, inside, forms)]
    for buffer, touching in apart:
        rows = {operation.row for operation in touching}
        if buffer in found.private or rows == {core.LOAD}:
            continue
        if loop.attributes.get("simd") or is_own(touching, region.arguments[0], inside, forms):
            found.own.add(buffer)
        elif rows == {core.ACCUMULATE}:
            found.added.setdefault(buffer, []).extend(touching)
        else:
            writer = next(o for o in touching if o.row is not core.LOAD)
            return Tie(writer, f"`{buffer.name or 'memory'}` is written where other iterations may look")
    return found


def arguments_of(operation: Operation) -> set[Value]:
    """The arguments of all regions of an operation, and of those inside."""
    found: set[Value] = set()
    for region in operation.regions:
        found.update(region.arguments)
        for inner in region.operations:
            found |= arguments_of(inner)
    return found


def separate(touching: list[Operation], inside: set[Value], forms: Forms) -> list[list[Operation]]:
    """The accesses of a buffer in groups that have no element in common."""
    if len({operation.operands[0] for operation in touching}) != 1:
        return [touching]
    for axis in range(len(core.indices_of(touching[0]))):
        found: dict[object, list[Operation]] = {}
        first = forms.of(core.indices_of(touching[0])[axis])
        for operation in touching:
            form = forms.of(core.indices_of(operation)[axis])
            distance = (form - first).constant
            if distance is None or any(forms.atoms[atom] in inside for atom in form.atoms):
                break
            found.setdefault(distance, []).append(operation)
        else:
            if len(found) > 1:
                return [part for group in found.values() for part in separate(group, inside, forms)]
    return [touching]


def is_own(touching: list[Operation], index: Value, inside: set[Value], forms: Forms) -> bool:
    """True when an axis of every access is one and the same expression that is another number in every iteration."""
    if len({operation.operands[0] for operation in touching}) != 1 or touching[0].operands[0] in inside:
        return False
    first = [forms.of(value) for value in core.indices_of(touching[0])]
    for axis, form in enumerate(first):
        apart = form.split(forms.atom(index))
        if apart is None or not apart[0].constant or any(forms.atoms[atom] in inside for atom in apart[1].atoms):
            continue
        if all(forms.of(core.indices_of(other)[axis]).terms == form.terms for other in touching[1:]):
            return True
    return False


def is_sum(region: Region, start: Value, result: Value) -> bool:
    """True when all that happens to a carried value is that something is added to it, also by loops and branches."""
    users: dict[Value, int] = {}
    for each in (region, *(inner for operation in walk(region) for inner in operation.regions)):
        for value in (*each.results, *(v for o in each.operations for v in o.operands)):
            users[value] = users.get(value, 0) + 1
    return result is not start and _leads(region, start, result, users)


def _leads(region: Region, start: Value, result: Value, users: Mapping[Value, int]) -> bool:
    running = start
    for operation in region.operations:
        mine = [place for place, value in enumerate(operation.operands) if value is running]
        inner = [each for each in operation.regions if _reads(each, running)]
        if not mine and not inner:
            continue
        if operation.row is core.IF and not mine:
            found = _through_branches(operation, running, users)
        elif users.get(running, 0) != 1 or inner or len(mine) != 1:
            found = None
        elif operation.row is ops.ADD or (operation.row is ops.SUB and mine == [0]):
            found = operation.result
        elif operation.row is core.FOR and mine[0] >= 2 and not operation.attributes.get("exit"):
            found = _through_loop(operation, mine[0] - 2, users)
        else:
            found = None
        if found is None:
            return False
        running = found
    return running is result and users.get(running, 0) == 1


def _through_loop(loop: Operation, place: int, users: Mapping[Value, int]) -> Value | None:
    body = loop.regions[0]
    argument, following = body.arguments[1 + place], body.results[place]
    unchanged = following is argument and users.get(argument, 0) == 1
    return loop.results[place] if unchanged or _leads(body, argument, following, users) else None


def _through_branches(branch: Operation, running: Value, users: Mapping[Value, int]) -> Value | None:
    """The result of a branch that adds to a value in one case or both, where nothing else reads the value."""
    places = {
        k
        for k in range(len(branch.results))
        if all(_adds(region, running, region.results[k], users) for region in branch.regions)
    }
    reads = sum(_count(region, running) for region in branch.regions)
    if len(places) != 1 or users.get(running, 0) != reads or reads != len(branch.regions):
        return None
    return branch.results[places.pop()]


def _adds(region: Region, running: Value, result: Value, users: Mapping[Value, int]) -> bool:
    if result is running:
        return _count(region, running) == 1
    return _leads(region, running, result, {**users, running: _count(region, running)})


def _reads(region: Region, value: Value) -> bool:
    return _count(region, value) > 0


def _count(region: Region, value: Value) -> int:
    found = sum(each is value for each in region.results)
    for operation in region.operations:
        found += sum(each is value for each in operation.operands)
        found += sum(_count(inner, value) for inner in operation.regions)
    return found
