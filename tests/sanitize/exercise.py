"""The program that runs functions under sanitizers: `python -m tests.sanitize.exercise FILE ...`.

It prints a line of JSON for each product of each function.  Every function runs in a process of its own, so a fault
that ends it is one line, `fault`, with what the sanitizer said.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

from adgen.runtime.workspace import ALIGNMENT, Workspace
from tests.sanitize.products import BROKEN, first_line, outcomes
from tests.sanitize.subjects import Subject, subjects

FAULT = "fault"
SAID = 4000  # characters of a sanitizer's report that are kept


def main(files: list[str]) -> None:
    """Work off the functions of some files."""
    os.environ.pop("LD_PRELOAD", None)  # not for the compiler
    Workspace.room = exact_room  # type: ignore[method-assign]
    for module in ("cffi", "filelock", "jinja2", "sympy"):
        import_module(module)  # once here, rather than in every process
    each(files, outcomes)


def each(files: Iterable[str], outcomes: Callable[[Subject], Iterable[tuple[str, str, str]]]) -> None:
    """Tell what becomes of the products of every function of some files."""
    for file in map(Path, files):
        try:
            found = list(subjects(file))
        except Exception as error:
            tell(file.stem, "", BROKEN, first_line(error))
            continue
        for subject in found:
            apart(subject, outcomes)


def exact_room(self: Any, size: int) -> Any:
    """Scratch memory of exactly so many bytes, new at every call: a guarded end right behind the last of them."""
    libc = ctypes.CDLL(None)
    address = ctypes.c_void_p()
    if libc.posix_memalign(ctypes.byref(address), ctypes.c_size_t(ALIGNMENT), ctypes.c_size_t(size)):
        raise MemoryError(size)
    libc.free(ctypes.c_void_p(self.owner))
    self.owner = address.value
    return self.ffi.cast("char *", address.value or 0)


def apart(subject: Subject, outcomes: Callable[[Subject], Iterable[tuple[str, str, str]]]) -> None:
    """Run one subject in a process of its own."""
    with tempfile.TemporaryFile() as said:
        process = os.fork()
        if process == 0:
            os.dup2(said.fileno(), 2)
            status = 1
            try:
                for product, outcome, message in outcomes(subject):
                    tell(subject.name, product, outcome, message)
                status = 0
            finally:
                os._exit(status)
        _, status = os.waitpid(process, 0)
        said.seek(0)
        text = said.read().decode(errors="replace")
        if status:
            tell(subject.name, "", FAULT, f"exit status {status}: {text[:SAID]}")


def tell(name: str, product: str, outcome: str, message: str) -> None:
    """One line of the report."""
    line = json.dumps({"name": name, "product": product, "outcome": outcome, "message": message})
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
