"""Formulas of derivatives, and other forms of them.

Comes in: a formula of a number, in symbols.  Goes out: the formulas of a product of it, in the order of the product's
results; forms that are equal where both are finite.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from adgen.symbolic.proof import partial

LARGEST = 200  # operations of sympy's; more take too long to simplify
KINKED = ("Abs", "sign", "Max", "Min", "floor", "ceiling", "Heaviside", "Mod")


def _gradient(value: Any, symbols: Sequence[Any]) -> list[Any]:
    return [partial(value, symbol) for symbol in symbols]


ORDERS: dict[str, Callable[[Any, Sequence[Any]], list[Any]]] = {
    "grad": _gradient,
    "value_and_grad": lambda value, symbols: [value, *_gradient(value, symbols)],
    "jacfwd": _gradient,
    "jacrev": _gradient,
    "jacobian": _gradient,
    "hessian": lambda value, symbols: [partial(d, symbol) for d in _gradient(value, symbols) for symbol in symbols],
}


def kinked(expression: Any) -> bool:
    """True for a formula that has no derivative somewhere, or one by convention."""
    import sympy

    return bool(expression.has(*(getattr(sympy, name) for name in KINKED)))


def forms(wanted: Sequence[Any]) -> list[list[Any]]:
    """The expressions as they are, and simplified."""
    import sympy

    if sum(sympy.count_ops(each) for each in wanted) > LARGEST:
        return [list(wanted)]
    return [list(wanted), [sympy.simplify(each) for each in wanted], [sympy.factor_terms(each) for each in wanted]]
