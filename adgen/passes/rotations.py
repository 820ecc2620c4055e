"""Steps that compute new contents of a buffer in another one, and copy them: the two buffers change places instead.

Comes in: a function about to be emitted.  Goes out: the function in which a `swap` takes the place of the copy, in
loops over steps of either direction.

Forwards a step fills a part of `B` from `A`, and copies the part back at its end.  What is not in the part never
changes, so it is copied into `B` once, in front of the loop.  Backwards, a step begins by moving a part of the
cotangent `A` to `B`, and goes on adding to `A`.  After the swap only the rest is copied, and of the part only what
is not stored into next is cleared.

What is moved backwards is little by row, which suits no device.

Guaranteed: the same contents of `A` after each step.  `B` is private to a step, so nobody can tell what else it holds.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import replace

from adgen import ops
from adgen.ir import core
from adgen.ir.nodes import Function, Operation, Value
from adgen.ir.types import Buffer
from adgen.passes.box_nests import box_nest, inside_box, outside_nest
from adgen.passes.boxes import Box, chains, contains, only_accesses, stored_boxes
from adgen.passes.moves import Move, Moves, with_loops


def rotations(function: Function, chosen: Callable[[Function], Container[Operation]] | None = None) -> Function:
    """Swap instead of copying; where loops are chosen, in these, and forwards only.

    Before:  function f(%out: f64[:], %n: i64, %x: f64) -> () {
               %zero = const {type="i64", value=0} : i64
               %A = alloc %n {element="f64", zero=true} : f64[:]
               for %zero, %n {exit=false, step=1} (%t: i64) {
                 %B = alloc %n {element="f64", zero=false} : f64[:]
                 for %zero, %n {exit=false, step=1} (%i: i64) {
                   %a = load %A, %i : f64
                   %b = add %a, %x : f64
                   store %B, %b, %i
                   yield
                 }
                 for %zero, %n {exit=false, step=1} (%i_1: i64) {
                   %b_1 = load %B, %i_1 : f64
                   store %A, %b_1, %i_1
                   yield
                 }
                 yield
               }
               for %zero, %n {exit=false, step=1} (%j: i64) {
                 %c = load %A, %j : f64
                 store %out, %c, %j
                 yield
               }
               return
             }
    After:   function f(%out: f64[:], %n: i64, %x: f64) -> () {
               %zero = const {type="i64", value=0} : i64
               %A = alloc %n {element="f64", zero=true} : f64[:]
               %B = alloc %n {element="f64", zero=false} : f64[:]
               for %zero, %n {exit=false, step=1} (%t: i64) {
                 for %zero, %n {exit=false, step=1} (%i: i64) {
                   %a = load %A, %i : f64
                   %b = add %a, %x : f64
                   store %B, %b, %i
                   yield
                 }
                 swap %A, %B
                 yield
               }
               for %zero, %n {exit=false, step=1} (%j: i64) {
                 %c = load %A, %j : f64
                 store %out, %c, %j
                 yield
               }
               return
             }
    """
    while True:  # one pair of buffers of a loop at a time
        body = with_loops(function.body, _Search(function, chosen and chosen(function)).loop)
        if body is function.body:
            return function
        function = replace(function, body=body)


class _Search:
    def __init__(self, function: Function, chosen: Container[Operation] | None) -> None:
        self.moves = Moves(function)
        self.chosen = chosen

    def loop(self, loop: Operation) -> list[Operation] | None:
        """A loop in which buffers change places, with what comes before it."""
        if self.chosen is not None and loop not in self.chosen:
            return None
        for alloc in loop.regions[0].operations:
            if alloc.row is core.ALLOC and self.moves.is_free(alloc):
                change = self.forwards(loop, alloc)
                if change is None and self.chosen is None:
                    change = self.backwards(loop, alloc)
                if change is not None:
                    return change
        return None

    def forwards(self, loop: Operation, alloc: Operation) -> list[Operation] | None:
        """A loop whose last use of two buffers is to copy a part of the fresh one into the other."""
        move = self.moves.stepped(loop, alloc)
        if move is None:
            return None
        state, fresh = move.target, alloc.result
        builder = self.moves.builder(move.nest)
        with builder.block() as before:
            if not contains(move.box, self.moves.whole(state)):
                extents = self.moves.extents(state)
                builder.nest(extents, lambda *index: builder.store(fresh, builder.load(state, index), index))
        return [self.outside(alloc, state), *before.operations, _with(loop, alloc, move, [_swap(move, state)])]

    def backwards(self, loop: Operation, alloc: Operation) -> list[Operation] | None:
        """A loop whose first use of two buffers is to move a part of one into the fresh one."""
        (body,) = loop.regions
        fresh = alloc.result
        users = [each for each in self.moves.uses.inside(body, fresh) if each is not alloc]
        move = self.moves.move(users[0]) if users else None
        if move is None or not move.clears or move.target is not fresh:
            return None
        state = move.source
        others = self.moves.uses.inside(body, state)
        if not self.moves.is_state(state, alloc, loop) or others[0] is not move.nest:
            return None
        if not all(only_accesses(each, state) for each in others) or not all(only_accesses(e, fresh) for e in users):
            return None
        prepared = self.prepared(move, self.filled(others[1:], state))
        return [self.outside(alloc, state), _with(loop, alloc, move, [_swap(move, state), *prepared])]

    def prepared(self, move: Move, filled: Box | None) -> list[Operation]:
        """What a state needs after the swap: it keeps what was not moved, and the rest is zero unless it is filled."""
        state, fresh, builder = move.source, move.target, self.moves.builder(move.nest)

        def keep(index: tuple[Value, ...]) -> None:
            builder.store(state, builder.load(fresh, index), index)

        def clear(index: tuple[Value, ...]) -> None:
            builder.store(state, zero, index)

        def either(index: tuple[Value, ...]) -> None:
            old = builder.load(fresh, index)
            builder.store(state, builder.op(ops.SELECT, inside_box(builder, move.box, index), zero, old), index)

        with builder.block() as block:
            assert isinstance(state.type, Buffer)
            zero = builder.const(0, state.type.element)
            if filled is None:
                outside_nest(builder, self.moves.whole(state), move.box, keep)
                box_nest(builder, move.box, clear)
            else:
                outside_nest(builder, self.moves.whole(state), filled, either)
        return block.operations

    def filled(self, others: Sequence[Operation], state: Value) -> Box | None:
        """The box that the next operation stores into without reading anything of the buffer."""
        if not others or any(chain[-1].row is not core.STORE for chain in chains(others[0], state)):
            return None
        return next(iter(stored_boxes(self.moves.indices, others[0], state)), None)

    def outside(self, alloc: Operation, state: Value) -> Operation:
        """The fresh buffer, made in front of the loop."""
        return replace(alloc, operands=self.moves.extents(state))


def _swap(move: Move, state: Value) -> Operation:
    other = move.source if state is move.target else move.target
    return Operation(core.SWAP, (state, other), (), span=move.nest.span)


def _with(loop: Operation, alloc: Operation, move: Move, operations: Sequence[Operation]) -> Operation:
    """The loop without the fresh buffer, and with something else in place of the move."""
    (body,) = loop.regions
    kept: list[Operation] = []
    for each in body.operations:
        if each is move.nest:
            kept.extend(operations)
        elif each is not alloc:
            kept.append(each)
    return replace(loop, regions=(replace(body, operations=tuple(kept)),))
