"""The pullback that `vjp` gives: from cotangents of the results to gradients of the arguments, at one point.

Comes in: the compiled primal, its reverse sweep, arguments.  Goes out: gradients, for as many cotangents as wanted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from adgen.diagnostics import AdgenError
from adgen.frontend.specs import OutputLeaf
from adgen.runtime.accumulate import into
from adgen.runtime.bound import call_into
from adgen.runtime.calls import Entry
from adgen.runtime.convert import canonical, leaf_value
from adgen.runtime.directions import cotangents
from adgen.runtime.placement import shape_of

MISSING = object()


def leaves_of(entry: Entry, arguments: Mapping[str, Any], allowed: bool = False) -> list[Any]:
    """The function's own leaves, in canonical form; arrays on a device, where those are `allowed`, as they are."""
    given = given_leaves(entry, arguments)
    if entry.on_device(given, allowed):
        return given
    entry.check_guarded(given)
    return [canonical(value, leaf.spec) for value, leaf in zip(given, entry.program.leaves)]


def given_leaves(entry: Entry, arguments: Mapping[str, Any]) -> list[Any]:
    """The function's own leaves as they are; those of directions follow them."""
    return [leaf_value(arguments, leaf.path) for leaf in entry.program.leaves if leaf.path[0] in arguments]


class Pullback:
    """What `vjp` gives beside the value: a function from cotangents to gradients, to be called as often as wanted.

    It keeps copies of the arguments, so it stays right when they change, and the function, of which other code may be
    needed.
    """

    def __init__(self, primal: Entry, entry: Entry, value: Any, primals: Sequence[Any], function: Any = None) -> None:
        self.primal = primal
        self.entry = entry
        self.value = value
        self.function = function
        if primal.on_device(primals):
            self.primals = primal.device.copies(primals)
        else:
            self.primals = [np.array(v, copy=True) if isinstance(v, np.ndarray) else v for v in primals]

    def __call__(self, cotangent: Any = MISSING, *, out: Any = None, accumulate: bool = False) -> Any:
        """The gradients of the sum of results weighted by the cotangent, which is 1 for a number where it is not given.

        With `out`, arrays of the structure of the gradients, they are written there, or added with `accumulate`.
        """
        try:
            if cotangent is MISSING:
                cotangent = self.one()
            found = cotangents(self.entry.program, self.primal.program.output, cotangent, self.value, self.primals)
            directions = self.entry.program.directions
            assert directions is not None
            if out is not None and not accumulate and self.entry.on_device(leaves := [*self.primals, *found]):
                return call_into(self.entry, leaves, out)
            return self.pull(found) if out is None else into(directions, self.pull(found), out, accumulate)
        except AdgenError as error:
            raise error.with_traceback(None) from None

    def one(self) -> float:
        """The cotangent of a result that is a number."""
        output = self.primal.program.output
        if isinstance(output, OutputLeaf) and output.rank is None:
            return 1.0
        shape = f"an array of shape {shape_of(self.value)}" if isinstance(output, OutputLeaf) else "no number"
        help = "pass one with the structure and shape of the result: pullback(np.ones(shape))"
        raise AdgenError(
            "AD155", f"the result is not a scalar but {shape}, so the pullback needs a cotangent", help=help
        )

    def pull(self, found: Sequence[Any]) -> Any:
        """The gradients for one cotangent a floating-point result, in the order of the compiled code."""
        return self.entry.run([*self.primals, *found])

    def zeros(self) -> list[Any]:
        """Cotangents that are all zero."""
        return cotangents(self.entry.program, self.primal.program.output, None, self.value, self.primals)

    def __repr__(self) -> str:
        return f"<pullback of {self.entry.program.function_name}>"
