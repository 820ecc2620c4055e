"""Which functions of NumPy are which Python functions of the library."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from adgen.frontend import inline, scalars
from adgen.frontend.arrays.build import refuse_complex
from adgen.frontend.arrays.registry import expands, fixed
from adgen.frontend.library import arrays, fourier, polynomials, searches, statistics
from adgen.frontend.values import is_number, is_static

if TYPE_CHECKING:
    from adgen.frontend.context import Context

# The parameters that decide which code runs.
STATIC = (
    "axis",
    "axes",
    "keepdims",
    "rowvar",
    "bias",
    "right",
    "density",
    "mode",
    "method",
    "endpoint",
    "norm",
    "increasing",
    "return_index",
    "return_inverse",
    "return_counts",
    "window_shape",
)
CHOICES = {
    "mode": ("constant", "edge", "wrap", "reflect", "symmetric", "full", "same", "valid", "raise", "clip"),
    "method": ("linear",),
    "norm": (None, "backward", "ortho", "forward"),
}
SEARCHES = (
    "nonzero", "flatnonzero", "argwhere", "extract", "compress", "bincount", "unique", "intersect1d", "setdiff1d",
    "union1d",
)  # fmt: skip
POLYNOMIALS = (
    "vander", "polyfit", "polyder", "polyint", "polyadd", "polysub", "polymul", "poly", "geomspace", "hanning",
    "hamming", "blackman", "bartlett", "kaiser", "sinc", "unwrap",
)  # fmt: skip
ORDER = {np.polyder: ("m",), np.polyint: ("m",)}
FOURIER = {
    getattr(np.fft, function.__name__): function
    for function in (
        fourier.fft,
        fourier.ifft,
        fourier.rfft,
        fourier.irfft,
        fourier.fft2,
        fourier.ifft2,
        fourier.fftn,
        fourier.ifftn,
        fourier.rfft2,
        fourier.irfft2,
        fourier.rfftn,
        fourier.irfftn,
        fourier.fftfreq,
        fourier.rfftfreq,
        fourier.fftshift,
        fourier.ifftshift,
    )
}

FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.digitize: statistics.digitize,
    np.histogram: statistics.histogram,
    np.cov: statistics.cov,
    np.corrcoef: statistics.corrcoef,
    np.nanmax: statistics.nanmax,
    np.nanmin: statistics.nanmin,
    np.nanargmax: statistics.nanargmax,
    np.nanargmin: statistics.nanargmin,
    np.nanprod: statistics.nanprod,
    np.nancumsum: statistics.nancumsum,
    np.nancumprod: statistics.nancumprod,
    np.nanvar: statistics.nanvar,
    np.nanstd: statistics.nanstd,
    np.quantile: statistics.quantile,
    np.percentile: statistics.percentile,
    np.piecewise: arrays.piecewise,
    np.apply_along_axis: arrays.apply_along_axis,
    np.pad: arrays.pad,
    np.delete: arrays.delete,
    np.insert: arrays.insert,
    np.indices: arrays.indices,
    np.fromfunction: arrays.fromfunction,
    np.block: arrays.block,
    np.isin: arrays.isin,
    np.gradient: arrays.gradient,
    np.ediff1d: arrays.ediff1d,
    np.correlate: arrays.correlate,
    np.logspace: arrays.logspace,
    np.modf: arrays.modf,
    np.divmod: arrays.divide_with_remainder,
    np.isposinf: arrays.isposinf,
    np.isneginf: arrays.isneginf,
    np.maximum.accumulate: arrays.running_maximum,
    np.minimum.accumulate: arrays.running_minimum,
    np.add.accumulate: arrays.running_sum,
    np.multiply.accumulate: arrays.running_product,
    np.median: statistics.median,
    np.nanmedian: statistics.nanmedian,
    np.nanpercentile: statistics.nanpercentile,
    np.nanquantile: statistics.nanquantile,
    np.histogram2d: statistics.histogram2d,
    np.choose: arrays.choose,
    np.put_along_axis: arrays.put_along_axis,
    np.ix_: arrays.open_mesh,
    np.lib.stride_tricks.sliding_window_view: arrays.sliding_window_view,
    np.rollaxis: arrays.rollaxis,
    np.dstack: arrays.dstack,
    np.atleast_3d: arrays.atleast_3d,
    np.diagflat: arrays.diagflat,
    np.logaddexp2: arrays.logaddexp2,
    np.array_equiv: arrays.array_equiv,
    np.linalg.multi_dot: arrays.multi_dot,
    **{getattr(np, name): getattr(searches, name) for name in SEARCHES},
    **{getattr(np, name): getattr(polynomials, name) for name in POLYNOMIALS},
    **FOURIER,
}

# What is right for complex numbers too; the others are refused for them.
COMPLEX = (
    np.cov,
    np.piecewise,
    np.apply_along_axis,
    np.pad,
    np.delete,
    np.insert,
    np.block,
    np.isin,
    np.gradient,
    np.ediff1d,
    np.correlate,
    np.choose,
    np.ix_,
    np.lib.stride_tricks.sliding_window_view,
    np.rollaxis,
    np.dstack,
    np.atleast_3d,
    np.diagflat,
    np.linalg.multi_dot,
    np.nonzero,
    np.flatnonzero,
    np.extract,
    np.compress,
    np.vander,
    np.polyder,
    np.polyadd,
    np.polysub,
    np.polymul,
    np.add.accumulate,
    np.multiply.accumulate,
    getattr(np, "cumulative_sum", None),
    *FOURIER,
)

TABULATED = tuple(getattr(np, name) for name in (*SEARCHES, *POLYNOMIALS))  # by NumPy where that is possible
OWN = (np.cov, np.block, np.unique)  # raise ValueError for what is not supported, where NumPy does not


def lowered(original: Any, function: Callable[..., Any]) -> Callable[..., Any]:
    """The expansion of a NumPy function by a Python function, which is lowered as a user's is."""
    name, signature = getattr(original, "__name__", "function"), inspect.signature(function)

    def expansion(ctx: Context, *args: Any, **kwargs: Any) -> Any:
        if original not in COMPLEX:
            refuse_complex(ctx, name, args, kwargs)
        if original in TABULATED and is_static([args, list(kwargs.values())]):
            return scalars.static(ctx, original, *args, **kwargs)
        if original in OWN and ctx.catching(ValueError):
            ctx.refuse_raising("ValueError", ctx.span)
        for key, value in signature.bind(*args, **kwargs).arguments.items():
            if key in STATIC or key in ORDER.get(original, ()):
                fixed(ctx, name, **{key: value})
            if key == "constant_values" and not is_number(value):
                ctx.fail("AD234", f"`{name}`: the argument `{key}` must be one number")
            if key in CHOICES and value not in CHOICES[key]:
                ctx.fail("AD234", f"`{name}` with {key}={value!r} is not supported")
        return inline.call_function(ctx, function, list(args), kwargs)  # type: ignore[arg-type]

    context = inspect.Parameter("ctx", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    expansion.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [context, *signature.parameters.values()]
    )
    return expansion


for _name in ("cumulative_sum", "cumulative_prod", "matrix_transpose"):
    if hasattr(np, _name):
        FUNCTIONS[getattr(np, _name)] = getattr(arrays, _name)

for _original, _function in FUNCTIONS.items():
    expands(_original)(lowered(_original, _function))
