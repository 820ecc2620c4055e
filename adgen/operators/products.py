"""The operators that are one call of compiled code: value, gradient, and products with a direction."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from types import MethodType
from typing import Any

from adgen.diagnostics import AdgenError
from adgen.operators.core import Operator, dressed, function_of
from adgen.operators.targets import Target
from adgen.runtime.bound import NOWHERE, bindable, call_into
from adgen.runtime.directions import tangents
from adgen.runtime.programs import TANGENT
from adgen.runtime.pullback import Pullback, leaves_of
from adgen.runtime.shortway import ShortWay, has_short_way

Function = Callable[..., Any]
Trace = bool | None


def plain_operator(function: Function, product: str, wrt: Any = None, memory: str | int | None = None) -> Function:
    """`jit`, `grad` or `value_and_grad` of a function."""
    return function_of(Operator(function, product, wrt, memory))


def traced(function: Function, trace_nan: Trace) -> Function:
    """The function, of which whatever an operator makes tells what is the first to make a NaN or an infinity.

    None: if the environment variable says so.
    """
    if trace_nan is None:
        trace_nan = os.environ.get("ADGEN_TRACE_NAN", "") not in ("", "0")
    if not trace_nan:
        return function
    target = Target(function)
    made = plain_operator(target.function, "traced")
    return MethodType(made, *target.first) if target.first else made


def tangent_operator(function: Function, product: str, wrt: Any = None, memory: str | int | None = None) -> Function:
    """`jvp` or `hvp` of a function: it takes `tangent` besides the function's own arguments."""
    operator = Operator(function, product, wrt, memory)

    def slow(given: tuple[Any, ...], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        try:
            return along(operator, given, args, kwargs)
        except AdgenError as error:
            raise error.with_traceback(None) from None

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return slow((), args, kwargs)

    if has_short_way(operator.signature) and not operator.target.first and TANGENT not in operator.signature.parameters:
        operator.short = ShortWay(operator.signature, slow, (TANGENT,))
        wrapper = operator.short.function
    return bindable(dressed(wrapper, operator), operator.bind)


def along(operator: Operator, given: tuple[Any, ...], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """One product with a tangent, which is among the keywords; `given` is how the short way sees the arguments."""
    own, out = operator.without_out(kwargs)
    if TANGENT not in own:
        raise operator.no_tangent()
    tangent = own.pop(TANGENT)
    arguments = operator.arguments(args, own)
    entry = operator.entry_for(arguments)
    primals = leaves_of(entry, arguments, allowed=True)
    directions = tangents(entry.program, tangent, primals)
    if operator.short is not None and len(given) == len(arguments) + 1:
        operator.short.learn_along(entry, operator.specs(arguments), arguments, given)
    if out is not NOWHERE:
        return call_into(entry, [*primals, *directions], out)
    return entry.run([*primals, *directions])


def vjp_operator(function: Function, wrt: Any = None, memory: str | int | None = None) -> Function:
    """`vjp` of a function: the value and its pullback."""
    operator = Operator(function, "vjp", wrt, memory)

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        try:
            pullback = pulled(operator, operator.arguments(args, kwargs))
        except AdgenError as error:
            raise error.with_traceback(None) from None
        return pullback.value, pullback

    return dressed(wrapper, operator)


def pulled(operator: Operator, arguments: Mapping[str, Any]) -> Pullback:
    """The pullback at some arguments."""
    primal, entry = operator.entry_at(arguments, "pure"), operator.entry_at(arguments, "vjp")
    primals = leaves_of(primal, arguments, allowed=True)
    return Pullback(primal, entry, primal.run(primals), primals, operator.target.function)
