"""Partial derivatives as small trees over the operands and the result of a row.

Comes in: what sympy derives, or what a row's override writes with `+ - * /` and rows called like functions.
Goes out: trees that `emission` turns into IR.  Guaranteed: a tree is plain data; equal trees compare equal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from adgen.ir.types import I64
from adgen.ops.registry import TABLE

if TYPE_CHECKING:
    from adgen.ops.elementwise import Elementwise


class Term:
    """A number, an operand, the result, or a row applied to terms."""

    integer = False
    """True for terms of type i64; all others are of the row's floating-point type (or bool)."""

    def __add__(self, other: Term | float) -> Term:
        return TABLE["add"](self, other)

    def __radd__(self, other: float) -> Term:
        return TABLE["add"](other, self)

    def __sub__(self, other: Term | float) -> Term:
        return TABLE["sub"](self, other)

    def __rsub__(self, other: float) -> Term:
        return TABLE["sub"](other, self)

    def __mul__(self, other: Term | float) -> Term:
        return TABLE["mul"](self, other)

    def __rmul__(self, other: float) -> Term:
        return TABLE["mul"](other, self)

    def __truediv__(self, other: Term | float) -> Term:
        return TABLE["div"](self, other)

    def __rtruediv__(self, other: float) -> Term:
        return TABLE["div"](other, self)

    def __neg__(self) -> Term:
        return TABLE["neg"](self)


@dataclass(frozen=True)
class Number(Term):
    """A constant, of the row's floating-point type unless it is an integer."""

    value: float
    integer: bool = False


@dataclass(frozen=True)
class Operand(Term):
    """An operand of the row, by position."""

    position: int
    integer: bool = False


@dataclass(frozen=True)
class Out(Term):
    """The result of the row."""


@dataclass(frozen=True)
class AsFloat(Term):
    """An integer term converted to the row's floating-point type."""

    term: Term


@dataclass(frozen=True)
class Apply(Term):
    """A row applied to terms."""

    row: Elementwise
    arguments: tuple[Term, ...]
    integer: bool = False


def apply(row: Elementwise, arguments: tuple[Term | float, ...]) -> Term:
    """A row applied to terms and plain numbers; a number is an i64 where the row, or its neighbours, say so."""
    free = [argument for k, argument in enumerate(arguments) if k not in row.fixed and isinstance(argument, Term)]
    integer = bool(free) and all(argument.integer for argument in free)
    terms = tuple(_term(argument, row.fixed.get(k) == I64 or integer) for k, argument in enumerate(arguments))
    return Apply(row, terms, integer and row.result is None)


def _term(argument: Term | float, integer: bool) -> Term:
    if isinstance(argument, Number):
        return Number(argument.value, integer)
    return argument if isinstance(argument, Term) else Number(argument, integer)
