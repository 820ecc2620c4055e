"""Calls without a detour: a small extension module, compiled once for all functions.

Comes in: nothing but the C files beside this one.  Goes out: the module, or None where it cannot be had: another
Python than CPython with a global lock, no NumPy headers, no compiler.  Calls then take a longer way with the same
results.  Guaranteed: it is found again by its text, the Python and the NumPy that it was made for.
"""

from __future__ import annotations

import platform
import sys
import sysconfig
from functools import cache
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from threading import Thread
from types import ModuleType

import numpy as np

from adgen.diagnostics import AdgenError
from adgen.toolchain.cache import cached, digest
from adgen.toolchain.cc import STANDARD, plain_compiler, python_headers
from adgen.toolchain.link import SHARED, SUFFIX

NAME = "_adgen_calls"
FILE = f"{NAME}{SUFFIX}"
LAYOUT = 1  # of what the module's types take; a package may bring a module of another version of adgen
SOURCES = ("call.h", "arguments.h", "results.h", "describe.h", "module.c")
HOME = Path(__file__).resolve().parent


@cache
def fast_calls() -> ModuleType | None:
    """The module, compiled now if it is not in the cache."""
    path = calls_library()
    return load_calls(path) if path else None


def calls_library() -> Path | None:
    """Where the module is, compiled now if need be; None where it cannot be had."""
    if not supported():
        return None
    try:
        texts = [(HOME / name).read_text(encoding="utf-8") for name in SOURCES]
        key = digest(*texts, sys.version, SUFFIX, np.__version__, platform.machine())
        return cached("calls", key, _compile) / FILE
    except (AdgenError, OSError):
        return None


def begin_calls() -> None:
    """Have the module compiled while something else is, so that the first function need not wait for it."""
    Thread(target=calls_library).start()


def supported() -> bool:
    """True for a Python whose objects the module knows how to read."""
    return sys.implementation.name == "cpython" and not sysconfig.get_config_var("Py_GIL_DISABLED")


def load_calls(path: Path) -> ModuleType | None:
    """The module at a path; None when there is none that fits this Python, this NumPy and this adgen."""
    if not supported() or not path.is_file():
        return None
    try:
        spec = spec_from_file_location(NAME, path, loader=ExtensionFileLoader(NAME, str(path)))
        assert spec is not None and spec.loader is not None
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
    except (ImportError, RuntimeError):  # for another Python, or for another NumPy
        return None
    return module if getattr(module, "LAYOUT", None) == LAYOUT else None


def _compile(folder: Path) -> None:
    headers = (str(python_headers()), np.get_include(), str(HOME))
    include = [f"-I{header}" for header in headers]
    plain_compiler().run([*STANDARD, "-O1", "-w", *include, *SHARED, str(HOME / "module.c"), "-o", FILE], folder)
