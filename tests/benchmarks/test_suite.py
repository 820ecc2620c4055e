"""The suite of benchmarks: its command, and what it says of peers."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from benchmarks import __main__ as command
from benchmarks import memory, report, suite
from benchmarks.workload import Calls, Workload

QUICK = suite.Options(rounds=1, seconds=0.0)


def square(x: float) -> float:
    """A workload of one number."""
    return x * x


def workload(slope: float) -> Workload:
    """With a derivative of adgen's own, and a peer whose slope may be wrong."""

    def own(factor: float) -> Calls:
        return Calls(lambda: 9.0, lambda: np.array([factor * 3.0]))

    return Workload(
        square,
        lambda x: {"x": x},
        {"s": 3.0},
        wrt=("x",),
        own={"adgen": lambda _: own(2.0), "jax": lambda _: own(slope)},
    )


@pytest.fixture
def invoke(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """The command, in this process and without its hold on the cores."""
    monkeypatch.setattr(command, "use_threads", lambda count: None)
    app = typer.Typer()
    app.command()(command.main)
    return lambda *words: CliRunner().invoke(app, words)


def test_the_command_times_a_workload(invoke: Callable[..., Any], tmp_path: Path) -> None:
    """A small call of adgen alone, as a table and as JSON."""
    ran = invoke("call-of-ten", "--rounds", "1", "--seconds", "0", "--markdown", "--json", str(tmp_path / "rows"))
    assert ran.exit_code == 0, ran.output
    assert "| call-of-ten rosen10 | adgen |" in ran.output
    (row,) = json.loads((tmp_path / "rows").read_text())
    assert row["derivative"] > 0.0 and row["error"] == 0.0


def test_the_command_says_what_there_is(invoke: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Options, workloads and peers; a peer that is not there is one line."""
    assert "--peers" in invoke("--help").output
    assert "call-of-ten" in invoke("nothing").output
    assert "casadi" in invoke("call-of-ten", "--peers", "nobody").output
    monkeypatch.setattr(suite, "installed", lambda peer: None)
    assert "jax is not installed" in invoke("hand-simple", "--peers", "jax").output


def test_a_peer_that_differs_is_not_timed() -> None:
    """Its row says by how much."""
    right, wrong = (list(suite.run("w", workload(slope), "s", replace(QUICK, peers=("jax",)))) for slope in (2.0, 2.1))
    assert [row.derivative > 0.0 for row in right] == [True, True]
    assert {row.peer: row.problem for row in wrong} == {"jax": "differs by 5.0e-02", "adgen": ""}


def test_a_table_compares_with_adgen() -> None:
    """adgen first, ratios to it; a problem takes the place of times."""
    rows = [
        suite.Row("w", "s", "jax", value=2e-6, derivative=4e-6),
        suite.Row("w", "s", "adgen", value=1e-6, derivative=2e-6, memory=2**20),
        suite.Row("w", "s", "torch", "differs by 1.0e+00"),
    ]
    ours, jax, torch = report.lines(rows)
    assert ours == ("w s", "adgen", "1 us", "2 us", "2.00", "1.00", "1.0 MiB", "0 ns")
    assert jax[5] == "2.00" and torch[2] == "differs by 1.0e+00"


def test_memory_of_a_call_is_its_peak() -> None:
    """An array that lives in the call only."""
    taken = memory.taken_by(lambda: float(np.ones(4 << 20).sum()))
    assert taken is None or 30 << 20 < taken < 60 << 20


def test_every_workload_has_inputs_for_its_function() -> None:
    """Names of inputs, of parameters and of what is varied fit together."""
    for name, found in suite.all_workloads().items():
        assert suite.sizes(found, "") or "tiny" in found.sizes, name
        if not found.from_data and "adgen" not in found.own:
            smallest = list(found.sizes)[-1]
            inputs = found.inputs(found.sizes[smallest])
            assert set(found.names) <= set(inputs), name
            assert set(found.wrt) <= set(found.names), name
