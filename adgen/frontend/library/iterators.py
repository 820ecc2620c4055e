"""`enumerate`, `zip`, `map` and `filter` of what a function with `yield` gives, which runs as they are run through."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any


def enumerated(source: Iterable[Any], start: int) -> Iterator[Any]:
    """`enumerate`."""
    k = start
    for each in source:
        yield k, each
        k += 1


def zipped(before: Sequence[Any], source: Iterable[Any], after: Sequence[Any]) -> Iterator[Any]:
    """`zip` of sequences, an iterator and sequences."""
    for other in before:
        if len(other) == 0:
            return
    k = 0
    for each in source:
        for other in after:
            if k >= len(other):
                return
        yield (*[other[k] for other in before], each, *[other[k] for other in after])
        k += 1  # noqa: SIM113 - `enumerate` of an iterator is such a loop
        for other in before:
            if k >= len(other):
                return


def mapped(function: Callable[..., Any], source: Iterable[Any]) -> Iterator[Any]:
    """`map`."""
    for each in source:
        yield function(each)


def filtered(function: Callable[..., Any] | None, source: Iterable[Any]) -> Iterator[Any]:
    """`filter`."""
    for each in source:
        if each if function is None else function(each):
            yield each
