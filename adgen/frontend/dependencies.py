"""What a lowered function depends on besides its own text: the functions it calls and the values it reads.

A `Dependency` is a path from the target function (`("global", "helper"), ("global", "SCALE")`) and a fingerprint of
what was found there, so that a cached result can be checked again, in another process too.
"""

from __future__ import annotations

import dataclasses
import hashlib
import sys
import types
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Step = tuple[str, Any]
Route = tuple[Step, ...]
MISSING = object()
NOTHING: dict[str, Any] = {}  # one object: namespaces are told apart by identity


@dataclass(frozen=True)
class Dependency:
    """The value at the end of `route`, starting from the target function, had this fingerprint."""

    route: Route
    fingerprint: str
    root: Any = field(default=None, compare=False, repr=False)

    def current(self, root: Any = None) -> bool:
        """True when the same thing is still there."""
        value = follow(root if root is not None else self.root, self.route)
        return value is not MISSING and fingerprint(value) == self.fingerprint

    def __str__(self) -> str:
        return ".".join(str(name) for _, name in self.route)


def follow(root: Any, route: Route) -> Any:
    """The value at the end of a route, or MISSING."""
    value = root
    for kind, key in route:
        try:
            if kind == "global":
                value = namespace_of(value)[key]
            elif kind == "cell":
                names = value.__code__.co_freevars
                value = value.__closure__[names.index(key)].cell_contents
            elif kind == "attribute":
                value = getattr(value, key)
            else:
                value = value[key]
        except (AttributeError, KeyError, IndexError, TypeError, ValueError):
            return MISSING
    return value


def namespace_of(value: Any) -> dict[str, Any]:
    """The names of the module that a function, a class, an instance or a module belongs to."""
    function = getattr(value, "__func__", value)
    if isinstance(function, types.FunctionType):
        return function.__globals__
    if isinstance(value, types.ModuleType):
        return value.__dict__
    owner = value if isinstance(value, type) else type(value)
    return getattr(sys.modules.get(owner.__module__), "__dict__", NOTHING)


def fingerprint(value: Any) -> str:
    """A digest that is equal for values that mean the same to a compiled function."""
    digest = hashlib.sha256()
    _feed(digest, value, ())
    return digest.hexdigest()[:32]


def _feed(digest: Any, value: Any, seen: tuple[int, ...]) -> None:
    def put(*parts: Any) -> None:
        for part in parts:
            digest.update(part if isinstance(part, bytes) else str(part).encode())
            digest.update(b"\0")

    if id(value) in seen or len(seen) > 12:
        put("cycle")
        return
    seen = (*seen, id(value))
    put(type(value).__module__, type(value).__qualname__)
    if value is None or isinstance(value, bool | int | float | complex | str | bytes | np.generic):
        put(repr(value))
    elif isinstance(value, np.ndarray):
        put(value.dtype.str, value.shape, np.ascontiguousarray(value).tobytes())
    elif isinstance(value, tuple | list):
        put(len(value))
        for item in value:
            _feed(digest, item, seen)
    elif isinstance(value, set | frozenset):
        put(*sorted(repr(item) for item in value))
    elif isinstance(value, dict):
        for key, item in value.items():
            put(repr(key))
            _feed(digest, item, seen)
    elif isinstance(value, types.FunctionType):
        _feed(digest, value.__code__, seen)
        _feed(digest, value.__defaults__, seen)
        _feed(digest, value.__kwdefaults__, seen)
        operator = getattr(value, "__adgen__", None)
        if operator is not None:
            put(operator.product, operator.wrt, operator.memory)
        rules = getattr(value, "__adgen_rules__", None)
        if rules is not None:
            _feed(digest, (rules.function, rules.vjp, rules.jvp, rules.saves), seen)
        if hasattr(value, "__wrapped__"):
            _feed(digest, value.__wrapped__, seen)
    elif isinstance(value, types.CodeType):
        put(value.co_filename, value.co_firstlineno, value.co_code, value.co_names, value.co_varnames)
        put(value.co_freevars, value.co_flags)
        for constant in value.co_consts:
            _feed(digest, constant, seen)
    elif isinstance(value, types.MethodType):
        _feed(digest, value.__func__, seen)
        _feed(digest, value.__self__, seen)
    elif isinstance(value, types.ModuleType):
        put(value.__name__)
    elif isinstance(value, type):
        _feed_class(digest, value, seen, put)
    elif callable(value) and not _attributes(value):
        put(getattr(value, "__module__", ""), getattr(value, "__qualname__", repr(type(value))))
    else:
        inner = getattr(value, "__wrapped__", None) or getattr(value, "py_func", None)
        if inner is not None:
            _feed(digest, inner, seen)
            return
        for name in sorted(_attributes(value)):
            put(name)
            _feed(digest, getattr(value, name, None), seen)


def _feed_class(digest: Any, value: type, seen: tuple[int, ...], put: Any) -> None:
    put(value.__module__, value.__qualname__)
    if value.__module__.partition(".")[0] in ("builtins", "numpy"):
        return
    for name, member in sorted(vars(value).items()):
        function = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
        if isinstance(function, types.FunctionType):
            put(name)
            _feed(digest, function.__code__, seen)


def _attributes(value: Any) -> list[str]:
    declared = [getattr(kind, "__slots__", ()) for kind in type(value).__mro__]
    slots = [slot for each in declared for slot in ((each,) if isinstance(each, str) else each)]
    if slots or hasattr(value, "__dict__"):
        return [*slots, *getattr(value, "__dict__", ())]
    return [f.name for f in dataclasses.fields(value)] if dataclasses.is_dataclass(value) else []
