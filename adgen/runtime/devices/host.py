"""What it costs to call code for a device with NumPy arrays: they are copied there and back in every call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from adgen.diagnostics import warn
from adgen.runtime.failures import amount
from adgen.runtime.programs import Program
from adgen.runtime.trees import flatten


def warn_of_copies(program: Program, leaves: Sequence[Any], results: Any) -> None:
    """A warning with how many bytes go each way in a call, and how to do without."""
    back = [part for _, part, _ in flatten(program.output, results, "the result")]
    there, back_again = _bytes(leaves), _bytes([*back, *(leaves[k] for k in program.written)])
    warn(
        f"`{program.function_name}` has NumPy arguments: {amount(there)} were copied to the device and "
        f"{amount(back_again)} back; arrays of CuPy, PyTorch or Numba stay there"
    )


def _bytes(values: Sequence[Any]) -> int:
    return sum(value.nbytes if isinstance(value, np.ndarray) else 0 for value in values)
