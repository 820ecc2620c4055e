"""Rows: comparisons, logic, selection, classification.

Comes in: nothing.  Goes out: the rows that make booleans and choose by them.  Guaranteed: IEEE comparisons (nan is
unordered); `select` computes both operands and takes one, and its derivative selects likewise.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from adgen.ir.types import BOOL
from adgen.ops import affine, logic
from adgen.ops.elementwise import ANYTHING, BOOLS, FLOATS, Elementwise, Partials, callables, elementwise
from adgen.ops.kinks import BRANCH, Kink, difference
from adgen.ops.spelling import (
    AND_ALSO,
    EQUALITY,
    OR_ELSE,
    RELATIONAL,
    Conditional,
    Infix,
    LibmCall,
    Prefix,
)
from adgen.ops.terms import Number, Term


def _truth(value: Any) -> Any:
    return value if isinstance(value, np.ndarray) else bool(value)


def _comparison(name: str, sign: str, precedence: int, compare: Callable[[Any, Any], Any], numpy: str) -> Elementwise:
    return elementwise(
        name,
        "x y",
        evaluate=lambda x, y: _truth(compare(x, y)),
        kinds=ANYTHING,
        result=BOOL,
        piecewise_constant=True,
        kinks=(Kink(difference, BRANCH),),
        formula=f"{name.capitalize()}(x, y)",
        python=(compare, *callables(numpy)),
        c=Infix(sign, precedence, operands=RELATIONAL + 1),
        simplify=affine.comparison(name),
    )


LT = _comparison("lt", "<", RELATIONAL, operator.lt, "less")
LE = _comparison("le", "<=", RELATIONAL, operator.le, "less_equal")
GT = _comparison("gt", ">", RELATIONAL, operator.gt, "greater")
GE = _comparison("ge", ">=", RELATIONAL, operator.ge, "greater_equal")
EQ = _comparison("eq", "==", EQUALITY, operator.eq, "equal")
NE = _comparison("ne", "!=", EQUALITY, operator.ne, "not_equal")

AND = elementwise(
    "and",
    "x y",
    evaluate=lambda x, y: _truth(x & y),
    kinds=BOOLS,
    differentiable=False,
    formula="And(x, y)",
    python=callables("logical_and"),
    c=Infix("&&", AND_ALSO, operands=EQUALITY, associative=True),
    simplify=logic.conjunction,
)
OR = elementwise(
    "or",
    "x y",
    evaluate=lambda x, y: _truth(x | y),
    kinds=BOOLS,
    differentiable=False,
    formula="Or(x, y)",
    python=callables("logical_or"),
    c=Infix("||", OR_ELSE, operands=EQUALITY, associative=True),
    simplify=logic.disjunction,
)
XOR = elementwise(
    "xor",
    "x y",
    evaluate=lambda x, y: _truth(x ^ y),
    kinds=BOOLS,
    differentiable=False,
    formula="Xor(x, y)",
    python=callables("logical_xor"),
    c=Infix("!=", EQUALITY, operands=RELATIONAL + 1),
    simplify=logic.exclusive,
)
NOT = elementwise(
    "not",
    "x",
    evaluate=lambda x: ~x if isinstance(x, np.ndarray) else not x,
    kinds=BOOLS,
    differentiable=False,
    formula="Not(x)",
    python=(operator.not_, *callables("logical_not")),
    c=Prefix("!"),
    simplify=logic.negation,
)


def _select(condition: Any, x: Any, y: Any) -> Any:
    if isinstance(condition, np.ndarray):
        return np.where(condition, x, y)
    return x if condition else y


def _select_partials(condition: Term, x: Term, y: Term, out: Term) -> Partials:
    return None, SELECT(condition, Number(1), Number(0)), SELECT(condition, Number(0), Number(1))


SELECT = elementwise(
    "select",
    "condition x y",
    evaluate=_select,
    kinds=ANYTHING,
    fixed={0: BOOL},
    override=_select_partials,
    formula="Piecewise((x, condition), (y, True))",
    reason="a selection of one and zero, which emission turns into a selection of the cotangent and zero",
    c=Conditional(),
    simplify=logic.selection,
)


def _classification(name: str, evaluate: Callable[[Any], Any]) -> Elementwise:
    return elementwise(
        name,
        "x",
        evaluate=lambda x: _truth(evaluate(x)),
        kinds=FLOATS,
        result=BOOL,
        piecewise_constant=True,
        python=callables(name, name),
        c=LibmCall(name, generic=True),
    )


ISNAN = _classification("isnan", np.isnan)
ISINF = _classification("isinf", np.isinf)
ISFINITE = _classification("isfinite", np.isfinite)
