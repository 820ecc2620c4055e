"""Which loops become kernels, and that marking them and taking sums in parts changes no number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from adgen.driver import lower_function
from adgen.ir import core
from adgen.ir.interpret import ProgramError, run
from adgen.ir.nodes import Function, walk
from adgen.ir.verify import verify
from adgen.passes.adjoint import adjoint
from adgen.passes.grids import grids
from adgen.passes.localise import localise
from adgen.passes.pipeline import for_device, simplify
from adgen.runtime.signatures import describe_arguments
from tests import device_programs
from tests.device_programs import Sample
from tests.emulated import few_threads
from tests.passes.random_functions import Generator
from tests.passes.support import arguments

SAMPLES = device_programs.samples()


def outcome(function: Function, given: list[Any]) -> tuple[str, Any]:
    """The exception or all numbers that a call gives and leaves."""
    copies = [a.copy() if isinstance(a, np.ndarray) else a for a in given]
    try:
        with np.errstate(all="ignore"):
            results = run(function, copies).results
    except ProgramError as error:
        return "raises", error.exception
    return "returns", [*results, *(a for a in copies if isinstance(a, np.ndarray))]


def assert_alike(before: Function, after: Function, given: list[Any]) -> None:
    verify(after)
    (kind, wanted), (other, found) = outcome(before, given), outcome(after, given)
    assert kind == other
    if kind == "raises":
        assert found == wanted
        return
    for one, two in zip(found, wanted, strict=True):
        tolerance = 1e-5 if np.asarray(one).dtype == np.float32 else 1e-11
        np.testing.assert_allclose(one, two, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("deterministic", [False, True])
@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_the_same_numbers(sample: Sample, deterministic: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Values and gradients; with `deterministic` no addition is atomic."""
    few_threads(monkeypatch)
    value, gradient = sample.value, sample.gradient
    made = for_device(value, deterministic)
    assert_alike(value, made, sample.given())
    functions = [made]
    if gradient is not None:
        functions.append(for_device(gradient, deterministic))
        assert_alike(gradient, functions[-1], [*sample.given(), *sample.seeds()])
    assert not deterministic or not any(atomic(function) for function in functions)


@pytest.mark.parametrize("seed", range(30))
def test_random_functions(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Functions with all kinds of loops, as they are."""
    few_threads(monkeypatch)
    function = Generator(seed).function()
    assert_alike(function, grids(function, bool(seed % 2)), arguments(function, seed, 7))


def marked(function: Function) -> list[str]:
    """The axes of kernels, in the order of the text."""
    return [o.attributes["grid"] for o in walk(function.body) if "grid" in o.attributes]


def atomic(function: Function) -> list[str]:
    """The reasons of atomic additions."""
    return [o.attributes["atomic"] for o in walk(function.body) if "atomic" in o.attributes]


def made_of(program: Callable[..., Any], **arguments: Any) -> Function:
    """The value of a program with its loops marked, for devices as they are."""
    return for_device(simplify(lower_function(program, describe_arguments(arguments)).function))


def scaled(x, y):
    for i in range(len(x)):
        y[i] += 2.0 * x[i]


def two_ways(x, y):
    for i in range(len(x)):
        y[i] += x[i]
        x[i] = 0.0


def smoothed(x, y):
    for i in range(1, len(x) - 1):
        y[i] = x[i - 1] + x[i + 1]


def smoothed_plane(A, B):
    for i in range(1, A.shape[0] - 1):
        for j in range(1, A.shape[1] - 1):
            B[i, j] += A[i - 1, j] + A[i + 1, j] + A[i, j - 1] + A[i, j + 1]


def turned_over(A, B):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            B[j, i] = A[i, j]


def added_turned_over(A, B):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            B[j, i] += A[i, j]


def reversed_order(x, y):
    for i in range(len(x)):
        y[len(x) - 1 - i] += x[i]


def every_second(x, y):
    for i in range(len(x) // 2):
        y[2 * i] += x[i]
        y[2 * i] *= 3.0


def shifted(x, y):
    for i in range(len(x) - 5, 0, -1):
        y[i + 4] += x[i]


def whole_arrays(A, B):
    B[1:] += np.sin(A[:-1]) * A[1:]


FREE = (
    (scaled, "x"),
    (two_ways, "x"),
    (smoothed, "x"),
    (smoothed_plane, "yx"),
    (turned_over, "yx"),
    (added_turned_over, "yx"),
    (reversed_order, "x"),
    (every_second, "x"),
    (shifted, "x"),
    (whole_arrays, "yx"),
)


@pytest.mark.parametrize(("program", "axes"), FREE, ids=lambda value: getattr(value, "__name__", ""))
def test_no_atomic_addition_where_each_iteration_has_its_own_elements(program: Callable[..., Any], axes: str) -> None:
    """Elementwise, stencils, transposes, permutations by an affine index."""
    small = np.ones(40) if program.__code__.co_varnames[0] == "x" else np.ones((40, 30))
    names = program.__code__.co_varnames[:2]
    function = made_of(program, **dict.fromkeys(names, small))
    assert "".join(marked(function)) == axes
    assert atomic(function) == []


def gathered(x, k, y):
    for i in range(len(k)):
        y[k[i]] += x[i]


def halved(x, k, y):
    for i in range(len(x)):
        y[i // 2] += x[i]


def squared(x, k, y):
    for i in range(len(x)):
        y[(i * i) % 7] += x[i]


@pytest.mark.parametrize("program", [gathered, halved, squared])
def test_atomic_with_a_reason_where_iterations_may_meet(program: Callable[..., Any]) -> None:
    """Indices that are read, or of which two iterations may have the same."""
    function = made_of(program, x=np.ones(40), k=np.zeros(40, dtype=np.int64), y=np.ones(40))
    assert marked(function) == ["x"]
    assert atomic(function) == ["iterations of `for i` may meet here"]


def running(x, y):
    for i in range(1, len(x)):
        x[i] = x[i - 1] * 0.5 + y[i]


def largest(x, y):
    m = x[0]
    for i in range(len(x)):
        if x[i] > m:
            m = x[i]
    return m


def found(x, y):
    for i in range(len(x)):
        if x[i] > y[i]:
            return i
    return -1


def exchanged(x, y):
    for i in range(len(x)):
        x[i] = y[len(x) - 1 - i]
        y[i] = 0.0


@pytest.mark.parametrize("program", [running, largest, found, exchanged])
def test_loops_that_are_none_over_threads(program: Callable[..., Any]) -> None:
    """What an iteration needs of others keeps them in order, and the loop says why."""
    function = made_of(program, x=np.ones(40), y=np.ones(40))
    assert marked(function) == []
    loops = [o for o in walk(function.body) if o.row in core.LOOPS]
    assert loops and all(o.attributes["serial"] for o in loops)


def test_nothing_is_left_of_an_inner_loop() -> None:
    """Where all of an inner loop moves elsewhere the outer one has the axis `x`, and no axis `y` is alone."""
    sample = next(each for each in SAMPLES if each.program is device_programs.only_columns)
    with pytest.MonkeyPatch.context() as patch:
        few_threads(patch)
        function = for_device(sample.value)
    for operation in walk(function.body):
        if operation.attributes.get("grid") == "y":
            assert [o.attributes["grid"] for o in walk(operation.regions[0]) if "grid" in o.attributes] == ["x"]


def test_states_change_places() -> None:
    """In loops of the host, where nothing decides on the device whether a step is done; kernels do not copy them."""
    swapped = made_of(device_programs.diffused, u0=np.ones((9, 9)), rate=0.1, steps=3)
    copied = made_of(device_programs.diffused_until, u0=np.ones(9), most=1.0, steps=3)
    assert sum(o.row is core.SWAP for o in walk(swapped.body)) == 1
    assert sum(o.row is core.SWAP for o in walk(copied.body)) == 0
    assert all("grid" in o.attributes or "serial" in o.attributes for o in swapped.body.operations if o.row is core.FOR)


def test_borders_are_in_the_nest() -> None:
    """The adjoint of a stencil is one nest of as many threads as there are elements; none has a row for itself."""
    value = simplify(
        lower_function(
            device_programs.diffused, describe_arguments({"u0": np.ones((9, 9)), "rate": 0.1, "steps": 3})
        ).function
    )
    made = for_device(adjoint(localise(value), (0,)))
    loops = [o for o in walk(made.body) if o.row is core.FOR and o.attributes.get("grid") == "x"]
    inside = [each for loop in loops for each in walk(loop.regions[0]) if each.row is core.FOR]
    assert loops and not inside
