"""Partials from sympy, in terms of the operands and the result.

Comes in: a row whose meaning is sympy text.  Goes out: one term for each operand.  Guaranteed: nothing is typed by
hand; the same row gives the same terms in every process.  The only module that imports sympy, when first needed.
"""

from __future__ import annotations

import operator
import re
from functools import cache, reduce
from typing import TYPE_CHECKING, Any

from adgen.ir.types import I64
from adgen.ops.registry import TABLE
from adgen.ops.terms import Number, Operand, Out, Term

if TYPE_CHECKING:
    from adgen.ops.elementwise import Elementwise


def meaning_of(row: Elementwise) -> tuple[Any, tuple[Any, ...]]:
    """The row's meaning as a sympy expression, and its operands as sympy symbols."""
    import sympy

    symbols = tuple(
        sympy.Symbol(name, integer=True) if row.fixed.get(k) == I64 else sympy.Symbol(name, real=True)
        for k, name in enumerate(row.operands)
    )
    names = dict(zip(row.operands, symbols, strict=True))
    return sympy.parse_expr(row.sympy or row.formula, local_dict=names), symbols


def derive(row: Elementwise) -> tuple[Term | None, ...]:
    """The partials of a row."""
    import sympy

    expression, symbols = meaning_of(row)
    out = sympy.Symbol("out", real=True)
    terms: dict[Any, Term] = {symbol: Operand(k, k in row.fixed) for k, symbol in enumerate(symbols)}
    terms[out] = Out()
    translate = Translation(terms)
    partials = [None if k in row.fixed else sympy.diff(expression, symbol) for k, symbol in enumerate(symbols)]
    return tuple(None if part is None else translate(part.subs(expression, out)) for part in partials)


@cache
def rows_of_functions() -> dict[str, Elementwise]:
    """The rows that mean exactly one sympy function, by the name of that function's class."""
    import sympy

    found: dict[str, Elementwise] = {}
    for row in TABLE.values():
        for text in (row.sympy, row.formula):
            plain = re.fullmatch(r"(\w+)\(([\w, ]+)\)", text)
            if plain and tuple(plain[2].split(", ")) == row.operands:
                found.setdefault(getattr(sympy, plain[1]).__name__, row)
    return found


class Translation:
    """sympy expressions into terms."""

    def __init__(self, terms: dict[Any, Term]) -> None:
        self.terms = terms

    def __call__(self, expression: Any) -> Term:
        if expression in self.terms:
            return self.terms[expression]
        if expression.is_number:
            return Number(int(expression) if expression.is_Integer else float(expression.evalf(25)))
        if expression.is_Add:
            return self.sum(expression)
        if expression.is_Mul:
            return self.product(expression)
        if expression.is_Pow:
            return self.power(expression.base, expression.exp)
        return self.function(expression)

    def function(self, expression: Any) -> Term:
        """A function of sympy's applied to arguments; one of two operands may have more."""
        row = self.row(expression)
        arguments = [self(argument) for argument in expression.args]
        return row(*arguments) if len(arguments) <= row.arity else reduce(row, arguments)

    def row(self, expression: Any) -> Elementwise:
        """The row of a function."""
        return rows_of_functions()[expression.func.__name__]

    def sum(self, expression: Any) -> Term:
        """Numbers first, then what is added, then what is subtracted: a difference needs no negation."""
        terms = sorted(expression.as_ordered_terms(), key=lambda term: not term.is_number)
        positive = [term for term in terms if not term.could_extract_minus_sign()]
        negative = [term for term in terms if term.could_extract_minus_sign()]
        total = self(positive[0]) if positive else self(negative.pop(0))
        for term in positive[1:]:
            total = total + self(term)
        for term in negative:
            total = total - self(-term)
        return total

    def product(self, expression: Any) -> Term:
        """One quotient: `numerator / denominator`, with the sign in front."""
        if expression.could_extract_minus_sign():
            return -self(-expression)
        factors = expression.as_ordered_factors()
        number = expression.func(*(factor for factor in factors if factor.is_number))
        above, below = (number.p, number.q) if number.is_Rational else (number, 1)
        over = [self(factor) for factor in factors if not factor.is_number and not _inverse(factor)]
        under = [
            self.power(factor.base, -factor.exp) for factor in factors if not factor.is_number and _inverse(factor)
        ]
        numerator = self.chain(above, over)
        return numerator if below == 1 and not under else numerator / self.chain(below, under)

    def chain(self, number: Any, factors: list[Term]) -> Term:
        """`number * factor * factor ...`; a one is not written."""
        terms = list(factors)
        if number != 1 or not terms:
            terms.insert(0, Number(int(number) if number == int(number) else float(number)))
        return reduce(operator.mul, terms)

    def power(self, base: Any, exponent: Any) -> Term:
        if exponent == 1:
            return self(base)
        if exponent == 2:
            return self(base) * self(base)
        if exponent.is_number and exponent.could_extract_minus_sign():
            return 1 / self.power(base, -exponent)
        if exponent.is_Integer:
            return TABLE["powi"](self(base), int(exponent))
        if exponent.is_Rational and (exponent.p, exponent.q) == (1, 2):
            return TABLE["sqrt"](self(base))
        return TABLE["pow"](self(base), self(exponent))


def _inverse(factor: Any) -> bool:
    return bool(factor.is_Pow and factor.exp.is_number and factor.exp.could_extract_minus_sign())
