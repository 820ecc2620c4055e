"""Small fixed loops over small fixed arrays, written out.

Comes in: a function.  Goes out: the function in which a loop of two to four iterations that works on a local array of
a few elements, such as a vector in space or a quaternion, is its body that many times.  Guaranteed: the same
operations in the same order; a program grows by a constant factor at most, whatever its trip counts are.

The elements of such an array become scalars when their stores are forwarded afterwards, so that a derivative keeps
no memory for them and a reader sees `u0`, `u1`, `u2`.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from adgen.ir import core
from adgen.ir.builder import Builder
from adgen.ir.nodes import Function, Operation, Region, Value, walk
from adgen.ir.rebuild import Mapping, clone, mapped, rebuild, record
from adgen.passes.indices import Definitions
from adgen.passes.memory import Memory

MOST_ELEMENTS = 16


@dataclass(frozen=True)
class Limits:
    """How much is written out: iterations of a loop, elements of an array, operations that a loop becomes.

    With `only_small_arrays` a loop must have to do with an array of so few elements.
    """

    iterations: int = 4
    elements: int = MOST_ELEMENTS
    operations: int = 64
    only_small_arrays: bool = True


def unroll(function: Function, limits: Limits = Limits()) -> Function:
    """Write small loops over small arrays out.

    Before:  function f(%x: f64, %y: f64) -> (out) {
               %0 = const {type="i64", value=0} : i64
               %1 = const {type="i64", value=1} : i64
               %2 = const {type="i64", value=2} : i64
               %A = alloc %2 {element="f64", zero=false} : f64[:]
               store %A, %x, %0
               store %A, %y, %1
               %z = const {type="f64", value=0.0} : f64
               %s = for %0, %2, %z {exit=false, step=1} (%i: i64, %t: f64) {
                 %a = load %A, %i : f64
                 %u = add %t, %a : f64
                 yield %u
               } : f64
               return %s
             }
    After:   function f(%x: f64, %y: f64) -> (out) {
               %0 = const {type="i64", value=0} : i64
               %1 = const {type="i64", value=1} : i64
               %2 = const {type="i64", value=2} : i64
               %A = alloc %2 {element="f64", zero=false} : f64[:]
               store %A, %x, %0
               store %A, %y, %1
               %z = const {type="f64", value=0.0} : f64
               %a = load %A, %0 : f64
               %u = add %z, %a : f64
               %a_1 = load %A, %1 : f64
               %u_1 = add %u, %a_1 : f64
               return %u_1
             }
    """
    definitions, memory = Definitions(function), Memory(function)
    small = {root for root in set(memory.root.values()) if _is_small(definitions, root, limits.elements)}
    if not small and limits.only_small_arrays:
        return function
    chosen = _Choice(definitions, memory, small, limits)
    chosen.size(function.body)
    return rebuild(function, chosen.write_out) if chosen.trips else function


def _is_small(definitions: Definitions, root: Value, most: int) -> bool:
    """True for a local array with at most so many elements."""
    alloc = definitions.definitions.get(root)
    if alloc is None or alloc.row is not core.ALLOC:
        return False
    extents = [definitions.known(extent) for extent in alloc.operands]
    return None not in extents and prod(int(extent or 0) for extent in extents) <= most


class _Choice:
    """Which loops to write out, by identity, and how often."""

    def __init__(self, definitions: Definitions, memory: Memory, small: set[Value], limits: Limits) -> None:
        self.definitions = definitions
        self.memory = memory
        self.small = small
        self.limits = limits
        self.trips: dict[int, range] = {}

    def size(self, region: Region) -> int:
        """How many operations the region has once the loops chosen in it are written out."""
        return sum(self._size(operation) for operation in region.operations)

    def _size(self, operation: Operation) -> int:
        inside = sum(self.size(region) for region in operation.regions)
        if operation.row is not core.FOR or operation.attributes["exit"]:
            return 1 + inside
        start, stop = (self.definitions.known(value) for value in operation.operands[:2])
        if start is None or stop is None:
            return 1 + inside
        trips = range(start, stop, operation.attributes["step"])
        limits = self.limits
        if not 2 <= len(trips) <= limits.iterations or len(trips) * inside > limits.operations:
            return 1 + inside
        if limits.only_small_arrays and not self._is_all_small(operation):
            return 1 + inside
        self.trips[id(operation)] = trips
        return len(trips) * inside

    def _is_all_small(self, loop: Operation) -> bool:
        """True for a loop that works on a small array and has no loop that remains."""
        touched = self.memory.read(loop) | self.memory.written(loop)
        loops = any(o.row in core.LOOPS and id(o) not in self.trips for o in walk(loop.regions[0]))
        return bool(touched & self.small) and not loops

    def write_out(self, builder: Builder, operation: Operation, mapping: Mapping) -> bool:
        """The transform: a chosen loop becomes its iterations."""
        trips = self.trips.get(id(operation))
        if trips is None:
            return False
        (region,) = operation.regions
        carried = mapped(operation.operands[2:], mapping)
        for number in trips:
            mapping.update(zip(region.arguments, (builder.index(number), *carried)))
            clone(builder, region.operations, mapping, self.write_out)
            carried = mapped(region.results, mapping)
        record(builder, operation, carried, mapping)
        return True
