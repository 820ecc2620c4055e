"""Finished work on disk, so that another process need not even import the compiler.

A folder for each function text, argument types and product holds `*.routes` (what the function reads: which globals,
closure cells, attributes) and `*.entry` (what was compiled, named by the values found there).  Guaranteed: a file is
complete or not there; an entry is found only when everything it was made from is the same; a store that cannot be
read or written is as good as an empty one.
"""

from __future__ import annotations

import os
import pickle
import sys
import tempfile
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from adgen.frontend.dependencies import Route, fingerprint, follow
from adgen.frontend.specs import Spec, StaticSpec, StructSpec
from adgen.runtime.programs import Program
from adgen.runtime.trees import named_tuple
from adgen.toolchain import cache_folder, digest
from adgen.toolchain.cc import LEVEL
from adgen.toolchain.tuning import ENVIRONMENT as TUNING

Function = Callable[..., Any]
READ_FAILURES = (
    OSError,
    pickle.UnpicklingError,
    AttributeError,
    ImportError,
    EOFError,
    ValueError,
    TypeError,
    KeyError,
)
WRITE_FAILURES = (OSError, pickle.PicklingError, AttributeError, TypeError, ValueError, RecursionError)


def place(root: Function, chain: str, specs: Mapping[str, Spec]) -> Path | None:
    """The folder for a function, the operators on it, and argument types; None when the function has no code."""
    code = getattr(root, "__code__", None)
    if code is None:
        return None
    key = digest(
        own_text(), sys.version, np.__version__, *(os.environ.get(name, "") for name in ("CC", TUNING, LEVEL)),
        fingerprint(root), code.co_linetable.hex(), chain, spec_text(specs),
    )  # fmt: skip
    return cache_folder() / "calls" / key


def find(folder: Path, root: Function) -> tuple[Path, Program] | None:
    """The library and the program that were kept for what the function reads now."""
    try:
        for listing in sorted(folder.glob("*.routes")):
            routes = pickle.loads(listing.read_bytes())
            file = folder / f"{entry_name(routes, root)}.entry"
            if file.is_file():
                library, program = pickle.loads(file.read_bytes())
                path = cache_folder() / library
                if path.is_file():
                    return path, program
    except READ_FAILURES:  # written by another version, or damaged
        return None
    return None


def keep(folder: Path, root: Function, library: Path, program: Program) -> None:
    """Keep a library and its program for other processes."""
    routes = tuple(dependency.route for dependency in program.dependencies)
    try:
        relative = str(library.relative_to(cache_folder()))
        folder.mkdir(parents=True, exist_ok=True)
        _write(folder / f"{entry_name(routes, root)}.entry", dumped((relative, program)))
        _write(folder / f"{digest(repr(routes))}.routes", dumped(routes))
    except WRITE_FAILURES:  # such as a constant that cannot be pickled: this function is compiled in every process
        return


def entry_name(routes: tuple[Route, ...], root: Function) -> str:
    """A name for the values that are at the ends of routes now."""
    return digest(repr(routes), *(fingerprint(follow(root, route)) for route in routes))


def _write(path: Path, data: bytes) -> None:
    handle, temporary = tempfile.mkstemp(dir=path.parent)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
    os.replace(temporary, path)


class _Pickler(pickle.Pickler):
    def reducer_override(self, value: Any) -> Any:
        """A NamedTuple made for the names of parameters is made again from the names."""
        fields = getattr(value, "_fields", None) if isinstance(value, type) else None
        if fields is not None and value is named_tuple(fields):
            return named_tuple, (fields,)
        return NotImplemented


def dumped(value: Any) -> bytes:
    """A value as bytes."""
    import io

    buffer = io.BytesIO()
    _Pickler(buffer, protocol=pickle.HIGHEST_PROTOCOL).dump(value)
    return buffer.getvalue()


def spec_text(specs: Mapping[str, Spec]) -> str:
    """A text that is equal for argument types that one compiled function serves."""
    return "; ".join(f"{name}: {_text(spec)}" for name, spec in specs.items())


def _text(spec: Spec) -> str:
    if isinstance(spec, StaticSpec):
        return f"static {fingerprint(spec.value)}"
    if isinstance(spec, StructSpec):
        items = ", ".join(f"{key!r}: {_text(item)}" for key, item in spec.items)
        return f"{fingerprint(spec.kind)}({items})"
    return repr(spec)


@lru_cache(maxsize=1)
def own_text() -> str:
    """What stands for adgen's own code: another version, or another edit of it, does not read this one's entries."""
    root = Path(__file__).resolve().parents[1]
    files = sorted(path for path in root.rglob("*") if path.suffix in (".py", ".c", ".h", ".j2", ".jinja"))
    return digest(*(f"{path.relative_to(root)} {(s := path.stat()).st_mtime_ns} {s.st_size}" for path in files))
