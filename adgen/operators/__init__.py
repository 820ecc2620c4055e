"""The names that programs use: `grad(f)` and its like."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from adgen.diagnostics import AdgenError
from adgen.operators.jacobians import hessian_operator, jacobian_operator
from adgen.operators.products import plain_operator, tangent_operator, vjp_operator

Function = Callable[..., Any]


def _decorator(make: Callable[..., Function], function: Function | None, **options: Any) -> Function:
    """`make(function)`, or a decorator that does it: `@grad` and `@grad(wrt="x")` both work."""
    if function is None:
        return partial(_decorator, make, **options)
    try:
        return make(function, **options)
    except AdgenError as error:
        raise error.with_traceback(None) from None


def jit(function: Function | None = None) -> Function:
    """The function itself, compiled: the same results, and the same writes into its arguments."""
    return _decorator(plain_operator, function, product="value")


def grad(function: Function | None = None, wrt: Any = None) -> Function:
    """The gradient of a function of one number.

    `grad(f)(*args)` has the structure of the parameters that `wrt` names: a name or position gives that gradient alone,
    a sequence a tuple; the default is every floating-point parameter (one: its gradient; several: a NamedTuple).
    Names of taps may be among them.

    `grad(f)(*args, out=arrays)` writes the gradient into arrays of its structure, `accumulate=True` adds it to them;
    without `out` it is fresh.  A function with a parameter `out` of its own has no such option.
    """
    return _decorator(plain_operator, function, product="grad", wrt=wrt)


def value_and_grad(function: Function | None = None, wrt: Any = None) -> Function:
    """`(f(*args), grad(f)(*args))` from one sweep; `out` and `accumulate` are as with `grad`."""
    return _decorator(plain_operator, function, product="value_and_grad", wrt=wrt)


def jvp(function: Function | None = None, wrt: Any = None) -> Function:
    """The value and its derivative along a direction: `jvp(f)(*args, tangent=v) -> (value, tangent)`."""
    return _decorator(tangent_operator, function, product="jvp", wrt=wrt)


def vjp(function: Function | None = None, wrt: Any = None) -> Function:
    """The value and a function from cotangents to gradients: `vjp(f)(*args) -> (value, pullback)`.

    `pullback(cotangent)` may be called many times; a result that is a number has the cotangent 1 by default.  It takes
    `out` and `accumulate` as `grad` does.
    """
    return _decorator(vjp_operator, function, wrt=wrt)


def hvp(function: Function | None = None, wrt: Any = None) -> Function:
    """The Hessian times a direction: `hvp(f)(*args, tangent=v)`, with the structure of the gradient."""
    return _decorator(tangent_operator, function, product="hvp", wrt=wrt)


def jacobian(function: Function | None = None, wrt: Any = None) -> Function:
    """The Jacobian, of shape `result.shape + parameter.shape`, in whichever mode is cheaper."""
    return _decorator(jacobian_operator, function, mode="best", wrt=wrt)


def jacfwd(function: Function | None = None, wrt: Any = None) -> Function:
    """The Jacobian by forward mode, one column at a time."""
    return _decorator(jacobian_operator, function, mode="forward", wrt=wrt)


def jacrev(function: Function | None = None, wrt: Any = None) -> Function:
    """The Jacobian by reverse mode, one row at a time."""
    return _decorator(jacobian_operator, function, mode="reverse", wrt=wrt)


def hessian(function: Function | None = None, wrt: Any = None) -> Function:
    """The second derivatives of a function of one number, of shape `parameter.shape + parameter.shape`."""
    return _decorator(hessian_operator, function, wrt=wrt)
