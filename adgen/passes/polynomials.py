"""Polynomials with integer or half-integer coefficients in numbered atoms.

Guaranteed: exact; the order of terms follows from how a polynomial was made, never from hashing.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import lcm

Monomial = tuple[int, ...]
Number = int | Fraction


class Form:
    """A polynomial: `terms[atoms]` is the coefficient of a product of atoms, `()` stands for the constant.

    `atoms` are those that occur, each once, in the order of their numbers.
    """

    __slots__ = ("atoms", "terms")

    def __init__(self, terms: Mapping[Monomial, Number]) -> None:
        self.terms = terms
        self.atoms: tuple[int, ...] = tuple(sorted({atom for monomial in terms for atom in monomial}))

    @property
    def constant(self) -> Number | None:
        """The number that the form is, or None when it has atoms."""
        return None if self.atoms else self.terms.get((), 0)

    def __repr__(self) -> str:
        products = ("*".join([str(c), *(f"a{atom}" for atom in monomial)]) for monomial, c in self.terms.items())
        return " + ".join(products) or "0"

    def __add__(self, other: Form | Number) -> Form:
        return self.plus(other, 1)

    def __sub__(self, other: Form | Number) -> Form:
        return self.plus(other, -1)

    def __neg__(self) -> Form:
        return ZERO.plus(self, -1)

    def plus(self, other: Form | Number, factor: Number) -> Form:
        """The sum of this form and a multiple of another."""
        added = {(): other} if isinstance(other, int | Fraction) else other.terms
        terms = dict(self.terms)
        for monomial, coefficient in added.items():
            total = terms.get(monomial, 0) + factor * coefficient
            if total:
                terms[monomial] = _tidy(total)
            else:
                terms.pop(monomial, None)
        return Form(terms)

    def __mul__(self, other: Form) -> Form:
        terms: dict[Monomial, Number] = {}
        for a, x in self.terms.items():
            for b, y in other.terms.items():
                monomial = tuple(sorted((*a, *b)))
                terms[monomial] = _tidy(terms.get(monomial, 0) + x * y)
        return Form({monomial: coefficient for monomial, coefficient in terms.items() if coefficient})

    def split(self, atom: int) -> tuple[Form, Form] | None:
        """`(slope, rest)` with `self == slope * atom + rest`, or None when the atom occurs to a higher power."""
        slope: dict[Monomial, Number] = {}
        rest: dict[Monomial, Number] = {}
        for monomial, coefficient in self.terms.items():
            count = monomial.count(atom)
            if count > 1:
                return None
            if count:
                slope[tuple(other for other in monomial if other != atom)] = coefficient
            else:
                rest[monomial] = coefficient
        return Form(slope), Form(rest)

    def whole(self) -> tuple[Form, int]:
        """A multiple of the form with integer coefficients, and the factor."""
        factor = lcm(*(c.denominator for c in self.terms.values()))
        return (self, 1) if factor == 1 else (ZERO.plus(self, factor), factor)

    def replaced(self, atom: int, by: Form) -> Form:
        """The form with an atom replaced."""
        if atom not in self.atoms:
            return self
        parts = self.split(atom)
        if parts is not None:
            return parts[0] * by + parts[1]
        result = ZERO
        for monomial, coefficient in self.terms.items():
            product = Form({tuple(other for other in monomial if other != atom): coefficient})
            for _ in range(monomial.count(atom)):
                product = product * by
            result = result + product
        return result


def _tidy(value: Number) -> Number:
    return int(value) if isinstance(value, Fraction) and value.denominator == 1 else value


def number(value: Number) -> Form:
    """A constant form."""
    return Form({(): value} if value else {})


ZERO = number(0)
