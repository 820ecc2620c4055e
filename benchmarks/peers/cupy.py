"""CuPy: array operations, eager, and no derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cupy
import numpy as np
from cupyx.scipy.special import erf

from benchmarks.peers.stepwise import repeat, scan
from benchmarks.workload import Dialect, Inputs, Workload

DIALECT = Dialect(cupy, erf, repeat, scan, cupy.asarray)


def value(workload: Workload, inputs: Inputs, dialect: Dialect = DIALECT) -> Callable[[], Any] | None:
    """The function on arrays of CuPy; items along the first axis become numbers that are arrays."""
    arrays = workload.arrays
    if arrays is None:
        return None
    items = workload.product == "jacobians"
    given = {
        name: dialect.constant(value.T if items else value) if isinstance(value, np.ndarray) else value
        for name, value in workload.arguments(inputs).items()
    }
    return lambda: arrays(dialect, **given).T if items else arrays(dialect, **given)
