"""The cache of compiled code: folders named by the content that made them.

Comes in: a key and a function that fills an empty folder.  Goes out: the folder with that key.  Guaranteed: a folder in
the cache is complete; processes may ask for the same key at the same time, and one of them fills it; what a process
leaves that is killed meanwhile is never taken for finished, and the next one to fill a folder removes it.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from platform import node

from adgen.diagnostics import AdgenError

ENVIRONMENT = "ADGEN_CACHE_DIR"
UNFINISHED = ".unfinished"  # folders being filled, named by key and process
LOCKS = ".locks"


def cache_folder() -> Path:
    """Where compiled code is kept: `$ADGEN_CACHE_DIR`, else the user's cache folder."""
    given = os.environ.get(ENVIRONMENT)
    if given:
        return Path(given)
    from platformdirs import user_cache_path

    return user_cache_path("adgen")


def digest(*parts: str) -> str:
    """A name for content: equal parts give equal names."""
    found = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        found.update(len(data).to_bytes(8, "little"))
        found.update(data)
    return found.hexdigest()[:32]


def cached(kind: str, key: str, fill: Callable[[Path], None]) -> Path:
    """The folder of a key, made by `fill` if it is not there.

    Raises AdgenError when the cache cannot be written.
    """
    home = cache_folder() / kind
    folder = home / key
    if folder.is_dir():
        return folder
    from filelock import FileLock

    try:
        for each in (home / UNFINISHED, home / LOCKS):
            each.mkdir(parents=True, exist_ok=True)
        with FileLock(home / LOCKS / key[:2]):  # files that are locked are never removed, so there are few of them
            if not folder.is_dir():
                _sweep(home / UNFINISHED)
                _fill(folder, fill)
    except OSError as error:
        raise AdgenError(
            "AD501",
            f"the cache folder {cache_folder()} cannot be written: {error.strerror or error}",
            help=f"set {ENVIRONMENT} to a folder that can be written, and look whether the disk is full",
        ) from error
    return folder


def _fill(folder: Path, fill: Callable[[Path], None]) -> None:
    """Fill a folder beside the final one and rename it: the rename is the moment at which it exists."""
    prefix = f"{folder.name}.{os.getpid()}.{node()}."
    temporary = Path(tempfile.mkdtemp(prefix=prefix, dir=folder.parent / UNFINISHED))
    try:
        fill(temporary)
        os.replace(temporary, folder)
    except OSError:
        if not folder.is_dir():  # another machine may have been faster where locks do not reach it
            raise
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _sweep(unfinished: Path) -> None:
    """Remove what processes of this machine left that are no more."""
    for path in unfinished.iterdir():
        _, process, machine = [*path.name.split(".", 2), "", ""][:3]
        if process.isdecimal() and machine.startswith(f"{node()}.") and not _alive(int(process)):
            shutil.rmtree(path, ignore_errors=True)


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def recall(kind: str, key: str) -> list[str] | None:
    """A short list of texts that was remembered, or None."""
    try:
        found = json.loads((cache_folder() / kind / f"{key}.json").read_bytes())
    except (OSError, ValueError):
        return None
    return found if isinstance(found, list) and found and all(isinstance(text, str) for text in found) else None


def remember(kind: str, key: str, texts: Sequence[str]) -> None:
    """Keep a short list of texts, if the cache can be written."""
    folder = cache_folder() / kind
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=folder)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(list(texts), file)
        os.replace(name, folder / f"{key}.json")
