"""The suite: every workload on every peer, results compared first, then timed in turns."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from importlib import import_module
from pathlib import Path
from statistics import median
from time import perf_counter
from timeit import Timer
from types import ModuleType
from typing import Any

import numpy as np

from benchmarks import memory, workloads
from benchmarks.peers.hand import Folder
from benchmarks.workload import Array, Calls, Inputs, Workload

TOLERANCE = 1e-6
WINDOW = 2e-3  # seconds of calls in one sample, at least


@dataclass
class Row:
    """One peer on one size of a workload: medians in seconds, or why there are none."""

    workload: str
    size: str
    peer: str
    problem: str = ""
    error: float = 0.0  # relative, beside the first peer
    setup: float = 0.0  # with the first calls, which compile
    memory: int | None = None  # bytes that a derivative takes while it runs
    value: float = 0.0
    derivative: float = 0.0
    samples: dict[str, list[float]] = field(default_factory=lambda: {"value": [], "derivative": []}, repr=False)

    def settle(self) -> None:
        """From samples to medians."""
        if self.samples["value"]:
            self.value, self.derivative = median(self.samples["value"]), median(self.samples["derivative"])


@dataclass(frozen=True)
class Options:
    """What the command was asked."""

    peers: tuple[str, ...] = ()
    hand: Folder | None = None
    data: Path | None = None
    rounds: int = 5
    seconds: float = 0.1
    clock: Callable[[], float] = perf_counter


def all_workloads() -> dict[str, Workload]:
    """By name."""
    found: dict[str, Workload] = {}
    for module in pkgutil.iter_modules(workloads.__path__):
        found |= getattr(import_module(f"benchmarks.workloads.{module.name}"), "WORKLOADS", {})
    return found


def sizes(workload: Workload, asked: str) -> list[str]:
    """The sizes that were asked for: the first by default."""
    names = [name for name in workload.sizes if name != "tiny"]
    if asked in ("", "all"):
        return names[:1] if not asked else names
    return [name for name in workload.sizes if name in asked.split(",")]


def plain(row: Any) -> dict[str, Any]:
    """For JSON."""
    return {name: value for name, value in asdict(row).items() if name != "samples"}


def installed(peer: str) -> ModuleType | None:
    """The module of a peer, or None where the peer is not installed."""
    try:
        return import_module(f"benchmarks.peers.{peer}")
    except ImportError:
        return None


def relative_error(found: Array, expected: Array) -> float:
    """The largest difference beside the largest number; a total is compared with the sum of items."""
    if 1 in (found.size, expected.size):
        found, expected = np.array([found.sum()]), np.array([expected.sum()])
    if found.shape != expected.shape:
        return float("inf")
    return float(np.max(np.abs(found - expected)) / max(np.max(np.abs(expected)), np.finfo(float).tiny))


def sample(call: Callable[[], Any], seconds: float, clock: Callable[[], float]) -> list[float]:
    """Times of one call by a clock, for about so many seconds."""
    timer = Timer(call, timer=clock)
    once = min(timer.repeat(2, number=1))
    repeats = max(1, int(WINDOW / max(once, 1e-8)))
    times: list[float] = []
    end = perf_counter() + seconds
    while not times or perf_counter() < end:
        times.append(timer.timeit(repeats) / repeats)
    return times


def calls_of(peer: str, workload: Workload, inputs: Inputs, options: Options) -> Calls | None:
    """What a peer makes of a workload."""
    if peer == "hand":
        return options.hand.calls(workload, inputs) if options.hand else None
    if peer in workload.own:
        return workload.own[peer](inputs)
    found: Calls | None = import_module(f"benchmarks.peers.{peer}").calls(workload, inputs)
    return found


def make_inputs(workload: Workload, size: str, options: Options) -> Inputs | None:
    """From the folder of hand-written C where it has them, else our own; None without the files that those need."""
    theirs = options.hand.inputs(workload, size) if options.hand else None
    if theirs is not None:
        return theirs
    if not workload.from_data:
        return workload.inputs(workload.sizes[size])
    return workload.inputs((options.data, *workload.sizes[size])) if options.data else None


def run(name: str, workload: Workload, size: str, options: Options) -> Iterator[Row]:
    """A row a peer: adgen first, with which the others are compared."""
    inputs = make_inputs(workload, size, options)
    if inputs is None:
        yield Row(name, size, "adgen", "needs --data")
        return
    rows: list[tuple[Row, Calls]] = []
    expected: tuple[Array, Array] | None = None
    for peer in ("adgen", *(("hand",) if options.hand else ()), *options.peers):
        row = Row(name, size, peer)
        try:
            start = perf_counter()
            calls = calls_of(peer, workload, inputs, options)
            if calls is None:
                continue
            results = calls.read_value(calls.value()), calls.read_derivative(calls.derivative())
            row.setup = perf_counter() - start
        except Exception as error:
            row.problem = f"{type(error).__name__}: {error}".splitlines()[0]
            yield row
            continue
        expected = expected or results
        row.error = max(map(relative_error, results, expected))
        if row.error <= TOLERANCE:
            row.memory = memory.taken_by(calls.derivative)
            rows.append((row, calls))
        else:
            row.problem = f"differs by {row.error:.1e}"
            yield row
    for _ in range(options.rounds):
        for row, calls in rows:
            for what in ("value", "derivative"):
                row.samples[what] += sample(getattr(calls, what), options.seconds, options.clock)
    for row, _ in rows:
        row.settle()
        yield row
