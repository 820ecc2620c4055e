"""The target cuda on a CUDA device: the numbers of C, the same bits again, the exceptions of Python, no leak.

`make gpu` and `pytest -m gpu tests/gpu` run them where there is a device.  Everywhere the same tests run in the
emulator with one small function, so that they are known to work.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adgen
from adgen.ahead.source import load, public_functions
from adgen.diagnostics import AdgenError
from adgen.runtime.devices import DeviceMemory
from adgen.toolchain import cuda_devices
from benchmarks.gpu.device import Device
from tests.gpu import calls
from tests.gpu.calls import MANY, PRODUCTS, leaves, operator, results
from tests.gpu.cases import CASES, EXAMPLES, GOLDEN, PICKED, Case

Devices = Callable[[str], Device]
REASON = "there is no CUDA device: nvidia-smi lists none"
CUDA = (pytest.mark.gpu, pytest.mark.skipif(not cuda_devices.devices(), reason=REASON))
EMULATED = "cuda-emulated"
UNCOUNTED = "voltage"  # whose derivative records a `while`
COUNTS = {"cuda": MANY, EMULATED: 5}


def both(cuda: Iterable[tuple[Any, ...]], emulated: Iterable[tuple[Any, ...]]) -> list[Any]:
    """Parameters for a device, and those for the emulator."""
    return [
        *(pytest.param("cuda", *given, marks=CUDA, id="-".join(("cuda", *map(str, given)))) for given in cuda),
        *(pytest.param(EMULATED, *given, id="-".join(("emulated", *map(str, given)))) for given in emulated),
    ]


TARGETS = both([()], [()])
DERIVED = [case for case in CASES if case.name != UNCOUNTED]


def of_c(case: Case, product: str, count: int) -> list[Any]:
    """What C gives, whose code has no choice of order."""
    return leaves(results(case, product, "c", count))


def test_every_function_has_inputs() -> None:
    """Functions whose parameters are annotated are what a user of the file compiles."""
    files = [*sorted(EXAMPLES.glob("*.py")), GOLDEN / "programs.py"]
    public = {
        (path.stem, each.__name__) for path in files for each in public_functions(load(path)) if each.__annotations__
    }
    assert public == {(case.file, case.name) for case in CASES}


@pytest.mark.parametrize(
    ("target", "case", "product", "deterministic"),
    both(
        [(case, each, False) for each in PRODUCTS for case in (DERIVED if each == "derivative" else CASES)],
        [(PICKED, each, True) for each in PRODUCTS],
    ),
)
def test_results_are_those_of_c(target: str, case: Case, product: str, deterministic: bool, devices: Devices) -> None:
    """Values, gradients and products along a direction; sums may be in another order."""
    count = COUNTS[target]
    found = leaves(results(case, product, target, count, devices(target).place, deterministic))
    for ours, expected in zip(found, of_c(case, product, count), strict=True):
        scale = np.max(np.abs(expected), initial=0.0)
        np.testing.assert_allclose(ours, expected, rtol=1e-12, atol=1e-12 * scale)


@pytest.mark.parametrize(("target", "case"), both([(case,) for case in DERIVED], [(PICKED,)]))
def test_deterministic_results_are_the_same_bits(
    target: str, case: Case, devices: Devices, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In two calls; the emulator runs its threads in another order in the second."""
    call = partial(results, case, "derivative", target, COUNTS[target], devices(target).place, deterministic=True)
    first = leaves(call())
    monkeypatch.setenv("ADGEN_EMULATED_ORDER", "shuffled")
    assert [leaf.tobytes() for leaf in first] == [leaf.tobytes() for leaf in leaves(call())]


@pytest.mark.parametrize("target", TARGETS)
def test_a_failed_check_is_pythons_exception(target: str, devices: Devices) -> None:
    """With its line; the device is fine afterwards."""
    place = devices(target).place
    values, weights = place(np.ones(5)), place(np.ones(3))
    call = operator(PICKED, "derivative", target, True)
    with pytest.raises(IndexError, match="index 5 is out of bounds for axis 0 with size 5") as raised:
        call(values, place(np.array([0, 5, 1])), weights)
    assert "np.sin(values[places[k]])" in str(raised.value)
    assert np.array_equal(call(values, place(np.array([0, 4, 1])), weights).weights.to_host(), np.full(3, np.sin(1.0)))


@pytest.mark.parametrize("target", TARGETS)
def test_a_loop_that_cannot_be_counted_is_refused(target: str) -> None:
    """Its derivative keeps what nobody can make room for before a kernel starts."""
    case = next(case for case in CASES if case.name == UNCOUNTED)
    with pytest.raises(AdgenError) as raised:
        results(case, "derivative", target, 1)
    assert raised.value.code == "AD345" and raised.value.help


class Claims:
    """An array that says that it has more elements than it has."""

    def __init__(self, array: DeviceMemory, count: int) -> None:
        self.array = array
        self.__cuda_array_interface__ = {**array.__cuda_array_interface__, "shape": (count,)}


@pytest.mark.parametrize("target", TARGETS)
def test_no_memory_left(target: str, devices: Devices, taken: Callable[[str], int]) -> None:
    """Says how much was asked for, before anything is launched, and keeps nothing."""
    place = devices(target).place
    many = Claims(place(np.ones(5)), 1 << 50)
    rest = place(np.array([0, 1])), place(np.ones(2))
    call = operator(PICKED, "derivative", target, True)
    call(place(np.ones(5)), *rest)
    before = taken(target)
    with pytest.raises(MemoryError, match=r"the device has no \S+ GB left") as raised:
        call(many, *rest)
    assert isinstance(raised.value, AdgenError) and raised.value.code == "AD610"
    del raised
    assert taken(target) <= before


@pytest.mark.parametrize("target", TARGETS)
def test_nothing_leaks(target: str, devices: Devices, taken: Callable[[str], int]) -> None:
    """200 calls, some of which fail, leave no more of the device's memory in use than there was."""
    place, count = devices(target).place, COUNTS[target]
    values, places, weights = (place(value) for value in PICKED.arguments(count))
    beyond = place(np.full(2 * count, count))

    def some(repeats: int) -> None:
        for _ in range(repeats):
            for product in ("value", "derivative"):
                operator(PICKED, product, target, True)(values, places, weights)
        with pytest.raises(IndexError):
            operator(PICKED, "derivative", target, True)(values, beyond, weights)

    some(2)
    before = taken(target)
    for _ in range(10):
        some(10)
    assert taken(target) <= before


def of_library(name: str, device: Device) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
    """How arrays of a library are made and read."""
    if name == "numpy":
        return np.asarray, np.asarray
    if name == "ours":
        return device.place, DeviceMemory.to_host
    module = pytest.importorskip("numba.cuda" if name == "numba" else name)
    if name == "cupy":
        return module.asarray, module.asnumpy
    if name == "torch":
        if not module.cuda.is_available():
            pytest.skip("torch has no CUDA device")
        return partial(module.as_tensor, device="cuda"), lambda tensor: tensor.cpu().numpy()
    return module.to_device, lambda array: array.copy_to_host()


@pytest.mark.parametrize(
    ("target", "library"),
    both([(name,) for name in ("numpy", "ours", "cupy", "torch", "numba")], [("numpy",), ("ours",)]),
)
def test_arrays_of_libraries(target: str, library: str, devices: Devices) -> None:
    """Are taken as they are, and results are of their kind."""
    make, read = of_library(library, devices(target))
    given = PICKED.arguments(COUNTS[target])
    arguments = [make(value) for value in given]
    gradient = operator(PICKED, "derivative", target, True)(*arguments)
    assert {type(part) for part in gradient} == {type(arguments[0])}
    for found, expected in zip(gradient, adgen.grad(PICKED.function)(*given)):
        np.testing.assert_allclose(read(found), expected, rtol=1e-12, atol=1e-12)


def checker(tool: str) -> list[str]:
    """The command in front of a program that one of NVIDIA's checkers watches; it fails where that finds something."""
    found = shutil.which("compute-sanitizer") or shutil.which("compute-sanitizer", path="/usr/local/cuda/bin")
    if found is None:
        pytest.skip("there is no compute-sanitizer, which comes with the CUDA toolkit")
    return [found, "--tool", tool, "--error-exitcode", "9", "--target-processes", "application-only"]


@pytest.mark.parametrize(("target", "tool"), both([("memcheck",), ("racecheck",), ("synccheck",)], [("alone",)]))
def test_checkers_find_nothing(target: str, tool: str) -> None:
    """In calls of a program of its own."""
    few = [] if target == "cuda" else ["3", "5"]
    watching = checker(tool) if target == "cuda" else []
    command = [*watching, sys.executable, str(Path(calls.__file__)), target, *few]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "programs-picked jvp" in done.stdout
