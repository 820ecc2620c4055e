"""Every example does what its docstring says: compiled by the real command, compared with the Python function."""

from __future__ import annotations

import importlib.util
import math
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

LARGE = ("lstm", "kalman")  # of which the C compiler takes seconds for each entry point
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def import_file(path: Path, name: str) -> ModuleType:
    """The module of a file or of a package folder, outside the module search path."""
    entry = path / "__init__.py" if path.is_dir() else path
    spec = importlib.util.spec_from_file_location(name, entry)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@dataclass(frozen=True)
class Case:
    """One function of an example with inputs; `wrt` are the positions of its floating-point parameters."""

    file: str
    function: str
    inputs: Callable[[np.random.Generator], tuple[Any, ...]]
    wrt: Sequence[int]

    def __str__(self) -> str:
        return f"{self.file}-{self.function}"

    def python(self) -> Callable[..., Any]:
        return getattr(import_file(EXAMPLES / f"{self.file}.py", f"example_{self.file}"), self.function)


def bundle(rng: np.random.Generator) -> tuple[Any, ...]:
    cameras = np.column_stack(
        [
            rng.normal(0, 0.2, (3, 3)),
            rng.normal(0, 0.1, (3, 2)),
            rng.uniform(4, 6, 3),
            rng.uniform(400, 500, 3),
            rng.normal(0, 0.02, (3, 2)),
        ]
    )
    return (
        cameras,
        rng.normal(0, 1, (5, 3)),
        rng.integers(0, 3, 12),
        rng.integers(0, 5, 12),
        rng.normal(0, 80, (12, 2)),
    )


def options(rng: np.random.Generator) -> tuple[Any, ...]:
    n = 6
    return (
        rng.normal(0, 10, n),
        rng.uniform(80, 120, n),
        rng.uniform(90, 110, n),
        rng.uniform(0.2, 2, n),
        0.03,
        rng.uniform(0.1, 0.4, n),
    )


CASES = (
    Case("rosenbrock", "rosenbrock", lambda r: (r.normal(size=7),), (0,)),
    Case(
        "gaussian_mixture",
        "mixture",
        lambda r: (r.normal(size=3), r.normal(size=(3, 2)), 0.3 * r.normal(size=(3, 2)), r.normal(size=(9, 2))),
        (0, 1, 2, 3),
    ),
    Case("bundle_adjustment", "cost", bundle, (0, 1, 4)),
    Case(
        "lstm",
        "loss",
        lambda r: (
            r.normal(size=(4, 3, 2)),
            r.normal(size=(4, 3, 3)),
            r.normal(size=(4, 3)),
            r.normal(size=(5, 2)),
            r.normal(size=(5, 3)),
        ),
        (0, 1, 2, 3, 4),
    ),
    Case(
        "heat",
        "misfit",
        lambda r: (r.normal(size=8), r.uniform(0.5, 1.5, 8), r.normal(size=8), 6, 0.2),
        (0, 1, 2, 4),
    ),
    Case(
        "lennard_jones",
        "energy",
        lambda r: (np.indices((2, 2, 2)).reshape(3, 8).T * 1.2 + r.normal(0, 0.05, (8, 3)), 0.7, 1.1, 1.6),
        (0, 1, 2),
    ),
    Case("newton", "voltage", lambda r: (3.5, 0.8), (0, 1)),
    Case("black_scholes", "call", lambda r: (103.0, 100.0, 0.8, 0.03, 0.25), (0, 1, 2, 3, 4)),
    Case("black_scholes", "book", options, (0, 1, 2, 3, 4, 5)),
    Case("kalman", "log_likelihood", lambda r: (-1.0, -0.5, 0.4, np.cumsum(r.normal(size=7))), (0, 1, 2, 3)),
    Case("robot_arm", "miss", lambda r: (r.normal(size=6), r.uniform(0.2, 0.5, 6), r.normal(size=3)), (0, 1, 2)),
)


def fresh(case: Case) -> tuple[Any, ...]:
    return case.inputs(np.random.default_rng(7))


def differences(function: Callable[..., Any], inputs: tuple[Any, ...], position: int) -> np.ndarray:
    """Fourth-order central differences of a scalar function for one argument."""
    base = np.asarray(inputs[position], dtype=float)
    gradient = np.zeros(base.size)
    for k in range(base.size):
        step = 1e-3 * max(1.0, abs(base.flat[k])) * 0.3

        def at(distance: float) -> float:
            moved = base.copy()
            moved.flat[k] += distance
            value = moved if base.ndim else float(moved)
            return float(function(*inputs[:position], value, *inputs[position + 1 :]))

        gradient[k] = (8 * (at(step) - at(-step)) - (at(2 * step) - at(-2 * step))) / (12 * step)
    return gradient.reshape(base.shape)


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], ModuleType]:
    """Compiles an example with the `adgen` command, once, and imports the package."""
    out = tmp_path_factory.mktemp("build")
    packages: dict[str, ModuleType] = {}

    def package(file: str) -> ModuleType:
        if file not in packages:
            command = [sys.executable, "-m", "adgen", "compile", str(EXAMPLES / f"{file}.py"), "--out", str(out)]
            command += ["--emit", "value,grad"] if file in LARGE else []
            done = subprocess.run(command, capture_output=True, text=True, env=os.environ)
            assert done.returncode == 0, done.stdout + done.stderr
            packages[file] = import_file(out / f"{file}_ad", f"{file}_ad")
        return packages[file]

    return package


def test_every_example_has_a_case() -> None:
    """No example goes untested."""
    named = {case.file for case in CASES}
    assert {path.stem for path in EXAMPLES.glob("*.py")} - {"demo"} == named


@pytest.mark.parametrize("case", CASES, ids=str)
def test_docstring_says_how_to_compile(case: Case) -> None:
    """Every example opens with a docstring that holds its command and what to expect."""
    text = import_file(EXAMPLES / f"{case.file}.py", "example").__doc__ or ""
    assert f"adgen compile examples/{case.file}.py" in text and "xpect" in text


@pytest.mark.parametrize("case", CASES, ids=str)
def test_value(case: Case, compiled: Callable[[str], ModuleType]) -> None:
    """The compiled function gives what the Python function gives."""
    value = getattr(compiled(case.file), case.function)(*fresh(case))
    np.testing.assert_allclose(value, case.python()(*fresh(case)), rtol=1e-12)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_gradient(case: Case, compiled: Callable[[str], ModuleType]) -> None:
    """The gradient agrees with differences of the Python function, for every floating-point parameter."""
    gradient = getattr(compiled(case.file), f"{case.function}_grad")(*fresh(case))
    names = list(case.python().__code__.co_varnames)
    for position in case.wrt:
        got = gradient if len(case.wrt) == 1 else getattr(gradient, names[position])
        expected = differences(case.python(), fresh(case), position)
        scale = max(1.0, float(np.max(np.abs(expected))))
        np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-7 * scale, err_msg=names[position])


@pytest.mark.parametrize("case", CASES, ids=str)
def test_arguments_are_left_alone(case: Case, compiled: Callable[[str], ModuleType]) -> None:
    """A derivative entry point does not write into the caller's arrays."""
    inputs = fresh(case)
    getattr(compiled(case.file), f"{case.function}_value_and_grad")(*inputs)
    for given, untouched in zip(inputs, fresh(case), strict=True):
        np.testing.assert_array_equal(given, untouched)


def test_rosenbrock_minimum(compiled: Callable[[str], ModuleType]) -> None:
    """At ones the value and the gradient are zero."""
    value, gradient = compiled("rosenbrock").rosenbrock_value_and_grad(np.ones(5))
    assert value == 0.0 and not gradient.any()


def test_mixture_logits(compiled: Callable[[str], ModuleType]) -> None:
    """The gradient for the logits sums to zero."""
    case = next(case for case in CASES if case.function == "mixture")
    assert abs(np.sum(compiled(case.file).mixture_grad(*fresh(case)).logits)) < 1e-12


def test_unturned_camera(compiled: Callable[[str], ModuleType]) -> None:
    """A camera with a zero rotation vector has a finite gradient."""
    case = next(case for case in CASES if case.function == "cost")
    cameras, *rest = fresh(case)
    cameras[:, :3] = 0.0
    assert np.isfinite(compiled(case.file).cost_grad(cameras, *rest).cameras).all()


def test_heat_in_place(compiled: Callable[[str], ModuleType]) -> None:
    """The compiled `diffuse` writes its argument as the Python function does, and conserves heat."""
    rod, conductivity, *_ = fresh(next(case for case in CASES if case.file == "heat"))
    expected = rod.copy()
    import_file(EXAMPLES / "heat.py", "example_heat").diffuse(expected, conductivity, 5, 0.2)
    total = rod.sum()
    assert compiled("heat").diffuse(rod, conductivity, 5, 0.2) is None
    np.testing.assert_allclose(rod, expected, rtol=1e-13)
    assert math.isclose(rod.sum(), total, rel_tol=1e-12)


def test_forces_sum_to_zero(compiled: Callable[[str], ModuleType]) -> None:
    """The forces on a free cluster cancel."""
    case = next(case for case in CASES if case.file == "lennard_jones")
    forces = -compiled(case.file).energy_grad(*fresh(case)).positions
    assert np.abs(forces.sum(axis=0)).max() < 1e-10 * np.abs(forces).max()


def test_implicit_derivative(compiled: Callable[[str], ModuleType]) -> None:
    """The derivative through the `while` is that of the implicit function theorem."""
    module = compiled("newton")
    v = module.voltage(3.5, 0.8)
    slope = 1.0 + 0.8 * math.exp(v)
    np.testing.assert_allclose(module.voltage_grad(3.5, 0.8), (1.0 / slope, (1.0 - math.exp(v)) / slope), rtol=1e-10)


def test_delta(compiled: Callable[[str], ModuleType]) -> None:
    """Delta is the normal distribution function of d1."""
    module = compiled("black_scholes")
    d1 = (math.log(103.0 / 100.0) + (0.03 + 0.5 * 0.25**2) * 0.8) / (0.25 * math.sqrt(0.8))
    assert math.isclose(module.call_grad(103.0, 100.0, 0.8, 0.03, 0.25).spot, module.normal_cdf(d1), rel_tol=1e-13)


def test_inverse_kinematics(compiled: Callable[[str], ModuleType]) -> None:
    """Descending along the gradient for the angles brings the hand to the target."""
    module = compiled("robot_arm")
    lengths, target = np.full(4, 0.5), np.array([0.6, 0.7, 0.4])
    angles = np.array([0.3, 0.2, -0.4, 0.1])
    for _ in range(300):
        angles = angles - 0.5 * module.miss_grad(angles, lengths, target).angles
    assert module.miss(angles, lengths, target) < 1e-10


def test_hand_products(compiled: Callable[[str], ModuleType]) -> None:
    """`hand` has three outputs: its products agree with each other."""
    module = compiled("robot_arm")
    rng = np.random.default_rng(3)
    angles, lengths, w = rng.normal(size=5), rng.uniform(0.3, 0.6, 5), rng.normal(size=3)
    turn, stretch = rng.normal(size=5), rng.normal(size=5)
    _, motion = module.hand_jvp(angles, lengths, tangent=(turn, stretch))
    _, pullback = module.hand_vjp(angles, lengths)
    back = pullback(w)
    assert math.isclose(w @ motion, back.angles @ turn + back.lengths @ stretch, rel_tol=1e-12)
