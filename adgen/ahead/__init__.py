"""Ahead-of-time compilation: from a file to a package folder, and the views of what happens in between.

Everything a command does is a function here.  The names are loaded when used, so that the command line starts fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adgen.ahead.compile import check_file as check_file
    from adgen.ahead.compile import compile_file as compile_file
    from adgen.ahead.doctor import diagnose as diagnose
    from adgen.ahead.explain import explain_file as explain_file
    from adgen.ahead.options import Options as Options
    from adgen.ahead.stages import stage_text as stage_text

_HOME = {
    "Options": "options",
    "check_file": "compile",
    "compile_file": "compile",
    "diagnose": "doctor",
    "explain_file": "explain",
    "stage_text": "stages",
}
__all__ = ["Options", "check_file", "compile_file", "diagnose", "explain_file", "stage_text"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'adgen.ahead' has no attribute {name!r}")
    return getattr(import_module(f"adgen.ahead.{_HOME[name]}"), name)
