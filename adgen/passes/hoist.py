"""Loop-invariant code motion.

Comes in: a function.  Goes out: the same with operations that compute the same in every iteration moved before their
loop.  Guaranteed: results are bit-identical; an operation that can fail is executed only if it was before.

A pure operation, which is total, moves out of every loop up to the block where its last operand is made, but never
out of an `if`.  A `load` moves only when the loop surely runs, nothing before it in the body can raise, and nothing in
the loop writes to that memory.
"""

from __future__ import annotations

from dataclasses import dataclass

from adgen.ir import core
from adgen.ir.builder import Builder
from adgen.ir.nodes import Function, Operation
from adgen.ir.rebuild import Mapping, clone_operation, mapped, rebuild_with
from adgen.passes.memory import Memory
from adgen.passes.scoped import ScopedBuilder


def hoist(function: Function) -> Function:
    """Move what a loop computes anew in every iteration to before the loop.

    Before:  function f(%x: f64, %n: i64) -> (out) {
               %zero = const {type="i64", value=0} : i64
               %s = for %zero, %n, %x {exit=false, step=1} (%i: i64, %t: f64) {
                 %r = for %zero, %n, %t {exit=false, step=1} (%j: i64, %u: f64) {
                   %k = mul %i, %n : i64
                   %e = exp %x : f64
                   %z = mul %u, %e : f64
                   yield %z
                 } : f64
                 yield %r
               } : f64
               return %s
             }
    After:   function f(%x: f64, %n: i64) -> (out) {
               %zero = const {type="i64", value=0} : i64
               %e = exp %x : f64
               %s = for %zero, %n, %x {exit=false, step=1} (%i: i64, %t: f64) {
                 %k = mul %i, %n : i64
                 %r = for %zero, %n, %t {exit=false, step=1} (%j: i64, %u: f64) {
                   %z = mul %u, %e : f64
                   yield %z
                 } : f64
                 yield %r
               } : f64
               return %s
             }
    """
    memory = Memory(function)
    if not memory.has_loops:
        return function
    return rebuild_with(ScopedBuilder(), function, _Hoister(memory))


@dataclass
class _Frame:
    """An open region: how far out a pure operation can go, and what a load must know."""

    owner: Operation | None
    floor: int
    runs: bool = False
    left: bool = False


class _Hoister:
    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.frames = [_Frame(None, 1)]

    def __call__(self, builder: Builder, operation: Operation, mapping: Mapping) -> bool:
        assert isinstance(builder, ScopedBuilder)
        row = operation.row
        if row in core.OWNERS:
            self._enter(builder, operation, mapping)
            return True
        if row in (core.CHECK, core.CALL):
            for frame in self.frames:
                frame.left = True
        operands = mapped(operation.operands, mapping)
        if row is core.LOAD:
            floor = self._load_floor(operation)
        elif row.pure:
            floor = self.frames[-1].floor
        else:
            return False
        level = max(floor, builder.level(operands))
        if level >= len(builder.blocks):
            return False
        with builder.at(level):
            clone_operation(builder, operation, mapping)
        return True

    def _enter(self, builder: ScopedBuilder, operation: Operation, mapping: Mapping) -> None:
        depth = len(builder.blocks) + 1
        loop = operation.row in core.LOOPS
        floor = self.frames[-1].floor if loop else depth
        self.frames.append(_Frame(operation, floor, _surely_runs(builder, operation, mapping)))
        clone_operation(builder, operation, mapping, self)
        self.frames.pop()

    def _load_floor(self, load: Operation) -> int:
        """The outermost level at which a load reads the same, in range, whenever its loops are reached."""
        root = self.memory.root[load.operands[0]]
        level = len(self.frames)
        for frame in reversed(self.frames[1:]):
            if not frame.runs or frame.left or root in self.memory.written(frame.owner):
                break
            level -= 1
        return level


def _surely_runs(builder: Builder, operation: Operation, mapping: Mapping) -> bool:
    """True when a loop is known to have at least one iteration."""
    if operation.row is not core.FOR:
        return False
    start, stop = (builder.known(value) for value in mapped(operation.operands[:2], mapping))
    if start is None or stop is None:
        return False
    return len(range(start, stop, operation.attributes["step"])) > 0
