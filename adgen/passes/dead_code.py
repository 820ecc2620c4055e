"""Dropping what cannot be seen: operations, carried values, branch results, memory that nobody reads.

Comes in: a function.  Goes out: the function without the operations that contribute to no result, to no memory of
the caller and to no `check`.  Guaranteed: what is kept is kept in order; linear in the size of the function.

Everything is dead until proved alive.  A `check` is alive, and so is a `call`, which may raise.  Memory is alive when
it is a parameter, a result, or when a live `load` reads it: then the stores into it are alive too, whichever handle
they go through.  A carried value is alive when its result or its argument is.  A `while` whose results nobody needs
and which has no effect is dropped even if it might not end, as C compilers do; one that holds a `check` stays.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from adgen.ir import core
from adgen.ir.nodes import Function, Operation, Region, Value
from adgen.ir.types import Buffer, Stack


def dead_code(function: Function) -> Function:
    """Drop what no result, no memory of the caller and no check depends on.

    Before:  function f(%x: f64, %n: i64) -> (out) {
               %zero = const {type="i64", value=0} : i64
               %A = alloc %n {element="f64", zero=true} : f64[:]
               %a, %b = for %zero, %n, %x, %x {exit=false, step=1} (%i: i64, %s: f64, %t: f64) {
                 store %A, %t, %i
                 %s_1 = mul %s, %x : f64
                 %t_1 = mul %t, %s : f64
                 yield %s_1, %t_1
               } : f64, f64
               return %a
             }
    After:   function f(%x: f64, %n: i64) -> (out) {
               %zero = const {type="i64", value=0} : i64
               %a = for %zero, %n, %x {exit=false, step=1} (%i: i64, %s: f64) {
                 %s_1 = mul %s, %x : f64
                 yield %s_1
               } : f64
               return %a
             }
    """
    live = _Liveness(function)
    body = _kept(function.body, live)
    return function if body is function.body else replace(function, body=body)


def keep_results(function: Function, names: Iterable[str]) -> Function:
    """The function with only the named results, in their present order, and what they need.

    Raises KeyError when a name is not a result.
    """
    wanted = set(names)
    if missing := wanted - set(function.result_names):
        raise KeyError(f"{function.name} has no result {', '.join(sorted(missing))}")
    pairs = [pair for pair in zip(function.result_names, function.results) if pair[0] in wanted]
    if len(pairs) == len(function.results):
        return dead_code(function)
    body = replace(function.body, results=tuple(value for _, value in pairs))
    return dead_code(replace(function, body=body, result_names=tuple(name for name, _ in pairs)))


class _Liveness:
    """The live values and operations of a function, found with one worklist."""

    def __init__(self, function: Function) -> None:
        self.values: set[Value] = set()
        self.operations: set[int] = set()
        self.maker: dict[Value, tuple[Operation, int]] = {}
        self.argument_of: dict[Value, tuple[Operation, int]] = {}
        self.owner: dict[int, Operation | None] = {}
        self.root: dict[Value, Value] = {}
        self.touching: dict[Value, list[Operation]] = {}
        self.readable: set[Value] = set()
        self._work: list[Value] = []
        checks: list[Operation] = []
        for value in function.parameters:
            if isinstance(value.type, Buffer):
                self.root[value] = value
        self._index(function.body, None, checks)
        for value in function.parameters:
            if value in self.root:
                self._read(value)
        for operation in checks:
            self._use(operation)
        for value in function.results:
            self._need(value)
            if value in self.root:
                self._read(self.root[value])
        while self._work:
            self._visit(self._work.pop())

    def _index(self, region: Region, owner: Operation | None, checks: list[Operation]) -> None:
        for operation in region.operations:
            row = operation.row
            self.owner[id(operation)] = owner
            for position, value in enumerate(operation.results):
                self.maker[value] = (operation, position)
                if isinstance(value.type, Buffer | Stack):
                    self.root[value] = self.root[operation.operands[0]] if row is core.RESHAPE else value
            if row in (core.CHECK, core.CALL):
                checks.append(operation)
            elif row in core.WRITES or row in (core.PUSH, core.POP):
                self.touching.setdefault(self.root[operation.operands[0]], []).append(operation)
            elif row is core.CUSTOM:
                for value in core.outputs_of(operation):
                    self.touching.setdefault(self.root[value], []).append(operation)
            elif row in core.LOOPS:
                for inner in operation.regions:
                    for position, value in enumerate(inner.arguments[row is core.FOR :]):
                        self.argument_of[value] = (operation, position)
            for inner in operation.regions:
                self._index(inner, operation, checks)

    def _need(self, value: Value) -> None:
        if value not in self.values:
            self.values.add(value)
            self._work.append(value)

    def _read(self, root: Value) -> None:
        """The contents of some memory matter: everything that writes it is alive."""
        if root not in self.readable:
            self.readable.add(root)
            for operation in self.touching.get(root, ()):
                self._use(operation)

    def _use(self, operation: Operation) -> None:
        """An operation is alive: so is what it reads, and the operation whose region it is in."""
        current: Operation | None = operation
        while current is not None and id(current) not in self.operations:
            self.operations.add(id(current))
            for value in _always_read(current):
                self._need(value)
            if current.row in (core.LOAD, core.POP):
                self._read(self.root[current.operands[0]])
            elif current.row in (core.CONTRACT, core.ADD_UP):
                for value in current.operands[1:3]:
                    self._read(self.root[value])
            elif current.row is core.CUSTOM:  # its rules may look at all of it
                for value in (*current.operands, *current.results):
                    self._need(value)
                    if value in self.root:
                        self._read(self.root[value])
            current = self.owner[id(current)]

    def _visit(self, value: Value) -> None:
        made = self.maker.get(value)
        if made is not None:
            operation, position = made
            self._use(operation)
            if operation.row in core.LOOPS:
                self._carry(operation, position)
            elif operation.row in (core.IF, core.CUSTOM):
                for region in operation.regions:
                    self._need(region.results[position])
        elif value in self.argument_of:
            self._carry(*self.argument_of[value])

    def _carry(self, operation: Operation, position: int) -> None:
        """A carried value is alive: its start, its next value, and all its names."""
        skip = 2 if operation.row is core.FOR else 0
        self._need(operation.operands[skip + position])
        self._need(operation.results[position])
        for region in operation.regions:
            self._need(region.arguments[position + (operation.row is core.FOR)])
        last = operation.regions[-1].results
        self._need(last[position + bool(operation.attributes.get("exit"))])


def _always_read(operation: Operation) -> tuple[Value, ...]:
    """The values that an operation needs whichever of its results matter."""
    if operation.row is core.FOR:
        return (*operation.operands[:2], *operation.regions[0].results[: bool(operation.attributes.get("exit"))])
    if operation.row is core.WHILE:
        return operation.regions[0].results
    return operation.operands


def _kept(region: Region, live: _Liveness) -> Region:
    kept: list[Operation] = []
    for operation in region.operations:
        if id(operation) in live.operations:
            kept.append(_kept_owner(operation, live) if operation.row in core.OWNERS else operation)
    same = len(kept) == len(region.operations) and all(a is b for a, b in zip(kept, region.operations))
    return region if same else replace(region, operations=tuple(kept))


def _kept_owner(operation: Operation, live: _Liveness) -> Operation:
    wanted = [value in live.values for value in operation.results]
    regions = tuple(_kept(region, live) for region in operation.regions)
    if all(wanted):
        same = all(a is b for a, b in zip(regions, operation.regions))
        return operation if same else replace(operation, regions=regions)
    row = operation.row
    exit = int(bool(operation.attributes.get("exit")))
    shrunk = []
    for region in regions:
        arguments, results = region.arguments, region.results
        if row is core.FOR:
            arguments = (*arguments[:1], *_chosen(arguments[1:], wanted))
        elif row is core.WHILE:
            arguments = _chosen(arguments, wanted)
        if not (row is core.WHILE and region is regions[0]):
            results = (*results[:exit], *_chosen(results[exit:], wanted))
        shrunk.append(replace(region, arguments=arguments, results=results))
    operands, attributes = operation.operands, operation.attributes
    if row is core.IF:
        types = tuple(text for text, keep in zip(attributes["types"], wanted) if keep)
        attributes = {**attributes, "types": types}
    else:
        skip = 2 if row is core.FOR else 0
        operands = (*operands[:skip], *_chosen(operands[skip:], wanted))
    results = _chosen(operation.results, wanted)
    return replace(operation, operands=operands, results=results, regions=tuple(shrunk), attributes=attributes)


def _chosen(values: tuple[Value, ...], wanted: list[bool]) -> tuple[Value, ...]:
    return tuple(value for value, keep in zip(values, wanted) if keep)
