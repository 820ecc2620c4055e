"""How many threads compiled code divides its loops among.

Comes in: what an operator was given, or the environment.  Goes out: a number.  Guaranteed: the number is part of what
is compiled, so the same number gives the same bits, however many processors there are.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from adgen.diagnostics import AdgenError

MOST = 1024
_given: ContextVar[int | None] = ContextVar("threads", default=None)


def checked(count: Any) -> int:
    """A number of threads.

    Raises AdgenError when it is no positive integer, or more than any machine has.
    """
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= MOST:
        raise AdgenError("AD159", f"threads is {count!r}", help=f"give an int from 1 to {MOST}, or None")
    return count


def thread_count() -> int:
    """The number for an operator that is made now: as given, else `OMP_NUM_THREADS`, else one."""
    given = _given.get()
    if given is not None:
        return given
    text = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()
    return min(int(text), MOST) if text.isdecimal() and int(text) else 1


@contextmanager
def using(count: Any) -> Iterator[None]:
    """Operators that are made in the `with` body have so many threads; None changes nothing."""
    if count is None:
        yield
        return
    token = _given.set(checked(count))
    try:
        yield
    finally:
        _given.reset(token)
