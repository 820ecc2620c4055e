"""The two kinds of arrays: views of memory, and expressions that are computed when they are read.

Every array has an element type, extents (i64 values) and `read(ctx, indices)`, which emits what gives one element; the
indices are in range.  A `View` is a buffer and a `Frame`, which maps view indices to buffer indices.  A `Lazy` is a
function from indices to a value: reading it in one loop fuses the expression into that loop.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from adgen.diagnostics import Span
from adgen.frontend.arrays.integers import Int, add, mul, total, value
from adgen.frontend.values import Dynamic
from adgen.ir.nodes import Value
from adgen.ir.types import Buffer, Scalar

if TYPE_CHECKING:
    from adgen.frontend.context import Context

Indices = Sequence[Value]
Reader = Callable[[Any, tuple[Value, ...]], Value]


@dataclass(frozen=True)
class Axis:
    """One index of the source: `offset + sum(step * index k)` over (k, step) in `terms`."""

    offset: Int
    terms: tuple[tuple[int, Int], ...] = ()


@dataclass(frozen=True)
class Frame:
    """A map from an index space with these extents to the indices of a source, one `Axis` each."""

    extents: tuple[Value, ...]
    axes: tuple[Axis, ...]

    def locate(self, ctx: Context, indices: Indices) -> tuple[Value, ...]:
        """The source's indices."""
        return tuple(value(ctx, self._index(ctx, axis, indices)) for axis in self.axes)

    @staticmethod
    def _index(ctx: Context, axis: Axis, indices: Sequence[Int]) -> Int:
        parts: list[tuple[int, Int]] = []
        for k, step in axis.terms:
            parts.append((step, indices[k]) if isinstance(step, int) else (1, mul(ctx, step, indices[k])))
        return total(ctx, [*parts, (1, axis.offset)])

    def within(self, ctx: Context, outer: Frame) -> Frame:
        """This frame as a map to the source of `outer`, whose index space is this frame's source."""
        axes = []
        for axis in outer.axes:
            offset, steps = axis.offset, dict[int, Int]()
            for k, step in axis.terms:
                inner = self.axes[k]
                offset = add(ctx, offset, mul(ctx, step, inner.offset))
                for position, factor in inner.terms:
                    steps[position] = add(ctx, steps.get(position, 0), mul(ctx, step, factor))
            axes.append(Axis(offset, tuple(sorted(steps.items()))))
        return Frame(self.extents, tuple(axes))

    @staticmethod
    def identity(extents: Sequence[Value]) -> Frame:
        """Every index maps to itself."""
        return Frame(tuple(extents), tuple(Axis(0, ((k, 1),)) for k in range(len(extents))))

    @property
    def straight(self) -> bool:
        """True when every index maps to itself."""
        return self.axes == tuple(Axis(0, ((k, 1),)) for k in range(len(self.extents)))


class Array(Dynamic):
    """Base of the arrays."""

    element: Scalar
    extents: tuple[Value, ...]

    @property
    def rank(self) -> int:
        """The number of axes."""
        return len(self.extents)

    def read(self, ctx: Context, indices: Indices) -> Value:
        """Emit what gives one element."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class View(Array):
    """Part of a buffer.  `readonly` says why it must not be written through; empty when it may."""

    base: Value
    frame: Frame
    readonly: str = ""

    @property
    def element(self) -> Scalar:  # type: ignore[override]
        """The type of the elements."""
        assert isinstance(self.base.type, Buffer)
        return self.base.type.element

    @property
    def extents(self) -> tuple[Value, ...]:  # type: ignore[override]
        """The extents."""
        return self.frame.extents

    def read(self, ctx: Context, indices: Indices) -> Value:
        """Load one element."""
        return ctx.builder.load(self.base, self.frame.locate(ctx, indices))

    def framed(self, ctx: Context, frame: Frame) -> View:
        """The part of this view that a frame selects."""
        return View(self.base, frame.within(ctx, self.frame), self.readonly)

    def whole(self, ctx: Context) -> bool:
        """True when the view is the buffer itself: it starts where that does, and is known to be as long."""
        return self.frame.straight and all(map(ctx.ranges.equal, self.extents, ctx.builder.dims(self.base)))


@dataclass(frozen=True, eq=False)
class Lazy(Array):
    """An expression.  `reads` are the views read at exactly the index that is asked for, `roots` all memory that is
    read with the version it had then; `cost` is the work of one element; `recipe` tells equal expressions apart; `span`
    is where the expression stands."""

    element: Scalar
    extents: tuple[Value, ...]
    reader: Reader
    cost: int = 0
    raises: bool = False
    reads: tuple[View, ...] = ()
    roots: dict[Value, int] = field(default_factory=dict)
    irregular: frozenset[Value] = frozenset()
    recipe: tuple[Any, ...] = ()
    fill: Any = None
    span: Span | None = None

    def read(self, ctx: Context, indices: Indices) -> Value:
        """Compute one element."""
        for root, version in self.roots.items():
            if ctx.writes.version(root) != version:
                ctx.fail(
                    "AD231",
                    "an array expression is used after an array that it reads was overwritten",
                    "assign the expression to a name before the array is changed",
                )
        before = ctx.builder.span
        ctx.builder.span = self.span or before
        try:
            return self.reader(ctx, tuple(indices))
        finally:
            ctx.builder.span = before

    def framed(self, ctx: Context, frame: Frame) -> Lazy:
        """The part of this expression that a frame selects."""
        return replace(
            self,
            extents=frame.extents,
            reader=lambda ctx, indices: self.reader(ctx, frame.locate(ctx, indices)),
            reads=tuple(view.framed(ctx, frame) for view in self.reads),
            recipe=("framed", self.recipe or self, frame),
        )


def footprint(ctx: Context, *arrays: Any) -> dict[Value, int]:
    """The memory that arrays read, with the versions that it has (or had when an expression was made)."""
    roots: dict[Value, int] = {}
    for array in arrays:
        if isinstance(array, View):
            owner = ctx.writes.root(array.base)
            roots[owner] = ctx.writes.version(owner)
        elif isinstance(array, Lazy):
            roots.update(array.roots)
    return roots


def expression(
    ctx: Context,
    element: Scalar,
    extents: Sequence[Value],
    reader: Reader,
    of: Sequence[Array] = (),
    cost: int = 10,
    raises: bool = False,
) -> Lazy:
    """An expression that reads the arrays `of` at indices of its own choice."""
    roots = footprint(ctx, *of)
    irregular = frozenset(roots)
    return Lazy(element, tuple(extents), reader, cost, raises, (), roots, irregular, span=ctx.builder.span)
