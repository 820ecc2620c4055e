"""Copies of whole buffers that nobody needs.

Comes in: a function.  Goes out: the function without the nests that copy one buffer into a fresh one, where both may
be the same memory.  Guaranteed: every `load` reads what it read before.

`B` may be the memory of `A` when `A` is not used after the copy, so that `B` goes on where `A` ends; when `B` is only
read, and `A` is not written as long as `B` is; or when `B` goes back into `A` as a whole, and all that happens to `A`
in between is that it is overwritten, which goes, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from adgen.ir import core
from adgen.ir.nodes import Function, Operation, Region, Value, walk, walk_one
from adgen.passes.copy_nests import Copy, copy_nest, fills, same_extents
from adgen.passes.indices import Definitions
from adgen.passes.uses import Path, Uses


def copies(function: Function) -> Function:
    """Use a buffer instead of its copy.

    Before:  function f(%A: f64[:]) -> (out) {
               %zero = const {type="i64", value=0} : i64
               %n = dim %A {axis=0} : i64
               %B = alloc %n {element="f64", zero=false} : f64[:]
               for %zero, %n {exit=false, step=1} (%i: i64) {
                 %a = load %A, %i : f64
                 store %B, %a, %i
                 yield
               }
               %b = load %B, %zero : f64
               return %b
             }
    After:   function f(%A: f64[:]) -> (out) {
               %zero = const {type="i64", value=0} : i64
               %n = dim %A {axis=0} : i64
               %b = load %A, %zero : f64
               return %b
             }
    """
    while True:
        smaller = _without_some(function)
        if smaller is function:
            return function
        function = smaller


def _without_some(function: Function) -> Function:
    """The function without copies, no two of which have to do with the same buffer."""
    uses = Uses(function)
    if not uses.allocs:
        return function
    search = _Search(function, uses)
    mapping: dict[Value, Value] = {}
    removed: set[int] = set()
    busy: set[Value] = set()
    for copy, region in search.copies(function.body):
        source, target = uses.root[copy.source], copy.target
        if {source, target} & busy:
            continue
        if search.goes_on(copy, region) or search.only_reads(copy, region):
            busy |= {source, target}
            mapping[target] = copy.source
            removed |= {id(copy.nest), id(search.allocs[target][0])}
            continue
        back = search.goes_back(copy, region)
        if back:
            busy |= {source, target}
            mapping[target] = copy.source
            removed |= {id(copy.nest), id(search.allocs[target][0]), *map(id, back)}
    if not removed:
        return function
    body = _applied(function.body, mapping, removed)
    results = tuple(mapping.get(value, value) for value in function.results)
    return replace(function, body=replace(body, results=results))


class _Search:
    """Finds copies into fresh buffers and answers whether they are needed."""

    def __init__(self, function: Function, uses: Uses) -> None:
        self.function = function
        self.uses = uses
        self.definitions = Definitions(function)
        self.allocs: dict[Value, tuple[Operation, Path]] = {alloc.result: (alloc, path) for alloc, path in uses.allocs}
        self.results = {uses.root[value] for value in function.results if value in uses.root}
        self.shaped = {
            uses.root[value]
            for operation in walk(function.body)
            if operation.row in (core.DIM, core.RESHAPE, core.CUSTOM)  # whose rules may ask for extents
            for value in operation.operands
            if value in uses.root
        }
        self._places: dict[int, dict[int, int]] = {}

    def copies(self, region: Region, path: Path = ()) -> Iterator[tuple[Copy, Region]]:
        """Every copy into a buffer that is used in the same region alone, and not before, with that region."""
        for operation in region.operations:
            copy = copy_nest(operation, self.definitions) if operation.row is core.FOR else None
            if copy is not None and self._begins(copy, region, path):
                yield copy, region
                continue
            for number, inner in enumerate(operation.regions):
                yield from self.copies(inner, (*path, (operation, number)))

    def _begins(self, copy: Copy, region: Region, path: Path) -> bool:
        """True when the copy is the first use of a buffer that is used in its region alone."""
        if not fills(copy, self.definitions) or self.uses.common.get(copy.target) != path:
            return False
        return self.uses.inside(region, copy.target)[0] is copy.nest and self._root(copy) is not copy.target

    def goes_on(self, copy: Copy, region: Region) -> bool:
        """True when the source is a local buffer of the same region and shape whose last use is the copy."""
        root = self._root(copy)
        if copy.source is not root or root not in self.allocs or root in self.results:
            return False
        if self.allocs[copy.target][1] != self.uses.common[copy.target]:
            return False
        if copy.clears and copy.target in self.results:
            return False  # the source may change places with others, which a result cannot
        (source, path), (target, here) = self.allocs[root], self.allocs[copy.target]
        return (
            path == here
            and self.uses.inside(region, root)[-1] is copy.nest
            and same_extents(self.definitions, source.operands, target.operands)
        )

    def only_reads(self, copy: Copy, region: Region) -> bool:
        """True when the target is only read, and the source is not written until its last use."""
        root = self._root(copy)
        if copy.clears or self.allocs[copy.target][1] != self.uses.common[copy.target]:
            return False
        if copy.target in self.results or (copy.target in self.shaped and not self._is_as_long(copy)):
            return False
        readers = self.uses.inside(region, copy.target)[1:]
        if any(self._writes(operation, copy.target) for operation in readers):
            return False
        place = self._place(region)
        first, last = place[id(copy.nest)], place[id(readers[-1])] if readers else 0
        return not any(
            first < place[id(operation)] <= last and self._writes(operation, root)
            for operation in self.uses.inside(region, root)
        )

    def goes_back(self, copy: Copy, region: Region) -> list[Operation]:
        """What can go beside the copy when its target is copied back as the last thing that happens to it."""
        source, target = copy.source, copy.target
        if source is not self._root(copy) or source not in self.allocs or target in self.results:
            return []
        if not same_extents(self.definitions, self.allocs[source][0].operands, self.allocs[target][0].operands):
            return []
        last = self.uses.inside(region, target)[-1]
        back = copy_nest(last, self.definitions) if last.row is core.FOR else None
        if back is None or (back.source, back.target) != (target, source) or not fills(back, self.definitions):
            return []
        place = self._place(region)
        first, end = place[id(copy.nest)], place[id(last)]
        between = [o for o in self.uses.inside(region, source) if first < place[id(o)] < end]
        return [last, *between] if all(_only_writes(each, source) for each in between) else []

    def _is_as_long(self, copy: Copy) -> bool:
        """True when the target surely has the extents of the source."""
        if copy.source in self.allocs:
            return same_extents(self.definitions, self.allocs[copy.source][0].operands, copy.extents)
        made = [self.definitions.definitions.get(extent) for extent in copy.extents]
        return all(
            operation is not None
            and operation.row is core.DIM
            and operation.operands[0] is copy.source
            and operation.attributes["axis"] == axis
            for axis, operation in enumerate(made)
        )

    def _root(self, copy: Copy) -> Value:
        return self.uses.root[copy.source]

    def _writes(self, operation: Operation, root: Value) -> bool:
        if operation.regions:
            return root in self.uses.memory.written(operation)
        return operation.row in (core.STORE, core.ACCUMULATE) and self.uses.root[operation.operands[0]] is root

    def _place(self, region: Region) -> dict[int, int]:
        if id(region) not in self._places:
            self._places[id(region)] = {id(operation): k for k, operation in enumerate(region.operations)}
        return self._places[id(region)]


def _only_writes(nest: Operation, buffer: Value) -> bool:
    """True for loops that do nothing but store numbers from outside into a buffer."""
    return nest.row is core.FOR and all(
        o.row.pure or (o.row is core.FOR and not o.results) or (o.row is core.STORE and o.operands[0] is buffer)
        for o in walk_one(nest)
    )


def _applied(region: Region, mapping: Mapping[Value, Value], removed: set[int]) -> Region:
    operations = []
    for operation in region.operations:
        if id(operation) in removed:
            continue
        operands = tuple(mapping.get(value, value) for value in operation.operands)
        regions = tuple(_applied(inner, mapping, removed) for inner in operation.regions)
        if operands != operation.operands or any(a is not b for a, b in zip(regions, operation.regions)):
            operation = replace(operation, operands=operands, regions=regions)
        operations.append(operation)
    same = len(operations) == len(region.operations) and all(a is b for a, b in zip(operations, region.operations))
    return region if same else replace(region, operations=tuple(operations))
