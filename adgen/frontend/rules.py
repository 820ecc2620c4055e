"""Functions with derivative rules of their own, as Python sees them.

Comes in: a function and its rules.  Goes out: a function that does the same in Python and carries a `Rules`, by which
the front end knows it.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from adgen.diagnostics import AdgenError
from adgen.frontend import library

Function = Callable[..., Any]
Watch = Callable[[Function, tuple[Any, ...], dict[str, Any]], None]
_watch: ContextVar[Watch | None] = ContextVar("watch", default=None)
_plain: ContextVar[bool] = ContextVar("plain", default=False)


@dataclass(frozen=True, eq=False)
class Rules:
    """`vjp(*args, out, cotangent)` gives a cotangent for every argument, `jvp(*args, out, tangent)` that of the result.

    With `saves` the function gives `(out, saved)`, and the rule is `vjp(saved, cotangent)`.
    """

    function: Function
    vjp: Function | None = None
    jvp: Function | None = None
    saves: bool = False


def rules_of(callee: Any) -> Rules | None:
    """The rules that a function carries."""
    found = getattr(callee, "__adgen_rules__", None)
    return found if isinstance(found, Rules) else None


def with_rules(function: Function, rules: Rules) -> Function:
    """A function that does what `function` does and carries rules.

    Raises AdgenError when a rule cannot take what it will be given.
    """
    check_rules(function, rules)

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        watch = _watch.get()
        if watch is not None:
            watch(wrapper, args, kwargs)
        return function(*args, **kwargs)

    wrapper.__adgen_rules__ = rules  # type: ignore[attr-defined]
    return wrapper


def check_rules(function: Function, rules: Rules) -> None:
    """Raise AdgenError when a rule of a function cannot take what it will be given."""
    count = len(inspect.signature(function).parameters)
    for rule, what in ((rules.vjp, "vjp"), (rules.jvp, "jvp")):
        if rule is not None:
            _check_arity(rule, 2 if rules.saves else count + 2, what, function)


@contextmanager
def watched(watch: Watch) -> Iterator[None]:
    """Within it, Python's calls of functions with rules are told before they are made: function and arguments."""
    token = _watch.set(watch)
    try:
        yield
    finally:
        _watch.reset(token)


@contextmanager
def without_rules() -> Iterator[None]:
    """Within it, functions are lowered without the rules that users gave: their derivatives are those of their text."""
    token = _plain.set(True)
    try:
        yield
    finally:
        _plain.reset(token)


def in_force(rules: Rules) -> bool:
    """True unless these rules are to be left out."""
    return not _plain.get() or of_library(rules)


def of_library(rules: Rules) -> bool:
    """True for the rules that come with an algorithm of the library, or with `hook` and its like."""
    code = getattr(inspect.unwrap(rules.vjp or rules.jvp or rules.function), "__code__", None)
    return code is not None and library.holds(code.co_filename)  # a C function has no code of Python's


def _check_arity(rule: Function, count: int, what: str, function: Function) -> None:
    try:
        inspect.signature(rule).bind(*[None] * count)
    except TypeError:
        name = getattr(function, "__name__", str(function))
        raise AdgenError(
            "AD147",
            f"the {what} rule of `{name}` must take {count} arguments",
            None,
            f"see the documentation of `custom_{what}` for what it is called with",
        ) from None
