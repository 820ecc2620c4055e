"""For what machine code is compiled, and how many threads it divides its loops among.

Comes in: what an operator was given, or the environment.  Goes out: a number.  Guaranteed: the number is part of what
is compiled, so the same number gives the same bits, however many processors there are.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

from adgen.diagnostics import AdgenError
from adgen.toolchain.target import PROCESSOR, Target, target_of

MOST = 1024
_given: ContextVar[int | None] = ContextVar("threads", default=None)
_target: ContextVar[Target | None] = ContextVar("target", default=None)


class Machine(NamedTuple):
    """What code is compiled for."""

    threads: int = 1
    target: Target = PROCESSOR

    @property
    def key(self) -> str:
        """A text that is equal for equal code."""
        return f"{self.threads} threads, {self.target.key}" if self.target.is_device else f"{self.threads} threads"


USUAL = Machine()


def machine() -> Machine:
    """The machine for an operator that is made now."""
    return Machine(thread_count(), _target.get() or target_of(None))


@contextmanager
def target(name: str, arch: str | None = None, deterministic: bool = False) -> Iterator[None]:
    """Operators that are made in the `with` body compile for a target: `c`, `cuda` or `cuda-emulated`.

    `arch` names architectures as in `sm_80,sm_90` (default: those of the devices that are there); `deterministic`: sums
    that many threads add to are the same bits in every run.
    Raises AdgenError when there is no such target.
    """
    token = _target.set(target_of(name, arch, deterministic))
    try:
        yield
    finally:
        _target.reset(token)


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
