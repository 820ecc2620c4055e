"""`scipy.stats`: densities and distribution functions, with derivatives for all arguments."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from adgen.frontend.arrays.registry import expands
from adgen.frontend.library import distributions
from adgen.frontend.library.spline_names import each

if TYPE_CHECKING:
    from adgen.frontend.context import Context

DISTRIBUTIONS: dict[str, tuple[tuple[str, ...], tuple[float, float]]] = {
    "uniform": ((), (0.0, 1.0)),
    "expon": ((), (0.0, math.inf)),
    "lognorm": (("s",), (0.0, math.inf)),
    "t": (("df",), (-math.inf, math.inf)),
    "chi2": (("df",), (0.0, math.inf)),
    "gamma": (("a",), (0.0, math.inf)),
    "beta": (("a", "b"), (0.0, 1.0)),
}
KINDS = {"pdf": "logpdf", "logpdf": "logpdf", "cdf": "cdf", "sf": "sf"}


def _expansion(name: str, kind: str, shapes: tuple[str, ...], support: tuple[float, float]) -> Callable[..., Any]:
    function = getattr(distributions, f"{name}_{KINDS[kind]}")
    order = inspect.Signature(
        [inspect.Parameter(key, inspect.Parameter.POSITIONAL_OR_KEYWORD) for key in ("x", *shapes)]
        + [
            inspect.Parameter(key, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=default)
            for key, default in (("loc", 0.0), ("scale", 1.0))
        ]
    )

    at = functools.partial(distributions.placed, function, kind, *support)

    def expansion(ctx: Context, *args: Any, **kwargs: Any) -> Any:
        bound = order.bind(*args, **kwargs)
        bound.apply_defaults()
        found = bound.arguments
        return each(ctx, at, found["x"], found["loc"], found["scale"], *(found[key] for key in shapes))

    context = inspect.Parameter("ctx", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    expansion.__signature__ = order.replace(  # type: ignore[attr-defined]
        parameters=[context, *order.parameters.values()]
    )
    return expansion


for _name, (_shapes, _support) in DISTRIBUTIONS.items():
    for _kind in KINDS:
        expands(scipy=f"stats.{_name}.{_kind}")(_expansion(_name, _kind, _shapes, _support))
