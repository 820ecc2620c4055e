"""adgen: the plain function, called plainly; a sparse matrix is made once."""

from __future__ import annotations

from functools import partial

import adgen
from benchmarks.workload import Calls, Inputs, Workload


def calls(workload: Workload, inputs: Inputs) -> Calls:
    """The compiled function and derivative."""
    function, arguments = workload.function, tuple(workload.arguments(inputs).values())
    wrt = workload.wrt if len(workload.wrt) > 1 else workload.wrt[0]
    value = adgen.jit(function)
    if workload.product == "grad":
        derivative = partial(adgen.grad(function, wrt=wrt), *arguments)
    elif workload.product == "jacobian":
        derivative = partial(adgen.jacobian(function, wrt=wrt), *arguments)
    elif workload.product == "jacobians":
        value = adgen.vmap(function)
        derivative = partial(adgen.vmap(adgen.jacobian(function, wrt=wrt)), *arguments)
    elif workload.product == "hessian" and workload.sparse:
        derivative = adgen.hessian(function, wrt=wrt, sparse=True).bind(*arguments)
    elif workload.product == "hessian":
        derivative = partial(adgen.hessian(function, wrt=wrt), *arguments)
    elif workload.product == "hvp":
        derivative = partial(adgen.hvp(function, wrt=wrt), *arguments, tangent=inputs["v"])
    else:
        raise NotImplementedError(workload.product)
    return Calls(partial(value, *arguments), derivative)
