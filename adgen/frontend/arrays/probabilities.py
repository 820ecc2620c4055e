"""Functions of SciPy on arrays: sums of exponentials, the normal distribution."""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from adgen import ops
from adgen.frontend.arrays.build import as_array, refuse_complex
from adgen.frontend.arrays.elementwise import astype, elementwise
from adgen.frontend.arrays.extremes import max_
from adgen.frontend.arrays.indexing import getitem
from adgen.frontend.arrays.reduce import sum_
from adgen.frontend.arrays.registry import expands
from adgen.frontend.arrays.shapes import axes_argument
from adgen.frontend.arrays.storage import finish, materialise, settle
from adgen.ir.types import F64

if TYPE_CHECKING:
    from adgen.frontend.context import Context


def _shifted(ctx: Context, a: Any, axis: Any) -> tuple[Any, Any]:
    """What is left when the finite maximum along the axes is taken off, and that maximum."""
    refuse_complex(ctx, "logsumexp and softmax", a)
    array = settle(ctx, as_array(ctx, a), 0)
    largest = max_(ctx, array, axis, True)
    largest = elementwise(ctx, np.where, [elementwise(ctx, np.isfinite, [largest]), largest, 0.0])
    largest = materialise(ctx, as_array(ctx, largest))
    return elementwise(ctx, operator.sub, [array, largest]), largest


@expands(scipy="special.logsumexp")
def logsumexp(ctx: Context, a: Any, axis: Any = None, b: Any = None, keepdims: Any = False) -> Any:
    """`scipy.special.logsumexp`: without overflow on the way."""
    if b is not None:
        refuse_complex(ctx, "logsumexp", b)
        present = elementwise(ctx, operator.ne, [as_array(ctx, b), 0.0])
        a = elementwise(ctx, np.where, [present, as_array(ctx, a), -np.inf])
    rest, largest = _shifted(ctx, a, axis)
    terms = elementwise(ctx, np.exp, [rest])
    if b is not None:
        terms = elementwise(ctx, operator.mul, [as_array(ctx, b), terms])
    total = elementwise(ctx, np.log, [sum_(ctx, terms, axis, None, keepdims)])
    if not keepdims:
        axes = axes_argument(ctx, axis, largest.rank)
        largest = getitem(ctx, largest, tuple(0 if k in axes else slice(None) for k in range(largest.rank)))
    return elementwise(ctx, operator.add, [total, largest])


@expands(scipy="special.softmax")
def softmax(ctx: Context, x: Any, axis: Any = None) -> Any:
    """`scipy.special.softmax`."""
    rest, _ = _shifted(ctx, x, axis)
    terms = materialise(ctx, as_array(ctx, elementwise(ctx, np.exp, [rest])))
    return elementwise(ctx, operator.truediv, [terms, sum_(ctx, terms, axis, None, True)])


@expands(scipy="special.log_softmax")
def log_softmax(ctx: Context, x: Any, axis: Any = None) -> Any:
    """`scipy.special.log_softmax`."""
    rest, _ = _shifted(ctx, x, axis)
    rest = materialise(ctx, as_array(ctx, rest))
    total = sum_(ctx, elementwise(ctx, np.exp, [rest]), axis, None, True)
    return elementwise(ctx, operator.sub, [rest, elementwise(ctx, np.log, [total])])


# -- the normal distribution ---------------------------------------------------------------------------------------


def _standard(ctx: Context, x: Any, loc: Any, scale: Any) -> Any:
    """`(x - loc) / scale` in double precision, in which SciPy's distributions compute."""
    refuse_complex(ctx, "norm", x, loc, scale)
    x = finish(ctx, astype(ctx, as_array(ctx, x), F64))
    return elementwise(ctx, operator.truediv, [elementwise(ctx, operator.sub, [x, loc]), scale])


def _positive(ctx: Context, scale: Any) -> Any:
    """The scale where it is positive, else not-a-number."""
    refuse_complex(ctx, "norm", scale)
    if isinstance(scale, int | float) and scale > 0:
        return scale
    return elementwise(ctx, np.where, [elementwise(ctx, operator.gt, [scale, 0.0]), scale, np.nan])


@expands(scipy="stats.norm.logpdf")
def norm_logpdf(ctx: Context, x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """`scipy.stats.norm.logpdf`."""
    scale = _positive(ctx, scale)
    z = _standard(ctx, x, loc, scale)
    square = elementwise(ctx, operator.mul, [elementwise(ctx, np.square, [z]), -0.5])
    constant = elementwise(ctx, operator.sub, [square, 0.5 * math.log(2 * math.pi)])
    return elementwise(ctx, operator.sub, [constant, elementwise(ctx, np.log, [scale])])


@expands(scipy="stats.norm.pdf")
def norm_pdf(ctx: Context, x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """`scipy.stats.norm.pdf`."""
    scale = _positive(ctx, scale)
    z = _standard(ctx, x, loc, scale)
    square = elementwise(ctx, operator.mul, [elementwise(ctx, np.square, [z]), -0.5])
    bell = elementwise(ctx, operator.truediv, [elementwise(ctx, np.exp, [square]), math.sqrt(2 * math.pi)])
    return elementwise(ctx, operator.truediv, [bell, scale])


@expands(scipy="stats.norm.cdf")
def norm_cdf(ctx: Context, x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """`scipy.stats.norm.cdf`."""
    return elementwise(ctx, ops.NDTR, [_standard(ctx, x, loc, _positive(ctx, scale))])


@expands(scipy="stats.norm.sf")
def norm_sf(ctx: Context, x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """`scipy.stats.norm.sf`: one minus the distribution function."""
    return elementwise(ctx, ops.NDTR, [elementwise(ctx, operator.neg, [_standard(ctx, x, loc, _positive(ctx, scale))])])


@expands(scipy="stats.norm.ppf")
def norm_ppf(ctx: Context, q: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """`scipy.stats.norm.ppf`: the quantile."""
    refuse_complex(ctx, "norm", loc, scale)
    z = elementwise(ctx, ops.NDTRI, [_standard(ctx, q, 0.0, 1.0)])
    return elementwise(ctx, operator.add, [elementwise(ctx, operator.mul, [z, _positive(ctx, scale)]), loc])
