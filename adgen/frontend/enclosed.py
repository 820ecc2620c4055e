"""Functions that are lowered where they are mentioned and become functions of the IR.

Comes in: regions, made in open blocks of their own.  Goes out: what they read from outside of them, and copies of them
that have it as parameters.  Guaranteed: variables of the functions around are inputs like any other, so nothing that a
derivative could depend on is left out; what would change anything outside is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from adgen.frontend import nested
from adgen.frontend.same import same
from adgen.frontend.state import State
from adgen.ir import core
from adgen.ir.builder import Block
from adgen.ir.nodes import Function, Operation, Region, Value, walk

if TYPE_CHECKING:
    from adgen.frontend.context import Context

REMADE = (core.CONST, core.TABLE, core.DIM)  # what a region makes for itself instead of taking it from outside


@contextmanager
def apart(ctx: Context, name: str, arguments: Sequence[Value] = ()) -> Iterator[Block]:
    """A block for what `name` was given; refuses what changes variables or containers outside of it."""
    before = State.capture(ctx)
    with ctx.builder.block(arguments) as block:
        yield block
    after, old = State.capture(ctx), dict(before.slots())
    for slot, value in after.slots():
        if (slot.owner == 0 or slot.owner in before.containers) and not same(old.get(slot), value):
            _refuse(ctx, name)


@dataclass(frozen=True, eq=False)
class Surroundings:
    """What regions read from outside: `inputs`, and what follows from them alone, which a copy makes again.

    `outputs` is what they write.
    """

    inputs: list[Value]
    outputs: list[Value]
    makers: list[Operation]

    def region(self, ctx: Context, region: Region) -> Region:
        """A copy of a region that uses nothing else from outside than the inputs."""
        return self._copied(ctx, region, {value: value for value in (*self.inputs, *self.outputs)})

    def function(
        self, ctx: Context, title: str, region: Region, known: Sequence[Value], names: Sequence[str] = ("out",)
    ) -> Function:
        """A function of the inputs, of what `known` stands for, and of the arguments that the region has left."""
        given = [value for value in known if value not in region.arguments]
        values = {value: Value(value.type, value.name or "p") for value in (*self.inputs, *given, *region.arguments)}
        order = [*self.inputs, *known, *(value for value in region.arguments if value not in known)]
        body = self._copied(ctx, region, dict(values))
        parameters = tuple(values[value] for value in order)
        return Function(title, Region(parameters, body.operations, body.results), tuple(names), ctx.span)

    def _copied(self, ctx: Context, region: Region, values: dict[Value, Value]) -> Region:
        operations = tuple(nested.copied(ctx, each, values) for each in (*self.makers, *region.operations))
        return Region((), operations, tuple(values[value] for value in region.results))


def surroundings(
    ctx: Context, name: str, regions: Sequence[Region], outputs: Sequence[Value] = (), first: Sequence[Value] = ()
) -> Surroundings:
    """What regions read from outside, `first` before everything else; they may write the outputs and nothing else."""
    definitions = ctx.builder.definitions
    outer = [value for region in regions for value in _outer(region) if value not in outputs]
    makers = [definitions[v] for v in dict.fromkeys(outer) if v in definitions and definitions[v].row in REMADE]
    remade = {maker.result for maker in makers}
    inputs = dict.fromkeys((*first, *(value for maker in makers for value in maker.operands if value not in outputs)))
    inputs.update(dict.fromkeys(value for value in outer if value not in remade))
    roots = {ctx.writes.root(value) for value in outer}
    if any(op.row in core.WRITES and ctx.writes.root(op.operands[0]) in roots for r in regions for op in walk(r)):
        _refuse(ctx, name)
    return Surroundings(list(inputs), list(outputs), makers)


def _outer(region: Region) -> Iterator[Value]:
    """The values from outside that a region uses."""
    inside = set(region.arguments)
    used: list[Value] = []

    def visit(operations: Iterable[Operation]) -> None:
        for operation in operations:
            used.extend(operation.operands)
            inside.update(operation.results)
            for inner in operation.regions:
                inside.update(inner.arguments)
                visit(inner.operations)
                used.extend(inner.results)

    visit(region.operations)
    return (value for value in (*used, *region.results) if value not in inside)


def _refuse(ctx: Context, name: str) -> None:
    ctx.fail("AD148", f"the function given to `{name}` changes something outside of it", "return the value instead")
