"""Rows: the error function, the gamma function, and their relatives.

Comes in: nothing.  Goes out: `erf`, `erfc`, `gamma`, `lgamma`, `digamma`, `polygamma` (of order 0: digamma).
Guaranteed: libm's values where libm has the function; derivatives of every order stay within the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adgen.ir.types import F64, I64, Scalar
from adgen.ops.elementwise import Partials, callables, elementwise
from adgen.ops.exponential import function
from adgen.ops.libm import Libm
from adgen.ops.polygamma import POLYGAMMA_C, digamma_derivative
from adgen.ops.spelling import PRIMARY, UNARY, HelperCall, LibmCall, Spelling, Text, enclosed
from adgen.ops.terms import Term

POLYGAMMA_CALL = HelperCall("polygamma", sources={I64: POLYGAMMA_C})

ERF = function("erf", "erf(x)", scipy=("erf",), cost=12, refuses=())
ERFC = function("erfc", "erfc(x)", scipy=("erfc",), cost=12, refuses=())
GAMMA = elementwise(
    "gamma",
    "x",
    evaluate=Libm("tgamma"),
    sympy="gamma(x)",
    python=callables("", "gamma"),
    scipy=("gamma",),
    domain=((0.2, 5.0),),
    cost=20,
    c=LibmCall("tgamma"),
    singular=True,
)
LGAMMA = function("lgamma", "loggamma(x)", scipy=("gammaln",), domain=((0.2, 9.0),), cost=20, singular=True)


class DigammaCall(Spelling):
    """The polygamma helper with order 0; it computes in double precision."""

    def render(self, arguments: Sequence[Text], kind: Scalar) -> Text:
        text, precedence = arguments[0]
        if kind == F64:
            return f"{POLYGAMMA_CALL.name_of(I64)}(0, {text})", PRIMARY
        return f"(float){POLYGAMMA_CALL.name_of(I64)}(0, (double){enclosed((text, precedence), UNARY)})", UNARY

    def helper(self, kind: Scalar) -> str | None:
        return POLYGAMMA_CALL.helper(I64)


def _digamma(x: Any) -> Any:
    return digamma_derivative(0, x).astype(x.dtype)


def _polygamma_partials(n: Term, x: Term, out: Term) -> Partials:
    return None, POLYGAMMA(n + 1, x)


DIGAMMA = elementwise(
    "digamma",
    "x",
    evaluate=_digamma,
    sympy="digamma(x)",
    scipy=("digamma", "psi"),
    domain=((0.2, 9.0),),
    cost=30,
    c=DigammaCall(),
    singular=True,
)
POLYGAMMA = elementwise(
    "polygamma",
    "n x",
    evaluate=digamma_derivative,
    kinds=(F64,),
    fixed={0: I64},
    sympy="polygamma(n, x)",
    override=_polygamma_partials,
    reason="sympy is right, but its order must stay an integer",
    scipy=("polygamma",),
    domain=((0.0, 4.0), (0.3, 9.0)),
    cost=30,
    c=POLYGAMMA_CALL,
    singular=True,
)
