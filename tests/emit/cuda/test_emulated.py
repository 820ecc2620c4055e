"""Kernels in the emulator: the numbers of the interpreter in every order of threads, no race, the first failure.

Devices are made small (`few_threads`), so that each thread has several iterations, planes several blocks, and threads
have parts and slices; one test runs kernels as they are.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from adgen.ir.interpret import ProgramError, run
from adgen.ir.messages import filled
from adgen.ir.nodes import Function
from adgen.passes.pipeline import for_device
from tests import device_programs, row_programs
from tests.device_programs import Sample
from tests.emulated import ORDERS, Emulated, few_threads
from tests.passes.random_functions import Generator
from tests.passes.support import arguments

SAMPLES = device_programs.samples()
FAILING = device_programs.failing()
# whose sums depend on the order of threads where nothing is done about it
MEETING = [sample for sample in SAMPLES if sample.program.__name__ in device_programs.MEETING]


def functions_of(sample: Sample) -> list[tuple[Function, list[Any]]]:
    """The gradient, which has the values too; the values alone where there is none or arguments are written."""
    gradient = sample.gradient
    made = [] if gradient is None else [(gradient, [*sample.given(), *sample.seeds()])]
    return [*made, (sample.value, sample.given())] if not made or sample.writes else made


def compiled(functions: list[Function], deterministic: bool = False, threads: int = 6) -> Emulated:
    """One module of some functions, which counts races."""
    with pytest.MonkeyPatch.context() as patch:
        few_threads(patch, threads)
        patch.setenv("ADGEN_EMULATOR", "races")
        return Emulated([for_device(function, deterministic) for function in functions])


@pytest.fixture(scope="module")
def usual() -> Emulated:
    return compiled([function for sample in SAMPLES for function, _ in functions_of(sample)])


@pytest.fixture(scope="module")
def deterministic() -> Emulated:
    return compiled([function for sample in MEETING for function, _ in functions_of(sample)], True)


@pytest.fixture(scope="module")
def checked() -> Emulated:
    return compiled([sample.value for sample in FAILING])


def copied(arguments: list[Any]) -> list[Any]:
    return [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]


def assert_close(found: list[Any], wanted: list[Any]) -> None:
    for one, other in zip(found, wanted, strict=True):
        tolerance = 1e-5 if np.asarray(one).dtype == np.float32 else 1e-12
        assert np.shape(one) == np.shape(other)
        np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance)


def outcomes(module: Emulated, function: Function, given: list[Any], patch: pytest.MonkeyPatch) -> list[list[bytes]]:
    """Assert that every order gives what the interpreter gives, without a race; the bits in each order."""
    left = copied(given)
    wanted = [*run(function, left).results, *left]
    seen = []
    for order in ORDERS:
        patch.setenv("ADGEN_EMULATED_ORDER", order)
        mine = copied(given)
        failure, results = module.call(function.name, mine)
        assert failure is None
        assert module.races() == 0
        assert_close([*results, *mine], wanted)
        seen.append([np.asarray(value).tobytes() for value in (*results, *mine)])
    return seen


@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_as_the_interpreter(sample: Sample, usual: Emulated, monkeypatch: pytest.MonkeyPatch) -> None:
    """Values, gradients and written arrays."""
    for function, given in functions_of(sample):
        outcomes(usual, function, given, monkeypatch)


def test_kernels_call_functions_of_the_device(usual: Emulated) -> None:
    """The emulator makes no difference between functions of the host and of the device; nvcc does."""
    text = usual.emitted.c_source
    kernels = re.findall(r"^static __global__ .*?^}", text, re.DOTALL | re.MULTILINE)
    called = set(re.findall(r"\b(adgen_\w+|ad_\w+)\(", "".join(kernel.partition("{")[2] for kernel in kernels)))
    assert {"adgen_extent", "ad_add_i64"} <= called
    for name in called:
        assert re.search(rf"^static .*__device__ .*\b{name}\(", text, re.MULTILINE), name


@pytest.mark.parametrize("sample", MEETING, ids=str)
def test_deterministic(sample: Sample, deterministic: Emulated, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same bits in all orders, without an atomic addition."""
    assert "atomicAdd" not in deterministic.emitted.c_source
    for function, given in functions_of(sample):
        first, *others = outcomes(deterministic, function, given, monkeypatch)
        assert all(other == first for other in others)


def test_random_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loops, branches and checks of all kinds: the numbers of the interpreter, or its failure."""
    made = [replace(Generator(seed).function(), name=f"f{seed}") for seed in range(8)]
    module = compiled(made)
    for seed, function in enumerate(made):
        given = arguments(function, seed, 7)
        for order in ORDERS:
            monkeypatch.setenv("ADGEN_EMULATED_ORDER", order)
            left, mine = copied(given), copied(given)
            failure, results = module.call(function.name, mine)
            try:
                with np.errstate(all="ignore"):
                    wanted = run(function, left).results
            except ProgramError as error:
                assert failure is not None
                assert (failure[0], filled(failure[1], list(module.detail))) == (error.exception, error.message)
            else:
                assert failure is None
                assert_close([*results, *mine], [*wanted, *left])
            assert module.races() == 0


def test_random_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs over the rows of a matrix, as many threads as share each of them; values and gradients."""
    samples = [
        Sample(f"rows_{seed}", row_programs.program(seed), row_programs.arguments(seed, 3, 7)) for seed in range(6)
    ]
    made = [pair for sample in samples for pair in functions_of(sample)]
    module = compiled([function for function, _ in made], threads=16)
    for function, given in made:
        outcomes(module, function, given, monkeypatch)


@pytest.mark.parametrize("sample", FAILING, ids=str)
@pytest.mark.parametrize("order", ORDERS)
def test_the_first_failure(sample: Sample, order: str, checked: Emulated, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is raised is what Python meets first, whichever thread comes first; noting it is no race."""
    monkeypatch.setenv("ADGEN_EMULATED_ORDER", order)
    with pytest.raises(ProgramError) as wanted:
        run(sample.value, sample.given())
    failure, _ = checked.call(sample.name, sample.given())
    assert failure is not None
    exception, message = failure
    assert (exception, filled(message, list(checked.detail))) == (wanted.value.exception, wanted.value.message)
    assert checked.races() == 0
