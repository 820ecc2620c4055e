"""Whole packages in the cache: what was made from the same file with the same options need not be made again.

Comes in: a key and the functions of the user's module.  Goes out: the files of a package that was made for them.
Guaranteed: a package is used only when everything that it was compiled from is what it was: the file, the options,
adgen itself, the compiler, and by fingerprint every function and value from elsewhere that the file's functions read.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import adgen
from adgen.ahead.folder import Contents, read_folder
from adgen.ahead.options import Options
from adgen.frontend.dependencies import Dependency
from adgen.toolchain import cache_folder, cached, digest, find_compiler
from adgen.toolchain.nvcc import find_nvcc

Function = Callable[..., Any]
DEPENDENCIES = "dependencies.json"


def key(path: Path, source: bytes, options: Options) -> str:
    """A name for what a compile of a file depends on, but for what its functions read from elsewhere."""
    return digest(
        str(path),
        str(path.resolve()),  # errors name it
        source.decode("latin-1"),
        options.key(),
        own_digest(),
        find_compiler().identity,
        find_nvcc().identity if options.target.name == "cuda" else "",
        sys.version,
    )


def own_digest() -> str:
    """A name for this very state of adgen's own code and templates."""
    folder = Path(adgen.__file__).parent
    files = sorted([*folder.rglob("*.py"), *folder.rglob("*.[ch]"), *_templates(folder)])
    return digest(adgen.__version__, *(f"{path} {path.stat().st_mtime_ns} {path.stat().st_size}" for path in files))


def _templates(folder: Path) -> list[Path]:
    inside = folder / "templates"
    return [path for path in (inside if inside.is_dir() else folder.parent / "templates").rglob("*") if path.is_file()]


def recall(name: str, functions: Sequence[Function]) -> Contents | None:
    """The files of a package that is still right, or None."""
    by_name = {function.__name__: function for function in functions}
    folder = cache_folder() / "package" / name
    for entry in sorted(folder.iterdir()) if folder.is_dir() else []:
        if not (entry / DEPENDENCIES).is_file():
            continue
        contents = read_folder(entry)
        if _current(json.loads(contents.pop(DEPENDENCIES)), by_name):
            return contents
    return None


def _current(known: Mapping[str, Any], functions: Mapping[str, Function]) -> bool:
    return all(
        name in functions
        and Dependency(tuple((kind, key) for kind, key in route), fingerprint).current(functions[name])
        for name, dependencies in known.items()
        for route, fingerprint in dependencies
    )


def remember(name: str, contents: Contents, dependencies: Mapping[str, Sequence[Dependency]]) -> None:
    """Keep the files of a package.  A dependency that cannot be written down makes the package one that is not kept."""
    listed = {
        function: [[list(map(list, d.route)), d.fingerprint] for d in found] for function, found in dependencies.items()
    }
    try:
        text = json.dumps(listed)
    except TypeError:
        return
    everything = {**contents, DEPENDENCIES: text.encode()}
    cached(f"package/{name}", digest(text), lambda folder: _fill(folder, everything))


def _fill(folder: Path, contents: Contents) -> None:
    for path, data in contents.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
