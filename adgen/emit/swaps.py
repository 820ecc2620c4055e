"""Buffers that change places: pointers that a loop exchanges.

Comes in: a loop with `swap` operations in its region.  Goes out: two pointers in front of it, and inside names for
what they point to, of which the compiler knows that they do not overlap.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from adgen.emit.text import c_type
from adgen.ir import core
from adgen.ir.nodes import Operation, Region, Value, walk

if TYPE_CHECKING:
    from adgen.emit.body import Body

ACCESSES = (core.LOAD, *core.WRITES)


def pointers(body: Body, loop: Operation) -> dict[Value, str]:
    """Declare the pointers of a loop, by buffer."""
    found: dict[Value, str] = {}
    for operation in loop.regions[0].operations:
        if operation.row is core.SWAP:
            for buffer in operation.operands:
                found[buffer] = body.values.names.claim(f"{buffer.name or 'buffer'}_now")
                text = f"{c_type(buffer.type)} *{found[buffer]} = {body.buffers[buffer]};"
                body.values.emit(text, loop.span, (body.uses.root[buffer],))
    body.pointers.update(found)
    body.buffers.update(found)
    return found


def begin(body: Body, region: Region) -> None:
    """Name what the pointers of a loop point to at the start of an iteration, where a `swap` does not come first."""
    swaps = [place for place, operation in enumerate(region.operations) if operation.row is core.SWAP]
    for place in swaps:
        swap = region.operations[place]
        _name(body, swap.operands, region.operations[:place], swap)


def swap(body: Body, operation: Operation) -> None:
    """Exchange two pointers, and name what they point to now."""
    values, (first, second) = body.values, operation.operands
    values.settle((body.uses.root[first], body.uses.root[second]))
    here, there = body.pointers[first], body.pointers[second]
    name = values.names.claim("swapped")
    values.emit(f"{c_type(first.type)} *const {name} = {here};", operation.span)
    values.emit(f"{here} = {there};", operation.span)
    values.emit(f"{there} = {name};", operation.span)
    region = next(r for r in body.open if operation in r.operations)
    _name(body, operation.operands, region.operations[region.operations.index(operation) + 1 :], operation)


def _name(body: Body, buffers: Sequence[Value], operations: Sequence[Operation], swap: Operation) -> None:
    accessed = {
        each.operands[place]
        for each in walk(Region((), tuple(operations), ()))
        if each.row in ACCESSES and each not in body.uses.dead
        for place in range(3 if each.row is core.CONTRACT else 1)
    }
    for buffer in buffers:
        if buffer in accessed:
            name = body.values.names.claim(f"{buffer.name or 'buffer'}_here")
            text = f"{c_type(buffer.type)} *const restrict {name} = {body.pointers[buffer]};"
            body.values.emit(text, swap.span)
            body.buffers[buffer] = name
