"""Row: the identity through which no derivative passes.

Comes in: nothing.  Goes out: `stop`.  Guaranteed: derivatives are zero at every order, as what it is made of does not
count as depending on anything; before emission the operand takes its place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from adgen.ir.types import Scalar
from adgen.ops.elementwise import elementwise
from adgen.ops.spelling import Spelling, Text


@dataclass(frozen=True)
class Operand(Spelling):
    """`a`."""

    def render(self, arguments: Sequence[Text], kind: Scalar) -> Text:
        return arguments[0]


STOP = elementwise("stop", "x", evaluate=lambda x: x, piecewise_constant=True, cost=1, c=Operand())
