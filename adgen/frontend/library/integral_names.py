"""`scipy.integrate`: integrals of functions that are lowered with the program, and of samples."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from adgen.frontend import calls, memory, scalars
from adgen.frontend.arrays.registry import expands, fixed
from adgen.frontend.arrays.scans import trapezoid
from adgen.frontend.library import integrals
from adgen.frontend.library.numpy_names import lowered
from adgen.frontend.values import Number, Poison, describe, is_number, is_static
from adgen.ir.types import F64

if TYPE_CHECKING:
    from adgen.frontend.context import Context

ERROR = Poison("AD236", "the error estimate of `scipy.integrate.quad` is not supported", "take the value alone: `[0]`")


def _end(ctx: Context, name: str, x: Any) -> Any:
    """An end of an interval; infinity where it is known when compiling."""
    if memory.is_array(x) or not is_number(x):
        ctx.fail("AD302", f"`{name}` needs a number as an end of the interval, not {describe(x)}")
    if is_static(x):
        return float(x)
    number = Number(scalars.to(ctx, x, F64))
    finite = scalars.truth(ctx, scalars.apply(ctx, np.isfinite, number))
    ctx.builder.check(finite, "ValueError", f"an infinite end of `{name}` must be known when compiling")
    return number


@expands(scipy="integrate.quad")
def quad(
    ctx: Context,
    func: Any,
    a: Any,
    b: Any,
    args: Any = (),
    epsabs: Any = 1.49e-8,
    epsrel: Any = 1.49e-8,
    limit: Any = 50,
) -> Any:
    """`scipy.integrate.quad`, to eleven digits whatever the tolerances; without its estimate of the error."""
    args = args if isinstance(args, tuple) else (args,)
    ends, sign = [_end(ctx, "quad", x) for x in (a, b)], 1.0
    if is_static(ends) and ends[0] == ends[1]:
        return 0.0, ERROR
    if ends[0] == np.inf or ends[1] == -np.inf:
        ends, sign = ends[::-1], -1.0
    low, high = (None if is_static(x) and np.isinf(x) else x for x in ends)
    value = calls.call(ctx, integrals.adaptive, [func, args, low, high], {})
    number = ctx.number(value, F64, True)
    return (number if sign > 0 else scalars.unary(ctx, operator.neg, number)), ERROR


@expands(scipy="integrate.fixed_quad")
def fixed_quad(ctx: Context, func: Any, a: Any, b: Any, args: Any = (), n: Any = 5) -> Any:
    """`scipy.integrate.fixed_quad`."""
    fixed(ctx, "fixed_quad", n=n)
    ends = [_end(ctx, "fixed_quad", x) for x in (a, b)]
    if any(is_static(x) and np.isinf(x) for x in ends):
        message = "Gaussian quadrature is only available for finite limits."
        ctx.fail("AD323", message, raises=ValueError)
    nodes, weights = np.polynomial.legendre.leggauss(int(n))
    return calls.call(ctx, integrals.weighted, [func, args, *ends, nodes, weights], {}), None


@expands(scipy="integrate.trapezoid")
def scipy_trapezoid(ctx: Context, y: Any, x: Any = None, dx: Any = 1.0, axis: Any = -1) -> Any:
    """`scipy.integrate.trapezoid`."""
    return trapezoid(ctx, y, x, dx, axis)


for _name in ("cumulative_trapezoid", "simpson"):
    _function = getattr(integrals, _name)
    expands(scipy=f"integrate.{_name}")(lowered(_function, _function))
