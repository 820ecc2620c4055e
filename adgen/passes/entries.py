"""The derivatives of code without loops: each number carries the tangents that can be other than zero.

Comes in: code as `passes.straight` makes it, and the parameters to differentiate for.  Goes out: from `supports` for
each number the elements that it depends on, from `entries` the derivatives of what is stored.  Guaranteed: they are
those of forward mode, but that a factor which is the constant zero makes a zero of any tangent, be it infinite: what
does not depend on a number has no derivative for it.

This is forward mode with one direction for each element that is read, where the pattern of the zeros is known when the
code is made: Griewank and Walther, Evaluating Derivatives (2008), section 7.1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Mapping as AnyMapping

from adgen.ir import core
from adgen.ir.builder import Builder
from adgen.ir.nodes import Function, Operation, Region, Value
from adgen.ir.rebuild import Mapping, clone_operation, mapped
from adgen.ir.types import Buffer, is_float
from adgen.passes.forward import is_cancelled, tangent_of
from adgen.passes.indices import Definitions
from adgen.passes.strong_zeros import Fragile

Element = tuple[Value, tuple[int, ...]]  # an array, or a number, and the indices
Supports = AnyMapping[Value, AnyMapping[Element, None]]
Derivatives = dict[Element, Value]


def supports(function: Function, wrt: Sequence[Value]) -> Supports | None:
    """The elements of `wrt` that each number depends on; None where it is not known which ones are read."""
    definitions = Definitions(function)
    found: dict[Value, dict[Element, None]] = {x: {(x, ()): None} for x in wrt if not isinstance(x.type, Buffer)}
    for operation in _walk_after(function.body):
        if operation.row is core.LOAD and operation.operands[0] in wrt:
            element = _element(operation, definitions)
            if element is None:
                return None
            found[operation.result] = {element: None}
        elif operation.row is core.IF:
            for result, *ends in zip(operation.results, *(region.results for region in operation.regions)):
                found[result] = {e: None for value in ends for e in found.get(value, ())}
        elif _is_number(operation):
            operands = operation.operands
            moving = [x for k, x in enumerate(operands) if not is_cancelled(definitions, operation, operands, k)]
            found[operation.result] = {e: None for value in moving for e in found.get(value, ())}
    return found


def entries(builder: Builder, function: Function, mapping: Mapping, wrt: Sequence[Value]) -> dict[Element, Derivatives]:
    """Emit the code and the derivatives of each number that it gives back or stores in a result.

    Of `%a = load %x, %0`, `%b = load %x, %1`, `%c = mul %a, %b` and `%y = exp %c` it makes `%d = mul %y, %b` for
    `x[0]` and `%e = mul %y, %a` for `x[1]`.
    """
    sweep = _Sweep(builder, function, mapping, wrt)
    for operation in function.body.operations:
        builder.span = operation.span
        sweep.one(operation)
    held: dict[Element, Value] = dict(sweep.stored)
    held.update({(value, ()): value for value in function.results if not isinstance(value.type, Buffer)})
    return {element: sweep.tangents.get(value, {}) for element, value in held.items()}


def _element(access: Operation, definitions: Definitions) -> Element | None:
    places = [definitions.known(index) for index in core.indices_of(access)]
    indices = tuple(int(place) for place in places if place is not None)
    return (access.operands[0], indices) if len(indices) == len(places) else None


def _is_number(operation: Operation) -> bool:
    """True for an operation that computes a floating-point number."""
    return operation.row.pure and len(operation.results) == 1 and is_float(operation.result.type)


def _walk_after(region: Region) -> Iterator[Operation]:
    """The operations of a region, each after those inside of it."""
    for operation in region.operations:
        for inner in operation.regions:
            yield from _walk_after(inner)
        yield operation


class _Sweep:
    def __init__(self, builder: Builder, function: Function, mapping: Mapping, wrt: Sequence[Value]) -> None:
        self.builder = builder
        self.mapping = mapping
        self.wrt = set(wrt)
        self.definitions = Definitions(function)
        self.fragile = Fragile(function)
        self.tangents: dict[Value, Derivatives] = {
            x: {(x, ()): builder.const(1.0, x.type)} for x in wrt if not isinstance(x.type, Buffer)
        }
        self.stored: dict[Element, Value] = {}

    def one(self, operation: Operation) -> None:
        row = operation.row
        if row is core.STORE:
            element = _element(operation, self.definitions)
            assert element is not None
            self.stored[element] = operation.operands[1]
        elif row is core.IF:
            self.branch(operation)
        elif row not in (core.CHECK, core.ALLOC):
            clone_operation(self.builder, operation, self.mapping)
            if row is core.LOAD and operation.operands[0] in self.wrt:
                element = _element(operation, self.definitions)
                assert element is not None
                self.tangents[operation.result] = {element: self.builder.const(1.0, operation.result.type)}
            elif _is_number(operation):
                self.tangents[operation.result] = self.derivatives(operation)

    def branch(self, operation: Operation) -> None:
        """Both branches, each of which yields its tangents, too; one that it does not have is zero."""
        builder, results = self.builder, operation.results
        blocks = []
        for region in operation.regions:
            with builder.block() as block:
                for inner in region.operations:
                    self.one(inner)
                block.results = mapped(region.results, self.mapping)
            blocks.append(block)
        each = [[self.tangents.get(value, {}) for value in region.results] for region in operation.regions]
        carried = [(k, e) for k in range(len(results)) for e in {e: None for own in each for e in own[k]}]
        zeros = {k: builder.const(0.0, results[k].type) for k, _ in carried}
        for block, own in zip(blocks, each):
            block.results = (*block.results, *(own[k].get(e, zeros[k]) for k, e in carried))
        builder.span = operation.span
        types = tuple(str(value.type) for value in blocks[0].results)
        names = [value.name for value in results] + [f"{results[k].name}_dot" for k, _ in carried]
        condition = mapped(operation.operands, self.mapping)
        attributes = {**operation.attributes, "types": types}
        made = builder.emit(core.IF, condition, attributes, [block.region() for block in blocks], names)
        self.mapping.update(zip(results, made))
        self.tangents.update((value, {}) for value in results)
        for (k, element), tangent in zip(carried, made[len(results) :], strict=True):
            self.tangents[results[k]][element] = tangent

    def derivatives(self, operation: Operation) -> Derivatives:
        """The tangents of an elementwise operation."""
        each = [self.tangents.get(value, {}) for value in operation.operands]
        given, result = mapped(operation.operands, self.mapping), self.mapping[operation.result]
        found: Derivatives = {}
        for element in {e: None for tangents in each for e in tangents}:
            tangents = [own.get(element) for own in each]
            part = tangent_of(self.builder, operation, self.fragile, given, result, tangents)
            if part is not None and self.builder.known(part) != 0:
                found[element] = part
        return found
