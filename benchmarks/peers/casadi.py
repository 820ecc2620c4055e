"""CasADi: expressions of scalars, as the C that it generates, behind buffers that are bound once."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import casadi as ca
import numpy as np

from benchmarks.peers.stepwise import repeat, scan
from benchmarks.workload import Array, Calls, Dialect, Inputs, Workload

FOLDER = tempfile.TemporaryDirectory(prefix="benchmarks-casadi-")


def _options(level: str) -> dict[str, Any]:
    """For generated C."""
    return {"jit": True, "compiler": "shell", "jit_options": {"compiler": "cc", "flags": [level, "-march=native"]}}


def _built(name: str, symbols: list[Any], outputs: list[Any], level: str) -> Any:
    """Compiled C; CasADi writes it where the process is."""
    before = Path.cwd()
    os.chdir(FOLDER.name)
    try:
        return ca.Function(name, symbols, outputs, _options(level))
    finally:
        os.chdir(before)


def _joined(parts: Any, axis: int = 0) -> Any:
    return ca.vertcat(*parts)


NAMES = {name: getattr(ca, name) for name in ("exp", "log", "sqrt", "sin", "cos", "tanh")}
SPACE = SimpleNamespace(**NAMES, sum=ca.sum1, max=ca.mmax, maximum=ca.fmax, stack=_joined, concatenate=_joined)
DIALECT = Dialect(SPACE, ca.erf, repeat, scan)


class Result:
    """Results whose transposes lie column by column, so row by row, with the zeros left out."""

    def __init__(self, function: Any) -> None:
        self.shapes = [function.sparsity_out(position) for position in range(function.n_out())]
        self.entries = [np.zeros(shape.nnz()) for shape in self.shapes]

    def toarray(self) -> Array:
        """All of them, whole and flat."""
        pairs = zip(self.shapes, self.entries)
        return np.concatenate([np.array(ca.DM(shape, entries)).T.ravel() for shape, entries in pairs])


def bound(function: Any, arguments: list[Array]) -> Any:
    """A call whose arguments and results stay where they are."""
    buffer, run = function.buffer()
    result, held = Result(function), [np.ascontiguousarray(argument, dtype=float) for argument in arguments]
    for position, array in enumerate(held):
        buffer.set_arg(position, array.data)
    for position, array in enumerate(result.entries):
        buffer.set_res(position, array.data)

    def call(_owners: Any = (buffer, held)) -> Result:
        run()
        return result

    return call


def compiled(name: str, symbols: list[Any], outputs: list[Any], count: int = 1, level: str = "-O3") -> Any:
    """The function as C, applied to each of `count` items."""
    transposed = [output.T for output in outputs]
    if count == 1:
        return _built(name, symbols, transposed, level)
    mapped = ca.Function(f"{name}_item", symbols, [ca.densify(output) for output in transposed]).map(count)
    many = [ca.MX.sym(f"a{k}", mapped.size1_in(k), mapped.size2_in(k)) for k in range(mapped.n_in())]
    results = mapped(*many)
    return _built(name, many, list(results) if isinstance(results, tuple) else [results], level)


def calls(workload: Workload, inputs: Inputs) -> Calls | None:
    """The function and derivative as compiled C; what is not varied is a constant in it."""
    if workload.arrays is None or not workload.symbolic:
        return None
    given = workload.arguments(inputs)
    varied = [given.pop(name) for name in workload.wrt]
    items = workload.product in ("each", "jacobians")
    kind = ca.MX if any(isinstance(value, np.ndarray) and value.ndim == 2 for value in given.values()) else ca.SX
    symbols = [kind.sym(name, np.size(value[0] if items else value)) for name, value in zip(workload.wrt, varied)]
    constants = {name: ca.DM(value) if isinstance(value, np.ndarray) else value for name, value in given.items()}
    value = workload.arrays(DIALECT, **dict(zip(workload.wrt, symbols)), **constants)
    tangent = kind.sym("tangent", symbols[0].numel())
    gradients = [ca.densify(ca.gradient(value, symbol)) for symbol in symbols] if value.is_scalar() else []
    arguments, inside = varied, symbols
    if workload.product in ("grad", "each"):
        product = gradients
    elif workload.product in ("jacobian", "jacobians"):
        product = [ca.densify(ca.jacobian(value, symbols[0]))]
    elif workload.product == "hessian":
        whole = ca.hessian(value, symbols[0])[0]
        product = [whole if workload.sparse else ca.densify(whole)]
    elif workload.product == "hvp":
        product = [ca.densify(ca.jtimes(gradients[0], symbols[0], tangent, True))]
        arguments, inside = [*varied, inputs["v"]], [*symbols, tangent]
    else:
        return None
    count = len(varied[0]) if items else 1
    return Calls(
        bound(compiled("value", symbols, [value], count), varied),
        bound(compiled("derivative", inside, product, count), arguments),
    )
