"""`custom_vjp` and `custom_jvp`: functions with derivative rules that their author gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adgen.frontend.rules import Rules, with_rules

Function = Callable[..., Any]


def custom_vjp(function: Function, vjp: Function | None = None, *, forward: Function | None = None) -> Function:
    """The function with a reverse rule of its own.

    `vjp(*args, out, cotangent)` gives a cotangent for every argument: bare for one argument, else a tuple with None for
    arguments that have none.  With `forward`, which gives `(out, saved)`, the rule is `vjp(saved, cotangent)`, and
    `saved` may be any structure of numbers and arrays.  The rule's own derivative is taken for second derivatives, with
    that of `forward` for what is saved, and its transpose in forward mode.

    Without `vjp` a decorator, whose function is given its rule by `f.defvjp(forward, vjp)`, as in JAX.

    Raises AdgenError when a rule does not take these arguments; wrong numbers of cotangents and wrong shapes are errors
    where the derivative is first made.
    """
    if vjp is not None:
        return with_rules(function, Rules(forward or function, vjp=vjp, saves=forward is not None))
    wrapper = with_rules(function, Rules(function))

    def defvjp(forward: Function, vjp: Function) -> None:
        rules = Rules(forward, vjp=vjp, saves=True)
        wrapper.__adgen_rules__ = with_rules(function, rules).__adgen_rules__  # type: ignore[attr-defined]

    wrapper.defvjp = defvjp  # type: ignore[attr-defined]
    return wrapper


def custom_jvp(function: Function, jvp: Function) -> Function:
    """The function with a forward rule of its own.

    `jvp(*args, out, tangent)` gives the tangent of the result; `tangent` is that of the argument, or a tuple with one
    for every argument, None for those that have none.  Reverse mode takes the rule's transpose.

    Raises AdgenError when the rule does not take these arguments.
    """
    return with_rules(function, Rules(function, jvp=jvp))
