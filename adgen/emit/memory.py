"""Where every buffer of a function lives in C.

Comes in: a function.  Goes out: a `Plan`.  Small buffers of constant size are local arrays, results are the caller's
memory, buffers whose size can be told at entry are slices of the caller's workspace, and the rest grows on the heap and
is freed before the function returns.  A function that other emitted functions call has no workspace.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from types import MappingProxyType
from typing import Any

import numpy as np

from adgen.diagnostics import AdgenError
from adgen.emit.bounds import EntryBounds, natural
from adgen.emit.swaps import exchanged
from adgen.ir import core
from adgen.ir.builder import Builder
from adgen.ir.interpret import run
from adgen.ir.nodes import Attributes, Function, Operation, Region, Row, Value, walk
from adgen.ir.translate import DTYPES
from adgen.ir.types import Buffer, Type

LINE = 64  # bytes: what parts of the workspace are counted in
LARGEST_LOCAL = 128  # elements of one local array: eight directions of a small matrix
LARGEST_FRAME = 4096  # elements of all local arrays together
LARGEST_RECURSIVE_FRAME = 64  # the same in a function that may be active many times at once


def nothing(types: tuple[Type, ...], attributes: Attributes) -> tuple[Type, ...]:
    """The result types of a row that has no results."""
    return ()


TAKE = Row("take", nothing)  # at entry: a buffer's part of the workspace, by its extents
RESERVE = Row("reserve", nothing)  # the same in the function that tells the sizes


@dataclass
class Plan:
    """The home of every `alloc` and `stack`, and the operations that compute sizes at entry."""

    function: Function
    recursive: bool = False  # called by other emitted functions: there is no workspace
    entry: list[Operation] = field(default_factory=list)
    local: dict[Value, int] = field(default_factory=dict)  # number of elements
    result: dict[Value, int] = field(default_factory=dict)  # which result
    workspace: dict[Value, tuple[Value, ...]] = field(default_factory=dict)  # extents at entry
    threaded: dict[Value, Operation] = field(default_factory=dict)  # workspace of each thread, by the parallel loop
    heap: list[Value] = field(default_factory=list)
    stacks: list[Value] = field(default_factory=list)
    result_extents: list[Value] = field(default_factory=list)
    definition: dict[Value, Operation] = field(default_factory=dict)
    exchanged: frozenset[Value] = frozenset()  # buffers that change places
    fixed: Mapping[tuple[Value, int], int] = field(default_factory=dict)  # extents of parameters, by axis

    @property
    def needs_cleanup(self) -> bool:
        """True when memory must be freed before returning."""
        return bool(self.heap or self.stacks)

    def main(self) -> Function:
        """The function, beginning with the operations that take slices of the workspace."""
        body = self.function.body
        operations = (*self._sized(TAKE), *body.operations)
        return Function(self.function.name, Region(body.arguments, operations, body.results), ())

    def sizes(self) -> Function:
        """A function of the same parameters that adds up the workspace and gives the extents of the results."""
        region = Region(self.function.parameters, tuple(self._sized(RESERVE)), tuple(self.result_extents))
        return Function(self.function.name, region, ())

    def _sized(self, row: Row) -> list[Operation]:
        made = [
            Operation(row, extents, (), MappingProxyType({"buffer": buffer}))
            for buffer, extents in self.workspace.items()
        ]
        return [*self.entry, *made]

    def bytes_at(self, arguments: Sequence[Any]) -> int:
        """The workspace for some arguments, but for the rounding up of each slice."""
        body = Region(self.function.parameters, tuple(self.entry), tuple(e for s in self.workspace.values() for e in s))
        names = tuple(map(str, range(len(body.results))))
        extents = iter(run(Function(self.function.name, body, names), arguments).results)
        total = 0
        for buffer, sizes in self.workspace.items():
            assert isinstance(buffer.type, Buffer)
            size = np.dtype(DTYPES[buffer.type.element]).itemsize
            total += size * prod(max(int(next(extents)), 0) for _ in sizes)
        return total

    def number(self, value: Value) -> int | None:
        """An integer where it does not depend on the arguments, whose extents may be `fixed`."""
        made = self.definition.get(value)
        if made is None:
            return None
        if made.row is core.CONST:
            return int(made.attributes["value"])
        if made.row is core.DIM:
            return self.fixed.get((made.operands[0], made.attributes["axis"]))
        parts = [self.number(operand) for operand in made.operands]
        if made.row.evaluate is None or None in parts:
            return None
        return int(made.row.evaluate(*parts))

    def bytes(self) -> int | None:
        """The size of the workspace, as `adgen_reserve` counts it; None where it depends on the arguments."""
        total = 0
        for buffer, extents in self.workspace.items():
            assert isinstance(buffer.type, Buffer)
            size = np.dtype(DTYPES[buffer.type.element]).itemsize
            for extent in extents:
                number = self.number(extent)
                if number is None:
                    return None
                size *= max(0, number)
            total += (size // LINE + 1) * LINE
        return total

    def natural(self, value: Value) -> bool:
        """True when an integer is known not to be negative."""
        return natural(value, self.definition)


def plan_memory(function: Function, recursive: bool = False, frame: int = LARGEST_FRAME) -> Plan:
    """Decide where every buffer lives; local arrays have at most `frame` elements together.

    Raises AdgenError when the extents of a result cannot be computed from the parameters.
    """
    builder = Builder()
    plan = Plan(function, recursive)
    with builder.block(function.parameters) as entry:
        bounds = EntryBounds(function, builder)
        results = {value: k for k, value in enumerate(function.results)}
        parallel = {
            o.result: loop for loop in parallel_loops(function) for o in walk(loop.regions[0]) if o.row is core.ALLOC
        }
        plan.exchanged = exchanged(function)
        for operation in walk(function.body):
            plan.definition.update((value, operation) for value in operation.results)
            if operation.row is core.STACK:
                plan.stacks.append(operation.result)
            elif operation.row is core.ALLOC:
                _place(plan, bounds, operation, results, LARGEST_RECURSIVE_FRAME if recursive else frame)
                if operation.result in plan.workspace and operation.result in parallel:
                    loop = plan.threaded[operation.result] = parallel[operation.result]
                    count = builder.index(loop.attributes["parallel"])
                    plan.workspace[operation.result] = (count, *plan.workspace[operation.result])
        for value in sorted(plan.result, key=plan.result.__getitem__):  # as the caller has them
            plan.result_extents.extend(_result_extents(bounds, plan.definition[value]))
    plan.entry = entry.operations
    plan.definition.update((value, operation) for operation in plan.entry for value in operation.results)
    return plan


def parallel_loops(function: Function) -> list[Operation]:
    """The loops that threads may share."""
    return [o for o in walk(function.body) if o.row is core.FOR and o.attributes.get("parallel")]


def _place(plan: Plan, bounds: EntryBounds, operation: Operation, results: dict[Value, int], room: int) -> None:
    value = operation.result
    if value in results:
        plan.result[value] = results[value]
        return
    numbers = [_constant(bounds, extent) for extent in operation.operands]
    constant = [number for number in numbers if number is not None]
    if len(constant) == len(numbers):
        size = max(1, prod(max(0, number) for number in constant))
        small = size <= LARGEST_LOCAL and value not in plan.exchanged  # those are pointers
        if small and sum(plan.local.values()) + size <= room:
            plan.local[value] = size
            return
    uppers: list[Value | None] = [bounds.upper(extent) for extent in operation.operands]
    found = [upper for upper in uppers if upper is not None]
    if len(found) == len(uppers) and not plan.recursive:
        plan.workspace[value] = tuple(found)
    else:
        plan.heap.append(value)


def _constant(bounds: EntryBounds, extent: Value) -> int | None:
    exact = bounds.exact(extent)
    known = None if exact is None else bounds.builder.known(exact)
    return None if known is None else int(known)


def _result_extents(bounds: EntryBounds, operation: Operation) -> list[Value]:
    found = []
    for extent in operation.operands:
        exact = bounds.exact(extent)
        if exact is None:
            raise AdgenError(
                "AD320",
                "the shape of a result depends on computed values",
                operation.span,
                "make the result's extents depend on the shapes and integer arguments only",
            )
        found.append(exact)
    return found
