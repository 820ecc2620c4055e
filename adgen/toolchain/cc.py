"""Finding and running a C compiler.

Comes in: C files.  Goes out: object files and libraries.  Guaranteed: the compiler is the one that `$CC` names, else
the first that works of `cc`, `gcc`, `clang` and the `ziglang` package; what it prints is part of the error when it
fails.  What is found out about a compiler is kept in the cache folder, so that it is asked only once.  For which
processor it schedules is measured (`tuning`).
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from adgen.diagnostics import AdgenError
from adgen.toolchain.cache import digest, recall, remember

# Never -ffast-math.  Contraction into fused multiply-adds stays off: x*x - y*y is 0 for x = y, as in Python, and the
# interpreter is equal to the last bit; it costs a mixture's gradient nothing and a stencil's a quarter of its time.
# Integers wrap, as NumPy's and the interpreter's do: without -fwrapv an overflow is undefined.
# gcc makes one scalar call of the sine and the cosine of one number, where two vector calls take less.
OPTIMISE = (
    "-O3",
    "-fno-builtin-sin",
    "-fno-builtin-cos",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-ffp-contract=off",
    "-fwrapv",
    "-fopenmp-simd",
)
NATIVE = "-march=native"
LEVEL = "ADGEN_LEVEL"  # an environment variable: see `levels`
# gcc makes calls of memcpy, or the instruction for it, of loops that copy; for rows of a few elements both are slow.
INLINE = "-fno-tree-loop-distribute-patterns"
STANDARD = ("-std=c11", "-fPIC")
WARNINGS = ("-Wall", "-Wextra", "-Wconversion", "-Werror")

INSTALL = "install gcc or clang (Debian: apt install gcc), or `pip install adgen[zig]`, or set CC"


@dataclass(frozen=True)
class Compiler:
    """A C compiler: its command, what `--version` says, the flags for this machine, and what machine that is."""

    command: tuple[str, ...]
    version: str
    native: tuple[str, ...]
    machine: str = ""

    @property
    def identity(self) -> str:
        """Everything that may change what it makes."""
        level = os.environ.get(LEVEL, "")
        return "\n".join(
            [*self.command, self.version, *self.native, self.machine, level, *OPTIMISE, *STANDARD, *WARNINGS]
        )

    def run(self, arguments: Sequence[str], folder: Path) -> None:
        """Run the compiler in a folder.

        Raises AdgenError with what it printed when it fails.
        """
        self.run_all([arguments], folder)

    def run_all(self, commands: Sequence[Sequence[str]], folder: Path) -> None:
        """Run the compiler several times at once in a folder.

        Raises AdgenError with what it printed when it fails.
        """
        for text in self.complaints(commands, folder):
            if text is not None:
                raise AdgenError(
                    "AD503",
                    f"the C compiler `{shlex.join(self.command)}` failed:\n{text}",
                    help="the emitted C should always compile: please report this with the function",
                )

    def complaints(self, commands: Sequence[Sequence[str]], folder: Path) -> list[str | None]:
        """Run the compiler several times at once in a folder; what it printed where it failed, else None.

        Raises AdgenError when it cannot be started.
        """
        running = []
        try:
            for arguments in commands:
                command = [*self.command, *arguments]
                running.append(subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT))
            printed = [process.communicate()[0].decode(errors="replace").strip() for process in running]
        except OSError as error:
            raise AdgenError("AD502", f"the C compiler cannot be started: {error}", help=INSTALL) from error
        finally:
            for process in running:
                if process.poll() is None:
                    process.kill()
                    process.wait()
        return [text if process.returncode else None for process, text in zip(running, printed, strict=True)]


def plain_compiler() -> Compiler:
    """The C compiler to use, as it comes; `tuning.find_compiler` tells it what is fastest here.

    Raises AdgenError that says what to install when there is none.
    """
    return _find(os.environ.get("CC", "").strip(), os.environ.get("PATH", ""))


@cache
def _find(wanted: str, path: str) -> Compiler:
    for command in (split_command(wanted),) if wanted else _usual():
        found = probe(command)
        if found is not None:
            return found
    if wanted:
        raise AdgenError(
            "AD502", f"`{wanted}`, which CC names, is no C compiler that works", help="set CC to one, or unset it"
        )
    raise AdgenError("AD502", "no C compiler was found", help=INSTALL)


def split_command(wanted: str) -> tuple[str, ...]:
    """The words of a command as a shell reads them."""
    try:
        return tuple(shlex.split(wanted))
    except ValueError:  # an open quotation mark
        return (wanted,)


def _usual() -> Iterator[tuple[str, ...]]:
    yield from ((name,) for name in ("cc", "gcc", "clang") if shutil.which(name))
    if find_spec("ziglang") is not None:
        yield sys.executable, "-m", "ziglang", "cc"


def probe(command: tuple[str, ...]) -> Compiler | None:
    """What a compiler is, from the cache or by asking it; None when it does not work."""
    machine = _machine()
    key = digest(*command, *stamps(command), machine, NATIVE, INLINE)
    known = recall("compiler", key)
    if known is None:
        version = answer([*command, "--version"])
        if not version:
            return None
        known = [version.splitlines()[0], *(flag for flag in (NATIVE, INLINE) if accepts(command, flag))]
        remember("compiler", key, known)
    version, *native = known
    return Compiler(command, version, tuple(native), machine)


def stamps(command: Sequence[str]) -> list[str]:
    """When the files behind a command were last changed: an upgraded compiler is a new one."""
    files = [shutil.which(command[0])]
    if "ziglang" in command:
        spec = find_spec("ziglang")
        files.append(spec.origin if spec else None)
    found = []
    for file in files:
        try:
            status = os.stat(os.path.realpath(file)) if file else None
        except OSError:
            status = None
        found.append(f"{file} {status.st_mtime_ns} {status.st_size}" if status else f"{file}")
    return found


@cache
def _machine() -> str:
    """What `-march=native` depends on: the same cache folder may be seen from several machines."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            lines = file.read(1 << 14).split("\n\n")[0].splitlines()
    except OSError:
        import platform

        return f"{platform.machine()} {platform.processor()}"
    kept = ("vendor_id", "cpu family", "model", "stepping", "flags", "Features", "CPU part")
    return "\n".join(line for line in lines if line.split("\t")[0].strip(" :") in kept)


def answer(command: Sequence[str]) -> str:
    """What a command prints; nothing when it fails or cannot be started."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    except OSError:
        return ""
    return done.stdout if done.returncode == 0 else ""


def accepts(command: Sequence[str], *flags: str) -> bool:
    """Whether a compiler knows flags."""
    arguments = [*command, *flags, "-Werror", "-x", "c", "-fsyntax-only", "-"]
    return subprocess.run(arguments, input="int x;\n", capture_output=True, text=True, check=False).returncode == 0


def python_headers() -> Path:
    """The folder of `Python.h`.

    Raises AdgenError when the headers are not installed.
    """
    folder = Path(sysconfig.get_paths()["include"])
    if not (folder / "Python.h").is_file():
        raise AdgenError(
            "AD504",
            f"Python.h was not found in {folder}",
            help=f"install Python's headers (Debian: apt install python3.{sys.version_info[1]}-dev)",
        )
    return folder
