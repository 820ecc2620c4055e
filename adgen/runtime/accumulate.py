"""Gradients written into arrays that the caller has: over what they hold, or added to it.

Comes in: gradients and arrays of the same structure.  Goes out: those arrays.  Guaranteed: an array that does not fit
is an `AdgenError` before anything is written.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adgen.diagnostics import AdgenError
from adgen.frontend.specs import OutputTree
from adgen.runtime.placement import is_device_array
from adgen.runtime.trees import flatten


def into(tree: OutputTree, gradient: Any, out: Any, accumulate: bool) -> Any:
    """`out` with the gradient in its arrays: in place of what they held, or added to it."""
    try:
        targets = [(part, name) for _, part, name in flatten(tree, out, "out")]
    except ValueError as error:
        raise AdgenError("AD150", str(error), help="give `out` the structure of the gradient") from None
    for target, name in targets:
        if is_device_array(target):
            raise AdgenError(
                "AD139",
                f"{name} is on a device, where gradients are not added up",
                help="add it where it is: array += gradient, or pass out= without accumulate=True",
            )
    parts = [np.asarray(part) for _, part, _ in flatten(tree, gradient, "gradient")]
    for (target, name), part in zip(targets, parts, strict=True):
        if not isinstance(target, np.ndarray):
            raise AdgenError("AD154", f"{name} is a {type(target).__name__}, not an array", help="pass np.zeros(shape)")
        if target.shape != part.shape or target.dtype != part.dtype or not target.flags.writeable:
            what = f"of {target.dtype} and shape {target.shape}{'' if target.flags.writeable else ', read-only'}"
            wanted = f"pass a writable one of {part.dtype} and shape {part.shape}"
            raise AdgenError("AD154", f"{name} is an array {what}, which the gradient does not fit into", help=wanted)
    for (target, _), part in zip(targets, parts, strict=True):
        if accumulate:
            target += part
        else:
            target[...] = part
    return out
