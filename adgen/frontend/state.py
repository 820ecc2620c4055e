"""What a stretch of lowered code may change: the names of the current call and the containers made by the program.

A `State` is a snapshot; branches and loop bodies are lowered from a restored snapshot, and what differs afterwards is
joined (see `join`).  A *slot* is one place that can change: a name, or an item of a container.
"""

from __future__ import annotations

import dataclasses
import functools
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from adgen.frontend.values import Choice, Closure, Deferred, Maybe, Method, Number, instance_fields, is_iterator

if TYPE_CHECKING:
    from adgen.frontend.context import Context, Frame


NOT_INSTANCES = (
    type,
    types.ModuleType,
    types.FunctionType,
    types.MethodType,
    types.BuiltinFunctionType,
    functools.partial,
    np.ufunc,
    np.generic,
    BaseException,
)


Items = Callable[[Any], dict[Any, Any]]


@dataclass(frozen=True)
class Slot:
    """A name of the frame (`owner` 0) or an item of the container whose id is `owner`."""

    owner: int
    key: Any

    @property
    def name(self) -> str:
        """A hint for the IR value."""
        key = str(self.key)
        return key if key.isidentifier() else ""


@dataclass(eq=False)
class State:
    """The names and the container contents at one moment."""

    frame: Frame
    names: dict[str, Any]
    containers: dict[int, tuple[Any, dict[Any, Any]]]

    @staticmethod
    def capture(ctx: Context) -> State:
        """The present state."""
        containers: Found = {}
        seen: set[int] = set()
        for frame in ctx.frames if ctx.owned or ctx.scopes else ():
            of_scopes(ctx, frame, containers, seen)
        return State(ctx.frame, dict(ctx.frame.names), containers)

    def restore(self) -> None:
        """Make the present state equal to this one."""
        self.frame.names.clear()
        self.frame.names.update(self.names)
        for container, content in self.containers.values():
            fill(container, content)

    def slots(self) -> Iterator[tuple[Slot, Any]]:
        """Every slot with its value."""
        for name, value in self.names.items():
            yield Slot(0, name), value
        for owner, (_, content) in self.containers.items():
            for key, value in content.items():
                yield Slot(owner, key), value

    def items(self, value: Any) -> dict[Any, Any]:
        """The items of a structure by key, as they were at this moment."""
        return self.containers[id(value)][1] if id(value) in self.containers else items_of(value)

    def set(self, slot: Slot, value: Any) -> None:
        """Change a slot, here and at present."""
        if slot.owner == 0:
            self.names[slot.key] = value
            self.frame.names[slot.key] = value
            return
        container, content = self.containers[slot.owner]
        content[slot.key] = value
        fill(container, content)


Found = dict[int, tuple[Any, dict[Any, Any]]]


def of_scopes(ctx: Context, frame: Frame | None, found: Found, seen: set[int]) -> None:
    """Note what the variables of a frame, and of those around it, are or hold; and the variables if others set them."""
    while frame is not None and id(frame) not in seen:
        seen.add(id(frame))
        if id(frame.names) in ctx.scopes and frame is not ctx.frame:
            found[id(frame.names)] = (frame.names, dict(frame.names))
        for value in frame.names.values():
            collect(ctx, value, found, seen)
        frame = frame.parent


def parts(value: Any) -> Any:
    """What is behind a name that may not be bound; the candidates of a choice, as a tuple; any other value itself."""
    if isinstance(value, Maybe):
        value = value.value
    return tuple(value.candidates.values()) if isinstance(value, Choice) else value


def collect(ctx: Context, value: Any, found: Found, seen: set[int] | None = None) -> None:
    """Note every container of the program that a value is or holds, with its items; frames in `seen` have been."""
    seen = set() if seen is None else seen
    if isinstance(value, Closure) and ctx.scopes:
        of_scopes(ctx, value.frame, found, seen)
    value = bound_to(parts(value))
    if isinstance(value, tuple):
        for item in value:
            collect(ctx, item, found, seen)
    elif id(value) in ctx.owned and id(value) not in found:
        items = content_of(value)
        found[id(value)] = (value, items)
        for item in items.values():
            collect(ctx, item, found, seen)


def occurrences(ctx: Context, container: Any, value: Any, seen: set[int] | None = None) -> int:
    """How often a value is or holds a container; containers in `seen` have been looked at."""
    seen = set() if seen is None else seen
    value = parts(value)
    if value is container:
        return 1
    if isinstance(container, Number):
        if is_iterator(value):
            return 1  # what is left of it cannot be looked at
        value = bound_to(value)
    if isinstance(value, tuple):
        return sum(occurrences(ctx, container, item, seen) for item in value)
    if id(value) in ctx.owned and id(value) not in seen:
        seen.add(id(value))
        return sum(occurrences(ctx, container, item, seen) for item in content_of(value).values())
    return 0


def bound_to(value: Any) -> Any:
    """What a function holds that is kept, as a tuple; any other value itself."""
    if isinstance(value, Method):
        return (value.owner,)
    if isinstance(value, functools.partial):
        return (value.func, *value.args, *value.keywords.values())
    if isinstance(value, Deferred):
        return (value.closure,)
    if isinstance(value, Closure):
        return (*value.defaults, *value.keyword_defaults.values())
    return value


def references(ctx: Context, container: Any) -> int:
    """How many names and items hold a container at present."""
    seen: set[int] = set()
    frames, total = list(ctx.frames), 0
    visited: set[int] = set()
    while frames:
        frame = frames.pop()
        if id(frame) not in visited:
            visited.add(id(frame))
            total += sum(occurrences(ctx, container, value, seen) for value in frame.names.values())
            frames.extend([frame.parent] if frame.parent is not None else [])
    return total


def items_of(value: Any) -> dict[Any, Any]:
    """The items of a structure by key, at present."""
    return dict(enumerate(value)) if isinstance(value, tuple) else content_of(value)


def content_of(container: Any) -> dict[Any, Any]:
    """The items of a mutable container by key."""
    if isinstance(container, list):
        return dict(enumerate(container))
    if isinstance(container, dict):
        return dict(container)
    if isinstance(container, set):
        return dict.fromkeys(container, True)
    return instance_fields(container)


def fill(container: Any, content: dict[Any, Any]) -> None:
    """Give a container these items."""
    if isinstance(container, list):
        container[:] = list(content.values())
    elif isinstance(container, dict | set):
        container.clear()
        container.update(content)
    else:
        for name in instance_fields(container):
            if name not in content:
                object.__delattr__(container, name)
        for name, value in content.items():
            object.__setattr__(container, name, value)


def is_instance(value: Any) -> bool:
    """True for an instance of a user's class that may hold dynamic attributes."""
    if isinstance(value, NOT_INSTANCES):
        return False
    return dataclasses.is_dataclass(value) or hasattr(value, "__dict__")
