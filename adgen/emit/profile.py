"""For what kind of machine C is written.

`hosted` C may take memory from the heap and use what the C library has for vectors.  `embedded` C is C99 that takes
no memory but the caller's and a small frame, calls nothing that calls itself, and needs a few functions of libm.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

from adgen.diagnostics import AdgenError
from adgen.emit.memory import LARGEST_FRAME, Plan
from adgen.ir import core
from adgen.ir.calls import recursion
from adgen.ir.nodes import Function, walk


@dataclass(frozen=True)
class Profile:
    """What emitted code may do; `frame` are the elements of all local arrays of a function together."""

    name: str
    bare: bool = False
    frame: int = LARGEST_FRAME


HOSTED = Profile("hosted")
EMBEDDED = Profile("embedded", bare=True, frame=256)
PROFILES = {profile.name: profile for profile in (HOSTED, EMBEDDED)}


def require_flat(function: Function) -> None:
    """Raise AdgenError when a function calls one that calls itself."""
    for operation in walk(function.body):
        if operation.row is core.CALL:
            raise AdgenError(
                "AD344",
                f"`{operation.attributes['callee']}` calls itself, and C of the profile `embedded` has no recursion",
                recursion(function, operation).span,
                "write it as a loop",
            )


def require_bounded(plan: Plan) -> None:
    """Raise AdgenError when a function needs memory whose size is not known at its entry."""
    for stack in plan.stacks:
        _refuse(
            plan,
            stack,
            "records a `while` whose iterations cannot be counted",
            "bound them, as `for _ in range(100):` with `break`, or leave out reverse mode: --emit value,jvp",
        )
    for buffer in plan.heap:
        _refuse(
            plan,
            buffer,
            "makes an array whose size is known only when it gets there",
            "make its extents of those of the arguments and of numbers",
        )


def _refuse(plan: Plan, value: object, what: str, help: str) -> NoReturn:
    made = next(operation for operation in walk(plan.function.body) if value in operation.results)
    raise AdgenError(
        "AD343",
        f"`{plan.function.name}` {what}, which needs memory that grows, and C of the profile `embedded` has none",
        made.span or plan.function.span,
        help,
    )
