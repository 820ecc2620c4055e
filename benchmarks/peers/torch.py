"""PyTorch: array operations, eager."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch.func import grad, hessian, jacfwd, jvp, vmap

from benchmarks.peers.stepwise import repeat, scan
from benchmarks.workload import Calls, Dialect, Inputs, Workload

DIALECT = Dialect(torch, torch.erf, repeat, scan, torch.tensor)


def calls(workload: Workload, inputs: Inputs) -> Calls | None:
    """The function and derivative on tensors."""
    if workload.arrays is None:
        return None
    arrays = workload.arrays
    given = {
        name: torch.tensor(value) if isinstance(value, np.ndarray | float) else value
        for name, value in workload.arguments(inputs).items()
    }
    varied = tuple(given.pop(name) for name in workload.wrt)
    positions = tuple(range(len(varied))) if len(varied) > 1 else 0

    def function(*varied: Any) -> Any:
        return arrays(DIALECT, **dict(zip(workload.wrt, varied)), **given)

    def along(tangent: Any) -> Any:
        return jvp(grad(function), varied, (tangent,))

    def newton() -> Any:
        gradient, curvature = along(torch.ones_like(varied[0]))
        return gradient / curvature

    product = {
        "grad": lambda: grad(function, positions)(*varied),
        "each": lambda: grad(lambda *varied: torch.sum(function(*varied)), positions)(*varied),
        "jacobian": lambda: jacfwd(function, positions)(*varied),
        "jacobians": lambda: vmap(jacfwd(function))(*varied),
        "hessian": lambda: hessian(function)(*varied),
        "hvp": lambda: along(torch.tensor(inputs["v"]))[1],
        "newton": newton,
    }[workload.product]
    value = vmap(function) if workload.product == "jacobians" else function
    return Calls(lambda: value(*varied), product)
