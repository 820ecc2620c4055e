"""How much memory a call takes while it runs, where Linux says so."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Callable
from pathlib import Path
from typing import Any

PROCESS = Path("/proc/self")


def _kilobytes(field: str) -> int:
    for line in (PROCESS / "status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1])
    raise OSError(f"no {field}")


def taken_by(call: Callable[[], Any]) -> int | None:
    """The peak of resident memory in a call above what is resident before it, in bytes; None where nobody knows.

    What a peer keeps from earlier calls is not part of it.
    """
    gc.collect()
    try:
        ctypes.CDLL(None).malloc_trim(0)
        (PROCESS / "clear_refs").write_text("5")  # the peak starts from here
        before = _kilobytes("VmRSS")
        call()
        return max(0, _kilobytes("VmHWM") - before) * 1024
    except (OSError, AttributeError):
        return None
