"""Small tools on functions and the functions that they call."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import replace

from adgen.ir import core
from adgen.ir.nodes import Function, Operation, Region, walk

NAMING = {core.CALL: ("callee",), core.CUSTOM: ("vjp", "jvp", "residual", "solve")}


def unused(name: str, taken: Container[str]) -> str:
    """The name, with a number behind it if it is taken."""
    made, number = name, 2
    while made in taken:
        made, number = f"{name}_{number}", number + 1
    return made


def called(function: Function) -> Iterator[str]:
    """The names of the callees that the body of a function needs."""
    for operation in walk(function.body):
        yield from (operation.attributes[kind] for kind in kinds(operation))


def recursion(function: Function, call: Operation) -> Operation:
    """Where the callee of a call calls on, itself or what calls it; the call where the callee has no place."""
    inside = walk(function.callees[call.attributes["callee"]].body)
    return next((operation for operation in inside if operation.row is core.CALL and operation.span), call)


def kinds(operation: Operation) -> tuple[str, ...]:
    """The attributes of an operation that name callees."""
    return tuple(kind for kind in NAMING.get(operation.row, ()) if operation.attributes.get(kind))


def reachable(function: Function) -> Function:
    """The function without callees that nothing calls."""
    found: dict[str, None] = {}
    pending = list(called(function))
    while pending:
        name = pending.pop()
        if name not in found:
            found[name] = None
            pending.extend(called(function.callees[name]))
    if len(found) == len(function.callees):
        return function
    return replace(function, callees={name: each for name, each in function.callees.items() if name in found})


def everywhere(function: Function, change: Callable[[Function], Function]) -> Function:
    """The function with its body and those of its callees changed."""
    changed = change(function)
    callees = {name: change(callee) for name, callee in function.callees.items()}
    same = all(callees[name] is callee for name, callee in function.callees.items())
    return changed if same else replace(changed, callees=callees)


def renamed(region: Region, names: Mapping[str, str]) -> Region:
    """The region with other names for the functions that it calls."""
    operations = tuple(_renamed(operation, names) for operation in region.operations)
    same = all(a is b for a, b in zip(operations, region.operations, strict=True))
    return region if same else replace(region, operations=operations)


def _renamed(operation: Operation, names: Mapping[str, str]) -> Operation:
    changed = {kind: names.get(operation.attributes[kind], operation.attributes[kind]) for kind in kinds(operation)}
    if any(operation.attributes[kind] != name for kind, name in changed.items()):
        operation = replace(operation, attributes={**operation.attributes, **changed})
    regions = tuple(renamed(region, names) for region in operation.regions)
    same = all(a is b for a, b in zip(regions, operation.regions, strict=True))
    return operation if same else replace(operation, regions=regions)
