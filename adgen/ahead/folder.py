"""Writing a folder so that it is there whole or not at all."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from adgen.diagnostics import AdgenError

Contents = Mapping[str, bytes]
MARK = "report.json"  # every folder written here holds one
ATTEMPTS = 10


def write_folder(target: Path, contents: Contents) -> None:
    """Replace the folder `target` by one with these files, by path below it.

    The files are written to a hidden neighbour that is then renamed, so a reader sees the old folder or the new one.
    What an earlier, killed writer left is removed.  Raises AdgenError when the place cannot be written.
    """
    if _foreign(target):
        raise AdgenError(
            "AD171", f"`{target}` exists and was not written by adgen", help="move it away, or choose another --out"
        )
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _sweep(target)
        fresh = Path(tempfile.mkdtemp(prefix=_prefix(target), dir=target.parent))
    except OSError as error:
        raise _unwritable(target, error) from None
    try:
        fresh.chmod(0o755)
        for name, data in contents.items():
            path = fresh / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        _swap(fresh, target)
    except OSError as error:
        raise _unwritable(target, error) from None
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def read_folder(folder: Path) -> dict[str, bytes]:
    """The contents of a folder, as `write_folder` takes them."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }


def _foreign(target: Path) -> bool:
    """True when something is there that was not written here.

    Another writer may swap the folder between two looks: only one that is there before and after counts.
    """
    while (before := _identity(target)) is not None:
        if (target / MARK).is_file():
            return False
        if _identity(target) == before:
            return True
    return False


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _swap(fresh: Path, target: Path) -> None:
    """Put `fresh` where `target` is; the old one is moved aside first, as a full folder cannot be renamed over."""
    aside = Path(tempfile.mkdtemp(prefix=_prefix(target), dir=target.parent))
    try:
        for attempt in range(ATTEMPTS):
            with suppress(FileNotFoundError):
                target.rename(aside / str(attempt))
            try:
                fresh.rename(target)
                return
            except OSError as error:  # another process has put its own there in between
                if error.errno not in (errno.ENOTEMPTY, errno.EEXIST) or attempt == ATTEMPTS - 1:
                    raise
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _prefix(target: Path) -> str:
    return f".{target.name}.{os.getpid()}."


def _sweep(target: Path) -> None:
    """Remove what killed writers left beside `target`."""
    for path in target.parent.glob(f".{target.name}.*.*"):
        pid = path.name[len(target.name) + 2 :].partition(".")[0]
        if pid.isdecimal() and not _alive(int(pid)):
            shutil.rmtree(path, ignore_errors=True)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _unwritable(target: Path, error: OSError) -> AdgenError:
    return AdgenError(
        "AD170",
        f"`{target}` cannot be written: {error.strerror or error}",
        help="choose another folder with --out, or mend its permissions",
    )
