"""The workloads on a device: results compared first, then timed in turns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from statistics import median
from time import perf_counter
from typing import Any

from benchmarks.gpu.device import Call, Device
from benchmarks.gpu.players import Player, on_processor, player_of, release
from benchmarks.gpu.tasks import Task, operations, traffic
from benchmarks.suite import TOLERANCE, relative_error
from benchmarks.workload import Array, Inputs, Workload

CLOSE = 1e-9  # adgen's CUDA beside its C, which adds in another order
MOST = 1000  # calls in one sample
WHATS = ("value", "derivative")


@dataclass
class Row:
    """One peer on one size of a workload: medians in seconds, or why there are none; what the derivative has to do."""

    workload: str
    size: str
    peer: str
    operations: float  # on floating-point numbers
    traffic: float  # bytes
    problem: str = ""
    error: float = 0.0  # relative, beside adgen's C
    setup: float = 0.0  # with the first calls, which compile
    value: float = 0.0
    derivative: float = 0.0
    samples: dict[str, list[float]] = field(default_factory=lambda: {what: [] for what in WHATS}, repr=False)

    def settle(self) -> None:
        """From samples to medians."""
        self.value, self.derivative = (median(self.samples[what] or [0.0]) for what in WHATS)


@dataclass(frozen=True)
class Plan:
    """What is run: on which device, beside whom, for how long."""

    device: Device
    peers: tuple[str, ...] = ()
    rounds: int = 7
    seconds: float = 0.1


def problem_of(error: Exception) -> str:
    """An exception on one line."""
    return f"{type(error).__name__}: {error}".splitlines()[0]


def run(name: str, workload: Workload, task: Task, size: tuple[str, Any], plan: Plan) -> Iterator[Row]:
    """A row a peer, adgen first."""
    label, extent = size
    inputs = workload.inputs(extent)
    calls = on_processor(workload, inputs)
    expected = calls.read_value(calls.value()), calls.read_derivative(calls.derivative())
    work = operations(task, workload, partial(derivative_of, workload), extent)
    least = traffic(task, workload.arguments(inputs), expected[1], extent)
    playing: list[tuple[Row, Player]] = []
    for peer in ("adgen", *plan.peers):
        row = Row(name, label, peer, work, least)
        player = admitted(row, workload, inputs, expected, plan.device)
        if player is not None:
            playing.append((row, player))
        elif row.problem:
            yield row
    for _ in range(plan.rounds):
        for row, player in playing:
            turn(row, player, plan.seconds)
    for row, _ in playing:
        row.settle()
        yield row
    playing.clear()
    release()


def derivative_of(workload: Workload, inputs: Inputs) -> partial[Any]:
    """The call of adgen's derivative."""
    call = on_processor(workload, inputs).derivative
    assert isinstance(call, partial)
    return call


def admitted(
    row: Row, workload: Workload, inputs: Inputs, expected: tuple[Array, Array], device: Device
) -> Player | None:
    """A peer whose results are right; `row` says what is wrong with another one's."""
    try:
        start = perf_counter()
        player = player_of(row.peer, workload, inputs, device)
        if player is None:
            return None
        found = [player.read_value(player.value())]
        if player.derivative is not None:
            found.append(player.read_derivative(player.derivative()))
        row.setup = perf_counter() - start
    except Exception as error:
        row.problem = problem_of(error)
        return None
    row.error = max(map(relative_error, found, expected))
    if row.error <= (CLOSE if row.peer == "adgen" else TOLERANCE):
        return player
    row.problem = f"differs by {row.error:.1e}"
    return None


def turn(row: Row, player: Player, seconds: float) -> None:
    """One sample of each call; memory that is short by now is a problem of the row."""
    for what in WHATS:
        call: Call | None = getattr(player, what)
        if call is None or row.problem:
            continue
        try:
            once = player.seconds(call, 1)
            repeats = min(MOST, max(1, int(seconds / max(once, 1e-9))))
            row.samples[what].append(player.seconds(call, repeats))
        except Exception as error:
            row.problem = problem_of(error)
