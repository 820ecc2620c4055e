"""The layers of a derivative check.

Comes in: a `Problem`: a Python function and its compiled derivatives, on numbers only.  Goes out: for each layer the
largest relative error and what is allowed.  Guaranteed: no layer uses adgen's own rules as its oracle.

| layer | oracle | sees |
|---|---|---|
| `dot product` | the two modes, against each other: `<w, J v> = <J' w, v>` | a fault in one mode, to rounding |
| `complex step` | the Python function on complex numbers | any fault where the function is analytic, to rounding |
| `differences` | the Python function on both sides, extrapolated, against an error estimate | faults larger than that |

What they cannot see: a fault in a branch that the inputs do not take, and anything at inputs near a kink.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

Vector = np.ndarray[Any, np.dtype[Any]]

DOT_TOLERANCE = 1e-10
STEP_TOLERANCE = 1e-9
DIFFERENCE_TOLERANCE = 1e-7
SINGLE_FACTOR = 1e7  # what float32 costs against float64
COMPLEX_STEP = 1e-30
DIRECTIONS = 3
FEW_INPUTS = 12
TRUST = 10.0  # how many error estimates away the truth may be
CANCELLED = 8.0  # roundings
SETTLED = 10.0  # an estimate so many tolerances large says nothing


@dataclass(frozen=True)
class Problem:
    """A function of one vector to one vector, at a point.

    `python(x)` evaluates the user's function (on complex numbers too, if it can), `push(v)` and `pull(w)` are the
    compiled products at `point`.  `single` tells that float32 is involved.
    """

    point: Vector
    python: Callable[[Vector], Vector]
    push: Callable[[Vector], Vector]
    pull: Callable[[Vector], Vector]
    single: bool = False

    @cached_property
    def noise(self) -> float:
        """What rounding may leave of a derivative that is zero because its terms cancel; 0 where nothing is known."""
        size = _size(self)
        return CANCELLED * _precision(self) * size / float(np.min(np.maximum(np.abs(self.point), 0.1), initial=1.0))

    def least(self, tolerance: float) -> float:
        """The smallest derivative of which this tolerance is more than noise."""
        return self.noise / tolerance


@dataclass(frozen=True)
class Layer:
    """What one layer found: the largest relative error, what is allowed, and anything to say about it."""

    name: str
    error: float
    tolerance: float
    remark: str = ""

    @property
    def passed(self) -> bool:
        """True when the error is allowed; a NaN is not."""
        return self.error <= self.tolerance


def check(problem: Problem, seed: int = 0) -> list[Layer]:
    """All layers, on random directions and, for few inputs, on each input by itself."""
    rng = np.random.default_rng(seed)
    if not problem.point.size:
        return []
    tangents = [rng.choice((-1.0, 1.0), problem.point.size) * rng.uniform(0.5, 1.0, problem.point.size)
                for _ in range(DIRECTIONS)]  # fmt: skip
    pushed = [problem.push(tangent) for tangent in tangents]
    layers = [dot_product(problem, tangents, pushed, rng)]
    if problem.point.size <= FEW_INPUTS:
        units = list(np.eye(problem.point.size))
        tangents, pushed = tangents + units, pushed + [problem.push(unit) for unit in units]
    differences = [richardson(problem, tangent) for tangent in tangents]
    stepped = complex_steps(problem, tangents)
    if stepped is not None and all(
        relative(s, d) <= DIFFERENCE_TOLERANCE + TRUST * e for s, (d, e) in zip(stepped, differences, strict=True)
    ):
        tolerance = STEP_TOLERANCE * _factor(problem)
        least = problem.least(tolerance)
        error = max(relative(p, s, least) for p, s in zip(pushed, stepped, strict=True))
        layers.append(Layer("complex step", error, tolerance))
    layers.append(_differences(problem, pushed, differences))
    return layers


def _factor(problem: Problem) -> float:
    return SINGLE_FACTOR if problem.single else 1.0


def _precision(problem: Problem) -> float:
    return float(np.finfo(np.float32 if problem.single else np.float64).eps)


def _size(problem: Problem) -> float:
    """The largest number that the function gives at the point; 0 where it refuses it."""
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            size = float(np.max(np.abs(problem.python(problem.point)), initial=0.0))
    except Exception:  # whatever the user's function raises
        return 0.0
    return size if np.isfinite(size) else 0.0


def relative(one: Vector, other: Vector, least: float = 0.0) -> float:
    """The largest difference, relative to the largest entry, or to `least`; equal non-finite entries do not differ."""
    same = (one == other) | (np.isnan(one) & np.isnan(other))
    if same.all():
        return 0.0
    scale = max(float(np.max(np.abs(other))), float(np.max(np.abs(one))), least)
    worst = float(np.max(np.where(same, 0.0, np.abs(one - other))))
    return worst / scale if np.isfinite(scale) and np.isfinite(worst) else np.inf


def dot_product(
    problem: Problem, tangents: Sequence[Vector], pushed: Sequence[Vector], rng: np.random.Generator
) -> Layer:
    """`<w, J v>` against `<J' w, v>` for random `w`."""
    worst, tolerance = 0.0, DOT_TOLERANCE * _factor(problem)
    for tangent, push in zip(tangents, pushed, strict=True):
        cotangent = rng.uniform(0.5, 1.0, push.size) * rng.choice((-1.0, 1.0), push.size)
        pull = problem.pull(cotangent)
        left, right = float(cotangent @ push), float(pull @ tangent)
        scale = float(np.abs(cotangent) @ np.abs(push)) + float(np.abs(pull) @ np.abs(tangent))
        scale = max(scale, problem.least(tolerance) * float(np.abs(cotangent).sum()))
        worst = max(worst, abs(left - right) / scale if scale else 0.0)
        if not np.isfinite(left - right):
            worst = np.inf if np.isnan(left) != np.isnan(right) or left != right else worst
    return Layer("dot product", worst, tolerance)


def complex_steps(problem: Problem, tangents: Sequence[Vector]) -> list[Vector] | None:
    """`imag f(x + i h v) / h`, or None where the function does not take complex numbers."""
    found = []
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("error")  # NumPy only warns when it drops an imaginary part
            for tangent in tangents:
                value = problem.python(problem.point + 1j * COMPLEX_STEP * tangent)
                if not np.iscomplexobj(value):
                    return None
                found.append(np.imag(value) / COMPLEX_STEP)
    except Exception:  # whatever the user's function says to complex numbers: it is not for them
        return None
    return found


def richardson(problem: Problem, tangent: Vector, rounds: int = 6) -> tuple[Vector, float]:
    """The derivative along a direction by central differences, extrapolated, and its estimated relative error.

    Ridders' method: steps shrink by a factor, each column of the tableau removes one order of the error, and the entry
    that changed least is taken.
    """
    factor = 1.6
    size = np.maximum(np.abs(problem.point), 0.1)
    step = float(np.min(size / np.maximum(np.abs(tangent), 1e-3))) * (0.2 if problem.single else 0.05)
    best, error = np.full(1, np.nan), np.inf
    previous: list[Vector] = []
    for _ in range(rounds):
        row = [central(problem, tangent, step)]
        for order, older in enumerate(previous, start=1):
            power = factor ** (2 * order)
            row.append((row[-1] * power - older) / (power - 1.0))
            change = max(relative(row[-1], row[-2]), relative(row[-1], older))
            if change <= error:
                best, error = row[-1], change
        previous, step = row, step / factor
    return best, max(error, _noise(problem, step, best))


def _noise(problem: Problem, step: float, found: Vector) -> float:
    """The relative error that the rounding of values gives a difference; infinite for one that is not seen."""
    scale = float(np.max(np.abs(found), initial=0.0))
    noise = _precision(problem) * _size(problem) / step
    return noise / scale if scale else np.inf if noise else 0.0


def central(problem: Problem, tangent: Vector, step: float) -> Vector:
    """One central difference; what the function refuses is NaN."""
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            right, left = problem.python(problem.point + step * tangent), problem.python(problem.point - step * tangent)
    except Exception:  # a step outside the domain of the function is no fault of the derivative
        return np.full(1, np.nan)
    return (right - left) / (2.0 * step) if right.shape == left.shape else np.full(1, np.nan)


def _differences(problem: Problem, pushed: Sequence[Vector], found: Sequence[tuple[Vector, float]]) -> Layer:
    tolerance = DIFFERENCE_TOLERANCE * _factor(problem)
    worst, allowed, unsure = 0.0, tolerance, 0
    for push, (difference, estimate) in zip(pushed, found, strict=True):
        if difference.shape == push.shape and relative(push, difference) == 0.0:
            continue
        if difference.shape != push.shape or not estimate <= SETTLED * tolerance:
            unsure += 1
            continue
        error, most = relative(push, difference), tolerance + TRUST * estimate
        if error * allowed >= worst * most:
            worst, allowed = error, most
    remark = f"{unsure} of {len(found)} directions could not be told: a kink, or noise" if unsure else ""
    if unsure == len(found):
        remark = "differences do not settle: a kink, or noise"
    return Layer("differences", worst, allowed, remark)
