"""Integer values as sums: a constant plus integer multiples of other values.

Comes in: i64 values of the IR.  Goes out: `Affine` forms, two of which are equal when the values are equal for
arithmetic reasons alone (`(n - 1) - (i + 1)` and `n - i - 2`).  Guaranteed: a form means exactly its value (64-bit
wrap-around aside: extents and indices are far from it).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from adgen.ir.builder import Builder
from adgen.ir.nodes import Value

LARGEST_FORM = 8  # terms: longer sums stay opaque, so that forms are small whatever the program
DEEPEST_FORM = 50  # nested operations: deeper ones stay opaque, so that long chains need no deep recursion


@dataclass(frozen=True)
class Affine:
    """`constant + sum(coefficient * value)`; `terms` holds no zero coefficient, in order of first occurrence."""

    constant: int
    terms: tuple[tuple[Value, int], ...] = ()

    def plus(self, other: Affine, factor: int = 1) -> Affine:
        """`self + factor * other`."""
        terms = dict(self.terms)
        for value, coefficient in other.terms:
            terms[value] = terms.get(value, 0) + factor * coefficient
        return Affine(self.constant + factor * other.constant, tuple((v, c) for v, c in terms.items() if c))

    def shifted(self, amount: int) -> Affine:
        """`self + amount`."""
        return Affine(self.constant + amount, self.terms)

    def times(self, factor: int) -> Affine:
        """`factor * self`."""
        return Affine(0).plus(self, factor)

    def coefficient(self, value: Value) -> int:
        """The coefficient of a value; 0 when it does not occur."""
        return next((c for v, c in self.terms if v is value), 0)

    def replaced(self, value: Value, by: Affine) -> Affine:
        """The form with a value substituted."""
        rest = Affine(self.constant, tuple((v, c) for v, c in self.terms if v is not value))
        return rest.plus(by, self.coefficient(value))

    @property
    def key(self) -> tuple[int, frozenset[tuple[Value, int]]]:
        """Equal for forms that are equal up to the order of terms."""
        return (self.constant, frozenset(self.terms))


class Forms:
    """The affine forms of a builder's values, through additions, subtractions, negations and products with constants.

    `atom` gives the form of a value that is none of these.
    """

    def __init__(self, builder: Builder, atom: Callable[[Value], Affine] | None = None) -> None:
        self._builder = builder
        self._atom = atom or (lambda opaque: Affine(0, ((opaque, 1),)))
        self._known: dict[Value, Affine] = {}

    def of(self, value: Value, depth: int = 0) -> Affine:
        """The form of a value."""
        if value not in self._known:
            form = self._form(value, depth) if depth < DEEPEST_FORM else None
            self._known[value] = form if form and len(form.terms) <= LARGEST_FORM else self._atom(value)
        return self._known[value]

    def _form(self, value: Value, depth: int) -> Affine | None:
        number = self._builder.known(value)
        if number is not None:
            return Affine(int(number))
        operation = self._builder.definitions.get(value)
        name = operation.row.name if operation is not None else ""
        if operation is None or name not in ("add", "sub", "neg", "mul"):
            return None
        first = self.of(operation.operands[0], depth + 1)
        if name == "neg":
            return first.times(-1)
        second = self.of(operation.operands[1], depth + 1)
        if name != "mul":
            return first.plus(second, 1 if name == "add" else -1)
        if first.terms and second.terms:
            return None
        return second.times(first.constant) if not first.terms else first.times(second.constant)
