"""Telling elements of memory apart by their indices.

An index is a base plus a constant.  Elements of one handle with the same bases and different constants are different;
everything else in the same memory may be the same element.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any, NamedTuple, Protocol

from adgen import ops
from adgen.ir import core
from adgen.ir.nodes import Function, Operation, Value, walk


class Place(NamedTuple):
    """An element: the root of its memory, a group of comparable elements, and the place within the group."""

    root: Value
    group: Hashable
    offsets: tuple[int, ...]


class Known(Protocol):
    """What makes each value, and the number of a constant: a builder, or the `Definitions` of a function."""

    @property
    def definitions(self) -> Mapping[Value, Operation]:
        """The operation that makes a value."""
        ...

    def known(self, value: Value) -> Any | None:
        """The Python number of a constant, else None."""
        ...


class Definitions:
    """The operation that makes each value of a function."""

    def __init__(self, function: Function) -> None:
        self.definitions: dict[Value, Operation] = {
            value: operation for operation in walk(function.body) for value in operation.results
        }

    def known(self, value: Value) -> Any | None:
        """The Python number of a constant, else None."""
        operation = self.definitions.get(value)
        return operation.attributes["value"] if operation is not None and operation.row is core.CONST else None


def known_trips(known: Known, loop: Operation) -> int | None:
    """The number of iterations of a `for`, where it is a number."""
    start, stop = (known.known(value) for value in loop.operands[:2])
    return None if start is None or stop is None else len(range(start, stop, loop.attributes["step"]))


class Indices:
    """Splits integers into a base value (None for a constant) and a constant."""

    def __init__(self, builder: Known) -> None:
        self.builder = builder
        self._known: dict[Value, tuple[Value | None, int]] = {}

    def split(self, value: Value) -> tuple[Value | None, int]:
        """The base and the constant whose sum is the value."""
        chain = []
        current = value
        while current not in self._known:
            step = self._step(current)
            if step is None:
                break
            chain.append((current, step[1]))
            current = step[0]
        number = self.builder.known(current)
        base, offset = self._known.get(current) or ((current, 0) if number is None else (None, int(number)))
        for link, increment in reversed(chain):
            offset += increment
            self._known[link] = (base, offset)
        return base, offset

    def _step(self, value: Value) -> tuple[Value, int] | None:
        operation = self.builder.definitions.get(value)
        if operation is None or operation.row not in (ops.ADD, ops.SUB):
            return None
        first, second = operation.operands
        number = self.builder.known(second)
        if number is not None:
            return first, int(number) if operation.row is ops.ADD else -int(number)
        number = self.builder.known(first)
        return (second, int(number)) if number is not None and operation.row is ops.ADD else None

    def place(self, root: Value, handle: Value, indices: Iterable[Value]) -> Place:
        """The element of a handle at some indices."""
        parts = [self.split(value) for value in indices]
        return Place(root, (handle, tuple(base for base, _ in parts)), tuple(offset for _, offset in parts))
