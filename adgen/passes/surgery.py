"""Small tools on lists of operations: what is free, substitution, fresh copies, pruning.

They never look at what an operation means beyond the core rows, keep order and spans, and are linear in size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from adgen.ir import core
from adgen.ir.nodes import Operation, Region, Value

EFFECTS = (core.STORE, core.ACCUMULATE, core.PUSH, core.POP, core.CHECK)


def free_values(operations: Sequence[Operation], results: Iterable[Value] = ()) -> list[Value]:
    """The values that a list of operations uses but does not define, in order of first use."""
    found: dict[Value, None] = {}
    defined: set[Value] = set()

    def visit(operations: Sequence[Operation], results: Iterable[Value]) -> None:
        for operation in operations:
            found.update((value, None) for value in operation.operands if value not in defined)
            for region in operation.regions:
                defined.update(region.arguments)
                visit(region.operations, region.results)
            defined.update(operation.results)
        found.update((value, None) for value in results if value not in defined)

    visit(operations, results)
    return list(found)


def users_of(region: Region) -> dict[Value, set[int]]:
    """By value the operations of a region, inside and out, that use it, and the regions that yield it, by identity."""
    found: dict[Value, set[int]] = {}

    def note(values: Iterable[Value], user: object) -> None:
        for value in values:
            found.setdefault(value, set()).add(id(user))

    def through(inner: Region) -> None:
        note(inner.results, inner)
        for operation in inner.operations:
            note(operation.operands, operation)
            for owned in operation.regions:
                through(owned)

    through(region)
    return found


def substitute(operations: Sequence[Operation], mapping: Mapping[Value, Value]) -> list[Operation]:
    """The operations with operands replaced; what they define stays."""
    if not mapping:
        return list(operations)
    return rewrite(operations, mapping, lambda operation: None)


def rewrite(
    operations: Sequence[Operation],
    mapping: Mapping[Value, Value],
    change: Callable[[Operation], list[Operation] | None],
) -> list[Operation]:
    """Replace operands by `mapping` and whole operations by what `change` gives for them (None: keep)."""
    result: list[Operation] = []
    for operation in operations:
        operands = tuple(mapping.get(value, value) for value in operation.operands)
        regions = tuple(_region(region, mapping, change) for region in operation.regions)
        if operands != operation.operands or any(a is not b for a, b in zip(regions, operation.regions)):
            operation = replace(operation, operands=operands, regions=regions)
        changed = change(operation)
        result.extend([operation] if changed is None else changed)
    return result


def _region(
    region: Region, mapping: Mapping[Value, Value], change: Callable[[Operation], list[Operation] | None]
) -> Region:
    operations = tuple(rewrite(region.operations, mapping, change))
    results = tuple(mapping.get(value, value) for value in region.results)
    same = len(operations) == len(region.operations) and all(
        a is b for a, b in zip(operations, region.operations, strict=True)
    )
    return region if same and results == region.results else Region(region.arguments, operations, results)


def fresh(region: Region, mapping: dict[Value, Value] | None = None) -> Region:
    """A copy of a region that defines values of its own."""
    mapping = {} if mapping is None else mapping

    def new(value: Value) -> Value:
        mapping[value] = Value(value.type, value.name)
        return mapping[value]

    arguments = tuple(new(value) for value in region.arguments)
    operations = []
    for operation in region.operations:
        operands = tuple(mapping.get(value, value) for value in operation.operands)
        regions = tuple(fresh(inner, mapping) for inner in operation.regions)
        results = tuple(new(value) for value in operation.results)
        operations.append(replace(operation, operands=operands, regions=regions, results=results))
    return Region(arguments, tuple(operations), tuple(mapping.get(value, value) for value in region.results))


def prune(operations: Sequence[Operation], live: set[Value]) -> list[Operation]:
    """Drop what does not contribute to the values of `live` or to memory that something live reads.

    `live` gains the values that the kept operations use.  Memory made outside counts as read, memory made by these
    operations only when a kept operation loads it.  Loops keep only the carried values that matter.
    """
    made: dict[Value, Value] = {}
    for operation in _allocations(operations):
        if operation.row is core.ALLOC:
            made[operation.result] = operation.result
        elif operation.operands[0] in made:
            made[operation.result] = made[operation.operands[0]]
    while True:
        before = len(live)
        kept = _prune(operations, live, made)
        if len(live) == before:
            return kept


def _allocations(operations: Sequence[Operation]) -> Iterable[Operation]:
    for operation in operations:
        if operation.row in (core.ALLOC, core.RESHAPE):
            yield operation
        for region in operation.regions:
            yield from _allocations(region.operations)


def _prune(operations: Sequence[Operation], live: set[Value], made: Mapping[Value, Value]) -> list[Operation]:
    kept: list[Operation] = []
    for operation in reversed(operations):
        row = operation.row
        if row in (core.FOR, core.WHILE, core.IF):
            smaller = _prune_owner(operation, live, made)
            if smaller is not None:
                live.update(smaller.operands)
                kept.append(smaller)
            continue
        if row in (core.STORE, core.ACCUMULATE):
            needed = made.get(operation.operands[0]) in live or operation.operands[0] not in made
        elif row is core.CUSTOM:
            filled = core.outputs_of(operation)
            needed = any(value in live for value in operation.results)
            needed |= any(made.get(value) in live or value not in made for value in filled)
        elif row in EFFECTS:
            needed = True
        else:
            needed = any(value in live for value in operation.results)
        if needed:
            used = free_values([operation])
            live.update(used)
            live.update(made[value] for value in used if value in made)
            kept.append(operation)
    return kept[::-1]


def _prune_owner(operation: Operation, live: set[Value], made: Mapping[Value, Value]) -> Operation | None:
    """An owner of regions without the results, carried values and inner operations that do not matter."""
    first = {core.FOR: 1, core.WHILE: 0}.get(operation.row)
    exit = int(bool(operation.attributes.get("exit")))
    wanted = [value in live for value in operation.results]
    while True:
        regions = []
        for region in operation.regions:
            condition = operation.row is core.WHILE and region is operation.regions[0]
            results = list(region.results)
            if not condition:
                pairs = zip(region.results[exit:], wanted, strict=True)
                results = [*region.results[:exit], *(value for value, keep in pairs if keep)]
            live.update(results)
            regions.append((region, _prune(region.operations, live, made), results))
        if first is None:
            break
        carried = [
            keep or any(region.arguments[first + k] in live for region in operation.regions)
            for k, keep in enumerate(wanted)
        ]
        if carried == wanted:
            break
        wanted = carried
    if not any(wanted) and not any(inner for _, inner, _ in regions):
        return None
    new = []
    for region, inner, results in regions:
        arguments = region.arguments
        if first is not None:
            arguments = (*arguments[:first], *(a for a, keep in zip(arguments[first:], wanted, strict=True) if keep))
        new.append(Region(arguments, tuple(inner), tuple(results)))
    operands, attributes = operation.operands, operation.attributes
    if first is not None:
        head = len(operands) - len(wanted)
        operands = (*operands[:head], *(v for v, keep in zip(operands[head:], wanted, strict=True) if keep))
    else:
        types = tuple(t for t, keep in zip(attributes["types"], wanted, strict=True) if keep)
        attributes = {**attributes, "types": types}
    kept_results = tuple(value for value, keep in zip(operation.results, wanted, strict=True) if keep)
    return replace(operation, operands=operands, regions=tuple(new), results=kept_results, attributes=attributes)
