"""Functions and their derivatives in the forms that `scipy.optimize` calls."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from adgen.operators.jacobians import hessian_operator, jacobian_operator
from adgen.operators.products import plain_operator, tangent_operator
from adgen.runtime.faults import NotScalar

Function = Callable[..., Any]


@dataclass(frozen=True)
class ScipyProblem:
    """A function of a vector and its derivatives for that vector, compiled, as `scipy.optimize` calls them.

    `fun(x, *args)` and `jac(x, *args)`: the gradient of a number, the Jacobian of a vector of residuals.
    `hess(x, *args)` and `hessp(x, p, *args)`, the Hessian times `p`, are those of a number.
    """

    fun: Function
    jac: Function
    hess: Function
    hessp: Function


def scipy_problem(function: Function) -> ScipyProblem:
    """A function and its derivatives for its first parameter, for `scipy.optimize.minimize` and `least_squares`.

    `problem = scipy_problem(f)`, then `minimize(problem.fun, x0, jac=problem.jac, hessp=problem.hessp)`, or
    `least_squares(problem.fun, x0, jac=problem.jac)`.  The function's other parameters are SciPy's `args`.
    """
    gradient = plain_operator(function, "grad", 0)
    jacobian = jacobian_operator(function, "best", 0)
    product = tangent_operator(function, "hvp", 0)

    derivative = gradient

    def jac(x: Any, *args: Any, **kwargs: Any) -> Any:
        nonlocal derivative
        try:
            return derivative(x, *args, **kwargs)
        except NotScalar:  # the function gives residuals, and is not asked for a gradient again
            derivative = jacobian
            return derivative(x, *args, **kwargs)

    def hessp(x: Any, p: Any, *args: Any, **kwargs: Any) -> Any:
        return product(x, *args, tangent=p, **kwargs)

    return ScipyProblem(plain_operator(function, "value"), jac, hessian_operator(function, 0), hessp)
