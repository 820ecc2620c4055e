"""The table of the suite, for a terminal or for a README."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from benchmarks.suite import Row

HEADERS = ("workload", "peer", "value", "derivative", "derivative / value", "beside adgen", "memory", "first call")


def duration(seconds: float) -> str:
    """With three digits and a unit."""
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("us", 1e6)):
        if seconds * factor >= 1.0:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def cells(row: Row, reference: Row) -> tuple[str, ...]:
    """One line of the table; `reference` is adgen's row."""
    name = f"{row.workload} {row.size}"
    if not row.derivative:
        return name, row.peer, row.problem, *([""] * (len(HEADERS) - 3))
    return (
        name,
        row.peer,
        duration(row.value),
        duration(row.derivative),
        f"{row.derivative / row.value:.2f}",
        f"{row.derivative / reference.derivative:.2f}" if reference.derivative else "",
        "" if row.memory is None else f"{row.memory / 2**20:.1f} MiB",
        duration(row.setup),
    )


def lines(rows: Iterable[Row]) -> list[tuple[str, ...]]:
    """Of all rows, the peers of a size together."""
    table = []
    for _, group in groupby(rows, lambda row: (row.workload, row.size)):
        peers = sorted(group, key=lambda row: row.peer != "adgen")
        table += [cells(row, peers[0]) for row in peers]
    return table


def markdown(rows: Iterable[Row]) -> str:
    """A table in Markdown."""
    head = [HEADERS, tuple("---" for _ in HEADERS)]
    return "\n".join("| " + " | ".join(line) + " |" for line in [*head, *lines(rows)])
