"""The builder of the front end: it takes complex numbers apart as they are emitted.

Comes in: the operations that the front end emits, on values of complex types too.  Goes out: operations on real numbers
alone.  Guaranteed: no complex value reaches the IR; what has no formula for complex numbers is an AdgenError.  So
nothing else in the front end that emits an addition, a load, a loop or a branch needs to know of complex numbers, and
nothing behind it does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np

from adgen import ops
from adgen.diagnostics import AdgenError, Span
from adgen.frontend.complexes import arithmetic, functions
from adgen.frontend.complexes.arithmetic import Rule
from adgen.frontend.complexes.reals import Real
from adgen.frontend.complexes.types import COMPLEX, Complex, Pairs, complex_kind, complex_of, memory_of
from adgen.frontend.narrow import NarrowBuilder
from adgen.ir import core
from adgen.ir.nodes import Region, Row, Value
from adgen.ir.types import BOOL, Type
from adgen.ops.kinks import ZERO

RULES: dict[Row, Rule] = {**arithmetic.RULES, **functions.RULES}
Attributes = Mapping[str, Any]
Names = Sequence[str]


@dataclass(eq=False)
class Parts:
    """The parts of complex values, the handles of complex memory, and of what number a size is the absolute value."""

    of: dict[Value, tuple[Value, Value]] = field(default_factory=dict)
    wholes: dict[tuple[Value, Value], Value] = field(default_factory=dict)
    handles: dict[Value, Pairs] = field(default_factory=dict)
    sizes: dict[Value, Value] = field(default_factory=dict)


class ComplexBuilder(NarrowBuilder):
    """A builder that emits operations on complex values as operations on their parts."""

    def __init__(self, parts: Parts | None = None) -> None:
        super().__init__()
        self.known_parts = parts or Parts()
        self.tells_kinks = False

    # -- kinks -------------------------------------------------------------------------------------------------------

    def kink(self, operation: str, says: str, distance: Value, *shown: Value) -> None:
        """Say how far what is composed here is from a kink, and what the derivative is taken to be there."""
        if self.tells_kinks:
            self.emit(core.KINK, (distance, *shown), {"operation": operation, "says": says})

    def no_kinks(self) -> None:
        """Say that what is composed here has none, though it is composed of what has."""
        if self.tells_kinks:
            self.emit(core.KINK, (), {"operation": "", "says": ""})

    # -- numbers and memory ------------------------------------------------------------------------------------------

    def parts(self, value: Value) -> tuple[Value, Value]:
        """The real and the imaginary part of a number."""
        kind = complex_kind(value.type)
        if kind is None:
            return value, self.const(0.0, value.type)
        found = self.known_parts.of.get(value)
        if found is None:  # an argument of a region
            real, imag = (Value(kind.part, name) for name in _names(value.name))
            found = self.known_parts.of[value] = real, imag
            self.known_parts.wholes[found] = value
        return found

    def whole(self, real: Value, imag: Value) -> Value:
        """The complex number with these parts."""
        found = self.known_parts.wholes.get((real, imag))
        if found is None:
            found = Value(complex_of(real.type))
            self.known_parts.wholes[real, imag] = found
            self.known_parts.of[found] = real, imag
        return found

    def handle(self, memory: Value) -> Pairs:
        """A real buffer, whose last axis has two elements, as a buffer of complex numbers."""
        found = self.known_parts.handles.get(memory)
        if found is None:
            kind = memory.type
            found = self.known_parts.handles[memory] = Pairs(complex_of(kind.element), memory)  # type: ignore[union-attr]
        return found

    # -- the builder's interface -------------------------------------------------------------------------------------

    def const(self, number: Any, kind: Type | None = None, name: str = "") -> Value:
        """As the builder's, of complex numbers too."""
        if isinstance(kind, Complex) or (kind is None and isinstance(number, complex | np.complexfloating)):
            part = kind.part if isinstance(kind, Complex) else None
            number = complex(number)
            return self.whole(super().const(number.real, part), super().const(number.imag, part))
        return super().const(number, kind, name)

    def known(self, value: Value) -> Any | None:
        """The Python number of a constant, else None."""
        if complex_kind(value.type) is None:
            return super().known(value)
        real, imag = (super(ComplexBuilder, self).known(part) for part in self.parts(value))
        return None if real is None or imag is None else complex(real, imag)

    def dim(self, buffer: Value, axis: int) -> Value:
        """The extent of an axis."""
        return super().dim(memory_of(buffer), axis)

    def emit(
        self,
        row: Row,
        operands: Iterable[Value] = (),
        attributes: Attributes | None = None,
        regions: Iterable[Region] = (),
        names: Names = (),
        span: Span | None = None,
    ) -> tuple[Value, ...]:
        """Append an operation, or what it means for the parts of its complex operands and results."""
        operands = tuple(operands)
        if row is ops.MUL and operands[0] is operands[1] and operands[0] in self.known_parts.sizes:
            return (self._squared(self.known_parts.sizes[operands[0]]),)
        if not _is_complex(operands, attributes):
            return super().emit(row, operands, attributes, regions, names, span)
        rule = RULES.get(row)
        if rule is not None:
            result = self._applied(rule, operands)
            if row is ops.ABS:
                self.known_parts.sizes[result] = operands[0]
                self.kink(ops.title(row), ZERO, result, result)
            elif result.type != BOOL:
                self.no_kinks()
            return (result,)
        structural = STRUCTURAL.get(row)
        if structural is None:
            self._refuse(row.name)
        return structural(self, operands, dict(attributes or {}), tuple(regions), names)

    def _refuse(self, name: str) -> NoReturn:
        message = f"`{name}` is not defined for complex numbers"
        raise AdgenError("AD301", message, self.span, "use the real and the imaginary part: `z.real`, `z.imag`")

    def _squared(self, z: Value) -> Value:
        """`abs(z) ** 2` from the parts: as exact, without a root, and with a derivative at 0 that needs no care."""
        squares = (self.op(ops.MUL, part, part) for part in self.parts(z))
        return self.op(ops.ADD, *squares)

    def _applied(self, rule: Rule, operands: Sequence[Value]) -> Value:
        pairs = [x if complex_kind(x.type) is None else self.parts(x) for x in operands]
        arguments = [Real(self, x) if isinstance(x, Value) else tuple(Real(self, part) for part in x) for x in pairs]
        result = rule(*arguments)
        return result.value if isinstance(result, Real) else self.whole(result[0].value, result[1].value)

    # -- flattening --------------------------------------------------------------------------------------------------

    def real(self, row: Row, operands: Iterable[Value], attributes: Attributes, *rest: Any) -> tuple[Value, ...]:
        """Emit an operation that has no complex operand."""
        return super().emit(row, operands, attributes, *rest)

    def flat(self, values: Iterable[Value]) -> list[Value]:
        """The values with complex ones as two."""
        return [part for x in values for part in ((x,) if complex_kind(x.type) is None else self.parts(x))]

    def flat_region(self, region: Region) -> Region:
        """The region with complex arguments and results as two."""
        return Region(tuple(self.flat(region.arguments)), region.operations, tuple(self.flat(region.results)))

    def packed(self, values: Sequence[Value], kinds: Sequence[Type]) -> tuple[Value, ...]:
        """The values put together again, by the types that they had."""
        rest = iter(values)
        return tuple(next(rest) if complex_kind(k) is None else self.whole(next(rest), next(rest)) for k in kinds)


def _is_complex(operands: Sequence[Value], attributes: Attributes | None) -> bool:
    if any(complex_kind(value.type) is not None for value in operands):
        return True
    asked = attributes or {}
    return str(asked.get("element", "")) in COMPLEX or not COMPLEX.keys().isdisjoint(asked.get("types", ()))


def _names(name: str) -> tuple[str, str]:
    return (f"{name}_real", f"{name}_imag") if name else ("", "")


def _flat_names(names: Names, kinds: Sequence[Type]) -> list[str]:
    padded = [*names, *[""] * (len(kinds) - len(names))]
    pairs = zip(padded, kinds)
    return [part for name, kind in pairs for part in ((name,) if complex_kind(kind) is None else _names(name))]


# -- the rows of the IR ------------------------------------------------------------------------------------------------

Structural = Callable[[ComplexBuilder, tuple[Value, ...], dict[str, Any], tuple[Region, ...], Names], tuple[Value, ...]]


def _alloc(b: ComplexBuilder, operands: Any, attributes: Any, regions: Any, names: Names) -> tuple[Value, ...]:
    attributes["element"] = str(COMPLEX[attributes["element"]].part)
    (memory,) = b.real(core.ALLOC, (*operands, b.index(2)), attributes, (), names)
    return (b.handle(memory),)


def _table(b: ComplexBuilder, operands: Any, attributes: Any, regions: Any, names: Names) -> tuple[Value, ...]:
    data = attributes["data"]
    flat = np.stack([data.real, data.imag], axis=-1)
    flat.flags.writeable = False
    part = str(COMPLEX[attributes["element"]].part)
    (memory,) = b.real(core.TABLE, (), {"element": part, "data": flat}, (), names)
    return (b.handle(memory),)


def _reshape(b: ComplexBuilder, operands: Any, attributes: Any, regions: Any, names: Names) -> tuple[Value, ...]:
    memory, extents = memory_of(operands[0]), operands[1:]
    (made,) = b.real(core.RESHAPE, (memory, *extents, b.index(2)), attributes, (), names)
    return (b.handle(made),)


def _places(b: ComplexBuilder, indices: Sequence[Value]) -> Iterator[tuple[Value, ...]]:
    return ((*indices, b.index(part)) for part in (0, 1))


def _load(b: ComplexBuilder, operands: Any, attributes: Any, regions: Any, names: Names) -> tuple[Value, ...]:
    memory, hints = memory_of(operands[0]), _names(names[0] if names else "")
    real, imag = (b.load(memory, place, hint) for place, hint in zip(_places(b, operands[1:]), hints))
    return (b.whole(real, imag),)


def _store(b: ComplexBuilder, operands: Any, attributes: Any, regions: Any, names: Names) -> tuple[Value, ...]:
    for place, part in zip(_places(b, operands[2:]), b.parts(operands[1])):
        b.store(memory_of(operands[0]), part, place)
    return ()


def _accumulate(b: ComplexBuilder, operands: Any, attributes: Any, regions: Any, names: Names) -> tuple[Value, ...]:
    for place, part in zip(_places(b, operands[2:]), b.parts(operands[1])):
        b.accumulate(memory_of(operands[0]), part, place)
    return ()


def _repeated(row: Row, bounds: int) -> Structural:
    """A loop whose operands after the bounds are carried."""

    def rule(b: ComplexBuilder, operands: Any, attributes: Any, regions: Any, names: Names) -> tuple[Value, ...]:
        kinds = [value.type for value in operands[bounds:]]
        inner = tuple(b.flat_region(region) for region in regions)
        made = b.real(row, b.flat(operands), attributes, inner, _flat_names(names, kinds))
        return b.packed(made, kinds)

    return rule


def _branch(b: ComplexBuilder, operands: Any, attributes: Any, regions: Any, names: Names) -> tuple[Value, ...]:
    kinds: list[Type] = [value.type for value in regions[0].results]
    types = tuple(str(part) for kind in kinds for part in _part_types(kind))
    inner = tuple(b.flat_region(region) for region in regions)
    made = b.real(core.IF, operands, {**attributes, "types": types}, inner, _flat_names(names, kinds))
    return b.packed(made, kinds)


def _part_types(kind: Type) -> tuple[Type, ...]:
    element = complex_kind(kind)
    return (kind,) if element is None else (element.part, element.part)


STRUCTURAL: dict[Row, Structural] = {
    core.ALLOC: _alloc,
    core.TABLE: _table,
    core.RESHAPE: _reshape,
    core.LOAD: _load,
    core.STORE: _store,
    core.ACCUMULATE: _accumulate,
    core.FOR: _repeated(core.FOR, 2),
    core.WHILE: _repeated(core.WHILE, 0),
    core.IF: _branch,
}

__all__ = ["ComplexBuilder", "Parts"]
