"""`scipy.interpolate`: splines and other interpolants that are known when compiling, at run-time points."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from adgen.frontend import calls, scalars
from adgen.frontend.arrays.build import as_array, refuse_complex
from adgen.frontend.arrays.registry import expands, fixed
from adgen.frontend.library import splines
from adgen.frontend.library.arrays import vectorized
from adgen.frontend.values import Number, is_number
from adgen.ir.types import F64

if TYPE_CHECKING:
    from adgen.frontend.context import Context

MODES = {0: 0, 1: 1, 2: 2, 3: 3, "extrapolate": 0, "zeros": 1, "raise": 2, "const": 3}
FIXED = "make the interpolant when the module is loaded, and call it"


def each(ctx: Context, function: Callable[..., Any], *operands: Any) -> Any:
    """A function of numbers for every element of arrays that are broadcast; of numbers an array without axes."""
    refuse_complex(ctx, "interpolation", *operands)
    if all(is_number(x) for x in operands):
        numbers = [Number(scalars.to(ctx, x, F64), False) for x in operands]
        return Number(ctx.number(calls.call(ctx, function, numbers, {}), F64).value, False, True)
    return calls.call(ctx, vectorized, [function, *(as_array(ctx, x) for x in operands)], {})


# -- B-splines ---------------------------------------------------------------------------------------------------------


@expands(scipy="interpolate.splev")
def splev(ctx: Context, x: Any, tck: Any, der: Any = 0, ext: Any = 0) -> Any:
    """`scipy.interpolate.splev` with a spline as `splrep` gives it, or a `BSpline`."""
    fixed(ctx, "splev", der=der, ext=ext)
    if hasattr(tck, "tck"):
        tck = tck.tck
    if not isinstance(tck, tuple | list) or len(tck) != 3 or not isinstance(tck[2], int | np.integer):
        ctx.fail("AD331", "`splev` takes a spline as `splrep` gives it: knots, coefficients, degree")
    t, c, k = tck
    if ext not in (0, 1, 2, 3) or not 0 <= der <= k:
        ctx.fail("AD323", f"`splev`: der={der}, ext={ext} is not defined for degree {k}", raises=ValueError)
    if isinstance(c, list | tuple):
        return ctx.own([splev(ctx, x, (t, part, k), der, ext) for part in c])
    return each(ctx, functools.partial(splines.spline, t=t, c=c, k=int(k), nu=int(der), ext=ext), x)


@expands(scipy="interpolate.UnivariateSpline()")
def univariate(ctx: Context, self: Any, x: Any, nu: Any = 0, ext: Any = None) -> Any:
    """A `UnivariateSpline` called."""
    fixed(ctx, "UnivariateSpline", nu=nu, ext=ext)
    return splev(ctx, x, self._eval_args, nu, MODES[self.ext if ext is None else ext])


@expands(scipy="interpolate.BSpline()")
def b_spline(ctx: Context, self: Any, x: Any, nu: Any = 0, extrapolate: Any = None) -> Any:
    """A `BSpline` called."""
    fixed(ctx, "BSpline", nu=nu, extrapolate=extrapolate)
    extrapolate = self.extrapolate if extrapolate is None else extrapolate
    if self.c.ndim != 1 or extrapolate == "periodic" or nu < 0:
        ctx.fail("AD234", "`BSpline` is supported for numbers, without a period", FIXED)
    t, c, k, ext = self.t, self.c, int(self.k), 0 if extrapolate else 4
    return each(ctx, functools.partial(splines.spline, t=t, c=c, k=k, nu=int(nu), ext=ext), x)


@expands(scipy="interpolate.bisplev")
def bisplev(ctx: Context, x: Any, y: Any, tck: Any, dx: Any = 0, dy: Any = 0) -> Any:
    """`scipy.interpolate.bisplev`."""
    fixed(ctx, "bisplev", dx=dx, dy=dy)
    if not isinstance(tck, tuple | list) or len(tck) != 5:
        ctx.fail("AD331", "`bisplev` takes a surface as `bisplrep` gives it")
    refuse_complex(ctx, "bisplev", x, y)
    tck = tuple(np.asarray(part) if isinstance(part, list | tuple) else part for part in tck)
    return calls.call(ctx, splines.bisplev, [x, y, tck, int(dx), int(dy)], {})


@expands(scipy="interpolate.BivariateSpline()")
def bivariate(ctx: Context, self: Any, x: Any, y: Any, dx: Any = 0, dy: Any = 0, grid: Any = True) -> Any:
    """A `RectBivariateSpline` or its like called: on the grid of its arguments, or at points."""
    fixed(ctx, "BivariateSpline", dx=dx, dy=dy, grid=grid)
    tck = (*self.tck[:3], *self.degrees)
    if grid:
        return calls.call(ctx, splines.sheet, [x, y, tck, int(dx), int(dy)], {})
    return each(ctx, functools.partial(splines.surface, tck=tck, dx=int(dx), dy=int(dy)), x, y)


@expands(scipy="interpolate.BivariateSpline.ev")
def ev(ctx: Context, self: Any, xi: Any, yi: Any, dx: Any = 0, dy: Any = 0) -> Any:
    """`RectBivariateSpline.ev`."""
    return bivariate(ctx, self, xi, yi, dx, dy, False)


# -- other piecewise polynomials ---------------------------------------------------------------------------------------


@expands(scipy="interpolate.PPoly()")
def polynomial_pieces(ctx: Context, self: Any, x: Any, nu: Any = 0, extrapolate: Any = None) -> Any:
    """A `PPoly` called: `CubicSpline`, `PchipInterpolator`, `Akima1DInterpolator`."""
    fixed(ctx, type(self).__name__, nu=nu, extrapolate=extrapolate)
    extrapolate = self.extrapolate if extrapolate is None else extrapolate
    if self.c.ndim != 2 or self.x[0] > self.x[-1]:
        ctx.fail("AD234", f"`{type(self).__name__}` is supported for numbers at points that increase", FIXED)
    if nu < 0:
        ctx.fail("AD323", "Order of derivative cannot be negative", raises=ValueError)
    derived = self.derivative(nu) if nu > 0 else self
    beyond = extrapolate if extrapolate == "periodic" else bool(extrapolate)
    return each(ctx, functools.partial(splines.pieces, breaks=derived.x, c=derived.c, extrapolate=beyond), x)


@expands(scipy="interpolate.interp1d()")
def interp1d(ctx: Context, self: Any, x: Any) -> Any:
    """An `interp1d` called."""
    kind: str = self._kind
    outside: tuple[Any, ...] = (None, None)
    if self.bounds_error:
        outside = ("raise", "raise")
    elif not self._extrapolate:
        outside = tuple(float(np.ravel(side)[0]) for side in (self._fill_value_below, self._fill_value_above))
    if np.ndim(self.y) != 1 or kind not in ("linear", "nearest", "previous", "next", "spline"):
        ctx.fail("AD234", f"`interp1d` of kind {kind!r} is supported for numbers only", FIXED)
    below, above = outside
    if kind == "spline":
        t, c, k = self._spline.t, np.ravel(self._spline.c), int(self._spline.k)
        inner = functools.partial(splines.spline, t=t, c=c, k=k, nu=0, ext=0)
    else:
        inner = functools.partial(splines.lines, points=self.x, values=self.y, kind=kind)
    ends = {"low": self.x[0], "high": self.x[-1], "below": below, "above": above}
    return each(ctx, functools.partial(splines.limited, inner=inner, **ends), x)


@expands(scipy="interpolate.RegularGridInterpolator()")
def regular_grid(ctx: Context, self: Any, xi: Any, method: Any = None) -> Any:
    """A `RegularGridInterpolator` called, by linear interpolation or with the nearest value."""
    fixed(ctx, "RegularGridInterpolator", method=method)
    method = self.method if method is None else method
    count = len(self.grid)
    if method not in ("linear", "nearest") or self.values.ndim != count or self.values.dtype.kind not in "fiu":
        ctx.fail("AD234", f"`RegularGridInterpolator` with method={method!r} is not supported", FIXED)
    outside = "raise" if self.bounds_error else None if self.fill_value is None else float(self.fill_value)
    values = np.asarray(self.values, dtype=np.float64)
    grid = tuple(np.asarray(axis, dtype=np.float64) for axis in self.grid)
    given = {"grid": grid, "values": values, "nearest": method == "nearest", "outside": outside}
    return calls.call(ctx, splines.cells, [xi, count, functools.partial(splines.cell, **given), vectorized], {})
