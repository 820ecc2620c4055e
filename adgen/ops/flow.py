"""Rows: identities that matter to derivatives only.

Comes in: nothing.  Goes out: `stop`, through which no derivative passes, at any order; `tapped`, which adds a shift
that is zero, so that its derivative is that for the value itself.  Before emission the first operand takes their place.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass

from adgen.ir.types import Scalar
from adgen.ops.elementwise import elementwise
from adgen.ops.spelling import ADDITIVE, Infix, Spelling, Text


@dataclass(frozen=True)
class Operand(Spelling):
    """`a`."""

    def render(self, arguments: Sequence[Text], kind: Scalar) -> Text:
        return arguments[0]


STOP = elementwise("stop", "x", evaluate=lambda x: x, piecewise_constant=True, c=Operand())
TAPPED = elementwise(
    "tapped", "x shift", evaluate=operator.add, sympy="x + shift", c=Infix("+", ADDITIVE), domain=((-3.0, 3.0),) * 2
)
