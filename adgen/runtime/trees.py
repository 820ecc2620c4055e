"""The structure of results: which flat result of compiled code goes where.

Works on the front end's `OutputTree`.  Comes in: a tree, perhaps a value of that structure.  Goes out: other trees, or
the value's parts in the order of the leaves.  Guaranteed: a value of another structure is a ValueError that says where.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from adgen.frontend.specs import (
    ComplexArray,
    OutputConstant,
    OutputLeaf,
    OutputStruct,
    OutputTree,
    Spec,
    StaticSpec,
    StructSpec,
    rebuild,
)


@lru_cache(maxsize=256)
def named_tuple(names: tuple[str, ...]) -> type[tuple[Any, ...]]:
    """The NamedTuple type of the gradients for these parameters, whose names may start with an underscore."""
    kind = _renamed(names)
    fields: tuple[str, ...] = kind._fields  # type: ignore[attr-defined]
    if fields == names:
        return kind
    members: dict[str, Any] = {
        name: getattr(kind, field) for name, field in zip(names, fields) if not hasattr(kind, name)
    }
    return type("Gradient", (kind,), {**members, "__slots__": (), "__repr__": _written_out, "_fields": names})


def _renamed(names: tuple[str, ...]) -> type[tuple[Any, ...]]:
    return namedtuple("Gradient", names, rename=True)  # the names are known at run time only


def _written_out(gradient: Any) -> str:
    pairs = ", ".join(f"{name}={value!r}" for name, value in zip(gradient._fields, gradient))
    return f"Gradient({pairs})"


def container(kind: type, items: Sequence[OutputTree]) -> OutputStruct:
    """A tuple, list or NamedTuple of trees."""
    return OutputStruct(kind, tuple(enumerate(items)))


def mapped(tree: OutputTree, change: Callable[[OutputLeaf], OutputTree]) -> OutputTree:
    """The tree with every leaf replaced."""
    if isinstance(tree, OutputLeaf):
        return change(tree)
    if isinstance(tree, OutputStruct):
        return OutputStruct(tree.kind, tuple((key, mapped(item, change)) for key, item in tree.items))
    return tree


def spec_tree(spec: Spec, leaf: Callable[[], OutputTree | None]) -> OutputTree | None:
    """The tree of a gradient: like the argument, instances and dicts as dicts of what has a derivative.

    `leaf()` gives the tree for the next scalar or array of the argument; None where there is no derivative.
    """
    if isinstance(spec, StaticSpec):
        return None
    if not isinstance(spec, StructSpec):
        return leaf()
    items = [(key, spec_tree(item, leaf)) for key, item in spec.items]
    if all(item is None for _, item in items):
        return None
    if issubclass(spec.kind, tuple | list):
        return container(spec.kind, [OutputConstant(None) if item is None else item for _, item in items])
    return OutputStruct(dict, tuple((key, item) for key, item in items if item is not None))


def flatten(tree: OutputTree, value: Any, name: str) -> Iterator[tuple[OutputLeaf, Any, str]]:
    """The parts of a value that has the structure of a tree, each with its leaf and what messages call it.

    Raises ValueError, saying where, when the structure differs.
    """
    if isinstance(tree, OutputLeaf):
        yield tree, value, name
    elif isinstance(tree, OutputStruct):
        for position, (key, item) in enumerate(tree.items):
            if not isinstance(item, OutputConstant):
                yield from flatten(item, *_part(tree, position, key, value, name))


def _part(tree: OutputStruct, position: int, key: Any, value: Any, name: str) -> tuple[Any, str]:
    if tree.kind is ComplexArray:
        array = np.asarray(value)
        return np.stack([array.real, array.imag], axis=-1), name
    if isinstance(value, dict):
        key = tree.kind._fields[position] if hasattr(tree.kind, "_fields") else key
        if key not in value:
            raise ValueError(f"{name} has no entry {key!r}")
        return value[key], f"{name}[{key!r}]"
    if issubclass(tree.kind, tuple | list):
        if not hasattr(value, "__len__") or len(value) != len(tree.items):
            raise ValueError(f"{name} must be a sequence of {len(tree.items)}, not {describe(value)}")
        return value[position], f"{name}[{position}]"
    if not hasattr(value, str(key)):
        raise ValueError(f"{name} must have `{key}`, but is {describe(value)}")
    return getattr(value, str(key)), f"{name}.{key}"


def describe(value: Any) -> str:
    """A few words for a message."""
    shape = getattr(value, "shape", None)
    if shape:
        return f"an array of shape {shape}"
    return f"a {type(value).__name__}" + (f" of {len(value)}" if hasattr(value, "__len__") else "")


def assembled(tree: OutputTree, at: Callable[[OutputLeaf], Any]) -> Any:
    """The value of a tree whose leaves are what `at` gives for them."""
    if isinstance(tree, OutputLeaf):
        return at(tree)
    if isinstance(tree, OutputConstant):
        return tree.value
    return rebuild(tree.kind, [(key, assembled(item, at)) for key, item in tree.items])
