"""Rows: circular functions, their inverses, and the lengths and angles of plane vectors.

Comes in: nothing.  Goes out: `sin` to `atan2` and `hypot`.  Guaranteed: libm's values; `atan2` and `hypot` have zero
derivatives at the origin.
"""

from __future__ import annotations

from adgen.ops.arithmetic import ABS
from adgen.ops.comparison import AND, EQ, LT, SELECT
from adgen.ops.elementwise import Partials, callables, elementwise
from adgen.ops.exponential import function
from adgen.ops.kinks import INFINITE, Kink
from adgen.ops.libm import Libm
from adgen.ops.powers import SQRT
from adgen.ops.refusals import NOT_INFINITE, WITHIN_ONE
from adgen.ops.spelling import LibmCall
from adgen.ops.terms import Term

NEAR_ONE = "1 - x*x loses digits near x = 1; (1 - x) * (1 + x) does not"


def _asin_partials(x: Term, out: Term) -> Partials:
    return (1 / SQRT((1 - x) * (1 + x)),)


def _acos_partials(x: Term, out: Term) -> Partials:
    return (-1 / SQRT((1 - x) * (1 + x)),)


def _atan2_partials(y: Term, x: Term, out: Term) -> Partials:
    square = SELECT(AND(EQ(x, 0), EQ(y, 0)), 1, x * x + y * y)
    return x / square, -(y / square)


def _hypot_partials(x: Term, y: Term, out: Term) -> Partials:
    length = SELECT(EQ(out, 0), 1, out)
    return x / length, y / length


def _near_one(x: Term, out: Term) -> Term:
    return 1 - ABS(x)


def _branch_cut(y: Term, x: Term, out: Term) -> Term:
    return SELECT(LT(x, 0), y, HYPOT(x, y))


SIN = function("sin", "sin(x)", refuses=NOT_INFINITE)
COS = function("cos", "cos(x)", refuses=NOT_INFINITE)
TAN = function("tan", "tan(x)", domain=((-1.4, 1.4),), refuses=NOT_INFINITE)
ASIN = function(
    "asin",
    "asin(x)",
    python=callables("arcsin asin", "asin"),
    override=_asin_partials,
    reason=NEAR_ONE,
    domain=((-0.95, 0.95),),
    singular=True,
    refuses=WITHIN_ONE,
    kinks=(Kink(_near_one, INFINITE),),
)
ACOS = function(
    "acos",
    "acos(x)",
    python=callables("arccos acos", "acos"),
    override=_acos_partials,
    reason=NEAR_ONE,
    domain=((-0.95, 0.95),),
    singular=True,
    refuses=WITHIN_ONE,
    kinks=(Kink(_near_one, INFINITE),),
)
ATAN = function("atan", "atan(x)", python=callables("arctan atan", "atan"), refuses=())
ATAN2 = elementwise(
    "atan2",
    "y x",
    evaluate=Libm("atan2", 2),
    sympy="atan2(y, x)",
    override=_atan2_partials,
    reason="0 rather than 0/0 at the origin",
    python=callables("arctan2 atan2", "atan2"),
    cost=10,
    c=LibmCall("atan2"),
    refuses=(),
    kinks=(Kink(_branch_cut, "it is 0 at the origin, and that of one side where the angle jumps"),),
)
HYPOT = elementwise(
    "hypot",
    "x y",
    evaluate=Libm("hypot", 2),
    sympy="sqrt(x**2 + y**2)",
    override=_hypot_partials,
    reason="0 rather than 0/0 at the origin",
    python=callables("hypot", "hypot"),
    cost=8,
    c=LibmCall("hypot"),
    kinks=(Kink(lambda x, y, out: out),),
    refuses=(),
)
