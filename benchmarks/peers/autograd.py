"""autograd: array operations on a tape."""

from __future__ import annotations

from typing import Any

import autograd
import autograd.numpy as anp
import autograd.scipy.special
import numpy as np

from benchmarks.peers.stepwise import repeat, scan
from benchmarks.workload import Calls, Dialect, Inputs, Workload

DIALECT = Dialect(anp, autograd.scipy.special.erf, repeat, scan)


def calls(workload: Workload, inputs: Inputs) -> Calls | None:
    """The function and derivative as Python runs them."""
    if workload.arrays is None or workload.product == "jacobians":
        return None
    arrays = workload.arrays
    given = workload.arguments(inputs)
    varied = tuple(given.pop(name) for name in workload.wrt)

    def function(*varied: Any) -> Any:
        return arrays(DIALECT, **dict(zip(workload.wrt, varied)), **given)

    positions = tuple(range(len(varied))) if len(varied) > 1 else 0
    total = (lambda *varied: anp.sum(function(*varied))) if workload.product == "each" else function
    gradient = autograd.grad(total, positions)
    product = {
        "grad": lambda: gradient(*varied),
        "each": lambda: gradient(*varied),
        "jacobian": lambda: autograd.jacobian(function, positions)(*varied),
        "hessian": lambda: autograd.hessian(function)(*varied),
        "hvp": lambda: autograd.hessian_vector_product(function)(*varied, inputs["v"]),
        "newton": lambda: gradient(*varied) / autograd.hessian_vector_product(function)(*varied, np.ones_like(*varied)),
    }[workload.product]
    return Calls(lambda: function(*varied), product)
