"""`scipy.optimize`: zeros of functions that are lowered with the program, with the implicit function's derivative."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from adgen.frontend import calls, memory, scalars
from adgen.frontend.arrays.registry import expands, fixed
from adgen.frontend.implicit import solution
from adgen.frontend.library import roots
from adgen.frontend.values import Number, Poison, describe, is_number
from adgen.ir.types import F64

if TYPE_CHECKING:
    from adgen.frontend.context import Context

RTOL = float(4 * np.finfo(float).eps)
BRACKETING: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "brentq": (roots.brent, (False,)),
    "brenth": (roots.brent, (True,)),
    "bisect": (roots.bisection, ()),
    "ridder": (roots.ridders, ()),
}
COUNTS = Poison("AD236", "how many steps a solver of `scipy.optimize` takes is not supported", "leave it out")


@dataclass(frozen=True)
class Solution:
    """What is supported of `scipy.optimize.RootResults`."""

    root: Any
    converged: Any
    iterations: Any = COUNTS
    function_calls: Any = COUNTS
    flag: Any = COUNTS
    method: str = ""


def _real(ctx: Context, name: str, x: Any, weak: bool = True) -> Any:
    """A number of double precision."""
    if memory.is_array(x):
        array = memory.wrap(ctx, x)
        if array.rank:
            ctx.fail("AD331", f"`{name}` of an array is not supported", "call it for each element in a loop")
    if not is_number(x):
        ctx.fail("AD302", f"`{name}` needs a number here, not {describe(x)}")
    return Number(scalars.to(ctx, x, F64), weak)


def _option(ctx: Context, name: str, key: str, value: Any, least: float, kind: type = float) -> Any:
    fixed(ctx, name, **{key: value})
    if value < least or (kind is float and value != value):
        ctx.fail("AD323", f"`{name}`: `{key}` is too small ({value})", raises=ValueError)
    return kind(value)


def _search(
    ctx: Context, name: str, f: Any, args: Any, weak: bool, method: Callable[..., Any], options: Sequence[Any]
) -> tuple[Number, Number]:
    """The root that a method of the library finds, and whether it converged."""
    args = args if isinstance(args, tuple) else (args,)
    found = solution(
        ctx,
        name,
        lambda _: calls.call(ctx, method, list(options), {}),
        lambda x: calls.call(ctx, f, [Number(x.value, weak), *args], {}),
    )
    return Number(found[0].value, weak), found[1]


def _bracketed(
    ctx: Context, name: str, f: Any, a: Any, b: Any, args: Any, xtol: Any, rtol: Any, maxiter: Any
) -> tuple[Number, Number]:
    args = args if isinstance(args, tuple) else (args,)
    method, more = BRACKETING[name]
    tolerances = (
        _option(ctx, name, "xtol", xtol, 5e-324),
        _option(ctx, name, "rtol", rtol, RTOL),
        _option(ctx, name, "maxiter", maxiter, 1, int),
    )
    options = [f, args, _real(ctx, name, a), _real(ctx, name, b), *tolerances, *more]
    return _search(ctx, name, f, args, True, method, options)


def _finished(ctx: Context, name: str, found: tuple[Number, Number], maxiter: Any, full: Any, disp: Any) -> Any:
    """The result of a solver: an exception where it did not converge, unless that is turned off."""
    fixed(ctx, name, full_output=full, disp=disp)
    root, converged = found
    if disp:
        ctx.builder.check(converged.value, "RuntimeError", f"Failed to converge after {maxiter} iterations.")
    return (root, ctx.own(Solution(root, Number(converged.value, True), method=name))) if full else root


def _bracketing(name: str) -> Callable[..., Any]:
    def expansion(
        ctx: Context,
        f: Any,
        a: Any,
        b: Any,
        args: Any = (),
        xtol: Any = 2e-12,
        rtol: Any = RTOL,
        maxiter: Any = 100,
        full_output: Any = False,
        disp: Any = True,
    ) -> Any:
        found = _bracketed(ctx, name, f, a, b, args, xtol, rtol, maxiter)
        return _finished(ctx, name, found, maxiter, full_output, disp)

    expansion.__doc__ = f"`scipy.optimize.{name}`."
    return expansion


for _name in BRACKETING:
    expands(scipy=f"optimize.{_name}")(_bracketing(_name))


def _iterated(
    ctx: Context, name: str, f: Any, x0: Any, args: Any, slopes: tuple[Any, Any], x1: Any, limits: tuple[Any, ...]
) -> tuple[Number, Number]:
    """Newton's method, Halley's with a second derivative, the secant method without a first."""
    args = args if isinstance(args, tuple) else (args,)
    tol, rtol, maxiter, disp = limits
    ends = (
        _option(ctx, name, "tol", tol, 5e-324),
        _option(ctx, name, "rtol", rtol, 0.0),
        _option(ctx, name, "maxiter", maxiter, 1, int),
        disp,
    )
    start = _real(ctx, name, x0, False)
    if slopes[0] is not None:
        return _search(ctx, name, f, args, False, roots.newton, [f, *slopes, args, start, *ends])
    second = None if x1 is None else _real(ctx, name, x1, False)
    return _search(ctx, name, f, args, False, roots.secant, [f, args, start, second, *ends])


@expands(scipy="optimize.newton")
def newton(
    ctx: Context,
    func: Any,
    x0: Any,
    fprime: Any = None,
    args: Any = (),
    tol: Any = 1.48e-8,
    maxiter: Any = 50,
    fprime2: Any = None,
    x1: Any = None,
    rtol: Any = 0.0,
    full_output: Any = False,
    disp: Any = True,
) -> Any:
    """`scipy.optimize.newton` of one number."""
    limits = (tol, rtol, maxiter, disp)
    found = _iterated(ctx, "newton", func, x0, args, (fprime, fprime2 or None), x1, limits)
    return _finished(ctx, "newton", found, maxiter, full_output, disp)


@expands(scipy="optimize.root_scalar")
def root_scalar(
    ctx: Context,
    f: Any,
    args: Any = (),
    method: Any = None,
    bracket: Any = None,
    fprime: Any = None,
    fprime2: Any = None,
    x0: Any = None,
    x1: Any = None,
    xtol: Any = None,
    rtol: Any = None,
    maxiter: Any = None,
) -> Any:
    """`scipy.optimize.root_scalar`, whose result has `root` and `converged`."""
    if not (method is None or isinstance(method, str)):
        ctx.fail("AD222", "`root_scalar`: the argument `method` must be known when compiling")
    if isinstance(fprime, bool) or isinstance(fprime2, bool):
        ctx.fail("AD234", "`root_scalar`: a function that gives its derivative too is not supported")
    if method is None and bracket is None and x0 is None:
        message = "Unable to select a solver as neither bracket nor starting point provided."
        ctx.fail("AD323", message, raises=ValueError)
    iterating = "secant" if fprime is None else "newton" if fprime2 is None else "halley"
    name = (method or ("brentq" if bracket is not None else iterating)).lower()
    if name in BRACKETING:
        ends = bracket if isinstance(bracket, tuple | list) else None
        if ends is None or len(ends) < 2:
            ctx.fail("AD323", f"`root_scalar`: a bracket of two numbers is needed for {name}", raises=ValueError)
        limits = 2e-12 if xtol is None else xtol, RTOL if rtol is None else rtol, 100 if maxiter is None else maxiter
        found = _bracketed(ctx, name, f, ends[0], ends[1], args, *limits)
    else:
        usable = {"secant": True, "newton": fprime is not None, "halley": fprime is not None and fprime2 is not None}
        if not usable.get(name, False) or x0 is None or (method is None and name == "secant" and x1 is None):
            ctx.fail(
                "AD234",
                f"`root_scalar` with method={name!r} and these arguments is not supported",
                "give a bracket, or the derivative `fprime`",
            )
        slopes = (None, None) if name == "secant" else (fprime, fprime2 if name == "halley" else None)
        ends = 1.48e-8 if xtol is None else xtol, 0.0 if rtol is None else rtol, 50 if maxiter is None else maxiter
        found = _iterated(ctx, "root_scalar", f, x0, args, slopes, x1, (*ends, False))
    return ctx.own(Solution(found[0], Number(found[1].value, True), method=name))
