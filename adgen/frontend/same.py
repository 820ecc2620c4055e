"""When two values of the domain are one."""

from __future__ import annotations

from typing import Any

from adgen.frontend import memory
from adgen.frontend.values import Dynamic, Number, is_number


def same(a: Any, b: Any) -> bool:
    """True when two values are one: nothing has to be joined."""
    if a is b:
        return True
    if isinstance(a, Number) and isinstance(b, Number):
        return a.value is b.value and a.weak == b.weak and not (a.array or b.array)
    if isinstance(a, Dynamic) or isinstance(b, Dynamic):
        return memory.is_array(a) and memory.is_array(b) and memory.identical(a, b)
    if type(a) is not type(b):
        return False
    if isinstance(a, tuple):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b))
    if is_number(a):
        return repr(a) == repr(b)
    if isinstance(a, str | bytes | type(None) | slice | range):
        return bool(a == b)
    return False
