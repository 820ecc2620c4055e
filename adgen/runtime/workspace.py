"""Scratch memory that calls of one entry point reuse.

Comes in: how many bytes a call needs.  Goes out: aligned memory.  Guaranteed: more than `KEPT_BYTES` is not held
between calls.
"""

from __future__ import annotations

from typing import Any

KEPT_BYTES = 1 << 28  # a workspace larger than this is not kept for the next call
ALIGNMENT = 64


class Workspace:
    """Growing scratch memory; `pointer` is aligned and has room for `size` bytes."""

    __slots__ = ("ffi", "owner", "pointer", "size")

    def __init__(self, ffi: Any) -> None:
        self.ffi = ffi
        self.forget()

    def forget(self) -> None:
        """Let go of the memory."""
        self.owner: Any = None
        self.pointer = self.ffi.NULL
        self.size = 0

    def room(self, size: int) -> Any:
        """A pointer to at least `size` bytes.

        Raises MemoryError when there are none.
        """
        if size > self.size:
            self.owner = bytearray_of(size + ALIGNMENT)
            start = self.ffi.cast("char *", self.ffi.from_buffer(self.owner))
            self.pointer = start + -int(self.ffi.cast("intptr_t", start)) % ALIGNMENT
            self.size = size
        return self.pointer


def bytearray_of(size: int) -> Any:
    """Memory of so many bytes, not cleared."""
    from numpy import empty

    return empty(size, "u1")
