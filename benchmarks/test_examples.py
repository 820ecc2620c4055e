"""How long the compiled examples take: the function, and its value and gradient.  `make bench` runs it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import adgen

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
Inputs = Callable[[np.random.Generator], tuple[Any, ...]]

CASES: dict[str, tuple[str, Inputs]] = {
    "rosenbrock": ("rosenbrock", lambda r: (r.normal(size=1000),)),
    "gaussian_mixture": (
        "mixture",
        lambda r: (
            r.normal(size=25),
            r.normal(size=(25, 10)),
            0.1 * r.normal(size=(25, 10)),
            r.normal(size=(1000, 10)),
        ),
    ),
    "lstm": (
        "loss",
        lambda r: (
            r.normal(size=(4, 32, 16)),
            r.normal(size=(4, 32, 32)),
            r.normal(size=(4, 32)),
            r.normal(size=(100, 16)),
            r.normal(size=(100, 32)),
        ),
    ),
    "heat": ("misfit", lambda r: (r.normal(size=1000), r.uniform(0.5, 1.5, 1000), r.normal(size=1000), 200, 0.2)),
    "lennard_jones": ("energy", lambda r: (r.uniform(0.0, 10.0, (500, 3)), 1.0, 1.0, 100.0)),
    "newton": ("voltage", lambda r: (3.5, 0.8)),
    "black_scholes": (
        "book",
        lambda r: (
            r.normal(size=10000),
            r.uniform(80, 120, 10000),
            r.uniform(90, 110, 10000),
            r.uniform(0.2, 2, 10000),
            0.03,
            r.uniform(0.1, 0.4, 10000),
        ),
    ),
    "kalman": ("log_likelihood", lambda r: (-1.0, -0.5, 0.4, np.cumsum(r.normal(size=1000)))),
    "robot_arm": ("miss", lambda r: (r.normal(size=7), r.uniform(0.2, 0.5, 7), r.normal(size=3))),
}


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], ModuleType]:
    """The package of an example."""
    out = tmp_path_factory.mktemp("build")

    def package(name: str) -> ModuleType:
        command = [sys.executable, "-m", "adgen", "compile", str(EXAMPLES / f"{name}.py"), "--out", str(out)]
        subprocess.run(command, check=True, capture_output=True)
        return adgen.load(out / f"{name}_ad")

    return package


@pytest.mark.parametrize("ending", ["", "_value_and_grad"], ids=["value", "value_and_grad"])
@pytest.mark.parametrize("name", CASES)
def test_time(name: str, ending: str, compiled: Callable[[str], ModuleType], benchmark: BenchmarkFixture) -> None:
    """One call."""
    function, inputs = CASES[name]
    arguments = inputs(np.random.default_rng(0))
    benchmark.group = name
    benchmark(getattr(compiled(name), function + ending), *arguments)
