"""The table, for a terminal or in Markdown."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from benchmarks.gpu.device import Device
from benchmarks.gpu.peaks import Peak
from benchmarks.gpu.suite import Row
from benchmarks.report import duration

HEADERS = ("workload", "peer", "value", "derivative", "beside adgen", "GB/s", "GFLOP/s", "error", "first call")
NOTHING = "emulated: the times say nothing about a device, only that results are right and everything runs"


def title(device: Device, peak: Peak) -> str:
    """What the table is of, and what shares in it are of."""
    if device.target != "cuda":
        return NOTHING
    known = []
    if peak.bandwidth:
        known.append(f"{peak.bandwidth / 1e9:.0f} GB/s ({peak.source})")
    if peak.arithmetic:
        known.append(f"{peak.arithmetic / 1e9:.0f} GFLOP/s on doubles, half of it without fused multiply-adds")
    return f"{device.name}: peaks are {', '.join(known)}"


def rate(amount: float, seconds: float, peak: float | None) -> str:
    """In billions a second, and as a share of the peak."""
    found = amount / seconds
    return f"{found / 1e9:.3g}" + (f" ({found / peak:.0%})" if peak else "")


def cells(row: Row, reference: Row, peak: Peak) -> tuple[str, ...]:
    """One line of the table; `reference` is adgen's row."""
    name = f"{row.workload} {row.size}"
    if row.problem:
        return name, row.peer, row.problem, *([""] * (len(HEADERS) - 3))
    value, error, setup = duration(row.value), f"{row.error:.0e}", duration(row.setup)
    if not row.derivative:
        return name, row.peer, value, "none", "", "", "", error, setup
    return (
        name,
        row.peer,
        value,
        duration(row.derivative),
        f"{row.derivative / reference.derivative:.2f}" if reference.derivative else "",
        rate(row.traffic, row.derivative, peak.bandwidth),
        rate(row.operations, row.derivative, peak.arithmetic),
        error,
        setup,
    )


def lines(rows: Iterable[Row], peak: Peak) -> list[tuple[str, ...]]:
    """Of all rows, the peers of a size together, adgen first."""
    table = []
    for _, group in groupby(rows, lambda row: (row.workload, row.size)):
        peers = sorted(group, key=lambda row: row.peer != "adgen")
        table += [cells(row, peers[0], peak) for row in peers]
    return table


def markdown(rows: Iterable[Row], device: Device, peak: Peak) -> str:
    """What the table is of, and the table."""
    head = [HEADERS, tuple("---" for _ in HEADERS)]
    table = ["| " + " | ".join(line) + " |" for line in [*head, *lines(rows, peak)]]
    return "\n".join([title(device, peak), "", *table])
