"""CUDA without a device: emitted `.cu` files compiled as C++, with the headers in `emulator/` in place of CUDA's.

Comes in: the text of a `.cu` file.  Goes out: an object file with the same functions, which run their kernels on the
calling thread.  Guaranteed: launches apart, which C++ has no notation for, the text is compiled as it is, with warnings
as errors and the arithmetic of the C target; nothing has to be loaded before Python, but for sanitizers.

The environment variable ADGEN_EMULATED_ORDER says in which order blocks and threads run: `forward` (the default),
`backward`, `shuffled`.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Literal, get_args

from adgen.diagnostics import AdgenError
from adgen.toolchain.cache import digest
from adgen.toolchain.cc import OPTIMISE, Compiler, probe, split_command
from adgen.toolchain.levels import level

Flavour = Literal["plain", "races", "sanitized"]
FLAVOURS: tuple[Flavour, ...] = get_args(Flavour)

HEADERS = Path(__file__).with_name("emulator")
OBJECT = "function.o"

# What every object defines, for cffi: how many races there were (none are found but in the flavour `races`).
COUNTER = "int64_t adgen_emulated_races(void);\nvoid adgen_emulated_races_reset(void);\n"

# A device has neither exceptions nor types at run time.  A fortified longjmp refuses to leave a stack for another.
STANDARD = ("-std=c++17", "-fPIC", "-fno-exceptions", "-fno-rtti", "-U_FORTIFY_SOURCE")
# What a pragma for nvcc says is no concern of another compiler.
WARNINGS = ("-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas")
SANITIZERS = "-fsanitize=address,undefined,float-cast-overflow"
INSTALL = "install g++ or clang++ (Debian: apt install g++), or set CXX"

# `kernel<<<`, where the kernel may be an instance of a template, up to `>>>(`.
LAUNCH = re.compile(r"\b([A-Za-z_]\w*(?:<[^<>;(){}]*>)?)\s*<<<(.*?)>>>\s*\(", re.DOTALL)


def emulated(text: str) -> str:
    """The text with `f<<<blocks, threads>>>(x)` written as `ADGEN_LAUNCH(f, blocks, threads)(x)`, line by line."""
    return LAUNCH.sub(lambda found: f"ADGEN_LAUNCH({_argument(found[1])}, {found[2]})(", text)


def _argument(kernel: str) -> str:
    """A kernel as one argument of a macro."""
    return f"({kernel})" if "," in kernel else kernel


def flags(flavour: Flavour) -> tuple[str, ...]:
    """What the compiler is told: `plain` optimises as for C, `races` watches memory, `sanitized` stops at faults.

    In `races` code is not optimised, so that no access is moved out of a loop or made part of another.
    """
    ours = (*STANDARD, *OPTIMISE, *WARNINGS, f"-I{HEADERS}")
    if flavour == "races":
        return (*ours, "-O0", "-g1", "-fsanitize=thread")  # the hooks are the emulator's, nothing is linked
    if flavour == "sanitized":
        # sanitizers make compilers warn of what is not so; wrapped integers are an index gone wrong
        loose = ("-O1", "-g1", "-Wno-error", "-fno-omit-frame-pointer", "-fno-sanitize-recover=all", "-fno-wrapv")
        return (*ours, *loose, SANITIZERS)
    return ours


def _compiling(flavour: Flavour, compiler: Compiler) -> tuple[str, ...]:
    """What this compiler is told; each has its own way of telling volatile accesses from others."""
    if flavour != "races":
        return flags(flavour)
    clang = "clang" in compiler.version
    volatile = ("-mllvm", "-tsan-distinguish-volatile=1") if clang else ("--param=tsan-distinguish-volatile=1",)
    return (*flags(flavour), *volatile)


def linking(flavour: Flavour, compiler: Compiler) -> tuple[str, ...]:
    """What `cpp_compiler` is told when it links the object into an extension."""
    if flavour != "sanitized":
        return ()
    return (SANITIZERS, *(("-shared-libasan",) if "clang" in compiler.version else ()))


def identity(flavour: Flavour, compiler: Compiler) -> str:
    """Everything but the text that may change the object: for the cache's key."""
    headers = [path.read_text(encoding="utf-8") for path in sorted(HEADERS.glob("*.h"))]
    told = (*_compiling(flavour, compiler), *linking(flavour, compiler))
    return digest(flavour, compiler.identity, *told, *headers)


def compile_emulated(text: str, name: str, folder: Path, flavour: Flavour = "plain", extra: Sequence[str] = ()) -> Path:
    """Compile the text of `name.cu` in a folder that holds what it includes; the object file.

    Raises AdgenError when there is no compiler or it fails; messages name lines of `name.cu`.
    """
    compiler = cpp_compiler()
    source = folder / f"{name}.emulated.cpp"
    source.write_text(f'#line 1 "{name}.cu"\n{emulated(text)}', encoding="utf-8")
    optimisation = (*level(text), *compiler.native) if flavour == "plain" else ()
    told = (*_compiling(flavour, compiler), *optimisation, *extra)
    compiler.run([*told, "-c", source.name, "-o", OBJECT], folder)
    source.unlink()
    return folder / OBJECT


def cpp_compiler() -> Compiler:
    """The C++ compiler to use: the one that `$CXX` names, else the first that works of g++, c++ and clang++.

    Raises AdgenError that says what to install when there is none.
    """
    return _find(os.environ.get("CXX", "").strip(), os.environ.get("PATH", ""))


@cache
def _find(wanted: str, path: str) -> Compiler:
    named = [split_command(wanted)] if wanted else [(name,) for name in ("g++", "c++", "clang++") if shutil.which(name)]
    for command in named:
        found = probe(command)
        if found is not None:
            return found
    if wanted:
        raise AdgenError(
            "AD511", f"`{wanted}`, which CXX names, is no C++ compiler that works", help="set CXX to one, or unset it"
        )
    raise AdgenError("AD511", "no C++ compiler was found", help=INSTALL)
