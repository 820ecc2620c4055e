"""Buffers that change places: pointers that are exchanged.

Comes in: a loop with `swap` operations in its region.  Goes out: names, inside of it, for what the pointers point to in
an iteration, of which the compiler knows that they do not overlap.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from adgen.emit.text import c_type
from adgen.ir import core
from adgen.ir.nodes import Function, Operation, Region, Value, walk

if TYPE_CHECKING:
    from adgen.emit.body import Body


def exchanged(function: Function) -> frozenset[Value]:
    """The buffers of a function that change places."""
    return frozenset(value for each in walk(function.body) if each.row is core.SWAP for value in each.operands)


@contextmanager
def named(body: Body, region: Region) -> Iterator[None]:
    """Inside a loop's region: names for what pointers point to before they are exchanged."""
    swaps = [each for each in region.operations if each.row is core.SWAP]
    pointers = {buffer: body.buffers[buffer] for each in swaps for buffer in each.operands}
    outside = body.pointers
    body.pointers = {**outside, **pointers}
    for each in swaps:
        _name(body, each, region.operations[: region.operations.index(each)])
        body.following[each] = region.operations[region.operations.index(each) + 1 :]
    yield
    body.buffers.update(pointers)
    body.pointers = outside


def swap(body: Body, operation: Operation) -> None:
    """Exchange two pointers, and name what they point to now."""
    values, (first, second) = body.values, operation.operands
    values.settle((body.uses.root[first], body.uses.root[second]))
    kind, here, there = c_type(first.type), body.pointers[first], body.pointers[second]
    _exchange(body, operation, f"{kind} *", here, there)
    if first in body.plan.heap:
        _exchange(body, operation, "size_t ", f"{here}_room", f"{there}_room")
    _name(body, operation, body.following[operation])


def _exchange(body: Body, operation: Operation, kind: str, first: str, second: str) -> None:
    name = body.values.names.claim("swapped")
    body.values.emit(f"{kind}const {name} = {first};", operation.span)
    body.values.emit(f"{first} = {second};", operation.span)
    body.values.emit(f"{second} = {name};", operation.span)


def _name(body: Body, swap: Operation, operations: Sequence[Operation]) -> None:
    """Names for the two buffers in the operations before or after they are exchanged, where these use them."""
    if not body.names_pointers:
        return
    inside = [each for each in walk(Region((), tuple(operations), ())) if each not in body.uses.dead]
    used = {value for each in inside if each.row not in (core.DIM, core.SWAP) for value in each.operands}
    moving = {value for each in inside if each.row is core.SWAP for value in each.operands}  # by loops inside
    for buffer in swap.operands:
        if buffer in used - moving:
            name = body.values.names.claim(f"{buffer.name or 'buffer'}_here")
            body.values.emit(f"{c_type(buffer.type)} *const restrict {name} = {body.pointers[buffer]};", swap.span)
            body.buffers[buffer] = name
