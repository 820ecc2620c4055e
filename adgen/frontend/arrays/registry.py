"""Which NumPy function is expanded by what.

An expansion is a Python function `(ctx, *arguments)` with the parameters of the NumPy function that it supports; any
other argument is refused by name.  `function` finds it by the function object, `method` by the name of the method.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from adgen.frontend import scalars

if TYPE_CHECKING:
    from adgen.frontend.context import Context

Expansion = Callable[..., Any]
F = TypeVar("F", bound=Expansion)

FUNCTIONS: dict[Any, Expansion] = {}
METHODS: dict[str, Expansion] = {}

HELP = "write it with loops or with supported functions (docs/supported.md lists them)"


def expands(*callables: Any, method: str = "") -> Callable[[F], F]:
    """Register an expansion for NumPy functions, and for a method of arrays."""

    def register(expansion: F) -> F:
        for callable_ in callables:
            if callable_ is not None:
                FUNCTIONS[callable_] = bound(getattr(callable_, "__name__", "function"), expansion)
        if method:
            METHODS[method] = bound(method, expansion)
        return expansion

    return register


def bound(name: str, expansion: Expansion) -> Expansion:
    """The expansion, with a diagnostic for arguments that it does not take."""
    signature = inspect.signature(expansion)

    def call(ctx: Context, *arguments: Any, **keywords: Any) -> Any:
        try:
            signature.bind(ctx, *arguments, **keywords)
        except TypeError as error:
            unknown = [key for key in keywords if key not in signature.parameters]
            what = f"the argument `{unknown[0]}` is not supported" if unknown else str(error)
            ctx.fail("AD234", f"`{name}`: {what}")
        return expansion(ctx, *arguments, **keywords)

    call.__name__ = name
    call.__doc__ = expansion.__doc__
    return call


def function(callable_: Any) -> Expansion | None:
    """The expansion of a NumPy function; a refusal for NumPy functions that there is none for; None for all others."""
    try:
        if callable_ in FUNCTIONS:
            return FUNCTIONS[callable_]
    except TypeError:  # not hashable
        return None
    if isinstance(callable_, type) or not callable(callable_) or scalars.supported(callable_):
        return None
    module = module_of(callable_)
    return refusal(callable_, module) if module.split(".")[0] == "numpy" else None


def method(name: str) -> Expansion | None:
    """The expansion of a method of arrays."""
    return METHODS.get(name)


def module_of(callable_: Any) -> str:
    """The module that a function belongs to."""
    owner = getattr(callable_, "__self__", None)
    if owner is not None and not inspect.ismodule(owner):
        kind = owner if isinstance(owner, type) else type(owner)
        return str(kind.__module__)
    return str(getattr(callable_, "__module__", None) or "")


def refusal(callable_: Any, module: str) -> Expansion:
    """An expansion that says that a NumPy function is not supported."""
    name = getattr(callable_, "__name__", str(callable_))

    def refuse(ctx: Context, *arguments: Any, **keywords: Any) -> Any:
        if module.startswith("numpy.random"):
            help = "draw the numbers outside and pass them as an argument"
            ctx.fail("AD235", f"`np.random.{name}` gives other numbers at every call: random numbers", help)
        package = next((part for part in ("fft", "linalg", "polynomial") if part in module.split(".")), "")
        ctx.fail("AD236", f"`np.{package + '.' if package else ''}{name}` is not supported", HELP)

    return refuse
