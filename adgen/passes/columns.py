"""Arrays of short rows, such as coordinates, laid out by columns around loops that read them again and again.

Comes in: an optimised function.  Goes out: the same, in which a loop whose inner loops walk down columns `A[j, 0]`,
`A[j, 1]` of an array finds each column in one piece: copied before the loop where it only reads the array, added to the
array after the loop where it only adds to it.  Guaranteed: what is read is the same; sums may be taken in another order
where the loop allows it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial

from adgen import ops
from adgen.ir import core
from adgen.ir.builder import Builder
from adgen.ir.nodes import Function, Operation, Region, Value, walk
from adgen.ir.rebuild import clone_operation, mapped, rebuild
from adgen.ir.types import Buffer
from adgen.passes.activity import roots
from adgen.passes.independence import STRANGE
from adgen.passes.indices import Definitions, Indices

MOST_COLUMNS = 8


def columns(function: Function) -> Function:
    """Lay columns out in one piece.

    Before:  function f(%A: f64[:,:]) -> (out) {
               %0 = const {type="i64", value=0} : i64
               %n = dim %A {axis=0} : i64
               %start = const {type="f64", value=0.0} : f64
               %total = for %0, %n, %start {exit=false, step=1, unordered=true} (%i: i64, %s: f64) {
                 %a = load %A, %i, %0 : f64
                 %t = for %0, %n, %s {exit=false, step=1, unordered=true} (%j: i64, %u: f64) {
                   %b = load %A, %j, %0 : f64
                   %c = mul %a, %b : f64
                   %v = add %u, %c : f64
                   yield %v
                 } : f64
                 yield %t
               } : f64
               return %total
             }
    After:   function f(%A: f64[:,:]) -> (out) {
               %0 = const {type="i64", value=0} : i64
               %n = dim %A {axis=0} : i64
               %start = const {type="f64", value=0.0} : f64
               %1 = const {type="i64", value=1} : i64
               %A_columns = alloc %1, %n {element="f64", zero=false} : f64[:,:]
               %2 = dim %A {axis=1} : i64
               %3 = lt %0, %2 : bool
               if %3 {types=[]} () {
                 for %0, %n {exit=false, step=1, unordered=true} (%j: i64) {
                   %4 = load %A, %j, %0 : f64
                   store %A_columns, %4, %0, %j
                   yield
                 }
                 yield
               } () {
                 yield
               }
               %total = for %0, %n, %start {exit=false, step=1, unordered=true} (%i: i64, %s: f64) {
                 %a = load %A_columns, %0, %i : f64
                 %t = for %0, %n, %s {exit=false, step=1, unordered=true} (%j_1: i64, %u: f64) {
                   %b = load %A_columns, %0, %j_1 : f64
                   %c = mul %a, %b : f64
                   %v = add %u, %c : f64
                   yield %v
                 } : f64
                 yield %t
               } : f64
               return %total
             }
    """
    root = roots(function)
    found = dict(_Search(function, root).loops(function.body))
    if not found:
        return function

    def laid_out(builder: Builder, operation: Operation, mapping: dict[Value, Value]) -> bool:
        if operation not in found:
            return False
        _lay_out(builder, operation, found[operation], mapping)
        return True

    return rebuild(function, laid_out)


@dataclass
class Columns:
    """The columns of one array that a loop touches."""

    handle: Value
    row: object  # `load` or `accumulate`
    numbers: list[int] = field(default_factory=list)
    again: bool = False  # walked down by an inner loop, all the way
    fits: bool = True


class _Search:
    def __init__(self, function: Function, root: Mapping[Value, Value]) -> None:
        self.root = root
        self.definitions = Definitions(function)
        self.indices = Indices(self.definitions)

    def loops(self, region: Region) -> Iterator[tuple[Operation, list[Columns]]]:
        """The outermost loops with columns to lay out."""
        for operation in region.operations:
            found = self.of(operation) if operation.row is core.FOR else []
            if found:
                yield operation, found
                continue
            for inner in operation.regions:
                yield from self.loops(inner)

    def of(self, loop: Operation) -> list[Columns]:
        """What a loop has to lay out."""
        found: dict[Value, Columns] = {}
        inside = {value for o in walk(loop.regions[0]) for value in o.results}
        if any(o.row in STRANGE for o in walk(loop.regions[0])):
            return []
        self._note(loop.regions[0], None, found)
        chosen = [each for each in found.values() if self._pays(each, loop, inside)]
        for each in chosen:
            each.numbers.sort()
        return chosen

    def _pays(self, each: Columns, loop: Operation, inside: set[Value]) -> bool:
        ordered = each.row is core.ACCUMULATE and not loop.attributes.get("unordered")
        known = each.handle not in inside and each.row is not core.STORE
        return each.fits and each.again and known and not ordered and len(each.numbers) <= MOST_COLUMNS

    def _note(self, region: Region, inner: Operation | None, found: dict[Value, Columns]) -> None:
        for operation in region.operations:
            if operation.row in core.ACCESSES:
                self._access(operation, inner, found)
            for each in operation.regions:
                self._note(each, operation if operation.row is core.FOR else inner, found)

    def _access(self, access: Operation, inner: Operation | None, found: dict[Value, Columns]) -> None:
        handle, indices = access.operands[0], core.indices_of(access)
        each = found.setdefault(self.root[handle], Columns(handle, access.row))
        number = self.definitions.known(indices[-1]) if len(indices) == 2 else None
        if number is None or access.row is not each.row or handle is not each.handle:
            each.fits = False
            return
        if int(number) not in each.numbers:
            each.numbers.append(int(number))
        base, _ = self.indices.split(indices[0])
        each.again |= inner is not None and base is inner.regions[0].arguments[0] and self._is_long(inner, handle)

    def _is_long(self, inner: Operation, handle: Value) -> bool:
        """True when a loop begins or ends where the array does: else the copy could cost more than the loop."""
        start, stop = inner.operands[:2]
        last, _ = self.indices.split(stop if inner.attributes["step"] > 0 else start)
        made = self.definitions.definitions.get(handle)
        if made is not None and made.row is core.ALLOC:
            return last is made.operands[0]
        extent = self.definitions.definitions.get(last) if last is not None else None
        return extent is not None and extent.row is core.DIM and extent.operands == (handle,)


def _lay_out(builder: Builder, loop: Operation, found: list[Columns], mapping: dict[Value, Value]) -> None:
    """The loop with columns in place of arrays."""
    handles = {each.handle: each for each in found}
    pieces = {each.handle: _piece(builder, each, mapping) for each in found}

    def access(builder: Builder, operation: Operation, mapping: dict[Value, Value]) -> bool:
        each = handles.get(operation.operands[0]) if operation.row in core.ACCESSES else None
        if each is None:
            return False
        place, number = operation.operands[-2:]
        column = each.numbers.index(int(builder.known(mapped((number,), mapping)[0]) or 0))
        others = mapped((*operation.operands[1 : core.ACCESSES[operation.row]], place), mapping)
        operands = (pieces[each.handle], *others[:-1], builder.index(column), others[-1])
        names = [value.name for value in operation.results]
        results = builder.emit(operation.row, operands, names=names)
        mapping.update(zip(operation.results, results, strict=True))
        return True

    clone_operation(builder, loop, mapping, access)
    for each in found:
        if each.row is core.ACCUMULATE:
            _each_column(builder, each, pieces[each.handle], mapping)


def _piece(builder: Builder, each: Columns, mapping: dict[Value, Value]) -> Value:
    """Memory for the columns: what they hold, or zeros to add to."""
    (handle,) = mapped((each.handle,), mapping)
    assert isinstance(handle.type, Buffer)
    adds = each.row is core.ACCUMULATE
    extents = (builder.index(len(each.numbers)), builder.dim(handle, 0))
    made = builder.alloc(handle.type.element, extents, f"{handle.name}_columns", zero=adds)
    if not adds:
        _each_column(builder, each, made, mapping)
    return made


def _each_column(builder: Builder, each: Columns, piece: Value, mapping: dict[Value, Value]) -> None:
    """Copy columns, or add them to the array; one that the array does not have is not touched."""
    (handle,) = mapped((each.handle,), mapping)
    zero = builder.index(0)
    for column, number in enumerate(each.numbers):
        there, here = builder.index(number), builder.index(column)

        move = partial(_move, builder, each.row is core.ACCUMULATE, (handle, there), (piece, here))
        whole = partial(builder.loop, zero, builder.dim(handle, 0), (), move, name="j", unordered=True)
        builder.branch(builder.op(ops.LT, there, builder.dim(handle, 1)), whole)


def _move(
    builder: Builder, adds: bool, array: tuple[Value, Value], piece: tuple[Value, Value], place: Value
) -> tuple[Value, ...]:
    """One element of a column."""
    (handle, there), (made, here) = array, piece
    if adds:
        builder.accumulate(handle, builder.load(made, (here, place)), (place, there))
    else:
        builder.store(made, builder.load(handle, (place, there)), (here, place))
    return ()
