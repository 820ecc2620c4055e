"""Extents that meet are taken for equal, slices for not cut off, and checks at the entry of the function say so.

NumPy stretches an axis of length one where it meets a longer one.  Whether an axis of an argument has length one is
known when the function is called; in most programs it is not where two of them meet, and code that can do both reads
and runs badly.  So the function is compiled for extents that are equal, and begins with a check of that.  A call with
others is served by code compiled for axes that may have any length: those that an argument type marks with `*`.
Likewise Python cuts off a slice that ends beyond its axis, which programs seldom want.

Comes in: two extents that meet, or a bound of a slice.  Goes out: whether they are equal, or within, from now on.
Guaranteed: what is taken for granted is checked before anything else happens.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from adgen import ops
from adgen.diagnostics import Span
from adgen.frontend.affine import Affine
from adgen.frontend.arrays.integers import Int, emit, meaning, value
from adgen.frontend.specs import OTHER_EXTENTS, STRETCHED, Leaf
from adgen.ir import core
from adgen.ir.nodes import Operation, Value

if TYPE_CHECKING:
    from adgen.frontend.context import Context

MEETING = "an axis of length {0} meets one of length {1}, which are taken for equal"
CUTTING = "an axis has length {0}, which is taken for {1} at least, where a slice ends"


@dataclass(frozen=True, eq=False)
class Agreement:
    """The difference of two sums of extents and integers that are known at the entry: it is 0, or not negative."""

    difference: Affine
    equal: bool
    span: Span | None


@dataclass(eq=False)
class Agreements:
    """What is known at the entry of a function, and what has been taken for equal."""

    parameters: frozenset[Value]
    stretched: frozenset[tuple[Value, int]]
    found: list[Agreement] = field(default_factory=list)
    conditional: int = 0  # how many branches around the present place depend on extents
    dependent: dict[Value, bool] = field(default_factory=dict)  # which values are computed from extents

    @staticmethod
    def of(leaves: Sequence[Leaf], arguments: Sequence[Value]) -> Agreements:
        """Those of a function with these parameters."""
        marked = {
            (argument, axis)
            for leaf, argument in zip(leaves, arguments)
            for axis, extent in enumerate(getattr(leaf.spec, "extents", ()))
            if extent == STRETCHED
        }
        return Agreements(frozenset(arguments), frozenset(marked))

    def axis(self, ctx: Context, atom: Value) -> tuple[Value, int] | None:
        """The parameter and the axis whose extent a value is."""
        operation = ctx.builder.definitions.get(atom)
        if operation is None or operation.row is not core.DIM or operation.operands[0] not in self.parameters:
            return None
        return operation.operands[0], operation.attributes["axis"]

    def known(self, ctx: Context, atom: Value) -> bool:
        """The value is known at the entry, and is not the extent of an axis that may have any length."""
        if atom in self.parameters:
            return True
        axis = self.axis(ctx, atom)
        return axis is not None and axis not in self.stretched


@contextmanager
def under(ctx: Context, condition: Value) -> Iterator[None]:
    """What is lowered inside runs only if the condition holds, or only if it does not."""
    agreements = ctx.agreements
    about = agreements is not None and _about_extents(ctx, condition, agreements.dependent)
    if agreements is not None:
        agreements.conditional += about
    try:
        yield
    finally:
        if agreements is not None:
            agreements.conditional -= about


def _about_extents(ctx: Context, condition: Value, known: dict[Value, bool]) -> bool:
    """The condition is computed from the extent of an array; each value is looked at once."""
    pending = [condition]
    while pending:
        value = pending[-1]
        operation = ctx.builder.definitions.get(value)
        operands = () if operation is None or not operation.row.pure else operation.operands
        open_ = [operand for operand in operands if operand not in known]
        if open_ and value not in known:
            pending += open_
            continue
        is_extent = operation is not None and operation.row is core.DIM
        known.setdefault(value, is_extent or any(known[operand] for operand in operands))
        pending.pop()
    return known[condition]


def agree(ctx: Context, a: Value, b: Value) -> bool:
    """The extents are equal: provably, or by a check at the entry."""
    if ctx.ranges.equal(a, b):
        return True
    first, second = _unclamped(ctx, a, b)
    difference = first.plus(second, -1)
    solvable = [x for x in _axes(ctx, difference) if abs(difference.coefficient(x)) == 1]
    if not solvable:
        return False
    _grant(ctx, difference, True)
    ctx.ranges.unify(solvable[-1], difference)
    return True


def within(ctx: Context, bound: Int, extent: Int) -> bool:
    """The bound of a slice is no greater than the extent: provably, or by a check at the entry."""
    gap = meaning(ctx, extent).plus(meaning(ctx, bound), -1)
    if ctx.ranges.proves(gap):
        return True
    if not _axes(ctx, gap):
        return False
    _grant(ctx, gap, False)
    ctx.ranges.grant(gap)
    return True


def _axes(ctx: Context, form: Affine) -> list[Value]:
    """The extents in a form about which something may be taken for granted; none if it is not known at the entry."""
    agreements = ctx.agreements
    if agreements is None or agreements.conditional:
        return []
    if not all(agreements.known(ctx, atom) for atom, _ in form.terms):
        return []
    return [x for x, _ in form.terms if agreements.axis(ctx, x) is not None]


def _grant(ctx: Context, difference: Affine, equal: bool) -> None:
    assert ctx.agreements is not None
    kept = [each for each in ctx.agreements.found if each.equal or each.difference.terms != difference.terms]
    ctx.agreements.found = [*kept, Agreement(difference, equal, ctx.span)]


def _side(difference: Affine) -> Affine:
    """What a difference adds."""
    return Affine(max(difference.constant, 0), tuple((atom, c) for atom, c in difference.terms if c > 0))


def _unclamped(ctx: Context, a: Value, b: Value) -> tuple[Affine, Affine]:
    """Forms that are equal only if two extents are: of `max(n - 2, 0)` and `max(m - 2, 0)` `n - 2` and `m - 2`.

    Of `max(n - 2, 0)` and `m` too where `m` is known to be no less than 0.
    """
    first, second = meaning(ctx, a), meaning(ctx, b)
    left, right = _clamped(ctx, first), _clamped(ctx, second)
    if left and right:
        return (left[0], right[0]) if left[1] == right[1] else (first, second)
    if left and ctx.ranges.proves(second.shifted(-left[1])):
        return left[0], second
    if right and ctx.ranges.proves(first.shifted(-right[1])):
        return first, right[0]
    return first, second


def _clamped(ctx: Context, form: Affine) -> tuple[Affine, int] | None:
    """What a form is the maximum of, besides a constant."""
    if form.constant or len(form.terms) != 1 or form.terms[0][1] != 1:
        return None
    operation: Operation | None = ctx.builder.definitions.get(form.terms[0][0])
    if operation is None or operation.row is not ops.MAXIMUM:
        return None
    for x, y in (operation.operands, operation.operands[::-1]):
        known = ctx.builder.known(y)
        if known is not None:
            return ctx.ranges.form(x), int(known)
    return None


def entry(ctx: Context) -> list[Operation]:
    """The checks with which the function begins."""
    agreements = ctx.agreements
    if agreements is None or not agreements.found:
        return []
    builder, before = ctx.builder, ctx.builder.span
    with builder.block() as block:
        for agreement in agreements.found:
            builder.span = agreement.span
            a, b = (_again(ctx, _side(agreement.difference.times(sign))) for sign in (1, -1))
            test, message = (ops.EQ, MEETING) if agreement.equal else (ops.GE, CUTTING)
            builder.check(builder.op(test, a, b), OTHER_EXTENTS, message, (a, b))
    builder.span = before
    return block.operations


def _again(ctx: Context, form: Affine) -> Value:
    """A form of what is known at the entry, computed there."""
    assert ctx.agreements is not None
    terms = []
    for atom, coefficient in form.terms:
        axis = ctx.agreements.axis(ctx, atom)
        terms.append((atom if axis is None else ctx.builder.dim(*axis), coefficient))
    return value(ctx, emit(ctx, Affine(form.constant, tuple(terms))))
