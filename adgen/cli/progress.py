"""A line on the terminal that says what a command is doing, once it has taken a second."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.status import Status

PATIENCE = 1.0


@contextmanager
def progress() -> Iterator[Callable[[str], None]]:
    """Gives `tell(text)`; the newest text is shown with a spinner after a second.  Silent when not on a terminal."""
    if not sys.stderr.isatty():
        yield lambda text: None
        return
    line = _Line()
    timer = threading.Timer(PATIENCE, line.show)
    timer.daemon = True
    timer.start()
    try:
        yield line.tell
    finally:
        timer.cancel()
        line.hide()


class _Line:
    def __init__(self) -> None:
        self.text = ""
        self.lock = threading.Lock()
        self.hidden = False
        self.status: Status | None = None

    def tell(self, text: str) -> None:
        with self.lock:
            self.text = text
            if self.status is not None:
                self.status.update(text)

    def show(self) -> None:
        from rich.console import Console

        with self.lock:
            if not self.hidden:
                self.status = Console(stderr=True).status(self.text)
                self.status.start()

    def hide(self) -> None:
        with self.lock:
            self.hidden = True
            if self.status is not None:
                self.status.stop()
