"""How near a function comes to its kinks: where its derivative jumps, or does not exist.

Comes in: a function as the front end gives it, and the parameters to differentiate for.  Goes out: a function of the
same parameters and a tolerance that tells for each operation with a kink, a site, how often its operands came within
the tolerance, and where they came nearest.  Guaranteed: only operands that depend continuously on those parameters are
looked at, as the derivative does; of what has a derivative rule of its own, nothing inside.

Where kinks are is what rows say (`ops.kinks`), and, of what it composes of several operations, the front end by `kink`
operations; then those at the same place in the source are not looked at.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from adgen import ops
from adgen.diagnostics import AdgenError, Span
from adgen.ir import core
from adgen.ir.builder import Builder
from adgen.ir.nodes import Function, Operation, Region, Value, walk
from adgen.ir.rebuild import Mapping, clone, clone_operation, rebuild
from adgen.ir.types import BOOL, F64, I64, is_float
from adgen.ops.elementwise import Elementwise
from adgen.ops.kinks import Kink
from adgen.passes.activity import varied

SHOWN = 3  # operands


@dataclass(frozen=True)
class Site:
    """An operation that has a kink: what it is called, where it is, how many operands and indices are told of it."""

    operation: str
    says: str
    span: Span | None
    operands: int
    indices: int


@dataclass(frozen=True, eq=False)
class _Place:
    """A kink of an operation; `indices` are those of the loops around it; None: the operation itself says it."""

    operation: Operation
    kink: Kink | None
    indices: tuple[Value, ...]

    @property
    def shown(self) -> tuple[Value, ...]:
        """The operands that are told."""
        operands = self.operation.operands[1:] if self.kink is None else self.operation.operands
        return tuple(value for value in operands if value.type != BOOL)[:SHOWN]

    @property
    def site(self) -> Site:
        """What is known before it runs."""
        operation = self.operation
        if self.kink is None:
            name, says = operation.attributes["operation"], operation.attributes["says"]
        else:
            name, says = ops.title(operation.row), self.kink.says
        return Site(name, says, operation.span, len(self.shown), len(self.indices))


def kinks(function: Function, wrt: Sequence[Value]) -> tuple[Function, tuple[Site, ...]]:
    """The function that tells, and its sites.

    Its results are for each site the number of times, the least distance, and the operands and indices there.
    Raises AdgenError where a function that calls itself has kinks.
    """
    places = list(_places(function, varied(function, wrt)))
    return _Told(function, places).function(), tuple(place.site for place in places)


def _places(function: Function, moving: set[Value]) -> Iterator[_Place]:
    told = {o.span for o in walk(function.body) if o.row is core.KINK}

    def region(inside: Region, indices: tuple[Value, ...]) -> Iterator[_Place]:
        for operation in inside.operations:
            row = operation.row
            if row is core.CALL and any(
                _kinks_of(o) for o in walk(function.callees[operation.attributes["callee"]].body)
            ):
                raise AdgenError(
                    "AD138",
                    f"`{function.name}` calls itself, and kinks in it are not found",
                    operation.span,
                    "write it as a loop to know its kinks",
                )
            if any(value in moving for value in operation.operands):
                if row is core.KINK:
                    yield _Place(operation, None, indices)
                elif operation.span is None or operation.span not in told:
                    yield from (_Place(operation, kink, indices) for kink in _kinks_of(operation))
            for inner in operation.regions if row is not core.CUSTOM else ():
                yield from region(inner, (*indices, inner.arguments[0]) if row is core.FOR else indices)

    yield from region(function.body, ())


def _kinks_of(operation: Operation) -> Sequence[Kink]:
    row = operation.row
    return row.kinks if isinstance(row, Elementwise) and any(is_float(v.type) for v in operation.operands) else ()


class _Told:
    """Rebuilds a function with what its places tell."""

    def __init__(self, source: Function, places: Sequence[_Place]) -> None:
        self.source = source
        self.places: dict[int, list[tuple[int, _Place]]] = {}
        for number, place in enumerate(places):
            self.places.setdefault(id(place.operation), []).append((number, place))
        self.sites = len(places)
        self.depth = max((len(place.indices) for place in places), default=0)
        self.builder = Builder()

    def function(self) -> Function:
        source, builder = self.source, self.builder
        builder.span = source.span
        parameters = tuple(Value(value.type, value.name) for value in source.parameters)
        self.tolerance = Value(F64, "tolerance")
        with builder.block((*parameters, self.tolerance)) as block:
            sites = builder.index(self.sites)
            self.count = builder.alloc(I64, (sites,), "count")
            self.nearest = builder.alloc(F64, (sites,), "nearest", zero=False)
            self.operands = builder.alloc(F64, (sites, builder.index(SHOWN)), "operands")
            self.indices = builder.alloc(I64, (sites, builder.index(self.depth)), "indices")
            far = builder.const(math.inf)
            builder.nest((sites,), lambda site: builder.store(self.nearest, far, (site,)))
            values = dict(zip(source.parameters, parameters, strict=True))
            clone(builder, source.body.operations, values, self.operation)
            block.results = (self.count, self.nearest, self.operands, self.indices)
        names = [value.name for value in block.results]
        made = builder.function(source.name, block, names)
        callees = {
            name: rebuild(callee, lambda *where: where[1].row is core.KINK) for name, callee in source.callees.items()
        }
        return replace(made, callees=callees)

    def operation(self, builder: Builder, operation: Operation, values: Mapping) -> bool:
        if operation.row is not core.KINK:
            clone_operation(builder, operation, values, self.operation)
        for number, place in self.places.get(id(operation), ()):
            operands = [values.get(value, value) for value in operation.operands]
            if place.kink is None:
                distance = operands[0]
            else:
                row, result = operation.row, values[operation.result]
                assert isinstance(row, Elementwise)
                distance = row.distance(place.kink, builder, operands, result)
            self.tell(number, self.real(distance), place, values)
        return True

    def tell(self, number: int, distance: Value, place: _Place, values: Mapping) -> None:
        builder = self.builder
        site = builder.index(number)
        size = builder.op(ops.ABS, distance)

        def within() -> tuple[Value, ...]:
            builder.accumulate(self.count, builder.index(1), (site,))
            closer = builder.op(ops.LT, size, builder.load(self.nearest, (site,)))
            builder.branch(closer, nearest)
            return ()

        def nearest() -> tuple[Value, ...]:
            builder.store(self.nearest, size, (site,))
            for k, value in enumerate(place.shown):
                builder.store(self.operands, self.real(values.get(value, value)), (site, builder.index(k)))
            for k, value in enumerate(place.indices):
                builder.store(self.indices, values[value], (site, builder.index(k)))
            return ()

        builder.branch(builder.op(ops.LE, size, self.tolerance), within)

    def real(self, value: Value) -> Value:
        return value if value.type == F64 else self.builder.op(ops.TO_F64, value)
