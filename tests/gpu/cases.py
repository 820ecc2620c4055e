"""Every function of the examples and of the golden CUDA programs, with inputs of a size, for the tests of a device."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from adgen.ahead.source import load

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES, GOLDEN = ROOT / "examples", ROOT / "tests" / "emit" / "cuda" / "golden"
Random = np.random.Generator


@dataclass(frozen=True)
class Case:
    """One function: `inputs` makes its arguments for a number of items; `matrix`: it has a pullback and no gradient."""

    folder: Path
    file: str
    name: str
    inputs: Callable[[Random, int], tuple[Any, ...]]
    matrix: bool = False

    def __str__(self) -> str:
        return f"{self.file}-{self.name}"

    @property
    def function(self) -> Callable[..., Any]:
        """The Python function."""
        found: Callable[..., Any] = getattr(module(self.folder / f"{self.file}.py"), self.name)
        return found

    def arguments(self, count: int) -> tuple[Any, ...]:
        """The same each time."""
        return self.inputs(np.random.default_rng(7), count)


@cache
def module(path: Path) -> ModuleType:
    """The module of a file."""
    return load(path)


def options(r: Random, n: int) -> tuple[Any, ...]:
    maturities, volatility = r.uniform(0.2, 2, n), r.uniform(0.1, 0.4, n)
    return r.normal(0, 10, n), r.uniform(80, 120, n), r.uniform(90, 110, n), maturities, 0.03, volatility


def bundle(r: Random, n: int) -> tuple[Any, ...]:
    turns, shifts, depths = r.normal(0, 0.2, (3, 3)), r.normal(0, 0.1, (3, 2)), r.uniform(4, 6, 3)
    cameras = np.column_stack([turns, shifts, depths, r.uniform(400, 500, 3), r.normal(0, 0.02, (3, 2))])
    return cameras, r.normal(0, 1, (5, 3)), r.integers(0, 3, n), r.integers(0, 5, n), r.normal(0, 80, (n, 2))


def cell(r: Random, n: int) -> tuple[Any, ...]:
    h, d, t = 6, 4, 9
    return (
        r.normal(size=(4, h, d)),
        r.normal(size=(4, h, h)),
        r.normal(size=(4, h)),
        r.normal(size=(t, d)),
        r.normal(size=(t, h)),
    )


def atoms(r: Random, n: int) -> tuple[Any, ...]:
    side = round(n ** (1 / 3)) + 1
    grid = np.indices((side, side, side)).reshape(3, -1).T[:n] * 1.2
    return grid + r.normal(0, 0.05, grid.shape), 0.7, 1.1, 2.6


def mixture(r: Random, n: int) -> tuple[Any, ...]:
    return r.normal(size=3), r.normal(size=(3, 2)), 0.3 * r.normal(size=(3, 2)), r.normal(size=(n, 2))


def rod(r: Random, n: int) -> tuple[Any, ...]:
    return r.normal(size=n), r.uniform(0.5, 1.5, n), r.normal(size=n), 6, 0.2


def layer(r: Random, n: int) -> tuple[Any, ...]:
    return r.normal(size=(n, 5)), r.normal(size=(5, 7)), r.normal(size=7)


EXAMPLE_CASES = (
    Case(EXAMPLES, "black_scholes", "normal_cdf", lambda r, n: (0.3,)),
    Case(EXAMPLES, "black_scholes", "call", lambda r, n: (103.0, 100.0, 0.8, 0.03, 0.25)),
    Case(EXAMPLES, "black_scholes", "book", options),
    Case(EXAMPLES, "bundle_adjustment", "cost", bundle),
    Case(EXAMPLES, "bundle_adjustment", "residuals", bundle, matrix=True),
    Case(EXAMPLES, "gaussian_mixture", "mixture", mixture),
    Case(EXAMPLES, "heat", "diffuse", lambda r, n: (r.normal(size=n), r.uniform(0.5, 1.5, n), 6, 0.2), matrix=True),
    Case(EXAMPLES, "heat", "misfit", rod),
    Case(EXAMPLES, "kalman", "log_likelihood", lambda r, n: (-1.0, -0.5, 0.4, np.cumsum(r.normal(size=20)))),
    Case(EXAMPLES, "lennard_jones", "energy", atoms),
    Case(EXAMPLES, "lstm", "loss", cell),
    Case(EXAMPLES, "newton", "voltage", lambda r, n: (3.5, 0.8)),
    Case(EXAMPLES, "robot_arm", "hand", lambda r, n: (r.normal(size=6), r.uniform(0.2, 0.5, 6)), matrix=True),
    Case(EXAMPLES, "robot_arm", "miss", lambda r, n: (r.normal(size=6), r.uniform(0.2, 0.5, 6), r.normal(size=3))),
    Case(EXAMPLES, "rosenbrock", "rosenbrock", lambda r, n: (r.normal(size=n),)),
)
PICKED = Case(
    GOLDEN, "programs", "picked", lambda r, n: (r.normal(size=n), r.integers(0, n, 2 * n), r.normal(size=2 * n))
)
GOLDEN_CASES = (
    Case(GOLDEN, "programs", "blend", lambda r, n: (r.normal(size=n), r.normal(size=n), 0.5)),
    Case(GOLDEN, "programs", "spread", lambda r, n: (r.normal(size=(n, 9)), r.normal(size=(n, 9)), 0.2)),
    PICKED,
    Case(GOLDEN, "programs", "repulsion", lambda r, n: (r.normal(size=(n, 2)),)),
    Case(GOLDEN, "programs", "decays", lambda r, n: (r.uniform(0.1, 1.0, n), r.uniform(0.1, 1.0, n), 7)),
    Case(GOLDEN, "programs", "layer", layer),
    Case(GOLDEN, "programs", "lengths", lambda r, n: (r.normal(size=(8, n)),)),
    Case(GOLDEN, "programs", "walk", lambda r, n: (r.normal(size=n), 0.5)),
)
CASES = (*EXAMPLE_CASES, *GOLDEN_CASES)
