"""Where rows have kinks and jumps, and which derivative they have there.

Comes in: nothing.  Goes out: `Kink`, which a row states, and distances that several rows share.  Guaranteed: the size
of a distance is how far the operands are from the kink, in their own units; it is zero there and nowhere else.  A pole,
where the value itself is infinite, is no kink.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from adgen.ops.terms import Term

ZERO = "it is 0"
INFINITE = "it is infinite"
HALVES = "it is one half for each"
SHARED = "it is shared equally among the elements"
BRANCH = "it is that of the branch which is taken"


@dataclass(frozen=True)
class Kink:
    """`distance(*operands, out)` from a place without a derivative, and what the derivative is taken to be there."""

    distance: Callable[..., Term]
    says: str = ZERO


def itself(x: Term, out: Term) -> Term:
    """At zero."""
    return x


def difference(x: Term, y: Term, out: Term) -> Term:
    """Where two operands are equal."""
    return x - y


def whole(x: Term, out: Term) -> Term:
    """At integers."""
    from adgen.ops.rounding import RINT

    return x - RINT(x)


def whole_but_zero(x: Term, out: Term) -> Term:
    """At integers other than zero."""
    from adgen.ops.arithmetic import ABS
    from adgen.ops.comparison import LT, SELECT

    return SELECT(LT(ABS(x), 1), 1 - ABS(x), whole(x, out))


def halfway(x: Term, out: Term) -> Term:
    """In the middle between integers."""
    from adgen.ops.rounding import FLOOR

    return x - FLOOR(x) - 0.5
