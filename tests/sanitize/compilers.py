"""The C compilers of this machine: with sanitizers for running, with warnings as errors for compiling.

Comes in: the name of a compiler.  Goes out: a command for `$CC` that adds sanitizers to whatever it compiles, the
library that must be loaded before Python for that, and what a compiler says of a C file under each set of flags.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from adgen.toolchain.cc import OPTIMISE, STANDARD, WARNINGS

NAMES = ("gcc", "clang")
SANITIZERS = "address,undefined,float-cast-overflow"
LOOSE = (
    *("-O1", "-g1", "-Wno-error", "-fno-omit-frame-pointer"),
    *(f"-fsanitize={SANITIZERS}", "-fno-sanitize-recover=all"),
    "-fno-wrapv",  # integers that overflow wrap, but no function here is meant to: it would be an index gone wrong
)

# As the toolchain compiles, and as somebody may who knows nothing of it: without -fopenmp-simd its pragma is unknown.
FLAGS = {
    "toolchain": (*STANDARD, *OPTIMISE, *WARNINGS),
    "plain": ("-std=c11", "-O1", *WARNINGS),
}

OPTIONS = {
    "ASAN_OPTIONS": "detect_leaks=0:detect_stack_use_after_return=1:allocator_may_return_null=1:malloc_context_size=2",
    "UBSAN_OPTIONS": "print_stacktrace=1",
}


@dataclass(frozen=True)
class Sanitizer:
    """How to run Python with code that a compiler has made with sanitizers."""

    name: str
    runtime: Path

    def environment(self, folder: Path) -> dict[str, str]:
        """The environment of such a Python: `folder` receives the command for `$CC` and the cache."""
        script = folder / f"sanitizing-{self.name}"
        shared = ["-shared-libasan"] if self.name == "clang" else []
        command = " ".join([f'exec {self.name} "$@"', *LOOSE, *shared])
        script.write_text(f"#!/bin/sh\n{command}\n", encoding="utf-8")
        script.chmod(0o755)
        return {
            **os.environ,
            **OPTIONS,
            "CC": str(script),
            "ADGEN_CACHE_DIR": str(folder / "cache"),
            "PYTHONMALLOC": "malloc",  # every object an allocation of its own, with guarded ends
            "LD_PRELOAD": str(self.runtime),
        }


def installed() -> list[str]:
    """The compilers that there are."""
    return [name for name in NAMES if shutil.which(name)]


def sanitizer(name: str) -> Sanitizer | None:
    """The sanitizers of a compiler, or None when its run-time library is not installed."""
    library = "libasan.so" if name == "gcc" else f"libclang_rt.asan-{platform.machine()}.so"
    answer = subprocess.run([name, f"-print-file-name={library}"], capture_output=True, text=True, check=False)
    path = Path(answer.stdout.strip())
    return Sanitizer(name, path.resolve()) if path.is_absolute() and path.exists() else None


def complaints(name: str, flags: str, source: Path) -> str:
    """What a compiler prints about a C file; empty when it says nothing."""
    command = [name, *FLAGS[flags], "-c", source.name, "-o", os.devnull]
    done = subprocess.run(command, cwd=source.parent, capture_output=True, text=True, check=False)
    return (done.stdout + done.stderr).strip() or ("" if done.returncode == 0 else f"exit status {done.returncode}")
