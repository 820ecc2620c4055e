"""What operators can be applied to: functions, methods, objects that can be called, other operators."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from adgen.diagnostics import AdgenError


class Target:
    """The Python function to compile, and the arguments that come before the user's: a method's own object."""

    def __init__(self, original: Any) -> None:
        self.original = original
        self.function, self.first = _split(original)


def _split(original: Any) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    if not callable(original):
        raise AdgenError(
            "AD128",
            f"a {type(original).__name__} cannot be differentiated: it is not a function",
            help="pass the function itself, without calling it",
        )
    if inspect.ismethod(original):
        return original.__func__, (original.__self__,)
    if isinstance(original, type):
        raise AdgenError("AD128", f"the class `{original.__name__}` cannot be differentiated", help="pass a function")
    if inspect.isfunction(original) or isinstance(original, functools.partial) or hasattr(original, "__wrapped__"):
        return original, ()
    if hasattr(original, "__adgen_rules__"):  # a C function
        return original, ()
    call = getattr(type(original), "__call__")  # noqa: B004, B009  # the class's own, not what an instance hides it with
    if inspect.isfunction(call):
        return call, (original,)
    return original, ()


def operator_of(function: Any) -> Any:
    """The operator behind a function that one made, or None."""
    return getattr(function, "__adgen__", None)
