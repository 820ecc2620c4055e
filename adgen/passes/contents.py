"""What is known of memory at a point of the program: which elements hold which values.

Comes in: stores and loads in program order.  Goes out: the value that a load would give, when it is known.  Guaranteed:
every step costs amortised constant time, also when a scope is closed and what was learnt in it is forgotten.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from adgen.ir.nodes import Value
from adgen.passes.indices import Place

_ABSENT: Any = object()
FRESH: Any = object()


class Contents:
    """The known elements of all memory, in scopes."""

    def __init__(self) -> None:
        self._groups: dict[Value, dict[Hashable, dict[tuple[int, ...], Value]]] = {}
        self._zero: dict[Value, Hashable] = {}
        self._log: list[tuple[dict[Any, Any], Any, Any]] = []
        self._scopes: list[int] = []

    def open(self) -> None:
        """Begin a scope."""
        self._scopes.append(len(self._log))

    def close(self) -> None:
        """End a scope: everything is as it was when it began."""
        mark = self._scopes.pop()
        while len(self._log) > mark:
            table, key, old = self._log.pop()
            if old is _ABSENT:
                table.pop(key, None)
            else:
                table[key] = old

    def _set(self, table: dict[Any, Any], key: Any, new: Any) -> None:
        self._log.append((table, key, table.get(key, _ABSENT)))
        if new is _ABSENT:
            table.pop(key, None)
        else:
            table[key] = new

    def fill(self, root: Value) -> None:
        """The memory was just made and is zero everywhere."""
        self._set(self._zero, root, FRESH)

    def is_fresh(self, root: Value) -> bool:
        """True when all of the memory is known to be as it was made: zero."""
        return self._zero.get(root) is FRESH

    def forget(self, root: Value) -> None:
        """The memory may have changed anywhere."""
        self._set(self._groups, root, _ABSENT)
        self._set(self._zero, root, _ABSENT)

    def value(self, place: Place) -> Value | None:
        """The value that the element is known to hold."""
        return self._groups.get(place.root, {}).get(place.group, {}).get(place.offsets)

    def is_zero(self, place: Place) -> bool:
        """True when the element is known to be as the memory was made: zero."""
        state = self._zero.get(place.root)
        return state is FRESH or (state == place.group and state is not None and self.value(place) is None)

    def learn(self, place: Place, value: Value) -> None:
        """The element was read and held the value."""
        groups = self._groups.get(place.root)
        if groups is None:
            groups = {}
            self._set(self._groups, place.root, groups)
        elements = groups.get(place.group)
        if elements is None:
            elements = {}
            self._set(groups, place.group, elements)
        self._set(elements, place.offsets, value)

    def write(self, place: Place, value: Value | None) -> None:
        """The element was overwritten, with an unknown value if it is None."""
        groups = self._groups.get(place.root, {})
        for group in [group for group in groups if group != place.group]:
            self._set(groups, group, _ABSENT)
        state = self._zero.get(place.root)
        if state is not None and state != place.group:
            self._set(self._zero, place.root, place.group if state is FRESH and value is not None else _ABSENT)
        elif state is not None and value is None:
            self._set(self._zero, place.root, _ABSENT)
        if value is not None:
            self.learn(place, value)
        elif place.offsets in groups.get(place.group, {}):
            self._set(groups[place.group], place.offsets, _ABSENT)
