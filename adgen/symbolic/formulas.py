"""A function of the IR as formulas.

Comes in: an optimised function.  Goes out: a sympy expression for each result, in the parameters.  Guaranteed: each row
is what the table says it means, over real numbers; what has no formula (an array result, a `while`, a loop that is no
sum or product, a derivative rule) is an `AdgenError` at its line.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NoReturn

from adgen.diagnostics import AdgenError
from adgen.ir.nodes import Function, Operation, Region, Value
from adgen.ir.types import BOOL, Buffer, Scalar
from adgen.ops import SELECT, Elementwise
from adgen.ops.derive import meaning_of

LARGEST = 4000  # operations of a formula that is written as a tree
UNROLLED = 12  # a loop of so many iterations at most is written out
HELP = "formulas are of numbers: straight-line code, branches that write nothing, loops that are sums or products"


@dataclass
class Formulas:
    """The formulas of a function: of its `parameters` (symbols, and `Indexed` bases for arrays) and `results`."""

    function: Function
    parameters: dict[Value, Any] = field(default_factory=dict)
    results: list[Any] = field(default_factory=list)


def formulas(function: Function, generic: bool = False) -> Formulas:
    """The formulas; `generic` ones hold where no two numbers that are compared for equality are equal.

    Raises AdgenError where there is none.
    """
    import sympy

    found = Formulas(function)
    for value in function.parameters:
        if isinstance(value.type, Buffer):
            found.parameters[value] = sympy.IndexedBase(value.name, real=True)
        else:
            integer = isinstance(value.type, Scalar) and value.type.is_integer
            found.parameters[value] = sympy.Symbol(value.name, real=True, integer=True if integer else None)
    walker = _Walker(dict(found.parameters), generic)
    walker.region(function.body)
    found.results = [walker.scalar(value, function) for value in function.results]
    return found


class _Walker:
    """Formulas of values; memory that the function makes is known by element, where indices are numbers."""

    def __init__(self, known: dict[Value, Any], generic: bool) -> None:
        self.known = known
        self.generic = generic
        self.memory: dict[Value, dict[tuple[Any, ...], Any]] = {}
        self.sizes: dict[Any, int] = {}  # of formulas as trees, which may be much larger than the program
        self.inside = 0  # loops that are not written out, and branches: nothing may be written there
        self.indices = 0

    def scalar(self, value: Value, owner: Function) -> Any:
        if isinstance(value.type, Buffer):
            _fail(f"`{owner.name}` gives an array, which is no formula", owner)
        return self.known[value]

    def region(self, region: Region) -> list[Any]:
        """Run the operations; gives the results."""
        for operation in region.operations:
            results = self.operation(operation)
            self.known.update(zip(operation.results, results, strict=True))
        return [self.known.get(value) for value in region.results]

    def operation(self, operation: Operation) -> Sequence[Any]:
        row, operands = operation.row, [self.known.get(value) for value in operation.operands]
        if isinstance(row, Elementwise):
            result = self.choice(operation, *operands) if row is SELECT else applied(operation, operands)
            self.sizes[result] = 1 + sum(self.sizes.get(operand, 1) for operand in operands)
            if self.sizes[result] > LARGEST:
                _fail("this formula is too large to be written down", operation)
            return [result]
        handler = getattr(self, f"_{row.name}", None)
        if handler is None:
            _fail(f"`{row.name}` has no formula", operation)
        found: Sequence[Any] = handler(operation, operands)
        return found

    def _const(self, operation: Operation, operands: Sequence[Any]) -> Sequence[Any]:
        import sympy

        value, kind = operation.attributes["value"], operation.result.type
        if kind == BOOL:
            return [sympy.true if value else sympy.false]
        if isinstance(kind, Scalar) and kind.is_integer:
            return [sympy.Integer(int(value))]
        if not math.isfinite(value):
            _fail("a constant that is not finite has no formula", operation)
        return [constant(float(value))]

    def _check(self, operation: Operation, operands: Sequence[Any]) -> Sequence[Any]:
        return []

    def _dim(self, operation: Operation, operands: Sequence[Any]) -> Sequence[Any]:
        import sympy

        buffer, axis = operation.operands[0], operation.attributes["axis"]
        name = buffer.name if buffer in self.known else ""
        if not name:
            _fail("the extent of this array has no formula", operation)
        return [sympy.Symbol(f"n_{name}" if _rank(buffer) == 1 else f"n_{name}_{axis}", integer=True, positive=True)]

    def _alloc(self, operation: Operation, operands: Sequence[Any]) -> Sequence[Any]:
        self.memory[operation.result] = {}
        return [None]

    def _load(self, operation: Operation, operands: Sequence[Any]) -> Sequence[Any]:
        import sympy

        buffer, indices = operation.operands[0], tuple(operands[1:])
        if buffer not in self.memory:
            if self.known.get(buffer) is None:
                _fail("what this array holds has no formula", operation)
            return [self.known[buffer][indices]]
        if not all(index is not None and index.is_Integer for index in indices):
            _fail("which element of this array is meant has no formula", operation)
        return [self.memory[buffer].get(indices, sympy.Integer(0))]

    def _store(self, operation: Operation, operands: Sequence[Any]) -> Sequence[Any]:
        buffer, value, *indices = (operation.operands[0], *operands[1:])
        if self.inside or buffer not in self.memory or not all(i is not None and i.is_Integer for i in indices):
            _fail("this write has no formula", operation)
        self.memory[buffer][tuple(indices)] = value
        return []

    def _accumulate(self, operation: Operation, operands: Sequence[Any]) -> Sequence[Any]:
        buffer, value, *indices = (operation.operands[0], *operands[1:])
        before = self.memory.get(buffer, {}).get(tuple(indices), 0)
        return self._store(operation, [operands[0], before + value, *indices])

    def _if(self, operation: Operation, operands: Sequence[Any]) -> Sequence[Any]:
        (condition,) = operands
        self.inside += 1
        taken, other = (self.region(region) for region in operation.regions)
        self.inside -= 1
        return [self.choice(operation, condition, a, b) for a, b in zip(taken, other, strict=True)]

    def choice(self, operation: Operation, condition: Any, taken: Any, other: Any) -> Any:
        """One of two formulas."""
        import sympy

        if self.generic and isinstance(condition, sympy.Eq | sympy.Ne):
            return other if isinstance(condition, sympy.Eq) else taken
        if condition.has(sympy.Piecewise):  # on which sympy would spend minutes
            _fail("a condition on what a condition decides has no formula", operation)
        return sympy.Piecewise((taken, condition), (other, True), evaluate=False)

    def _for(self, operation: Operation, operands: Sequence[Any]) -> Sequence[Any]:
        start, stop, *carried = operands
        if operation.attributes.get("exit"):
            _fail("a loop with `break` has no formula", operation)
        step = operation.attributes["step"]
        if start.is_Integer and stop.is_Integer and len(range(int(start), int(stop), step)) <= UNROLLED:
            for index in range(int(start), int(stop), step):
                carried = self._iteration(operation, start * 0 + index, carried)
            return carried
        return self._sums(operation, start, stop, step, carried)

    def _iteration(self, operation: Operation, index: Any, carried: Sequence[Any]) -> list[Any]:
        (region,) = operation.regions
        self.known.update(zip(region.arguments, [index, *carried], strict=True))
        return self.region(region)

    def _sums(self, operation: Operation, start: Any, stop: Any, step: int, carried: Sequence[Any]) -> Sequence[Any]:
        """The carried values of a loop each of which adds, or multiplies by, what does not depend on them."""
        import sympy

        if abs(step) != 1:
            _fail("a loop with this step has no formula", operation)
        index = sympy.Symbol("ijklmpqrs"[self.indices % 9] + "'" * (self.indices // 9), integer=True)
        self.indices += 1
        before = [sympy.Dummy(real=True) for _ in carried]
        self.inside += 1
        after = self._iteration(operation, index, before)
        self.inside -= 1
        self.indices -= 1
        limits = (index, start, stop - 1) if step > 0 else (index, stop + 1, start)
        found = []
        for symbol, now, first in zip(before, after, carried, strict=True):
            term, factor = sympy.expand(now - symbol, deep=False), sympy.cancel(now / symbol)
            if not term.has(*before):
                found.append(first + sympy.Sum(term, limits) if term != 0 else first)
            elif not factor.has(*before):
                found.append(first * sympy.Product(factor, limits))
            else:
                _fail("a loop that is no sum or product has no formula", operation)
        return found


def applied(operation: Operation, operands: Sequence[Any]) -> Any:
    """The meaning of a row applied to formulas."""
    row = operation.row
    assert isinstance(row, Elementwise)
    if any(operand is None for operand in operands) or not (row.sympy or row.formula):
        if row.name.startswith("to_") and operands[0] is not None:
            return operands[0]
        _fail(f"`{row.name}` has no formula", operation)
    expression, symbols = meaning_of(row)
    return expression.xreplace(dict(zip(symbols, operands, strict=True)))


def constant(number: float) -> Any:
    """The simplest number that rounds to this one: 0.1 is 1/10, and multiples of pi, roots and logarithms are known.

    What was computed in floats may be off in the last digit.
    """
    import sympy

    two, ten = sympy.log(2), sympy.log(10)
    for base, power in (
        (1, 1),
        (sympy.pi, 1),
        (1, 2),
        (1 / sympy.pi, 2),
        (two, 1),
        (ten, 1),
        (1 / two, 1),
        (1 / ten, 1),
    ):
        near = Fraction(number**power / float(base)).limit_denominator(200)
        if (
            near
            and abs(near.numerator) < 10**4
            and math.isclose(near * float(base), number**power, rel_tol=4e-16 * power)
        ):
            exact = sympy.Rational(near.numerator, near.denominator) * base
            return exact if power == 1 else sympy.sqrt(exact) * (1 if number > 0 else -1)
    fractions = (Fraction(number).limit_denominator(10**k) for k in range(3, 13))
    exact = next((fraction for fraction in fractions if float(fraction) == number), Fraction(repr(number)))
    return sympy.Rational(exact.numerator, exact.denominator)


def _rank(value: Value) -> int:
    return value.type.rank if isinstance(value.type, Buffer) else 0


def _fail(message: str, at: Operation | Function) -> NoReturn:
    raise AdgenError("AD180", message, at.span, HELP)
