"""Sizes at function entry: integers of the body computed, or bounded, from the parameters alone.

Comes in: a function.  Goes out: for an extent an expression over integer parameters and extents of parameters that is
equal to it, or never smaller when it changes with loops.  None when there is no such expression.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from adgen import ops
from adgen.ir import core, sizes
from adgen.ir.builder import Builder
from adgen.ir.nodes import Function, Operation, Row, Value, walk
from adgen.ir.sizes import SIZES
from adgen.ir.types import Buffer, Scalar, is_float

Pair = tuple[Value, Value]
Form = dict[tuple[int, ...], int]  # a polynomial: coefficients by the numbers of the atoms that are multiplied

ARITHMETIC = (ops.ADD, ops.SUB, ops.NEG, ops.MUL)
LARGEST_FORM = 16  # terms


def natural(value: Value, made: Mapping[Value, Operation], depth: int = 12) -> bool:
    """True when an integer is known not to be negative."""
    operation = made.get(value)
    if operation is None or depth == 0:
        return False
    row, operands = operation.row, operation.operands
    if row is core.CONST:
        return int(operation.attributes["value"]) >= 0
    if row is core.DIM or row in SIZES:
        return True
    if row is ops.MAXIMUM:
        return any(natural(operand, made, depth - 1) for operand in operands)
    monotone = row in (ops.ADD, ops.MUL, ops.MINIMUM, ops.FLOORDIV)
    return monotone and all(natural(operand, made, depth - 1) for operand in operands)


class EntryBounds:
    """Lower and upper bounds of integers, emitted into an open block of a builder."""

    def __init__(self, function: Function, builder: Builder) -> None:
        self.builder = builder
        self.known: dict[Value, Pair | None] = {}
        self.forms: dict[Value, Form] = {}
        self.atoms: list[Value] = []
        self.definition: dict[Value, Operation] = {}
        for value in function.parameters:
            if isinstance(value.type, Scalar):
                self.known[value] = (value, value)
        for operation in walk(function.body):
            if operation.row is core.FOR:
                index = operation.regions[0].arguments[0]
                self.known[index] = self._index(operation)
            for value in operation.results:
                self.definition[value] = operation
                self.known[value] = None if is_float(value.type) else self._pair(value, operation)

    def exact(self, value: Value) -> Value | None:
        """The value computed at entry, when it does not change with any loop."""
        pair = self.known.get(value)
        return pair[0] if pair is not None and pair[0] is pair[1] else None

    def upper(self, value: Value) -> Value | None:
        """A value at entry that is never exceeded."""
        pair = self.known.get(value)
        return None if pair is None else pair[1]

    def _pair(self, value: Value, operation: Operation) -> Pair | None:
        """Lower and upper bound; the same value twice when exact."""
        if not operation.row.pure:
            return None
        if operation.row is core.DIM:
            return self._dim(operation)
        if operation.row is ops.TO_I64:
            number = self._float(operation.operands[0])
            if number is None:
                return None
            made = self.builder.op(operation.row, number)
            return made, made
        pairs = [self.known.get(operand) for operand in operation.operands]
        if operation.row is ops.SELECT and None in pairs[:1] and None not in pairs[1:]:
            return self.select([pair for pair in pairs if pair is not None])  # whatever decides
        found = [pair for pair in pairs if pair is not None]
        if len(found) != len(pairs):
            return None
        if all(low is high for low, high in found):
            operands, names = [low for low, _ in found], [value.name]
            (made,) = self.builder.emit(operation.row, operands, operation.attributes, (), names)
            return made, made
        if operation.row in ARITHMETIC:
            return self._polynomial(self.form(value))
        rule = _RULES.get(operation.row)
        return rule(self, found) if rule else None

    def _float(self, value: Value) -> Value | None:
        """A number that is computed from integers and that an extent is computed from, if no loop changes it."""
        if not is_float(value.type):
            return self.exact(value)
        operation = self.definition.get(value)
        if operation is None:  # a parameter, which may be anything
            return None
        operands = [self._float(operand) for operand in operation.operands]
        if not operation.row.pure or None in operands:
            return None
        (made,) = self.builder.emit(operation.row, [x for x in operands if x is not None], operation.attributes)
        return made

    def _dim(self, operation: Operation) -> Pair | None:
        source, axis = operation.operands[0], operation.attributes["axis"]
        buffer = self.definition.get(source)
        if buffer is None:
            made = self.builder.op(core.DIM, source, axis=axis)
            return made, made
        if buffer.row is core.TABLE:
            made = self.builder.index(buffer.attributes["data"].shape[axis])
            return made, made
        assert isinstance(source.type, Buffer)
        return self.known.get(buffer.operands[axis + (buffer.row is core.RESHAPE)])

    def _index(self, loop: Operation) -> Pair | None:
        start, stop = (self.known.get(value) for value in loop.operands[:2])
        if start is None or stop is None:
            return None
        one = self.builder.index(1)
        if loop.attributes["step"] > 0:
            return start[0], self.builder.op(ops.SUB, stop[1], one)
        return self.builder.op(ops.ADD, stop[0], one), start[1]

    # -- sums and products: what occurs twice is counted once, so `(i + 3) - i` is 3 -----------------------------------

    def form(self, value: Value) -> Form:
        """An integer as a polynomial in what is not a sum or product."""
        if value not in self.forms:
            self.forms[value] = self._form(value)
        return self.forms[value]

    def _form(self, value: Value) -> Form:
        operation = self.definition.get(value)
        if operation is not None and operation.row is core.CONST:
            number = int(operation.attributes["value"])
            return {(): number} if number else {}
        if operation is not None and operation.row in ARITHMETIC:
            first, *rest = (self.form(operand) for operand in operation.operands)
            second = rest[0] if rest else {}
            if operation.row is ops.NEG:
                return {term: -number for term, number in first.items()}
            product = operation.row is ops.MUL
            made = _times(first, second) if product else _plus(first, second, -1 if operation.row is ops.SUB else 1)
            if len(made) <= LARGEST_FORM:
                return made
        self.atoms.append(value)
        return {(len(self.atoms) - 1,): 1}

    def _polynomial(self, form: Form) -> Pair | None:
        """Bounds of a polynomial: the sum of those of its terms."""
        low = high = self.builder.index(form.get((), 0))
        for term, number in form.items():
            if term:
                pair = self._product([self.known.get(self.atoms[k]) for k in term])
                if pair is None:
                    return None
                ends = [self.builder.op(ops.MUL, self.builder.index(number), end) for end in pair]
                smaller, larger = ends if number > 0 else ends[::-1]
                low, high = self.builder.op(ops.ADD, low, smaller), self.builder.op(ops.ADD, high, larger)
        return low, high

    def _product(self, factors: Sequence[Pair | None]) -> Pair | None:
        """Bounds of a product of which at most one factor changes with loops, or none is ever negative."""
        found = [pair for pair in factors if pair is not None]
        if len(found) != len(factors):
            return None
        steady = [pair for pair in found if pair[0] is pair[1]]
        doubtful = [pair for pair in found if not natural(pair[0], self.builder.definitions)]
        moving = len(found) - len(steady)
        if len(found) > 1 and moving and doubtful and (moving > 1 or any(pair in steady for pair in doubtful)):
            return None
        low, high = found[0]
        for pair in found[1:]:
            low, high = self.builder.op(ops.MUL, low, pair[0]), self.builder.op(ops.MUL, high, pair[1])
        return low, high

    # -- operations that grow with their operands ----------------------------------------------------------------------

    def each(self, row: object, pairs: list[Pair]) -> Pair:
        """Apply an operation that grows with all its operands to lower and to upper bounds."""
        low, high = (self.builder.op(row, *(pair[side] for pair in pairs)) for side in (0, 1))  # type: ignore[arg-type]
        return low, high

    def division(self, row: Row, grows: tuple[bool, ...], pairs: list[Pair]) -> Pair:
        """A division of a device's work, which is at most what it is for the ends of operands that make it grow."""
        ends = [high if more else low for more, (low, high) in zip(grows, pairs, strict=True)]
        return self.builder.index(0), self.builder.op(row, *ends)

    def floordiv(self, pairs: list[Pair]) -> Pair | None:
        """Quotients by a positive number grow with the dividend."""
        divisor = self.builder.known(pairs[1][0])
        if pairs[1][0] is not pairs[1][1] or divisor is None or divisor <= 0:
            return None
        return self.each(ops.FLOORDIV, pairs)

    def select(self, pairs: list[Pair]) -> Pair:
        """One of two, whichever."""
        first, second = pairs[-2:]
        return (
            self.builder.op(ops.MINIMUM, first[0], second[0]),
            self.builder.op(ops.MAXIMUM, first[1], second[1]),
        )


def _plus(first: Form, second: Form, sign: int) -> Form:
    found = dict(first)
    for term, number in second.items():
        found[term] = found.get(term, 0) + sign * number
    return {term: number for term, number in found.items() if number}


def _times(first: Form, second: Form) -> Form:
    found: Form = {}
    for one, number in first.items():
        for other, factor in second.items():
            term = tuple(sorted(one + other))
            found[term] = found.get(term, 0) + number * factor
    return {term: number for term, number in found.items() if number}


_RULES: dict[object, Callable[[EntryBounds, list[Pair]], Pair | None]] = {
    ops.MAXIMUM: lambda bounds, pairs: bounds.each(ops.MAXIMUM, pairs),
    ops.MINIMUM: lambda bounds, pairs: bounds.each(ops.MINIMUM, pairs),
    ops.FLOORDIV: EntryBounds.floordiv,
    sizes.PARTS: lambda bounds, pairs: bounds.division(sizes.PARTS, (True, False, False), pairs),
    sizes.SLICES: lambda bounds, pairs: bounds.division(sizes.SLICES, (True,), pairs),
    sizes.ROOM: lambda bounds, pairs: (bounds.builder.index(0), bounds.builder.index(sizes.most_room())),
    sizes.SPLITS: lambda bounds, pairs: bounds.division(sizes.SPLITS, (False, False, True), pairs),
    ops.SELECT: EntryBounds.select,
}
