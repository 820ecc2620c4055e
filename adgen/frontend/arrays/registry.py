"""Which NumPy function is expanded by what.

An expansion is a Python function `(ctx, *arguments)` with the parameters of the NumPy function that it supports; any
other argument is refused by name.  `function` finds it by the function object, `method` by the name of the method.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from adgen.frontend import scalars
from adgen.frontend.values import is_static

if TYPE_CHECKING:
    from adgen.frontend.context import Context

Expansion = Callable[..., Any]
F = TypeVar("F", bound=Expansion)

FUNCTIONS: dict[Any, Expansion] = {}
METHODS: dict[str, Expansion] = {}
SCIPY: dict[str, Expansion] = {}  # by name, so that SciPy need not be there

DATA_DEPENDENT = {"roots"}
MASKS = "use `np.where(condition, a, b)`, or reduce what a mask picks: `np.sum(x[x > 0])`"
STATIC_ONLY = frozenset(
    """
    hanning hamming blackman bartlett kaiser triu_indices tril_indices diag_indices geomspace vander unique nonzero
    flatnonzero argwhere lexsort partition bincount polyfit poly polyder polyint unravel_index ravel_multi_index
    result_type promote_types can_cast spacing
    """.split()  # noqa: SIM905 - shorter
)
HELP = "write it with loops or with supported functions"


def expands(*callables: Any, method: str = "", scipy: str = "") -> Callable[[F], F]:
    """Register an expansion for NumPy functions, for a method of arrays, and for a function of SciPy by its name."""
    originals = [callable_ for callable_ in callables if callable_ is not None]

    def register(expansion: F) -> F:
        for callable_ in originals:
            FUNCTIONS[callable_] = bound(getattr(callable_, "__name__", "function"), expansion, callable_)
        if method:
            METHODS[method] = bound(method, expansion, originals[0] if originals else None)
        if scipy:
            SCIPY[scipy] = expansion
        return expansion

    return register


def fixed(ctx: Context, name: str, **options: Any) -> None:
    """Refuse options of a function that are not known when compiling."""
    for key, value in options.items():
        if not is_static(value):
            ctx.fail_dynamic("AD222", f"`{name}`: the argument `{key}` must be known when compiling")


def bound(name: str, expansion: Expansion, original: Any = None) -> Expansion:
    """The expansion, called with NumPy's order of arguments, and a diagnostic for arguments that it does not take."""
    signature = inspect.signature(expansion)
    mine = list(signature.parameters)[1:]
    theirs = _parameters(original)

    def call(ctx: Context, *arguments: Any, **keywords: Any) -> Any:
        positional, named = _reordered(ctx, name, mine, theirs, arguments, keywords)
        out = None if "out" in mine else named.pop("out", None)
        try:
            signature.bind(ctx, *positional, **named)
        except TypeError as error:
            ctx.fail("AD234", f"`{name}`: {error}")
        result = expansion(ctx, *positional, **named)
        if out is None:
            return result
        from adgen.frontend.arrays.ufuncs import received

        return received(ctx, name, out, result)

    call.__name__ = name
    call.expansion = expansion  # type: ignore[attr-defined]
    call.__doc__ = expansion.__doc__
    return call


def _parameters(original: Any) -> dict[str, Any]:
    """The parameters of a NumPy function with their defaults, in order; none when they cannot be told."""
    try:
        parameters = inspect.signature(original).parameters.values()
    except (TypeError, ValueError):
        return {}
    if any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters):
        return {}
    return {parameter.name: parameter.default for parameter in parameters}


def _reordered(
    ctx: Context,
    name: str,
    mine: list[str],
    theirs: dict[str, Any],
    arguments: tuple[Any, ...],
    keywords: dict[str, Any],
) -> tuple[list[Any], dict[str, Any]]:
    """NumPy's arguments as an expansion's: what it does not have may only be given its default."""
    positional: list[Any] = []
    named: dict[str, Any] = {}
    order = list(theirs)
    for k, value in enumerate(arguments):
        their = order[k] if k < len(order) else None
        my = mine[k] if k < len(mine) else None
        alike = their is None or their == my or (their not in mine and my is not None and my not in theirs)
        if alike and not named and len(positional) == k:
            positional.append(value)
        elif their in mine or their == "out":
            named[str(their)] = value
        else:
            _only_default(ctx, name, str(their), theirs, value)
    for key, value in keywords.items():
        if key in mine or key == "out" or not theirs:
            named[key] = value
        else:
            _only_default(ctx, name, key, theirs, value)
    return positional, named


def _only_default(ctx: Context, name: str, key: str, theirs: dict[str, Any], value: Any) -> None:
    default = theirs.get(key)
    if value is None or value is default or (type(value) is type(default) and value == default):
        return
    ctx.fail("AD234", f"`{name}`: the argument `{key}` is not supported")


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
    if module.startswith("scipy."):
        return _of_scipy(callable_, module)
    return refusal(callable_, module) if module.split(".")[0] == "numpy" else None


def _of_scipy(callable_: Any, module: str) -> Expansion | None:
    """The expansion of a public function of SciPy, or of a method of one of its distributions."""
    package, name = module.split(".")[1], getattr(callable_, "__name__", "")
    public, owner = sys.modules.get(f"scipy.{package}"), getattr(callable_, "__self__", None)
    for kind in type(callable_ if owner is None else owner).__mro__:
        expansion = SCIPY.get(f"{package}.{kind.__name__}{'()' if owner is None else f'.{name}'}")
        if expansion is not None and getattr(public, kind.__name__, None) is kind:
            instance = callable_ if owner is None else owner
            return bound(kind.__name__, functools.partial(_of_instance, expansion, instance), None)
    path, found = (name, callable_) if owner is None else (getattr(owner, "name", ""), owner)
    if not isinstance(path, str) or getattr(public, path, None) is not found:
        return None
    expansion = SCIPY.get(f"{package}.{name}" if owner is None else f"{package}.{path}.{name}")
    return None if expansion is None else bound(name, expansion, callable_)


def _of_instance(expansion: Expansion, instance: Any, ctx: Context, *args: Any, **kwargs: Any) -> Any:
    """An expansion of what an object of SciPy does."""
    return expansion(ctx, instance, *args, **kwargs)


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
        if name in DATA_DEPENDENT:
            ctx.fail("AD233", f"`np.{name}`: the shape of its result depends on the data", MASKS)
        package = next((part for part in ("fft", "linalg", "polynomial") if part in module.split(".")), "")
        ctx.fail("AD236", f"`np.{package + '.' if package else ''}{name}` is not supported", HELP)

    return refuse


def static_only(callable_: Any) -> bool:
    """True for a NumPy function that is computed when compiling, if its arguments are known then."""
    name = getattr(callable_, "__name__", "")
    return name in STATIC_ONLY and callable_ not in FUNCTIONS and getattr(np, name, None) is callable_
