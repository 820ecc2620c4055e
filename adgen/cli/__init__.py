"""The `adgen` command: a Typer application whose commands call the library.  No logic lives here.

Guaranteed: whatever goes wrong is one message on standard error and a status: 1 for an `AdgenError`, 2 for wrong
usage, 70 for a fault of adgen's own, 130 when interrupted.  `--help` and a compile that the cache knows stay fast:
everything heavy is imported by the command that needs it.
"""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType

INTERNAL_FAULT = 70  # EX_SOFTWARE
INTERRUPTED = 130


def main() -> None:
    """Run the command line and end the process with its status."""
    # A polite kill unwinds as an exception does, so that temporary files go.
    signal.signal(signal.SIGTERM, _terminated)
    sys.exit(run())


def run() -> int:
    """Run the command line of `sys.argv`; gives the exit status."""
    from adgen.cli.app import app
    from adgen.diagnostics import AdgenError

    try:
        status = app(standalone_mode=False)
    except AdgenError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except Exception as error:
        return _failed(error)
    return status if isinstance(status, int) else 0


def _failed(error: Exception) -> int:
    """Report a usage error as the parser words it, anything else as a fault of adgen's own."""
    show, status = getattr(error, "show", None), getattr(error, "exit_code", None)
    if isinstance(status, int):  # typer's own exceptions
        if callable(show):
            show()
        return status
    if os.environ.get("ADGEN_TRACEBACK"):
        raise error
    print(f"internal error: {type(error).__name__}: {error}", file=sys.stderr)
    print("help: this is a fault in adgen; ADGEN_TRACEBACK=1 shows where; please report it", file=sys.stderr)
    return INTERNAL_FAULT


def _terminated(signum: int, frame: FrameType | None) -> None:
    sys.exit(128 + signum)
