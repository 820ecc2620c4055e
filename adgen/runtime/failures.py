"""From a status that compiled code returned to the exception that Python would have raised.

Comes in: a site (exception name, message, span) and its integer details.  Goes out: an exception that is `AdgenError`
and, where the name is known, that Python exception too.  Guaranteed: making it never fails.
"""

from __future__ import annotations

import builtins
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from adgen.diagnostics import AdgenError, Span
from adgen.frontend.specs import OTHER_EXTENTS
from adgen.ir.messages import filled

CODES = {
    "IndexError": "AD601",
    "ValueError": "AD602",
    "ZeroDivisionError": "AD603",
    "AssertionError": "AD604",
    "FloatingPointError": "AD606",
}
OTHER_CODE = "AD600"
OTHER_EXTENTS_HELP = (
    "mark the axes whose length may be anything with `*`, as in `x: f64[*]`, or fix them, as in `x: f64[1]`"
)
OUT_OF_MEMORY = -1


def failure(
    exception: str,
    message: str,
    span: Span | None = None,
    details: Sequence[int] = (),
    namespace: Mapping[str, Any] | None = None,
) -> AdgenError:
    """The exception for a failed check; `namespace` is where the user's own exception classes are found."""
    message = filled(message, details)
    if exception == OTHER_EXTENTS:
        return combined(ValueError)(
            "AD605", f"ValueError: not what the code was compiled for: {message}", span, OTHER_EXTENTS_HELP
        )
    python = exception_class(exception, namespace or {})
    kind = combined(python) if python else AdgenError
    said = exception if not message else f"{exception}: {message}"
    return kind(CODES.get(exception, OTHER_CODE), said, span)


def exception_class(name: str, namespace: Mapping[str, Any]) -> type[Any] | None:
    """The class that the user's program means by this name, or None when it cannot be found."""
    found = namespace.get(name.split(".")[-1], getattr(builtins, name, None))
    if found is None and name.endswith("LinAlgError"):
        found = np.linalg.LinAlgError
    return found if isinstance(found, type) and issubclass(found, Exception) else None


_combined: dict[type[Any], type[AdgenError]] = {}


def combined(python: type[Any]) -> type[AdgenError]:
    """The class that is an `AdgenError` and the given exception, always the same one."""
    if python not in _combined:
        _combined[python] = _combine(python)
    return _combined[python]


def _combine(python: type[Any]) -> type[AdgenError]:
    if issubclass(python, AdgenError):
        return python
    try:
        # Some exceptions render their arguments in a way of their own: the diagnostic's text must win.
        kind = type(python.__name__, (AdgenError, python), {"__str__": Exception.__str__, "__module__": "adgen"})
        kind("AD600", "")
    except TypeError:  # an exception whose memory layout or arguments do not go together with ours
        return AdgenError
    return kind


def out_of_memory(name: str, size: int = 0) -> AdgenError:
    """The exception for a call that could not get its memory; `size` is how much it asked for on a device, if known."""
    asked = f": the device has no {amount(size)} left" if size else ""
    return combined(MemoryError)("AD610", f"`{name}` ran out of memory{asked}", help="call it with smaller arrays")


def amount(size: int) -> str:
    """Bytes as one reads them."""
    for unit, name in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if size >= unit:
            return f"{size / unit:.3g} {name}"
    return f"{size} bytes"
