"""Strings with run-time numbers in them: what a message can be made of, and nothing else.

Comes in: strings and values of the domain.  Goes out: a string when all of it is known when compiling, else a `Text`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from adgen.frontend.values import Text, is_static

GAP = "..."


def form(value: Any) -> str:
    """The text of a value, with gaps for what is known at run time only."""
    if isinstance(value, Text):
        return value.form
    return str(value) if is_static(value) else GAP


def joined(parts: Iterable[Any]) -> Any:
    """Parts in a row."""
    return interleaved("", list(parts))


def interleaved(separator: str, parts: list[Any]) -> Any:
    """Parts with a separator between them."""
    whole = separator.join(form(part) for part in parts)
    return whole if is_static(parts) else Text(whole)
