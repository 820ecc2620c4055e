"""Small arrays that are only touched at known places become numbers.

Comes in: a function.  Goes out: the function without the local arrays of a few elements, each access of which, also by
another shape, has constant indices and stands in the array's own iteration, on whichever side of branches; a branch
yields what it leaves in their elements.  Guaranteed: the same operations in the same order; what was never stored is
zero.
"""

from __future__ import annotations

from functools import reduce
from math import prod

from adgen import ops
from adgen.ir import core
from adgen.ir.builder import Block, Builder
from adgen.ir.nodes import Function, Operation, Region, Value, walk_inside
from adgen.ir.rebuild import Mapping, clone, mapped, rebuild, record
from adgen.ir.types import Buffer
from adgen.passes.indices import Definitions
from adgen.passes.unroll import MOST_ELEMENTS

Element = tuple[Value, int]  # an array and a place in it, in row-major order


def registers(function: Function, most: int = MOST_ELEMENTS) -> Function:
    """Keep elements as numbers, of arrays with at most so many.

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
    arrays = _Arrays(function, most)
    return rebuild(function, _Elements(arrays)) if arrays else function


class _Arrays:
    """The arrays that become numbers, with their reshapes."""

    def __init__(self, function: Function, most: int) -> None:
        self.known = Definitions(function).known
        self.most = most
        self.root: dict[Value, Value] = {}
        self.extents: dict[Value, tuple[int, ...]] = {}
        self.homes: dict[Value, int] = {}  # the iteration that an array belongs to, by the identity of its region
        self.refused = {value for value in function.results if isinstance(value.type, Buffer)}
        self._scan(function.body, id(function.body))
        self.refused = {self.root.get(value, value) for value in self.refused}

    def __contains__(self, value: Value) -> bool:
        return value in self.root and self.root[value] not in self.refused

    def __bool__(self) -> bool:
        return any(value in self for value in self.root)

    def element(self, access: Operation) -> Element:
        """What an access is to."""
        buffer = access.operands[0]
        places = (int(self.known(index) or 0) for index in core.indices_of(access))
        return self.root[buffer], reduce(lambda flat, at: flat * at[0] + at[1], zip(self.extents[buffer], places), 0)

    def name(self, element: Element) -> str:
        """The name of the array and the indices."""
        array, flat = element
        indices: list[int] = []
        for extent in reversed(self.extents[array]):
            flat, index = divmod(flat, extent)
            indices.insert(0, index)
        return "_".join([array.name, *map(str, indices)]) if array.name else ""

    def _scan(self, region: Region, home: int) -> None:
        for operation in region.operations:
            row, operands = operation.row, operation.operands
            first = core.ACCESSES.get(row, 0)
            fixed = row is core.RESHAPE or (first and all(self.known(index) is not None for index in operands[first:]))
            for k, value in enumerate(operands):
                root = self.root.get(value)
                if root is not None and not (fixed and k == 0 and self.homes[root] == home):
                    self.refused.add(root)
            if row in (core.ALLOC, core.RESHAPE):
                self._make(operation, home)
            for inner in operation.regions:
                self._scan(inner, home if row is core.IF else id(inner))

    def _make(self, operation: Operation, home: int) -> None:
        made, reshaped = operation.result, operation.row is core.RESHAPE
        extents = [self.known(extent) for extent in operation.operands[reshaped:]]
        root = self.root.get(operation.operands[0]) if reshaped else made
        if root is None:
            return
        shape = tuple(int(extent) for extent in extents if extent is not None)
        if len(shape) < len(extents) or prod(shape) > self.most or made in self.refused:
            self.refused.add(root)
            return
        self.root[made], self.extents[made] = root, shape
        self.homes.setdefault(root, home)


class _Elements:
    """The transform: what each element holds, here."""

    def __init__(self, arrays: _Arrays) -> None:
        self.chosen = arrays
        self.held: dict[Element, Value] = {}

    def __call__(self, builder: Builder, operation: Operation, mapping: Mapping) -> bool:
        row, operands = operation.row, operation.operands
        if row is core.IF and any(
            o.row in core.ACCESSES and o.operands[0] in self.chosen for o in walk_inside(operation)
        ):
            self.branch(builder, operation, mapping)
            return True
        if row in (core.ALLOC, core.RESHAPE) and operation.result in self.chosen:
            return True
        if row not in core.ACCESSES or operands[0] not in self.chosen:
            return False
        element = self.chosen.element(operation)
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
        names += map(self.chosen.name, changed)
        attributes = {**operation.attributes, "types": types}
        condition = mapped(operation.operands, mapping)
        made = builder.emit(core.IF, condition, attributes, [block.region() for block in blocks], names)
        record(builder, operation, made[: len(operation.results)], mapping)
        self.held.update(zip(changed, made[len(operation.results) :]))
