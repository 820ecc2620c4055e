"""Privatisation: a buffer that a loop fills anew in every iteration is made inside the loop.

Comes in: a function.  Goes out: the function with each `alloc` in the innermost region that holds all its uses and
that it may move to, and not zero-filled where every element is overwritten before any is read.  Guaranteed: every
`load` reads what it read before.

An `alloc` moves into a loop only when no iteration reads an element that it has not written before; so iterations
no longer share the memory, and their reverse needs no record of it.  Where what uses a buffer first is a loop that
fills its first rows, only the other rows are zero-filled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from adgen import ops
from adgen.ir import core
from adgen.ir.builder import Builder
from adgen.ir.nodes import Function, Operation, Region, Value
from adgen.ir.types import Buffer
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
    rest: Sequence[Operation] = ()
    if zero and (first := _fills_first_rows(uses, definitions, alloc, region)) is not None:
        zero, rest = False, _zero_rest(definitions, alloc, first.operands[1])
    if moved or zero != was_zero:
        moves.removed.add(id(alloc))
        anchor = uses.inside(region, root)[0] if moved else alloc
        changed = replace(alloc, attributes={**alloc.attributes, "zero": zero})
        moves.before.setdefault(id(anchor), []).append(changed)
        if rest:
            moves.before.setdefault(id(uses.inside(region, root)[0]), []).extend(rest)


def _fills_first_rows(uses: Uses, definitions: Definitions, alloc: Operation, region: Region) -> Operation | None:
    """The first use of a buffer, when it is a loop over its first rows that fills them before it looks at them."""
    touching = uses.inside(region, alloc.result)
    if not touching or touching[0].row is not core.FOR or touching[0].attributes["step"] != 1 or not alloc.operands:
        return None
    loop = touching[0]
    alone = Region((), (loop,), ())
    rows = replace(alloc, operands=(loop.operands[1], *alloc.operands[1:]))
    coverage = Coverage(
        definitions, rows, lambda inner: (loop,) if inner is alone else uses.inside(inner, alloc.result)
    )
    starts_first = definitions.known(loop.operands[0]) == 0
    return loop if starts_first and coverage.of(alone) is Cover.FULL else None


def _zero_rest(definitions: Definitions, alloc: Operation, stop: Value) -> Sequence[Operation]:
    """Zeros into the rows from `stop` on."""
    builder = Builder()
    builder.definitions.update(definitions.definitions)
    builder.span = alloc.span
    buffer, (_, *inner) = alloc.result, alloc.operands
    assert isinstance(buffer.type, Buffer)
    with builder.block() as block:
        zero = builder.const(0, buffer.type.element)

        def row(index: Value) -> Sequence[Value]:
            builder.nest(inner, lambda *rest: builder.store(buffer, zero, (index, *rest)))
            return ()

        builder.loop(builder.op(ops.MAXIMUM, stop, builder.index(0)), alloc.operands[0], (), row)
    return block.operations


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
