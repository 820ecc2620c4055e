"""The benchmarks of a device, as far as they run without one: in the emulator, and with a driver that only notes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from ctypes import c_float
from functools import partial
from pathlib import Path
from runpy import run_path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
import typer
from scipy.special import erf
from typer.testing import CliRunner

from benchmarks.gpu import __main__ as command
from benchmarks.gpu import driver, report, suite
from benchmarks.gpu.device import CudaDevice, EmulatedDevice
from benchmarks.gpu.driver import ARGUMENTS, Driver
from benchmarks.gpu.peaks import Peak, of_name, peak_of
from benchmarks.gpu.tasks import TASKS, count, operations, traffic
from benchmarks.suite import all_workloads, relative_error
from benchmarks.workload import flat

ROOT = Path(command.__file__).parents[2]
PEERS = ROOT / "benchmarks" / "peers"


@pytest.fixture
def invoke() -> Callable[..., Any]:
    """The command, in this process."""
    app = typer.Typer()
    app.command()(command.main)
    return lambda *words: CliRunner().invoke(app, words)


def test_the_command_runs_in_the_emulator(invoke: Callable[..., Any], tmp_path: Path) -> None:
    """Results are those of C; the table says that its times say nothing."""
    words = "--small", "--target", "cuda-emulated", "--peers", "", "--rounds", "1", "--seconds", "0", "--markdown"
    ran = invoke("black-scholes", *words, "--json", str(tmp_path / "rows"))
    assert ran.exit_code == 0, ran.output
    assert report.NOTHING in ran.output and "| black-scholes small | adgen |" in ran.output
    (row,) = json.loads((tmp_path / "rows").read_text())
    assert row["derivative"] > 0.0 and row["error"] < 1e-12 and row["operations"] > 0
    assert row["traffic"] == 10_000 * 10 * 8


def test_the_command_needs_a_device(invoke: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Or says so in one line."""
    monkeypatch.setattr(command, "devices", lambda: ())
    ran = invoke()
    assert ran.exit_code == 1 and ran.output.splitlines() == [command.NO_DEVICE]
    monkeypatch.setattr(command, "devices", lambda: ("one",))
    monkeypatch.setattr(driver, "LIBRARY", "libno-such-driver.so")
    ran = invoke("--peers", "")
    (said,) = ran.output.splitlines()
    assert ran.exit_code == 1 and said.startswith("the CUDA device cannot be used: the driver cannot be loaded: ")
    assert "no target c;" in invoke("--target", "c").output
    assert "heat" in invoke("nothing", "--target", "cuda-emulated").output
    assert "no peer casadi" in invoke("--target", "cuda-emulated", "--peers", "casadi").output


@pytest.mark.parametrize(("listed", "there"), [("GPU 0: NVIDIA H200", True), ("No devices were found", False)])
def test_make_asks_for_a_device(tmp_path: Path, listed: str, there: bool) -> None:
    """And says in one line that there is none."""
    (tmp_path / "nvidia-smi").write_text(f"#!/bin/sh\necho {listed}\n")
    (tmp_path / "nvidia-smi").chmod(0o755)
    told = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run(["make", "-s", "device"], cwd=ROOT, env=told, capture_output=True, text=True, check=False)
    assert (done.returncode == 0) == there
    assert done.stdout.count("there is no CUDA device") == len(done.stdout.splitlines()) == 1 - there


def test_a_peer_that_differs_is_not_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor is one that fails; both say why."""
    task, workload = TASKS["arm-batch"], all_workloads()["arm-batch"]
    expected = np.ones(3), np.ones(5)

    def player_of(peer: str, *given: Any) -> Any:
        if peer == "fails":
            raise MemoryError("no memory left")
        wrong = 1.0 + 1e-5 * (peer == "wrong")
        return suite.Player(lambda: expected[0], lambda: wrong * expected[1], EmulatedDevice().seconds)

    monkeypatch.setattr(suite, "player_of", player_of)
    monkeypatch.setattr(
        suite, "on_processor", lambda *given: suite.Player(*map(partial(partial, flat), expected), None)
    )
    monkeypatch.setattr(suite, "operations", lambda *given: 1.0)
    plan = suite.Plan(EmulatedDevice(), ("right", "wrong", "fails"), rounds=1, seconds=0.0)
    rows = {row.peer: row for row in suite.run("arm-batch", workload, task, ("tiny", 3), plan)}
    assert {peer for peer, row in rows.items() if row.derivative > 0.0} == {"adgen", "right"}
    assert rows["wrong"].problem == "differs by 1.0e-05" and rows["fails"].problem == "MemoryError: no memory left"


@pytest.mark.parametrize(
    ("name", "size", "tolerance"),
    [("black-scholes", 40, 0.0), ("lennard-jones", 40, 0.02), ("heat", (12, 8), 0.15)],
)
def test_operations_grow_with_the_pieces(name: str, size: Any, tolerance: float) -> None:
    """What is worked out from two sizes is what the interpreter counts at a third one."""
    task, workload = TASKS[name], all_workloads()[name]
    derivative = partial(suite.derivative_of, workload)
    counted = count(derivative(workload.inputs(size)))
    assert operations(task, workload, derivative, size) == pytest.approx(counted, rel=max(tolerance, 1e-12))


def test_traffic_is_of_arguments_and_results() -> None:
    """And of the states between steps in time."""
    heat = all_workloads()["heat"]
    inputs = heat.inputs((8, 2))
    assert traffic(TASKS["heat"], inputs, np.zeros(64), (8, 2)) == 8 * 64 * (2 + 1 + 4 * 2)


@pytest.mark.parametrize("name", TASKS)
def test_the_form_for_cupy(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Gives the values of the plain function; NumPy stands in for CuPy."""
    special = ModuleType("cupyx.scipy.special")
    special.erf = erf  # type: ignore[attr-defined]
    for stands, module in ((np, "cupy"), (ModuleType("cupyx"), "cupyx"), (special, "cupyx.scipy.special")):
        monkeypatch.setitem(sys.modules, module, stands)
    monkeypatch.setitem(sys.modules, "cupyx.scipy", ModuleType("cupyx.scipy"))
    value = run_path(str(PEERS / "cupy.py"))["value"]
    workload = all_workloads()[name]
    inputs = workload.inputs(TASKS[name].tiny)
    plain = workload.arguments(inputs)
    expected = [workload.function(q) for q in plain["q"]] if name == "arm-batch" else workload.function(**plain)
    assert relative_error(flat(value(workload, inputs)()), flat(expected)) < 1e-12


# -- devices ---------------------------------------------------------------------------------------------------------


class Notes:
    """A driver whose memory is nowhere and whose events are 50 ms apart; one call fails with an error."""

    def __init__(self, failing: str = "", error: int = 0) -> None:
        self.names: list[str] = []
        self.failing, self.error = failing, error

    def __getattr__(self, name: str) -> Any:
        if name not in ARGUMENTS:
            raise AttributeError(name)

        def function(*given: Any) -> int:
            self.names.append(name)
            if name == self.failing:
                return self.error
            if name == "cuDeviceGetName":
                given[0].value = b"NVIDIA H100 80GB HBM3"
            if name == "cuMemAlloc_v2":
                given[0]._obj.value = 4096
            if name == "cuMemGetInfo_v2":
                given[0]._obj.value = 77
            if name == "cuEventElapsedTime":
                assert isinstance(given[0]._obj, c_float)
                given[0]._obj.value = 50.0
            if name == "cuGetErrorName":
                given[1]._obj.value = b"CUDA_ERROR_INVALID_VALUE"
            return 0

        setattr(self, name, function)
        return function


def test_a_device_is_timed_by_events() -> None:
    """Around all calls; a copy reads and writes its bytes."""
    notes = Notes()
    device = CudaDevice(Driver(notes))
    assert device.name == "NVIDIA H100 80GB HBM3" and device.driver.free_memory() == 77
    notes.names.clear()
    assert device.seconds(lambda: notes.names.append("call"), 5) == pytest.approx(0.01)
    events = ["cuEventCreate"] * 2, ["cuEventRecord", *["call"] * 5, "cuEventRecord"], ["cuEventSynchronize"]
    assert notes.names[:10] == [name for part in events for name in part]
    assert device.copy_rate(1 << 20, 10) == pytest.approx(2 * (1 << 20) / 0.005)
    assert peak_of(device) == of_name("NVIDIA H100 80GB HBM3")
    assert peak_of(EmulatedDevice()) == Peak()


def test_arrays_are_placed() -> None:
    """On a device and in the emulator, whose memory can be read again."""
    device = CudaDevice(Driver(Notes()))
    assert device.place(np.ones(3)).pointer == 4096 and device.place(2.5) == 2.5
    emulated = EmulatedDevice()
    placed = emulated.place(np.arange(5)[::2])
    assert np.array_equal(placed.to_host(), [0, 2, 4]) and len(emulated.held) == 1
    del placed
    assert not emulated.held


def test_errors_of_the_driver_have_their_names() -> None:
    """Memory that is short is Python's exception for it."""
    with pytest.raises(MemoryError):
        CudaDevice(Driver(Notes("cuMemAlloc_v2", 2))).place(np.ones(3))
    with pytest.raises(RuntimeError, match="cuMemcpyHtoD_v2: CUDA_ERROR_INVALID_VALUE"):
        CudaDevice(Driver(Notes("cuMemcpyHtoD_v2", 1))).place(np.ones(3))


@pytest.mark.parametrize(
    ("name", "bandwidth", "arithmetic"),
    [
        ("NVIDIA H200", 4.8e12, 34e12),
        ("NVIDIA H100 80GB HBM3", 3.35e12, 34e12),
        ("NVIDIA H100 PCIe", 2.0e12, 26e12),
        ("NVIDIA A100-SXM4-40GB", 1.555e12, 9.7e12),
        ("NVIDIA A100-PCIE-40GB", 1.555e12, 9.7e12),
        ("NVIDIA A100-SXM4-80GB", 2.039e12, 9.7e12),
        ("NVIDIA A100 80GB PCIe", 1.935e12, 9.7e12),
        ("NVIDIA L40", 0.864e12, 1.41e12),
        ("NVIDIA L40S", 0.864e12, 1.43e12),
    ],
)
def test_peaks(name: str, bandwidth: float, arithmetic: float) -> None:
    """By the names that the driver gives devices."""
    assert of_name(name) == Peak(bandwidth, arithmetic, "data sheet")
    assert of_name("NVIDIA GeForce RTX 9999") is None


def test_the_table() -> None:
    """Rates are shares of the peak; a problem takes the place of times, and CuPy has no derivative."""
    rows = [
        suite.Row("w", "s", "cupy", 1e9, 1e9, value=2e-3, error=1e-16),
        suite.Row("w", "s", "adgen", 1e9, 2e9, value=1e-3, derivative=2e-3, error=1e-15, setup=3.0),
        suite.Row("w", "s", "torch", 1e9, 1e9, "differs by 1.0e+00"),
    ]
    peak = Peak(2e12, 1e13, "data sheet")
    ours, cupy, torch = report.lines(rows, peak)
    assert ours == ("w s", "adgen", "1 ms", "2 ms", "1.00", "1e+03 (50%)", "500 (5%)", "1e-15", "3 s")
    assert cupy[3] == "none" and torch[2] == "differs by 1.0e+00"
    device = SimpleNamespace(target="cuda", name="NVIDIA X")
    assert "2000 GB/s (data sheet)" in report.markdown(rows, device, peak)  # type: ignore[arg-type]
