"""sympy's expressions as terms over the rows of the operation table.

Comes in: an expression in known symbols.  Goes out: a term.  Guaranteed: what no row means, and what is not a real
number, is an `AdgenError` that names it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NoReturn

from adgen.diagnostics import AdgenError
from adgen.ops import SELECT, TABLE, Elementwise
from adgen.ops.derive import Translation, rows_of_functions
from adgen.ops.terms import Number, Term

# Exact for all real arguments; others, such as exponentials, overflow or pass through complex numbers.
WRITTEN_WITH = ("Piecewise", "sin", "gamma")
UNEVALUATED = ("Sum", "Product", "Integral", "Derivative", "Limit", "Subs")


class Reader(Translation):
    """Terms of expressions; `terms` are those of the symbols."""

    def __init__(self, terms: Mapping[Any, Term]) -> None:
        super().__init__(dict(terms))

    def __call__(self, expression: Any) -> Term:
        """The term.  Raises AdgenError."""
        if expression in self.terms:
            return self.terms[expression]
        if getattr(expression, "is_number", False):
            return number(expression)
        return super().__call__(expression)

    def function(self, expression: Any) -> Term:
        """A function applied to arguments, a comparison, a choice."""
        name = type(expression).__name__
        if name == "Piecewise":
            return self.choice(expression.args)
        if name in UNEVALUATED:
            _refuse(expression, "evaluate it first: .doit(), or .evalf() for a number")
        if getattr(expression.func, "__module__", None) is None:
            _refuse(expression, "substitute its definition")
        if _row(expression) is not None:
            return super().function(expression)
        return self.rewritten(expression)

    def power(self, base: Any, exponent: Any) -> Term:
        """A power; a square is written as one, so that its base is written once."""
        return TABLE["powi"](self(base), 2) if exponent == 2 else super().power(base, exponent)

    def row(self, expression: Any) -> Elementwise:
        """The row of a function."""
        found = _row(expression)
        assert found is not None
        return found

    def choice(self, pairs: Any) -> Term:
        """The first expression whose condition holds; not-a-number where none does."""
        (value, condition), *rest = pairs
        if condition == True:  # noqa: E712  # sympy's own truth, which is not Python's
            return self(value)
        return SELECT(self(condition), self(value), self.choice(rest) if rest else Number(float("nan")))

    def rewritten(self, expression: Any) -> Term:
        """The function written with others."""
        import sympy

        inverted = getattr(expression, "_reciprocal_of", None)  # `sec` has `cos`
        if inverted is not None:
            return 1 / self(inverted(*expression.args))
        if isinstance(expression, sympy.cot):
            return self(sympy.cos(*expression.args)) / self(sympy.sin(*expression.args))
        for name in WRITTEN_WITH:
            other = expression.rewrite(getattr(sympy, name))
            if not other.has(expression.func) and not other.has(sympy.I):
                return self(other)
        _refuse(expression, "write it with functions that docs/numpy.md lists, or as a Python function")


def _row(expression: Any) -> Elementwise | None:
    """The row that means a function: one of sympy's, or of those of C that sympy knows (`log1p`)."""
    kind = expression.func
    row = rows_of_functions().get(kind.__name__)
    if row is None and kind.__module__ == "sympy.codegen.cfunctions":
        row = TABLE.get(kind.__name__.lower())
    return row


def check_real(expression: Any) -> None:
    """Refuse an expression with a complex or infinite constant."""
    import sympy

    if expression.has(sympy.I, sympy.nan, sympy.zoo, sympy.oo, -sympy.oo):
        _refuse(expression, "formulas are of finite real numbers")


def number(expression: Any) -> Term:
    """A constant.  Raises AdgenError when it is not a real number that fits."""
    try:
        value = float(expression.evalf(25))
    except (TypeError, OverflowError):
        _refuse(expression, "formulas are of finite real numbers")
    if not math.isfinite(value):
        _refuse(expression, "formulas are of finite real numbers")
    return Number(int(expression) if expression.is_Integer else value)


def _refuse(expression: Any, help: str) -> NoReturn:
    raise AdgenError("AD179", f"`{expression}` cannot be compiled", help=help)
