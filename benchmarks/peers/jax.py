"""JAX: array operations, compiled; results are waited for."""

from __future__ import annotations

import os
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.workload import Calls, Dialect, Inputs, Workload

jax.config.update("jax_enable_x64", True)
if not os.environ.get("JAX_PLATFORMS"):
    jax.config.update("jax_platforms", "cpu")


def _repeat(count: int, step: Any, state: Any) -> Any:
    return jax.lax.scan(lambda state, _: (step(state), None), state, None, length=count)[0]


def _scan(step: Any, state: Any, items: Any) -> Any:
    return jnp.sum(jax.lax.scan(step, state, items)[1])


DIALECT = Dialect(jnp, jax.scipy.special.erf, _repeat, _scan, jnp.asarray)


def compiled(function: Any, *arguments: Any) -> Any:
    """A call of the compiled function on these arguments, which are moved to JAX's memory once."""
    run, moved = jax.jit(function), jax.tree.map(jnp.asarray, arguments)
    return lambda: jax.block_until_ready(run(*moved))


def calls(workload: Workload, inputs: Inputs) -> Calls | None:
    """The compiled function and derivative; numbers that are no arrays are constants."""
    if workload.arrays is None:
        return None
    arrays = workload.arrays
    given = workload.arguments(inputs)
    varied = tuple(given.pop(name) for name in workload.wrt)
    data = {name: value for name, value in given.items() if isinstance(value, np.ndarray)}
    constants = {name: value for name, value in given.items() if name not in data}

    def function(varied: Any, data: Any) -> Any:
        return arrays(DIALECT, **dict(zip(workload.wrt, varied)), **data, **constants)

    def along(varied: Any, tangent: Any, data: Any) -> Any:
        return jax.jvp(lambda at: jax.grad(function)(at, data), (varied,), (tangent,))

    def newton(varied: Any, tangent: Any, data: Any) -> Any:
        gradient, curvature = along(varied, tangent, data)
        return jax.tree.map(jnp.divide, gradient, curvature)

    value = function
    if workload.product == "jacobians":
        value = jax.vmap(function)
    product = {
        "grad": jax.grad(function),
        "each": jax.grad(lambda *given: jnp.sum(function(*given))),
        "jacobian": jax.jacfwd(function),
        "jacobians": jax.vmap(jax.jacfwd(function)),
        "hessian": jax.hessian(function),
        "hvp": lambda *given: along(*given)[1],
        "newton": newton,
    }[workload.product]
    extra: tuple[Any, ...] = ()
    if workload.product in ("hvp", "newton"):
        extra = ((inputs["v"],),) if workload.product == "hvp" else (tuple(map(np.ones_like, varied)),)
    return Calls(compiled(value, varied, data), compiled(product, varied, *extra, data))
