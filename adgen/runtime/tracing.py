"""Tracing of what is not finite, through the stages of a function (see `passes.trace`).

Comes in: a `Lowered`.  Goes out: the same with the checks of a stage, if it is traced at all.  Guaranteed: the function
itself is checked before it is differentiated, so that what is checked then is what the derivative has added.
"""

from __future__ import annotations

from dataclasses import replace

from adgen.frontend.specs import Lowered
from adgen.passes.trace import origins, trace, trace_arguments
from adgen.runtime.convert import path_text

PLACES = {
    "grad": "in the reverse sweep",
    "value_and_grad": "in the reverse sweep",
    "vjp": "in the reverse sweep",
    "jvp": "in the tangent",
    "jacobian": "in the derivative",
    "jacfwd": "in the tangent",
    "jacrev": "in the reverse sweep",
    "hessian": "in the tangent of the reverse sweep",
    "hvp": "in the tangent of the reverse sweep",
}


def begun(lowered: Lowered) -> Lowered:
    """A function as the front end gave it, which is traced from now on."""
    return replace(_arguments(lowered, 0), traced=origins(lowered.function))


def traced(lowered: Lowered) -> Lowered:
    """A function before it is differentiated."""
    return lowered if lowered.traced is None else replace(lowered, function=trace(lowered.function))


def traced_product(derived: Lowered, product: str, primal: Lowered) -> Lowered:
    """A product of a function; its directions may be NaN too."""
    place = PLACES.get(product.partition("_entries")[0])
    if derived.traced is None or place is None:
        return derived
    function = trace(derived.function, place, derived.traced)
    return _arguments(replace(derived, function=function), len(primal.leaves))


def _arguments(lowered: Lowered, first: int) -> Lowered:
    """Checks of the arguments from a position on."""
    names = {k: path_text(leaf.path) for k, leaf in enumerate(lowered.leaves) if k >= first}
    return replace(lowered, function=trace_arguments(lowered.function, names))
