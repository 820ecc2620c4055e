"""Loops over index spaces, with what is known about their indices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from adgen.frontend.arrays.integers import Int, plain, value
from adgen.ir.nodes import Value

if TYPE_CHECKING:
    from adgen.frontend.context import Context

NAMES = "ijklmnop"


def fold(
    ctx: Context,
    extents: Sequence[Int],
    initial: Sequence[Value],
    body: Callable[..., Sequence[Value]],
    names: Sequence[str] = NAMES,
    hints: Sequence[str] = (),
    unordered: bool = False,
) -> tuple[Value, ...]:
    """Nested loops that carry scalars: `body(indices, *carried)` gives the next ones.  An axis of one needs no loop.

    Carried sums may be taken in any order, and `unordered` ones in memory too: NumPy does not promise one either.
    """
    b = ctx.builder

    def level(axis: int, indices: tuple[Value, ...], carried: Sequence[Value]) -> Sequence[Value]:
        if axis == len(extents):
            return body(indices, *carried)
        if plain(ctx, extents[axis]) == 1:
            return level(axis + 1, (*indices, b.index(0)), carried)
        stop = value(ctx, extents[axis])

        def iteration(index: Value, *state: Value) -> Sequence[Value]:
            ctx.ranges.declare(index, b.index(0), stop)
            return level(axis + 1, (*indices, index), state)

        name = names[axis] if axis < len(names) else f"i{axis}"
        return b.loop(
            b.index(0), stop, carried, iteration, name=name, names=hints, unordered=unordered or bool(carried)
        )

    return tuple(level(0, (), initial))


def nest(
    ctx: Context,
    extents: Sequence[Int],
    body: Callable[[tuple[Value, ...]], None],
    names: Sequence[str] = NAMES,
    unordered: bool = False,
) -> None:
    """Nested loops over a whole index space; `unordered`: what they add to memory may be added in any order."""

    def iteration(indices: tuple[Value, ...]) -> Sequence[Value]:
        body(indices)
        return ()

    fold(ctx, extents, (), iteration, names, unordered=unordered)


def span(
    ctx: Context,
    start: Int,
    stop: Int,
    initial: Sequence[Value],
    body: Callable[..., Sequence[Value]],
    name: str = "i",
) -> tuple[Value, ...]:
    """One loop from `start` to `stop` that carries scalars: `body(index, *carried)` gives the next ones."""
    first, last = value(ctx, start), value(ctx, stop)

    def iteration(index: Value, *state: Value) -> Sequence[Value]:
        ctx.ranges.declare(index, first, last)
        return body(index, *state)

    return ctx.builder.loop(first, last, initial, iteration, name=name)


def when(
    ctx: Context,
    condition: Value,
    then: Callable[[], Sequence[Value]],
    otherwise: Callable[[], Sequence[Value]] = tuple,
) -> tuple[Value, ...]:
    """An `if` inside whose branches the condition is known."""
    known = ctx.builder.known(condition)
    if known is not None:
        return tuple(then() if known else otherwise())

    def taken() -> Sequence[Value]:
        ctx.ranges.assume(condition)
        return then()

    def untaken() -> Sequence[Value]:
        ctx.ranges.assume(condition, False)
        return otherwise()

    return ctx.builder.branch(condition, taken, untaken)
