"""The text of a failed check: its message with the details filled in."""

from __future__ import annotations

import struct
from collections.abc import Sequence


def filled(message: str, details: Sequence[int]) -> str:
    """The message with `{0}`, `{1}` ... replaced by the details, and `{0:f64}` by the float that has these bits."""
    for position, detail in enumerate(details):
        message = message.replace(f"{{{position}}}", str(detail))
        message = message.replace(f"{{{position}:f64}}", repr(struct.unpack("<d", struct.pack("<q", detail))[0]))
    return message
