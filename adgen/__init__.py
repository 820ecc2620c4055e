"""adgen: derivatives of ordinary Python functions, as compiled C that a person can read.

The public names are loaded when they are first used, so that importing a part of the package stays fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adgen.ahead.explain import explain
    from adgen.diagnostics import AdgenError
    from adgen.frontend.library.flow import checkpoint, hook, stop_gradient, tap
    from adgen.frontend.library.solvers import fixed_point, linear_solve, root
    from adgen.operators import (
        grad,
        hessian,
        hvp,
        jacfwd,
        jacobian,
        jacrev,
        jit,
        jvp,
        kinks,
        sparsity,
        value_and_grad,
        vjp,
        vmap,
    )
    from adgen.operators.checking import gradcheck
    from adgen.operators.compiled import compile, load
    from adgen.operators.custom import custom_jvp, custom_vjp
    from adgen.operators.external import external
    from adgen.operators.low_level import low_level
    from adgen.operators.optimising import scipy_problem
    from adgen.operators.parallel import target
    from adgen.operators.recording import record
    from adgen.operators.symbolic import from_sympy
    from adgen.operators.training import LossScaler, clip_by_global_norm, monitor

__version__ = "0.1.0"
__all__ = [
    "AdgenError",
    "LossScaler",
    "checkpoint",
    "clip_by_global_norm",
    "compile",
    "custom_jvp",
    "custom_vjp",
    "explain",
    "external",
    "fixed_point",
    "from_sympy",
    "grad",
    "gradcheck",
    "hessian",
    "hook",
    "hvp",
    "jacfwd",
    "jacobian",
    "jacrev",
    "jit",
    "jvp",
    "kinks",
    "linear_solve",
    "load",
    "low_level",
    "monitor",
    "record",
    "root",
    "scipy_problem",
    "sparsity",
    "stop_gradient",
    "tap",
    "target",
    "value_and_grad",
    "vjp",
    "vmap",
]


_HOMES = {
    "AdgenError": "adgen.diagnostics",
    "LossScaler": "adgen.operators.training",
    "checkpoint": "adgen.frontend.library.flow",
    "clip_by_global_norm": "adgen.operators.training",
    "compile": "adgen.operators.compiled",
    "custom_jvp": "adgen.operators.custom",
    "custom_vjp": "adgen.operators.custom",
    "explain": "adgen.ahead.explain",
    "external": "adgen.operators.external",
    "from_sympy": "adgen.operators.symbolic",
    "fixed_point": "adgen.frontend.library.solvers",
    "gradcheck": "adgen.operators.checking",
    "hook": "adgen.frontend.library.flow",
    "linear_solve": "adgen.frontend.library.solvers",
    "load": "adgen.operators.compiled",
    "low_level": "adgen.operators.low_level",
    "monitor": "adgen.operators.training",
    "scipy_problem": "adgen.operators.optimising",
    "record": "adgen.operators.recording",
    "root": "adgen.frontend.library.solvers",
    "stop_gradient": "adgen.frontend.library.flow",
    "tap": "adgen.frontend.library.flow",
    "target": "adgen.operators.parallel",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'adgen' has no attribute {name!r}")
    value = getattr(import_module(_HOMES.get(name, "adgen.operators")), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
