"""Finding and running a C compiler.

Comes in: C files.  Goes out: a shared library.  Guaranteed: the compiler is the first that works of `$CC`, `cc`, `gcc`,
`clang` and the `ziglang` package; what it prints is part of the error when it fails.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from adgen.diagnostics import AdgenError

# Never -ffast-math.  Contraction into fused multiply-adds stays off: x*x - y*y is 0 for x = y, as in Python.
OPTIMISE = ("-O3", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off", "-fopenmp-simd")
STANDARD = ("-std=c11", "-fPIC")
WARNINGS = ("-Wall", "-Wextra", "-Wconversion", "-Werror")


@dataclass(frozen=True)
class Compiler:
    """A C compiler: its command, what `--version` says, and the flags for this machine."""

    command: tuple[str, ...]
    version: str
    native: tuple[str, ...]

    @property
    def identity(self) -> str:
        """Everything that may change what it makes."""
        return "\n".join([*self.command, self.version, *self.native, *OPTIMISE, *STANDARD])

    def run(self, arguments: Sequence[str], folder: Path) -> None:
        """Run the compiler in a folder.

        Raises AdgenError with what it printed when it fails.
        """
        try:
            done = subprocess.run([*self.command, *arguments], cwd=folder, capture_output=True, text=True, check=False)
        except OSError as error:
            raise AdgenError("AD502", f"the C compiler cannot be started: {error}", help=INSTALL) from error
        if done.returncode:
            raise AdgenError(
                "AD503",
                f"the C compiler {self.command[0]} failed:\n{done.stderr.strip()}",
                help="the emitted C should always compile: please report this with the function",
            )


INSTALL = "install gcc or clang (Debian: apt install gcc), or `pip install adgen[zig]`, or set CC"


@cache
def find_compiler(environment: str | None = None) -> Compiler:
    """The C compiler to use; `environment` stands for `$CC`.

    Raises AdgenError that says what to install when there is none.
    """
    for command in _candidates(environment if environment is not None else os.environ.get("CC", "")):
        version = _version(command)
        if version is not None:
            return Compiler(command, version, ("-march=native",) if _accepts(command, "-march=native") else ())
    raise AdgenError("AD502", "no C compiler was found", help=INSTALL)


def _candidates(environment: str) -> list[tuple[str, ...]]:
    found = [tuple(shlex.split(environment))] if environment.strip() else []
    found += [(name,) for name in ("cc", "gcc", "clang") if shutil.which(name)]
    return [*found, (sys.executable, "-m", "ziglang", "cc")]


def _version(command: tuple[str, ...]) -> str | None:
    try:
        done = subprocess.run([*command, "--version"], capture_output=True, text=True, check=False)
    except OSError:
        return None
    return done.stdout.splitlines()[0] if done.returncode == 0 and done.stdout else None


def _accepts(command: tuple[str, ...], flag: str) -> bool:
    arguments = [*command, flag, "-x", "c", "-fsyntax-only", "-"]
    return subprocess.run(arguments, input="int x;\n", capture_output=True, text=True, check=False).returncode == 0


def python_headers() -> Path:
    """The folder of `Python.h`.

    Raises AdgenError when the headers are not installed.
    """
    folder = Path(sysconfig.get_paths()["include"])
    if not (folder / "Python.h").is_file():
        raise AdgenError(
            "AD504", "Python.h was not found", help="install Python's headers (Debian: apt install python3-dev)"
        )
    return folder
