"""A function that GradBench asks for: from the JSON of its input to the JSON of its output."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Arguments = tuple[Any, ...]


def plain(result: Any) -> Any:
    """Lists and numbers of what a compiled function gives."""
    return result.tolist() if isinstance(result, np.ndarray | np.generic) else result


@dataclass(frozen=True)
class Evaluation:
    """`call(*prepare(input))` is timed, `present` of its result is the answer."""

    call: Callable[..., Any]
    prepare: Callable[[Any], Arguments]
    present: Callable[[Any], Any] = plain


def fields(*names: str) -> Callable[[Any], Arguments]:
    """The named fields of the input, lists as arrays."""

    def prepare(given: Any) -> Arguments:
        return tuple(np.array(given[name]) if isinstance(given[name], list) else given[name] for name in names)

    return prepare
