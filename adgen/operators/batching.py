"""`vmap`: a function applied to each item of its arguments, in one compiled loop.

Comes in: a function of numbers and arrays.  Goes out: a function of arrays that have one axis more.  Guaranteed: it is
ordinary Python, a comprehension over the items, so that operators, compiled functions and plain calls mean the same.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from adgen.diagnostics import AdgenError
from adgen.operators.products import plain_operator
from adgen.runtime.signatures import signature_of
from adgen.written import defined

Function = Callable[..., Any]
Axes = int | tuple[int | None, ...]
TEXT = """def {name}({parameters}):
    count = {count}.shape[{axis}]
{checks}    items = np.array([np.copy(function({items})) for k in range(count)])
    return {result}
"""
CHECK = """    if {name}.shape[{axis}] != count:
        raise ValueError("vmap: the mapped axes of the arguments have different lengths")
"""


def batched(function: Function, in_axes: Axes = 0, out_axis: int = 0) -> Function:
    """`vmap` of a function, whose parameters must be ordinary ones."""
    name = getattr(function, "__name__", "function")
    signature = signature_of(function)
    names = list(signature.parameters)
    kinds = {parameter.kind for parameter in signature.parameters.values()}
    if not names or kinds != {inspect.Parameter.POSITIONAL_OR_KEYWORD}:
        raise AdgenError("AD132", f"vmap: `{name}` must have named parameters only, and one at least")
    axes = [in_axes] * len(names) if isinstance(in_axes, int) else list(in_axes)
    mapped = [(parameter, axis) for parameter, axis in zip(names, axes) if axis is not None]
    if len(axes) != len(names) or not mapped:
        raise AdgenError(
            "AD132",
            f"vmap: in_axes is {in_axes!r}, and `{name}` has the parameters {', '.join(names)}",
            help="give an axis for each parameter, None for one that all items share",
        )
    first, axis = mapped[0]
    places = dict(mapped)
    title = f"{name}_mapped" if name.isidentifier() else "mapped"
    text = TEXT.format(
        name=title,
        parameters=", ".join(names),
        count=first,
        axis=axis,
        checks="".join(CHECK.format(name=other, axis=place) for other, place in mapped[1:]),
        items=", ".join(_item(parameter, places.get(parameter)) for parameter in names),
        result="items" if out_axis == 0 else f"np.moveaxis(items, 0, {out_axis})",
    )
    namespace = {"np": np, "function": function, "__name__": getattr(function, "__module__", "__main__")}
    return plain_operator(defined(text, f"vmap of {name}", title, namespace), "value")


def _item(parameter: str, axis: int | None) -> str:
    """An item of an argument, or the argument itself."""
    if axis is None:
        return parameter
    return f"{parameter}[k]" if axis == 0 else f"np.moveaxis({parameter}, {axis}, 0)[k]"
