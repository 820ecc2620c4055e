"""The elements that a boolean mask picks: an array whose length is known only when the program has run.

Such a value can be reduced, combined elementwise with itself and with numbers, and assigned through the same mask;
everything else that needs its shape is refused.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NoReturn

from adgen.diagnostics import Span
from adgen.frontend.arrays.likeness import alike
from adgen.frontend.arrays.model import Array, footprint
from adgen.ir.nodes import Value
from adgen.ir.types import Scalar

if TYPE_CHECKING:
    from adgen.frontend.context import Context


@dataclass(frozen=True, eq=False)
class Selection(Array):
    """`inner[mask]`, where the mask covers the axes of `inner` from `first` on.

    `key` is the mask as the program wrote it and `versions` the state of its memory then: they tell equal masks apart.
    """

    ctx: Context
    inner: Array
    mask: Array
    first: int
    key: Array
    versions: dict[Value, int]
    span: Span | None = None

    @property
    def element(self) -> Scalar:  # type: ignore[override]
        """The type of the elements."""
        return self.inner.element

    @property
    def rank(self) -> int:
        """The number of axes: those of the mask become one."""
        return self.inner.rank - self.mask.rank + 1

    @property
    def extents(self) -> tuple[Value, ...]:  # type: ignore[override]
        """Not known: using them is refused."""
        self.refuse("its shape is needed here")

    def read(self, ctx: Context, indices: Any) -> Value:
        """Not possible."""
        self.refuse("its elements are needed one by one")

    def refuse(self, why: str) -> NoReturn:
        """The diagnostic, where the mask is applied, for a use that needs the number of elements."""
        self.ctx.builder.span = self.span
        self.ctx.fail(
            "AD233",
            f"the shape of an array read through a boolean mask depends on the data: {why}",
            "keep the full array and choose with `np.where(mask, value, neutral)`, or loop with `if`",
        )

    def alike(self, ctx: Context, other: Selection) -> bool:
        """True when the other selection picks the same elements."""
        return self.first == other.first and self.versions == other.versions and alike(ctx, self.key, other.key)

    def with_inner(self, inner: Array) -> Selection:
        """Other elements picked by the same mask."""
        return replace(self, inner=inner)


def selection(ctx: Context, inner: Array, mask: Array, first: int) -> Selection:
    """`inner[mask]` as it stands here."""
    return Selection(ctx, inner, mask, first, mask, footprint(ctx, mask), ctx.builder.span)
