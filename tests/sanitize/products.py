"""Every product of a function, made and called once.

Comes in: a subject.  Goes out: for each product whether its compiled code ran to its end, raised what the function
raises, or was refused before it ran; anything else is an error of adgen or of these tests, `broken`.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

import adgen
from tests.sanitize.subjects import Subject

ALWAYS = ("value", "grad", "jvp", "vjp")
RAN, RAISED, REFUSED, BROKEN = "ran", "raised", "refused", "broken"
RUNTIME = "AD6"  # the codes of what happens while compiled code runs


def outcomes(subject: Subject) -> Iterator[tuple[str, str, str]]:
    """The product, what became of it, and the first line of the message when that is not the result."""
    for product in dict.fromkeys((*ALWAYS, *subject.products)):
        yield product, *outcome(subject, product)
    if subject.between is not None:
        subject.between()
        for product in subject.products:
            yield f"{product} again", *outcome(subject, product)


def outcome(subject: Subject, product: str) -> tuple[str, str]:
    """What became of one product."""
    how, said = ended(lambda: call(subject, product))
    return how, "" if how == RAN else said


def ended(call: Callable[[], Any]) -> tuple[str, Any]:
    """How a call ends: with what it gives, or with a message."""
    try:
        return RAN, call()
    except adgen.AdgenError as error:
        return RAISED if error.code.startswith(RUNTIME) else REFUSED, first_line(error)
    except Exception as error:
        return BROKEN, first_line(error)


def first_line(error: Exception) -> str:
    """The exception and how its message begins."""
    return f"{type(error).__name__}: {error}".splitlines()[0]


def call(subject: Subject, product: str) -> Any:
    """Make one product and call it."""
    return called(subject, product, operator(subject, product))


def operator(subject: Subject, product: str) -> Callable[..., Any]:
    """One product of a function, which is compiled when it is called."""
    made: Callable[..., Any]
    if product == "value":
        made = adgen.jit(subject.function)
    else:
        made = getattr(adgen, product)(subject.function, wrt=parameters(subject))
    return made


def called(subject: Subject, product: str, made: Callable[..., Any]) -> Any:
    """What a product gives for the arguments of its subject."""
    arguments, keywords = subject.arguments()
    if product in ("jvp", "hvp"):
        tangent = subject.given.get("tangent")
        if tangent is None:
            tangent = ones_of_parameters(subject, parameters(subject))
        return made(*arguments, tangent=tangent, **keywords)
    if product == "vjp":
        value, pullback = made(*arguments, **keywords)
        return pullback(subject.given.get("cotangent", ones(value)))
    return made(*arguments, **keywords)


def parameters(subject: Subject) -> Any:
    """What to differentiate for."""
    return subject.wrt if subject.wrt is not None else floating(subject)


def bound(subject: Subject) -> dict[str, Any]:
    """The arguments by parameter name, defaults included; none when they do not fit, which some cases want."""
    arguments, keywords = subject.arguments()
    try:
        found = inspect.signature(subject.function).bind(*arguments, **keywords)
    except TypeError:
        return {}
    found.apply_defaults()
    return dict(found.arguments)


def floating(subject: Subject) -> list[str]:
    """The parameters that hold floating-point numbers."""
    return [name for name, value in bound(subject).items() if has_floats(value)]


def has_floats(value: Any) -> bool:
    """True when some part of a value is a floating-point number."""
    if isinstance(value, tuple | list | dict):
        return any(has_floats(item) for item in (value.values() if isinstance(value, dict) else value))
    if dataclasses.is_dataclass(value):
        return any(has_floats(getattr(value, f.name)) for f in dataclasses.fields(value))
    return isinstance(value, float | np.floating) or (isinstance(value, np.ndarray) and value.dtype.kind == "f")


def ones_of_parameters(subject: Subject, wrt: Any) -> Any:
    """A tangent: ones in the structure of what `wrt` names."""
    values = bound(subject)
    by_key = {**values, **dict(enumerate(values.values()))}
    if isinstance(wrt, Sequence) and not isinstance(wrt, str):
        return [ones(by_key.get(item)) for item in wrt]
    return ones(by_key.get(wrt))


def ones(value: Any) -> Any:
    """Ones in the structure of a value; instances become dicts."""
    if hasattr(value, "_fields"):
        return type(value)(*map(ones, value))
    if isinstance(value, tuple | list):
        return type(value)(map(ones, value))
    if isinstance(value, dict):
        return {key: ones(item) for key, item in value.items()}
    if dataclasses.is_dataclass(value):
        return {f.name: ones(getattr(value, f.name)) for f in dataclasses.fields(value)}
    return np.ones_like(value, dtype=float) if isinstance(value, np.ndarray) else 1.0
