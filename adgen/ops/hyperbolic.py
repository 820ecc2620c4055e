"""Rows: hyperbolic functions and their inverses.

Comes in: nothing.  Goes out: `sinh` to `atanh`.  Guaranteed: libm's values.
"""

from __future__ import annotations

from adgen.ops.elementwise import Partials, callables
from adgen.ops.exponential import function
from adgen.ops.kinks import INFINITE, Kink
from adgen.ops.powers import SQRT
from adgen.ops.refusals import AT_LEAST_ONE, INSIDE_ONE, overflow
from adgen.ops.terms import Term


def _acosh_partials(x: Term, out: Term) -> Partials:
    return (1 / (SQRT(x - 1) * SQRT(x + 1)),)


def _atanh_partials(x: Term, out: Term) -> Partials:
    return (1 / ((1 - x) * (1 + x)),)


SINH = function("sinh", "sinh(x)", refuses=overflow("sinh", magnitude=True))
COSH = function("cosh", "cosh(x)", refuses=overflow("cosh", magnitude=True))
TANH = function("tanh", "tanh(x)", refuses=())
ASINH = function("asinh", "asinh(x)", python=callables("arcsinh asinh", "asinh"), refuses=())
ACOSH = function(
    "acosh",
    "acosh(x)",
    python=callables("arccosh acosh", "acosh"),
    override=_acosh_partials,
    reason="x*x - 1 loses digits near x = 1",
    domain=((1.1, 9.0),),
    singular=True,
    kinks=(Kink(lambda x, out: x - 1, INFINITE),),
    refuses=AT_LEAST_ONE,
)
ATANH = function(
    "atanh",
    "atanh(x)",
    python=callables("arctanh atanh", "atanh"),
    override=_atanh_partials,
    reason="1 - x*x loses digits near x = 1; (1 - x) * (1 + x) does not",
    domain=((-0.9, 0.9),),
    singular=True,
    refuses=INSIDE_ONE,
)
