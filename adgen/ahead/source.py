"""The user's file: from a path to its functions.

Comes in: a path and perhaps a function's name.  Goes out: function objects of the imported module, in the order of the
file.  Guaranteed: a file that is missing, is not Python or fails when imported is an `AdgenError` with the line.
"""

from __future__ import annotations

import importlib.util
import sys
import traceback
from collections.abc import Callable
from difflib import get_close_matches
from inspect import unwrap
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from adgen.diagnostics import AdgenError, Span

Function = Callable[..., Any]


def read(path: Path) -> bytes:
    """The bytes of a Python file.

    Raises AdgenError when there is none.
    """
    try:
        return path.read_bytes()
    except FileNotFoundError:
        near = get_close_matches(path.name, [p.name for p in path.parent.glob("*.py")] if path.parent.is_dir() else [])
        hint = f"did you mean `{path.parent / near[0]}`?" if near else "give the path of a Python file"
        raise AdgenError("AD181", f"there is no file `{path}`", help=hint) from None
    except IsADirectoryError:
        raise AdgenError("AD181", f"`{path}` is a folder", help="give the path of a Python file in it") from None
    except OSError as error:
        raise AdgenError("AD181", f"`{path}` cannot be read: {error.strerror}") from None


def load(path: Path) -> ModuleType:
    """Import a file as a module, its folder being on the module search path as for `python file.py`.

    Raises AdgenError when the file cannot be parsed or raises.
    """
    path = path.resolve()
    code = _parse(read(path), path)
    name = path.stem if path.stem not in sys.modules else f"{path.stem}_user"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None:
        raise AdgenError("AD182", f"`{path.name}` is not a Python file", help="its name must end in `.py`")
    module = importlib.util.module_from_spec(spec)
    if str(path.parent) not in sys.path:
        sys.path.insert(0, str(path.parent))
    sys.modules[name] = module
    try:
        exec(code, module.__dict__)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise _import_failure(error, path) from None
    return module


def _parse(text: bytes, path: Path) -> CodeType:
    try:
        return compile(text, str(path), "exec", dont_inherit=True)
    except SyntaxError as error:
        end = error.end_offset - 1 if error.end_offset and error.end_lineno == error.lineno else 0
        span = Span(str(path), error.lineno or 1, max(0, (error.offset or 1) - 1), error.lineno or 1, end)
        raise AdgenError("AD183", f"the file is not valid Python: {error.msg}", span) from None
    except ValueError as error:  # null bytes
        raise AdgenError("AD183", f"the file is not valid Python: {error}", Span(str(path), 1)) from None


def _import_failure(error: BaseException, path: Path) -> AdgenError:
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
    span = Span(str(path), lines[-1] or 1) if lines else None
    said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    help = "adgen imports the file; put what a script does under `if __name__ == '__main__':`"
    if isinstance(error, ModuleNotFoundError):
        help = "install it into the environment that adgen runs in"
    return AdgenError("AD184", f"importing the file failed with {said}", span, help)


def functions(module: ModuleType, name: str | None) -> list[Function]:
    """The named function of a module, or all its own public ones.

    Raises AdgenError when there is none.
    """
    public = public_functions(module)
    if name is None:
        if not public:
            raise AdgenError(
                "AD185", f"`{Path(str(module.__file__)).name}` defines no public function", help="add one with `def`"
            )
        return public
    found = module.__dict__.get(name)
    if found is None:
        names = [function.__name__ for function in public]
        close = get_close_matches(name, names, 1)
        known = f"it defines {', '.join(f'`{n}`' for n in names)}" if names else "it defines no public function"
        raise AdgenError(
            "AD186",
            f"`{Path(str(module.__file__)).name}` has no function `{name}`",
            help=f"did you mean `{close[0]}`?" if close else known,
        )
    if not callable(found) or isinstance(found, type):
        raise AdgenError(
            "AD187", f"`{name}` is not a function but a `{type(found).__name__}`", help="name a function of the file"
        )
    if hasattr(found, "__adgen__"):
        found.__name__ = found.__qualname__ = name
    return [found]


def public_functions(module: ModuleType) -> list[Function]:
    """The functions defined in a module whose names do not begin with `_`, in the order of the file.

    What an operator makes of one, as in `slope = adgen.grad(f)`, is a function of that name.
    """
    found: list[tuple[int, Function]] = []
    for name, value in list(module.__dict__.items()):
        inner = unwrap(value) if callable(value) else value
        if name.startswith("_") or not isinstance(inner, FunctionType) or inner.__module__ != module.__name__:
            continue
        if inner.__name__ != name and hasattr(value, "__adgen__"):
            value.__name__ = value.__qualname__ = name
        if value.__name__ == name:
            found.append((inner.__code__.co_firstlineno, value))
    return [function for _, function in sorted(found, key=lambda pair: pair[0])]
