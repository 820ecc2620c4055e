"""Privatisation: a buffer that a loop fills anew in every iteration is made inside the loop.

Comes in: a function.  Goes out: the function with each `alloc` in the innermost region that holds all its uses and
that it may move to, and not zero-filled where every element is overwritten before any is read.  Guaranteed: every
`load` reads what it read before.

An `alloc` moves into a loop only when no iteration reads an element that it has not written before; so iterations
no longer share the memory, and their reverse needs no record of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from adgen.ir import core
from adgen.ir.nodes import Function, Operation, Region
from adgen.passes.coverage import Cover, Coverage
from adgen.passes.indices import Definitions
from adgen.passes.uses import Path, Uses


def sink_buffers(function: Function) -> Function:
    """Make a buffer where it is used.

    Before:  function f(%A: f64[:,:], %n: i64, %d: i64) -> () {
               %zero = const {type="i64", value=0} : i64
               %t = alloc %d {element="f64", zero=true} : f64[:]
               for %zero, %n {exit=false, step=1} (%i: i64) {
                 for %zero, %d {exit=false, step=1} (%j: i64) {
                   %a = load %A, %i, %j : f64
                   %e = exp %a : f64
                   store %t, %e, %j
                   yield
                 }
                 for %zero, %d {exit=false, step=1} (%j: i64) {
                   %b = load %t, %j : f64
                   store %A, %b, %i, %j
                   yield
                 }
                 yield
               }
               return
             }
    After:   function f(%A: f64[:,:], %n: i64, %d: i64) -> () {
               %zero = const {type="i64", value=0} : i64
               for %zero, %n {exit=false, step=1} (%i: i64) {
                 %t = alloc %d {element="f64", zero=false} : f64[:]
                 for %zero, %d {exit=false, step=1} (%j: i64) {
                   %a = load %A, %i, %j : f64
                   %e = exp %a : f64
                   store %t, %e, %j
                   yield
                 }
                 for %zero, %d {exit=false, step=1} (%j: i64) {
                   %b = load %t, %j : f64
                   store %A, %b, %i, %j
                   yield
                 }
                 yield
               }
               return
             }
    """
    uses = Uses(function)
    if not uses.allocs:
        return function
    definitions = Definitions(function)
    moves = _Moves()
    for alloc, path in uses.allocs:
        _place(function, uses, definitions, moves, alloc, path)
    return replace(function, body=_moved(function.body, moves)) if moves.removed else function


@dataclass
class _Moves:
    """Operations to take out, by identity, and operations to put before others."""

    removed: set[int] = field(default_factory=set)
    before: dict[int, list[Operation]] = field(default_factory=dict)


def _place(
    function: Function, uses: Uses, definitions: Definitions, moves: _Moves, alloc: Operation, path: Path
) -> None:
    """Decide where one `alloc` goes and whether it must be zero-filled."""
    root = alloc.result
    coverage = Coverage(definitions, alloc, lambda region: uses.inside(region, root))
    region = path[-1][0].regions[path[-1][1]] if path else function.body
    was_zero = zero = alloc.attributes.get("zero", True)
    moved = False
    for owner, number in uses.common.get(root, path)[len(path) :]:
        inner = owner.regions[number]
        if owner.row in core.LOOPS:
            if number != len(owner.regions) - 1 or coverage.of(inner) is Cover.READS:
                break
            zero = False
        region, moved = inner, True
    if zero and coverage.of(region) in (Cover.FULL, Cover.FULL if root in function.results else Cover.PARTIAL):
        zero = False
    if moved or zero != was_zero:
        moves.removed.add(id(alloc))
        anchor = uses.inside(region, root)[0] if moved else alloc
        changed = replace(alloc, attributes={**alloc.attributes, "zero": zero})
        moves.before.setdefault(id(anchor), []).append(changed)


def _moved(region: Region, moves: _Moves) -> Region:
    operations: list[Operation] = []
    for operation in region.operations:
        operations.extend(moves.before.get(id(operation), ()))
        if id(operation) in moves.removed:
            continue
        regions = tuple(_moved(inner, moves) for inner in operation.regions)
        same = all(a is b for a, b in zip(regions, operation.regions))
        operations.append(operation if same else replace(operation, regions=regions))
    same = len(operations) == len(region.operations) and all(a is b for a, b in zip(operations, region.operations))
    return region if same else replace(region, operations=tuple(operations))
