"""Steps whose every state is kept for the reverse sweep: they step from row to row of what is kept.

Comes in: a function about to be emitted.  Goes out: the function in which a loop that copies its state into a row of
memory, computes the next state in a fresh buffer, and copies that back, reads the last row and writes the next one.
The memory gets one row more.  Guaranteed: the same rows, and the same state after the loop, if anything looks at it.

What a step does not change it copies from row to row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from adgen import ops
from adgen.ir import core
from adgen.ir.nodes import Function, Operation, Value, walk, walk_one
from adgen.passes.box_nests import outside_nest
from adgen.passes.boxes import box_of, chains, contains, defined, fills_box
from adgen.passes.fuse import fuse
from adgen.passes.moves import Move, Moves, with_loops
from adgen.passes.surgery import rewrite


def kept_states(function: Function) -> Function:
    """Step in what is kept.

    Before:  function f(%out: f64[:], %n: i64, %x: f64, %m: i64) -> () {
               %zero = const {type="i64", value=0} : i64
               %A = alloc %n {element="f64", zero=true} : f64[:]
               %size = maximum %m, %zero : i64
               %A_saved = alloc %size, %n {element="f64", zero=false} : f64[:,:]
               for %zero, %m {exit=false, step=1} (%t: i64) {
                 %B = alloc %n {element="f64", zero=false} : f64[:]
                 for %zero, %n {exit=false, step=1} (%i: i64) {
                   %a = load %A, %i : f64
                   store %A_saved, %a, %t, %i
                   yield
                 }
                 for %zero, %n {exit=false, step=1} (%j: i64) {
                   %b = load %A, %j : f64
                   %c = add %b, %x : f64
                   store %B, %c, %j
                   yield
                 }
                 for %zero, %n {exit=false, step=1} (%k: i64) {
                   %d = load %B, %k : f64
                   store %A, %d, %k
                   yield
                 }
                 yield
               }
               for %zero, %m {exit=false, step=1} (%s: i64) {
                 for %zero, %n {exit=false, step=1} (%l: i64) {
                   %e = load %A_saved, %s, %l : f64
                   %f = load %A, %l : f64
                   %g = mul %e, %f : f64
                   accumulate %out, %g, %l
                   yield
                 }
                 yield
               }
               return
             }
    After:   function f(%out: f64[:], %n: i64, %x: f64, %m: i64) -> () {
               %zero = const {type="i64", value=0} : i64
               %A = alloc %n {element="f64", zero=true} : f64[:]
               %size = maximum %m, %zero : i64
               %0 = const {type="i64", value=1} : i64
               %1 = add %size, %0 : i64
               %A_saved = alloc %1, %n {element="f64", zero=false} : f64[:,:]
               %2 = const {type="i64", value=0} : i64
               for %2, %n {exit=false, step=1} (%i: i64) {
                 %3 = load %A, %i : f64
                 store %A_saved, %3, %2, %i
                 yield
               }
               for %zero, %m {exit=false, step=1} (%t: i64) {
                 %4 = const {type="i64", value=1} : i64
                 %5 = add %t, %4 : i64
                 for %zero, %n {exit=false, step=1} (%j: i64) {
                   %b = load %A_saved, %t, %j : f64
                   %c = add %b, %x : f64
                   store %A_saved, %c, %5, %j
                   yield
                 }
                 yield
               }
               %6 = const {type="i64", value=0} : i64
               %7 = maximum %m, %6 : i64
               for %6, %n {exit=false, step=1} (%i_1: i64) {
                 %8 = load %A_saved, %7, %i_1 : f64
                 store %A, %8, %i_1
                 yield
               }
               for %zero, %m {exit=false, step=1} (%s: i64) {
                 for %zero, %n {exit=false, step=1} (%l: i64) {
                   %e = load %A_saved, %s, %l : f64
                   %f = load %A, %l : f64
                   %g = mul %e, %f : f64
                   accumulate %out, %g, %l
                   yield
                 }
                 yield
               }
               return
             }
    """
    ended: set[Value] = set()  # states that are gone once what they start with goes to the first row at once
    while True:  # one state of a loop at a time
        search = _Search(function)
        body = with_loops(function.body, search.loop)
        if body is function.body:
            return fuse(function, ended) if ended else function
        ended |= search.ended
        function = replace(function, body=replace(body, operations=tuple(rewrite(body.operations, {}, search.longer))))


class _Search:
    def __init__(self, function: Function) -> None:
        self.function = function
        self.moves = Moves(function)
        self.asked = {op.operands[0] for op in walk(function.body) if op.row is core.DIM}
        self.ended: set[Value] = set()
        self.found: set[Value] = set()  # what gets a row more

    def longer(self, operation: Operation) -> list[Operation] | None:
        """The making of memory with a row more."""
        if operation.row is not core.ALLOC or operation.result not in self.found:
            return None
        builder = self.moves.builder(operation)
        count = operation.operands[0]
        with builder.block() as block:
            if not self.is_natural(count):
                count = builder.op(ops.MAXIMUM, count, builder.index(0))
            count = builder.op(ops.ADD, count, builder.index(1))
        return [*block.operations, replace(operation, operands=(count, *operation.operands[1:]))]

    def is_natural(self, count: Value) -> bool:
        """True for the greater one of something and zero."""
        made = self.moves.definitions.definitions.get(count)
        known = self.moves.definitions.known
        return made is not None and made.row is ops.MAXIMUM and any(known(value) == 0 for value in made.operands)

    def loop(self, loop: Operation) -> list[Operation] | None:
        """A loop that steps from row to row, with what comes before and after it."""
        if loop.attributes.get("exit") or loop.attributes["step"] != 1:
            return None
        if self.moves.definitions.known(loop.operands[0]) != 0:
            return None
        for alloc in loop.regions[0].operations:
            move = self.moves.stepped(loop, alloc) if alloc.row is core.ALLOC else None
            if move is not None:
                for nest in loop.regions[0].operations:
                    rows = self.rows(loop, nest, move.target)
                    if rows is not None:
                        self.found.add(rows)
                        return self.stepping(loop, alloc, move, nest, rows)
        return None

    def rows(self, loop: Operation, nest: Operation, state: Value) -> Value | None:
        """The memory of which a nest fills a row with a state, one an iteration, and that nothing else here uses."""
        inside = [each for each in walk_one(nest) if each.row is not core.FOR and not each.row.pure]
        if nest.row is not core.FOR or any(each.results for each in walk_one(nest) if each.regions):
            return None
        if [each.row for each in inside] != [core.LOAD, core.STORE]:
            return None
        load, (rows, value, number, *index) = inside[0], inside[1].operands
        if load.operands != (state, *index) or value is not load.result or number is not loop.regions[0].arguments[0]:
            return None
        (chain,) = chains(nest, rows)
        box = box_of(self.moves.indices, chain) if fills_box(self.moves.indices, chain) else None
        alloc = self.moves.definitions.definitions.get(rows)
        if box is None or alloc is None or alloc.row is not core.ALLOC or alloc.attributes["zero"]:
            return None
        private = rows not in defined(loop) | self.moves.results | self.moves.renamed | self.asked
        alone = len(self.moves.uses.inside(loop.regions[0], rows)) == 1
        return rows if private and alone and contains(box[1:], self.moves.whole(state)) else None

    def stepping(self, loop: Operation, alloc: Operation, move: Move, nest: Operation, rows: Value) -> list[Operation]:
        """The loop that steps from row to row, the first row in front of it, and the state after it."""
        (body,) = loop.regions
        state, number = move.target, body.arguments[0]
        extents, builder = self.moves.extents(state), self.moves.builder(move.nest)
        with builder.block() as before:
            first = builder.index(0)
            builder.nest(extents, lambda *index: builder.store(rows, builder.load(state, index), (first, *index)))
        with builder.block() as head:
            following = builder.op(ops.ADD, number, builder.index(1))

        def keep(index: tuple[Value, ...]) -> None:
            builder.store(rows, builder.load(rows, (number, *index)), (following, *index))

        with builder.block() as rest:
            outside_nest(builder, self.moves.whole(state), move.box, keep)
        with builder.block() as after:
            last = builder.op(ops.MAXIMUM, loop.operands[1], builder.index(0))
            builder.nest(extents, lambda *index: builder.store(state, builder.load(rows, (last, *index)), index))
        kept = [each for each in body.operations if each not in (move.nest, nest, alloc)]
        steps = _redirected(kept, rows, {state: number, alloc.result: following})
        region = replace(body, operations=(*head.operations, *steps, *rest.operations))
        stepped = [*before.operations, replace(loop, regions=(region,))]
        if self.ends(loop, state):
            self.ended.add(state)
            return stepped
        return [*stepped, *after.operations]

    def ends(self, loop: Operation, state: Value) -> bool:
        """True when nothing looks at a state after the loop."""
        uses = self.moves.uses
        made = next((path for alloc, path in uses.allocs if alloc.result is state), None)
        if made is None or made != uses.common[state] or state in self.moves.results:
            return False
        region = made[-1][0].regions[made[-1][1]] if made else self.function.body
        return uses.inside(region, state)[-1] is loop


def _redirected(operations: Sequence[Operation], rows: Value, place: Mapping[Value, Value]) -> list[Operation]:
    """The operations with rows in place of some buffers."""

    def redirect(operation: Operation) -> list[Operation] | None:
        if operation.row not in core.ACCESSES or operation.operands[0] not in place:
            return None
        first = core.ACCESSES[operation.row]
        buffer, middle, index = operation.operands[0], operation.operands[1:first], operation.operands[first:]
        return [replace(operation, operands=(rows, *middle, place[buffer], *index))]

    return rewrite(operations, {}, redirect)
