"""What a sparse Jacobian costs beside the function: bundle adjustment, 21 cameras, 11,315 points, 36,455 observations.

    python benchmarks/sparse_jacobian.py

Prints the time of the compiled residuals, of their sparse Jacobian, and the ratio: the best of a few interleaved calls.
"""

from __future__ import annotations

import sys
from pathlib import Path
from time import perf_counter

import numpy as np

import adgen

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples"))
from bundle_adjustment import residuals

CAMERAS, POINTS, OBSERVATIONS = 21, 11_315, 36_455
REPEATS = 40


def problem() -> tuple[np.ndarray, ...]:
    """Cameras, points, indices and pixels."""
    rng = np.random.default_rng(0)
    cameras = 0.1 * rng.normal(size=(CAMERAS, 9))
    cameras[:, 5] += 8.0
    cameras[:, 6:] = np.array([500.0, 0.01, 0.01])
    points = rng.normal(size=(POINTS, 3))
    camera_of, point_of = rng.integers(0, CAMERAS, OBSERVATIONS), rng.integers(0, POINTS, OBSERVATIONS)
    return cameras, points, camera_of, point_of, rng.normal(size=(OBSERVATIONS, 2))


def main() -> None:
    arguments = problem()
    value, matrix = adgen.jit(residuals), adgen.jacobian(residuals, wrt=("cameras", "points"), sparse=True)
    start = perf_counter()
    blocks = matrix(*arguments)
    print(f"first call: {perf_counter() - start:.2f} s, entries: {sum(block.nnz for block in blocks)}")
    best = [float("inf")] * 2
    for _ in range(REPEATS):
        for k, call in enumerate((value, matrix)):
            start = perf_counter()
            call(*arguments)
            best[k] = min(best[k], perf_counter() - start)
    print(f"residuals {best[0] * 1e3:.3f} ms, Jacobian {best[1] * 1e3:.3f} ms, ratio {best[1] / best[0]:.1f}")


if __name__ == "__main__":
    main()
