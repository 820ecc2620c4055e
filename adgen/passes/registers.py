"""Small arrays that are only touched at known places become numbers.

Comes in: a function.  Goes out: the function without the local arrays of a few elements, each access of which has
constant indices and stands in the array's own iteration, on whichever side of branches; a branch yields what it leaves
in their elements.  Guaranteed: the same operations in the same order; what was never stored is zero.
"""

from __future__ import annotations

from math import prod

from adgen import ops
from adgen.ir import core
from adgen.ir.builder import Block, Builder
from adgen.ir.nodes import Function, Operation, Region, Value, walk_inside
from adgen.ir.types import Buffer
from adgen.passes.indices import Definitions
from adgen.passes.rebuild import Mapping, clone, mapped, rebuild, record
from adgen.passes.unroll import MOST_ELEMENTS

Element = tuple[Value, tuple[int, ...]]


def registers(function: Function) -> Function:
    """Keep elements as numbers.

    Before:  function f(%c: bool, %x: f64) -> (out) {
               %0 = const {type="i64", value=0} : i64
               %1 = const {type="i64", value=1} : i64
               %2 = const {type="i64", value=2} : i64
               %A = alloc %2 {element="f64", zero=true} : f64[:]
               if %c {types=[]} () {
                 %y = exp %x : f64
                 store %A, %y, %1
                 yield
               } () {
                 store %A, %x, %1
                 yield
               }
               %a = load %A, %1 : f64
               return %a
             }
    After:   function f(%c: bool, %x: f64) -> (out) {
               %0 = const {type="i64", value=0} : i64
               %1 = const {type="i64", value=1} : i64
               %2 = const {type="i64", value=2} : i64
               %3 = const {type="f64", value=0.0} : f64
               %A_1 = if %c {types=["f64"]} () {
                 %y = exp %x : f64
                 yield %y
               } () {
                 yield %x
               } : f64
               return %A_1
             }
    """
    chosen = _chosen(function)
    return rebuild(function, _Elements(function, chosen)) if chosen else function


def _chosen(function: Function) -> set[Value]:
    """The arrays that become numbers."""
    known = Definitions(function).known
    homes: dict[Value, int] = {}  # the iteration that an array belongs to, by the identity of its region
    refused = {value for value in function.results if isinstance(value.type, Buffer)}

    def scan(region: Region, home: int) -> None:
        for operation in region.operations:
            if operation.row is core.ALLOC:
                extents = [known(extent) for extent in operation.operands]
                if None not in extents and prod(int(extent or 0) for extent in extents) <= MOST_ELEMENTS:
                    homes[operation.result] = home
            first = core.ACCESSES.get(operation.row, 0)
            places = [known(index) for index in operation.operands[first:]] if first else []
            for k, value in enumerate(operation.operands):
                if value in homes and (not first or k > 0 or None in places or homes[value] != home):
                    refused.add(value)
            for inner in operation.regions:
                scan(inner, home if operation.row is core.IF else id(inner))

    scan(function.body, id(function.body))
    return set(homes) - refused


class _Elements:
    """The transform: what each element holds, here."""

    def __init__(self, function: Function, chosen: set[Value]) -> None:
        self.known = Definitions(function).known
        self.chosen = chosen
        self.held: dict[Element, Value] = {}

    def __call__(self, builder: Builder, operation: Operation, mapping: Mapping) -> bool:
        row, operands = operation.row, operation.operands
        if row is core.IF and any(
            o.row in core.ACCESSES and o.operands[0] in self.chosen for o in walk_inside(operation)
        ):
            self.branch(builder, operation, mapping)
            return True
        if row is core.ALLOC and operation.result in self.chosen:
            return True
        if row not in core.ACCESSES or operands[0] not in self.chosen:
            return False
        element = operands[0], tuple(int(self.known(index) or 0) for index in core.indices_of(operation))
        if row is core.LOAD:
            record(builder, operation, (self.value(builder, element),), mapping)
            return True
        value = mapping.get(operands[1], operands[1])
        if row is core.ACCUMULATE:
            value = builder.op(ops.ADD, self.value(builder, element), value)
        self.held[element] = value
        return True

    def value(self, builder: Builder, element: Element) -> Value:
        """What an element holds."""
        assert isinstance(element[0].type, Buffer)
        return self.held.get(element) or builder.const(0, element[0].type.element)

    def branch(self, builder: Builder, operation: Operation, mapping: Mapping) -> None:
        """Both sides from what was held before; what they leave different is yielded."""
        before = self.held
        blocks: list[Block] = []
        after: list[dict[Element, Value]] = []
        for region in operation.regions:
            self.held = dict(before)
            with builder.block() as block:
                clone(builder, region.operations, mapping, self)
                block.results = mapped(region.results, mapping)
            blocks.append(block)
            after.append(self.held)
        own = {o.result for o in walk_inside(operation) if o.row is core.ALLOC}
        touched = [e for e in dict.fromkeys([*after[0], *after[1]]) if e[0] not in own]
        changed = [e for e in touched if after[0].get(e) is not after[1].get(e)]
        self.held = before | {e: after[0][e] for e in touched if e not in changed}
        zeros = {e: builder.const(0, e[0].type.element) for e in changed if isinstance(e[0].type, Buffer)}
        for block, held in zip(blocks, after):
            block.results = (*block.results, *(held.get(e, zeros[e]) for e in changed))
        types = tuple(str(value.type) for value in blocks[0].results)
        names = [value.name for value in operation.results]
        names += ["_".join([e[0].name, *map(str, e[1])]) if e[0].name else "" for e in changed]
        attributes = {**operation.attributes, "types": types}
        condition = mapped(operation.operands, mapping)
        made = builder.emit(core.IF, condition, attributes, [block.region() for block in blocks], names)
        record(builder, operation, made[: len(operation.results)], mapping)
        self.held.update(zip(changed, made[len(operation.results) :]))
