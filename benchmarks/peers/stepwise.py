"""Loops of the peers that run Python's."""

from __future__ import annotations

from typing import Any


def repeat(count: int, step: Any, state: Any) -> Any:
    """The state after so many steps."""
    for _ in range(count):
        state = step(state)
    return state


def scan(step: Any, state: Any, items: Any) -> Any:
    """The sum of what the steps over the items put out."""
    total = 0.0
    for item in zip(*items):
        state, output = step(state, item)
        total = total + output
    return total
