"""The cache of compiled code: folders named by the content that made them.

Comes in: a key and a function that fills an empty folder.  Goes out: the folder with that key.  Guaranteed: a folder in
the cache is complete; processes may ask for the same key at the same time; a process killed while it fills leaves
nothing that another would take for finished.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from adgen.diagnostics import AdgenError

ENVIRONMENT = "ADGEN_CACHE_DIR"


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
        data = part.encode()
        found.update(len(data).to_bytes(8, "little"))
        found.update(data)
    return found.hexdigest()[:32]


def cached(kind: str, key: str, fill: Callable[[Path], None]) -> Path:
    """The folder of a key, made by `fill` if it is not there.

    Raises AdgenError when the cache cannot be written.
    """
    folder = cache_folder() / kind / key
    if folder.is_dir():
        return folder
    from filelock import FileLock

    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(folder.parent / f"{key}.lock"):
            if not folder.is_dir():
                _fill(folder, fill)
    except OSError as error:
        raise AdgenError(
            "AD501",
            f"the cache folder cannot be written: {error}",
            help=f"set {ENVIRONMENT} to a folder that can be written",
        ) from error
    return folder


def _fill(folder: Path, fill: Callable[[Path], None]) -> None:
    """Fill a folder beside the final one and rename it: the rename is the moment at which it exists."""
    temporary = Path(tempfile.mkdtemp(prefix=f"{folder.name}.", dir=folder.parent))
    try:
        fill(temporary)
        os.replace(temporary, folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
