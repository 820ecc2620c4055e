"""Derivatives of Python functions to many digits, without any of adgen.

Comes in: a function of `higher_functions` and a point.  Goes out: its gradient, Hessian and third derivatives there.
The text of the file is run again with `np`, `math`, `special` and `adgen` replaced: by what computes on symbols of
sympy, whose derivatives are exact, or, where a number decides what is done, with 30 digits of mpmath.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import mpmath
import numpy as np
import sympy

DIGITS = 30
Names = dict[str, Any]
Numbers = np.ndarray
ELEMENTWISE = ("exp", "log", "sin", "cos", "tanh", "sqrt")


# -- the names that a program uses -------------------------------------------------------------------------------------


class Arrays:
    """NumPy for arrays of objects."""

    def __init__(self, library: Any) -> None:
        for name in ELEMENTWISE:
            setattr(self, name, np.frompyfunc(getattr(library, name), 1, 1))
        self.linalg = SimpleNamespace(solve=_solve, cholesky=_cholesky(library.sqrt), eigvalsh=_eigenvalues)

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)

    def zeros(self, shape: Any) -> Numbers:
        return np.full(shape, 0, object)

    def array(self, values: Any) -> Numbers:
        array = np.array(values)
        return array if array.dtype.kind == "i" else array.astype(object)


def _solve(a: Numbers, b: Numbers) -> Numbers:
    """Gauss's elimination; the matrices here need no pivots."""
    a, b = a.astype(object), b.astype(object)
    for k in range(len(a)):
        for i in range(k + 1, len(a)):
            factor = a[i, k] / a[k, k]
            a[i] = a[i] - factor * a[k]
            b[i] = b[i] - factor * b[k]
    for k in reversed(range(len(a))):
        b[k] = (b[k] - sum(a[k, j] * b[j] for j in range(k + 1, len(a)))) / a[k, k]
    return b


def _cholesky(sqrt: Callable[[Any], Any]) -> Callable[[Numbers], Numbers]:
    def cholesky(a: Numbers) -> Numbers:
        lower = np.full(a.shape, 0, object)
        for i, j in itertools.product(range(len(a)), repeat=2):
            if j <= i:
                rest = a[i, j] - sum(lower[i, k] * lower[j, k] for k in range(j))
                lower[i, j] = sqrt(rest) if i == j else rest / lower[j, j]
        return lower

    return cholesky


def _eigenvalues(a: Numbers) -> Numbers:
    return np.array(list(mpmath.eigsy(mpmath.matrix(a.tolist()), eigvals_only=True)), object)


def _mathematics(library: Any) -> SimpleNamespace:
    """The `math` of a library."""
    names = {name: getattr(library, name) for name in (*ELEMENTWISE, "erf", "atan2")}
    return SimpleNamespace(
        **names,
        lgamma=library.loggamma,
        log1p=lambda x: library.log(1 + x),
        expm1=lambda x: library.exp(x) - 1,
        hypot=lambda x, y: library.sqrt(x * x + y * y),
    )


def _operators(library: Any, gradient: Callable[..., Any]) -> SimpleNamespace:
    """The `adgen` of a library."""

    def grad(function: Callable[..., Any], wrt: str | None = None) -> Callable[..., Any]:
        place = 0 if wrt is None else function.__code__.co_varnames.index(wrt)

        def at(*args: Any) -> Any:
            return gradient(lambda x: function(*args[:place], x, *args[place + 1 :]), args[place])

        return at

    return SimpleNamespace(
        grad=grad,
        root=lambda residual, guess: mpmath.findroot(residual, guess),
        fixed_point=lambda step, start: mpmath.findroot(lambda z: step(z) - z, start),
        custom_vjp=_unruled,
        custom_jvp=lambda function, rule: function,
    )


def _unruled(function: Callable[..., Any], rule: Any = None) -> Callable[..., Any]:
    """The function itself, which takes a rule as `defvjp` too."""
    function.defvjp = lambda forward, rule: None
    return function


def _numeric_gradient(function: Callable[..., Any], x: Any) -> Any:
    if not isinstance(x, np.ndarray):
        return mpmath.diff(function, x)
    return np.array([mpmath.diff(lambda t, k=k: function(_moved(x, k, t)), 0) for k in range(len(x))], object)


def _moved(x: Numbers, k: int, step: Any) -> Numbers:
    moved = x.copy()
    moved[k] += step
    return moved


def _symbolic_gradient(function: Callable[..., Any], x: Any) -> Any:
    symbols = [sympy.Dummy() for _ in range(np.size(x))]
    value = function(np.array(symbols, object) if isinstance(x, np.ndarray) else symbols[0])
    places = dict(zip(symbols, np.ravel(x)))
    found = [sympy.diff(value, symbol).subs(places, simultaneous=True) for symbol in symbols]
    return np.array(found, object) if isinstance(x, np.ndarray) else found[0]


# -- the functions -----------------------------------------------------------------------------------------------------


@cache
def _program(symbolic: bool) -> Names:
    """The names of `higher_functions`, run again with everything that it imports replaced."""
    library = sympy if symbolic else mpmath
    tree = ast.parse((Path(__file__).parent / "higher_functions.py").read_text())
    tree.body = [node for node in tree.body if not isinstance(node, ast.Import | ast.ImportFrom)]
    names = {
        "np": Arrays(library),
        "math": _mathematics(library),
        "special": SimpleNamespace(digamma=library.digamma, j0=lambda x: mpmath.besselj(0, x)),
        "adgen": _operators(library, _symbolic_gradient if symbolic else _numeric_gradient),
    }
    exec(compile(tree, "higher_functions", "exec"), names)
    return names


def derivatives(name: str, point: Any, symbolic: bool) -> tuple[Any, Numbers, Numbers, Numbers]:
    """Value, gradient, Hessian and third derivatives of a function, for a point that is a number or a vector."""
    function, size = _program(symbolic)[name], np.size(point)
    numbers = [float(x) for x in np.ravel(point)]

    def on(*given: Any) -> Any:
        return function(np.array(given, object) if isinstance(point, np.ndarray) else given[0])

    with mpmath.workdps(DIGITS):
        partial = _symbolic(on, numbers) if symbolic else _numeric(on, numbers)
        found = []
        for order in range(4):
            tensor = np.empty((size,) * order)
            for places in itertools.combinations_with_replacement(range(size), order):
                entry = float(partial(places))
                for each in set(itertools.permutations(places)):
                    tensor[each] = entry
            found.append(tensor)
    value, gradient, hessian, third = found
    return value, gradient, hessian, third


def _symbolic(function: Callable[..., Any], numbers: Sequence[float]) -> Callable[[tuple[int, ...]], Any]:
    symbols = [sympy.Symbol(f"x{k}", real=True) for k in range(len(numbers))]
    value = function(*symbols)

    def partial(places: tuple[int, ...]) -> Any:
        derivative = sympy.diff(value, *(symbols[k] for k in places)) if places else value
        return sympy.lambdify(symbols, derivative, "mpmath", cse=True)(*map(mpmath.mpf, numbers))

    return partial


def _numeric(function: Callable[..., Any], numbers: Sequence[float]) -> Callable[[tuple[int, ...]], Any]:
    point = tuple(map(mpmath.mpf, numbers))

    def partial(places: tuple[int, ...]) -> Any:
        orders = tuple(places.count(k) for k in range(len(numbers)))
        return mpmath.diff(function, point, orders) if places else function(*point)

    return partial
