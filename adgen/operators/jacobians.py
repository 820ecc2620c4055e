"""Whole matrices of derivatives, each of them one call of compiled code.

Comes in: a function and its arguments.  Goes out: for each result and each parameter an array of shape
`result.shape + parameter.shape`.  Guaranteed: both modes give the same layout; a Hessian is the Jacobian of a gradient.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from typing import Any, Literal

import numpy as np

from adgen.diagnostics import AdgenError
from adgen.operators.core import Operator, dressed
from adgen.operators.products import plain_operator
from adgen.runtime.bound import bindable
from adgen.runtime.placement import is_device_array, shape_of
from adgen.runtime.pullback import leaves_of
from adgen.runtime.trees import flatten

Function = Callable[..., Any]
Mode = Literal["forward", "reverse", "best"]
PLAIN = (np.ndarray, float, int, bool)
KEPT = 1000  # decisions
FEW = 4  # so few inputs that columns are cheaper than finding out how many results there are


def jacobian_operator(function: Function, mode: Mode, wrt: Any = None) -> Function:
    """`jacfwd`, `jacrev` or `jacobian` of a function."""
    if mode != "best":
        return plain_operator(function, "jacfwd" if mode == "forward" else "jacrev", wrt)
    operator = Operator(function, "jacobian", wrt)
    # one of the two is compiled, where `jacobian` itself would hold both
    ways = plain_operator(function, "jacrev", wrt), plain_operator(function, "jacfwd", wrt)
    known: dict[Any, Function] = {}

    def way(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        own = operator.signature.parameters
        inputs = {name: value for name, value in kwargs.items() if name != "out" or name in own}
        return ways[prefers_columns(operator, operator.arguments(args, inputs))]

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        key = None if kwargs else sizes(args)
        chosen = None if key is None else known.get(key)
        if chosen is None:
            try:
                chosen = way(args, kwargs)
            except AdgenError as error:
                raise error.with_traceback(None) from None
            if key is not None:
                if len(known) >= KEPT:
                    known.clear()
                known[key] = chosen
        return chosen(*args, **kwargs)

    def bind(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Callable[[], Any]:
        bound: Callable[[], Any] = way(args, kwargs).bind(*args, **kwargs)
        return bound

    return bindable(dressed(wrapper, operator), bind)


def sizes(args: tuple[Any, ...]) -> Any:
    """What decides how many inputs and results there are; None where that is not plain to see."""
    found: list[Any] = []
    for x in args:
        kind = type(x)
        if kind in PLAIN:
            found.append(x.shape if kind is np.ndarray else x if kind is int else None)
        elif is_device_array(x):
            found.append(shape_of(x))
        else:
            return None
    return tuple(found)


def hessian_operator(function: Function, wrt: Any = None) -> Function:
    """`hessian` of a function of one number: the columns are Hessian-vector products."""
    return plain_operator(function, "hessian", wrt)


def prefers_columns(operator: Operator, arguments: Mapping[str, Any]) -> bool:
    """True when forward mode is the cheaper way to the whole Jacobian."""
    from adgen.passes.matrices import ROW_COST
    from adgen.runtime.differentiate import differentiated

    pure = operator.entry_at(arguments, "pure")
    primals = leaves_of(pure, arguments, allowed=True)
    places = differentiated(pure.program.leaves, operator.resolved(operator.specs(arguments)))
    inputs = sum(prod(shape_of(primals[position])) for position in places)
    if inputs <= FEW:
        return True
    value = pure.run(primals)
    outputs = sum(prod(shape_of(part)) for _, part, _ in flatten(pure.program.output, value, "value"))
    return inputs <= ROW_COST * outputs
