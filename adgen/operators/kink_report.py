"""`kinks`: where a function's arguments sit at, or near, a place without a derivative.

Comes in: a function and arguments.  Goes out: a `Kink` for each operation whose operands came within the tolerance of
one.  Guaranteed: what is looked at is the function itself as it is compiled; of an operator, the function under it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from types import MethodType
from typing import TYPE_CHECKING, Any

import numpy as np

from adgen.diagnostics import AdgenError, Span, excerpt
from adgen.operators.core import Operator, dressed
from adgen.operators.targets import operator_of
from adgen.runtime.pullback import leaves_of

if TYPE_CHECKING:
    from adgen.passes.kinks import Site

Function = Callable[..., Any]


@dataclass(frozen=True)
class Kink:
    """An operation near a kink.

    `operands` are its numbers where they came nearest, `distance` from the kink, in their own units; there were `count`
    times or elements within the tolerance.  `index` are the indices of the loops around it there, its own loop over the
    elements of an array included.  `says` is what the derivative is taken to be at the kink.
    """

    operation: str
    operands: tuple[float, ...]
    distance: float
    count: int
    index: tuple[int, ...]
    says: str
    span: Span | None

    @property
    def line(self) -> int | None:
        """The line of the file."""
        return self.span.line if self.span else None

    @property
    def text(self) -> str:
        """One line without the place in the file."""
        called = f"{self.operation}({', '.join(map(repr, self.operands))})"
        where = f" at {list(self.index)}" if self.index else ""
        near = "is at a kink" if self.distance == 0.0 else f"is {self.distance:.1e} from a kink"
        times = f", {self.count} times in all" if self.count > 1 else ""
        return f"{called}{where} {near}{times}; the derivative there: {self.says}"

    def __str__(self) -> str:
        return "\n".join([self.text, *(excerpt(self.span) if self.span else ())])


def kinks_operator(function: Function, wrt: Any, tolerance: float) -> Function:
    """`kinks` of a function: it takes the function's arguments and gives a list."""
    operator = Operator(underneath(function), "kinks", wrt)

    def wrapper(*args: Any, **kwargs: Any) -> list[Kink]:
        try:
            return near(operator, operator.arguments(args, kwargs), tolerance)
        except AdgenError as error:
            raise error.with_traceback(None) from None

    return dressed(wrapper, operator)


def underneath(function: Function) -> Function:
    """The function under all operators."""
    while (behind := operator_of(function)) is not None:
        own = getattr(function, "__self__", None)
        function = behind.target.original if own is None else MethodType(behind.target.original, own)
    return function


def near(operator: Operator, arguments: Mapping[str, Any], tolerance: float) -> list[Kink]:
    """The kinks near some arguments."""
    entry = operator.entry_at(arguments)
    *found, sites = entry.raw(*leaves_of(entry, arguments), float(tolerance))
    return records(sites, found)


def records(sites: Iterable[Site], found: Iterable[Any]) -> list[Kink]:
    """What the compiled function tells; of operations at one place in the source the nearest speaks for all."""
    nearest: dict[Any, Kink] = {}
    for kink in _each(sites, found):
        key = kink.operation, kink.says, kink.span
        other = nearest.setdefault(key, kink)
        if other is not kink:
            first = other if other.distance <= kink.distance else kink
            nearest[key] = replace(first, count=kink.count + other.count)
    return list(nearest.values())


def _each(sites: Iterable[Site], found: Iterable[Any]) -> list[Kink]:
    return [
        Kink(
            site.operation,
            tuple(map(float, operands[: site.operands])),
            float(distance),
            int(count),
            tuple(map(int, index[: site.indices])),
            site.says,
            site.span,
        )
        for site, count, distance, operands, index in zip(sites, *map(np.asarray, found), strict=True)
        if count
    ]
