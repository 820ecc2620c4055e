"""Terms over the rows as Python expressions.

Comes in: terms, and the names of their operands.  Goes out: syntax trees, and the modules that they name.  Guaranteed:
each row is a Python callable that means it.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from adgen.ops import ADD, AND, DIV, EQ, GE, GT, LE, LT, MUL, NE, NEG, NOT, OR, POW, POWI, SELECT, SUB, Elementwise
from adgen.ops.terms import Apply, Number, Operand, Term

INFIX: dict[Elementwise, type[ast.operator]] = {
    ADD: ast.Add, SUB: ast.Sub, MUL: ast.Mult, DIV: ast.Div, POW: ast.Pow, POWI: ast.Pow,
}  # fmt: skip
COMPARISONS: dict[Elementwise, type[ast.cmpop]] = {
    LT: ast.Lt, LE: ast.LtE, GT: ast.Gt, GE: ast.GtE, EQ: ast.Eq, NE: ast.NotEq,
}  # fmt: skip
PREFIX: dict[Elementwise, type[ast.unaryop]] = {NEG: ast.USub, NOT: ast.Not}
BOOLEAN: dict[Elementwise, type[ast.boolop]] = {AND: ast.And, OR: ast.Or}
MODULES = ("np", "math", "special")


class Writer:
    """Python expressions for terms; `namespace` holds the modules that they name, by names that are not `taken`."""

    def __init__(self, taken: Collection[str]) -> None:
        self.aliases = {
            name: next(alias for k in range(len(taken) + 1) if (alias := "_" * k + name) not in taken)
            for name in MODULES
        }
        self.namespace: dict[str, Any] = {}

    def __call__(self, term: Term, names: Sequence[str]) -> ast.expr:
        """The expression; operands are by name."""
        if isinstance(term, Number):
            return self.number(term)
        if isinstance(term, Operand):
            return ast.Name(names[term.position])
        assert isinstance(term, Apply)
        row, arguments = term.row, [self(argument, names) for argument in term.arguments]
        if row in INFIX:
            return ast.BinOp(arguments[0], INFIX[row](), arguments[1])
        if row in COMPARISONS:
            return ast.Compare(arguments[0], [COMPARISONS[row]()], [arguments[1]])
        if row in PREFIX:
            return ast.UnaryOp(PREFIX[row](), arguments[0])
        if row in BOOLEAN:
            return ast.BoolOp(BOOLEAN[row](), arguments)
        if row is SELECT:
            return ast.IfExp(*arguments)
        return self.call(*spelled(row), arguments)

    def number(self, term: Number) -> ast.expr:
        """A literal; integers only where an exponent or an order is one."""
        if math.isnan(term.value):
            return self.attribute("np", "nan")
        return ast.Constant(int(term.value) if term.integer else float(term.value))

    def call(self, module: str, name: str, arguments: list[ast.expr]) -> ast.expr:
        """A call of a function of a module."""
        return ast.Call(self.attribute(module, name), arguments, [])

    def attribute(self, module: str, name: str) -> ast.expr:
        """A name of a module."""
        alias = self.aliases[module]
        self.namespace[alias] = _module(module)
        return ast.Attribute(ast.Name(alias), name)


def _module(name: str) -> Any:
    if name == "special":
        import scipy.special

        return scipy.special
    return {"np": np, "math": math}[name]


def spelled(row: Elementwise) -> tuple[str, str]:
    """The module and the name of a callable that means a row."""
    for module, known in (("np", np), ("math", math)):
        for function in row.python:
            if getattr(known, function.__name__, None) is function:
                return module, function.__name__
    return "special", row.special or row.scipy[0]
