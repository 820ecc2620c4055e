"""A function and its derivatives as LaTeX.

Comes in: a function's formulas.  Goes out: text, a line for each result and each derivative.  Guaranteed: derivatives
are sympy's of the formulas; indices of arrays are those of the program, from 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adgen.ir.nodes import Value
from adgen.ir.types import Buffer
from adgen.symbolic.formulas import Formulas


def latex(found: Formulas, name: str, wrt: Sequence[Value]) -> str:
    """The text; derivatives for the parameters in `wrt`."""
    import sympy

    parameters = ", ".join(sympy.latex(symbol) for symbol in found.parameters.values())
    several = len(found.results) > 1
    lines = []
    for position, result in enumerate(found.results):
        head = rf"\mathrm{{{name}}}".replace("_", r"\_") + (f"_{{{position}}}" if several else "")
        lines.append(rf"{head}({parameters}) = {sympy.latex(result)}")
        for value, symbol in found.parameters.items():
            if value in wrt:
                one = _element(symbol, value.type.rank) if isinstance(value.type, Buffer) else symbol
                slope = derivative(result, one)
                lines.append(rf"\frac{{\partial {head}}}{{\partial {sympy.latex(one)}}} = {sympy.latex(slope)}")
    return "\n".join(lines)


def _element(base: Any, rank: int) -> Any:
    """An element of an array, with indices that no loop has."""
    import sympy

    return base[tuple(sympy.Symbol(letter, integer=True) for letter in "abcdefgh"[:rank])]


def derivative(expression: Any, symbol: Any) -> Any:
    """The derivative, with sums over one index carried out."""
    import sympy

    slope = sympy.diff(expression, symbol)
    return _tidy(slope.doit() if slope.has(sympy.KroneckerDelta) else slope)


def _tidy(expression: Any) -> Any:
    import sympy

    return sympy.simplify(expression) if sympy.count_ops(expression) < 60 else expression
