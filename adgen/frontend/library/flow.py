"""What decides about derivatives and leaves values alone: in Python these functions give a copy of their argument."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable
from typing import Any

from adgen.sizes import bytes_of


def checkpoint(target: Any, memory: str | int | None = 0) -> Any:
    """What `target` is: a function, or what a `for` runs over.  It is run again by the reverse sweep, not recorded.

    `for t in adgen.checkpoint(range(n)):` keeps the state of the loop at some of its steps and runs the steps between
    them a second time; all is recorded where that takes no more than `memory` (`"256MB"`, or bytes).  Of a function,
    also as a decorator, what it is given is kept.  Derivatives are the same to rounding.
    """
    limit = bytes_of(memory)
    return recomputed(target, limit) if callable(target) else target


def recomputed(target: Callable[..., Any], limit: int | None) -> Callable[..., Any]:
    """A function as the one step of a loop that is run again."""

    @functools.wraps(target)
    def again(*args: Any, **kwargs: Any) -> Any:
        for _ in checkpoint(range(1), limit):
            result = target(*args, **kwargs)
        return result

    return again


def stop_gradient(x: Any) -> Any:
    """A copy of `x` that counts as a constant: no derivative passes, in any mode and at any order.

    `x` is a number, an array, or a structure of them.
    """
    return copy.deepcopy(x)


def tap(y: Any, name: str) -> Any:
    """A copy of `y`, a number or an array, that `wrt` can name as if it were a parameter.

    With `y = adgen.tap(..., "y")` in `f`, `adgen.grad(f, wrt=("x", "y"))` gives the derivative for `y` too.  It is the
    sum over all places with this name, and over all times that they were passed.
    """
    return copy.deepcopy(y)


def hook(y: Any, rule: Callable[[Any], Any]) -> Any:
    """A copy of `y`, a number or an array, whose cotangent is what `rule` makes of it in the reverse sweep.

    `rule` is a function of the cotangent that is compiled with the rest; it may read variables around it.  In plain
    Python it is not called.  Forward mode takes the transpose of a rule that is linear, and refuses others.
    """
    return copy.deepcopy(y)
