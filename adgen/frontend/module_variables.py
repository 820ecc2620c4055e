"""`global`: module variables that the program writes while it is lowered; the module itself is never changed.

What is written must be known when compiling.  Guaranteed: at the end each variable holds what it held before, or held
None before (a cache that is filled): so a caller sees no difference, and anything else is refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adgen.diagnostics import AdgenError, Span
from adgen.frontend.dependencies import fingerprint
from adgen.frontend.same import same
from adgen.frontend.values import Poison, is_static

if TYPE_CHECKING:
    from adgen.frontend.context import Context

WRITTEN = ".written"  # the name under which the outermost frame holds what was written
HELP = "return the new value instead"
Key = tuple[int, str]


def begin(ctx: Context) -> None:
    """Nothing has been written; what will be is part of the state of the program."""
    ctx.frames[0].names[WRITTEN] = ctx.own({})


def written(ctx: Context) -> dict[Key, Any]:
    """What the program has written, by module and name."""
    found: dict[Key, Any] = ctx.frames[0].names.get(WRITTEN, {})
    return found


def read(ctx: Context, module: dict[str, Any], name: str) -> Any:
    """The present value of a module variable that may have been written; raises KeyError when there is none."""
    found = written(ctx)
    value = found[id(module), name] if (id(module), name) in found else module[name]
    if isinstance(value, Poison):
        ctx.fail(value.code, value.message, value.help)
    return value


def write(ctx: Context, name: str, value: Any) -> None:
    """Set a variable of the module of the present function."""
    if not is_static(value) or WRITTEN not in ctx.frames[0].names:
        ctx.fail("AD208", f"`global {name}` is given a value that is known at run time only", HELP)
    module = ctx.frame.code.module
    written(ctx)[id(module), name] = value
    ctx.modules[id(module)] = module
    ctx.places[id(module), name] = ctx.span


def finish(ctx: Context) -> None:
    """Refuse what a caller could see."""
    for (module, name), value in written(ctx).items():
        before = ctx.modules[module].get(name)
        if before is None or same(before, value) or (is_static(value) and fingerprint(before) == fingerprint(value)):
            continue
        span: Span | None = ctx.places[module, name]
        raise AdgenError("AD208", f"`global {name}` lets the function change a module variable", span, HELP)
