"""Solutions of equations, whose derivatives are those of the implicit function: `root`, `fixed_point`, `linear_solve`.

Here is how they search.  In Python the slopes of Newton's method come from differences, in compiled code from the
compiler; both end at the same root, to rounding.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adgen.frontend.rules import Rules, with_rules

STEP = 6e-6  # of differences, relative to a number of size one


def root(residual: Any, guess: Any, *args: Any, solver: Any = None, tol: float = 1e-10, maxiter: int = 50) -> Any:
    """The `x` near `guess` with `residual(x, *args) == 0`, by Newton's method: a number, or a vector.

    The derivative is that of the implicit function, for all that `residual` reads; the guess has none.  With `solver`
    the search is `solver(residual, guess, *args)`, any function that gives the root.

    Raises RuntimeError when a step is still larger than `tol * (1 + |x|)` after `maxiter` steps.
    """
    if solver is not None:
        return solver(residual, guess, *args)

    def push(x: Any, direction: Any) -> Any:
        h = STEP * (1.0 + np.max(np.abs(x), initial=0.0))
        return (residual(x + h * direction, *args) - residual(x - h * direction, *args)) / (2.0 * h)

    search = newton_system if np.ndim(guess) else newton_number
    return search(residual, push, guess, args, tol, maxiter)


def fixed_point(step: Any, start: Any, *args: Any, solver: Any = None, tol: float = 1e-12, maxiter: int = 1000) -> Any:
    """The `x` with `step(x, *args) == x` that iterating from `start` leads to: a number, or a vector.

    Derivatives, `solver` and errors are as with `root`; the iteration ends when a step is no larger than
    `tol * (1 + |x|)`.
    """
    if solver is not None:
        return solver(step, start, *args)
    search = iterate_system if np.ndim(start) else iterate_number
    return search(step, start, args, tol, maxiter)


def linear_solve(a: Any, b: Any, solver: Any = None) -> Any:
    """The solution of `a @ x = b`; with `solver` it is `solver(a, b)`, and so is that of the transposed system."""
    return np.linalg.solve(a, b) if solver is None else solver(a, b)


def newton_number(f: Any, push: Any, guess: Any, args: Any, tol: Any, maxiter: Any) -> Any:
    """Newton's method for one number; `push(x, direction)` is the derivative of `f` along a direction."""
    x = guess * 1.0
    for _ in range(maxiter):
        step = f(x, *args) / push(x, 1.0)
        x = x - step
        if abs(step) <= tol * (1.0 + abs(x)) < np.inf:
            return x
    raise RuntimeError("root: Newton's method did not converge")


def newton_system(f: Any, push: Any, guess: Any, args: Any, tol: Any, maxiter: Any) -> Any:
    """Newton's method for a vector."""
    n = len(guess)
    x = guess * 1.0
    slopes = np.zeros((n, n))
    for _ in range(maxiter):
        for k in range(n):
            direction = np.zeros(n)
            direction[k] = 1.0
            slopes[:, k] = push(x, direction)
        step = np.linalg.solve(slopes, f(x, *args))
        x -= step
        if np.sum(np.abs(step)) <= tol * (1.0 + np.sum(np.abs(x))) < np.inf:
            return x
    raise RuntimeError("root: Newton's method did not converge")


def iterate_number(step: Any, start: Any, args: Any, tol: Any, maxiter: Any) -> Any:
    """A number that a function gives back."""
    x = start * 1.0
    for _ in range(maxiter):
        after = step(x, *args)
        change = abs(after - x)
        x = after
        if change <= tol * (1.0 + abs(x)) < np.inf:
            return x
    raise RuntimeError("fixed_point: the iteration did not converge")


def iterate_system(step: Any, start: Any, args: Any, tol: Any, maxiter: Any) -> Any:
    """A vector that a function gives back."""
    x = start * 1.0
    for _ in range(maxiter):
        change = step(x, *args) - x
        x += change
        if np.sum(np.abs(change)) <= tol * (1.0 + np.sum(np.abs(x))) < np.inf:
            return x
    raise RuntimeError("fixed_point: the iteration did not converge")


def _by_solver(a: Any, b: Any, solver: Any) -> Any:
    return solver(a, b)


def _by_solver_vjp(a: Any, b: Any, solver: Any, out: Any, cotangent: Any) -> Any:
    b_bar = solved_by(a.T.copy(), cotangent, solver)
    return -np.outer(b_bar, out), b_bar, None


solved_by = with_rules(_by_solver, Rules(_by_solver, vjp=_by_solver_vjp))
