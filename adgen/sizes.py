"""Amounts of memory as users write them."""

from __future__ import annotations

import re

from adgen.diagnostics import AdgenError

UNITS = {"": 1, "B": 1, "kB": 10**3, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}


def bytes_of(amount: str | int | None) -> int | None:
    """The bytes that `"256MB"`, `"1.5 GiB"` or a number says; None for None.

    Raises AdgenError for what is no amount.
    """
    if amount is None or (isinstance(amount, int) and not isinstance(amount, bool) and amount >= 0):
        return amount
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*", amount) if isinstance(amount, str) else None
    if found is None or found[2] not in UNITS:
        raise AdgenError(
            "AD131",
            f"{amount!r} is not an amount of memory",
            help='write for example memory="256MB" (or kB, GB, KiB, MiB, GiB), or a number of bytes',
        )
    return int(float(found[1]) * UNITS[found[2]])
