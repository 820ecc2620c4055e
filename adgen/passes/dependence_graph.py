"""A graph of what depends on what, written by a program of the IR while it runs.

Comes in: a builder, a buffer `edges` of `i64` of any length.  Goes out: operations that make nodes.  A node is a
number: 0 is what depends on nothing, 1 to n are the inputs, n + 1 + p is the node whose parents are in `edges` from
place p on, ended by a 0.  Guaranteed: nothing is written behind the end of `edges`; `used` says how long it would have
to be.
"""

from __future__ import annotations

from collections.abc import Sequence

from adgen import ops
from adgen.ir.builder import Builder
from adgen.ir.nodes import Value
from adgen.ir.types import I64

LOOP_NODE = 3  # places that a node of a loop takes


class Graph:
    """Makes nodes; `inputs` is how many inputs there are."""

    def __init__(self, builder: Builder, edges: Value, inputs: Value) -> None:
        self.builder = builder
        self.edges = edges
        self.none = builder.index(0)
        self.one = builder.index(1)
        self.first = builder.op(ops.ADD, inputs, self.one)
        self.last = builder.op(ops.SUB, builder.dim(edges, 0), self.one)
        self.counter = builder.alloc(I64, (), "used")

    @property
    def used(self) -> Value:
        """How many places of `edges` nodes have taken so far."""
        return self.builder.load(self.counter)

    def node(self, parents: Sequence[Value]) -> Value:
        """The node that depends on all of these: a new one only when more than one of them is not 0."""
        if len(parents) <= 1:
            return parents[0] if parents else self.none
        builder = self.builder
        place = start = self.used
        largest = parents[0]
        for k, parent in enumerate(parents):
            self._write(place, parent)
            present = builder.op(ops.NE, parent, self.none)
            place = builder.op(ops.ADD, place, builder.op(ops.TO_I64, present))
            largest = builder.op(ops.MAXIMUM, largest, parent) if k else parent
        self._write(place, self.none)
        several = builder.op(ops.GT, builder.op(ops.SUB, place, start), self.one)
        end = builder.op(ops.SELECT, several, builder.op(ops.ADD, place, self.one), start)
        builder.store(self.counter, end)
        return builder.op(ops.SELECT, several, builder.op(ops.ADD, self.first, start), largest)

    def join(self, old: Value, new: Value) -> Value:
        """The node that depends on two; what is the same twice is not noted again."""
        same = self.builder.op(ops.EQ, old, new)
        return self.node((old, self.builder.op(ops.SELECT, same, self.none, new)))

    def loop_node(self, before: Value) -> tuple[Value, Value]:
        """A node for what a loop changes, and its place: it depends on the value before and, once closed, on more."""
        place = self.used
        node = self.builder.op(ops.ADD, self.first, place)
        for k, parent in enumerate((node, self._or(before, node), self.none)):
            self._write(self.builder.op(ops.ADD, place, self.builder.index(k)), parent)
        end = self.builder.op(ops.ADD, place, self.builder.index(LOOP_NODE))
        self.builder.store(self.counter, end)
        return node, place

    def close(self, place: Value, after: Value) -> None:
        """Let the node of a loop at this place depend on the value at the end of an iteration."""
        self._write(place, self._or(after, self.builder.op(ops.ADD, self.first, place)))

    def _or(self, parent: Value, otherwise: Value) -> Value:
        return self.builder.op(ops.SELECT, self.builder.op(ops.EQ, parent, self.none), otherwise, parent)

    def _write(self, place: Value, parent: Value) -> None:
        self.builder.store(self.edges, parent, (self.builder.op(ops.MINIMUM, place, self.last),))
