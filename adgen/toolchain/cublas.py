"""Finding cuBLAS, which large products of matrices on a device are left to.

Comes in: CUDA text and a target.  Goes out: what the compiler and the linker have to be told.  Guaranteed: text that
computes no products is compiled without the library, and so is what has to give the same bits in every run; where the
library is not installed the text does its own products.

It is the one of the CUDA toolkit that nvcc belongs to, else that of NVIDIA's packages for Python.  The environment
variable ADGEN_CUBLAS says `off` for products by the text itself, and `on` for a stand-in of the library in the
emulator.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from adgen.diagnostics import AdgenError
from adgen.toolchain.blas import Library
from adgen.toolchain.nvcc import Nvcc, find_nvcc
from adgen.toolchain.target import CUBLAS, Target

CHOICES = ("", "on", "off")


def library_for(text: str, target: Target) -> Library:
    """The library that some CUDA text may call.

    Raises AdgenError when the environment says what is no choice.
    """
    wanted = os.environ.get(CUBLAS, "").strip()
    if wanted not in CHOICES:
        said = f"{CUBLAS} is `{wanted}`, which is no choice"
        raise AdgenError("AD198", said, help="set it to on or off, or unset it")
    if CUBLAS not in text or target.deterministic or wanted == "off":
        return Library()
    if target.name != "cuda":
        return Library((f"-D{CUBLAS}",)) if wanted == "on" else Library()
    found = installed(find_nvcc())
    if found is None:
        return Library()
    return Library((f"-D{CUBLAS}",), ("-Xlinker", str(found), "-Xlinker", f"-rpath,{found.parent}"))


def installed(nvcc: Nvcc) -> Path | None:
    """The shared library of the version of a compiler; None where there is none."""
    name = f"libcublas.so.{nvcc.version.partition('.')[0]}"
    return next((folder / name for folder in _folders(nvcc) if (folder / name).is_file()), None)


def _folders(nvcc: Nvcc) -> Iterator[Path]:
    """Where the library may be."""
    command = shutil.which(nvcc.command[0])
    if command:
        root = Path(command).resolve().parent.parent
        yield from (root / "lib64", root / "lib", *sorted(root.glob("targets/*/lib")))
    spec = find_spec("nvidia")
    for place in (spec.submodule_search_locations or ()) if spec else ():
        yield from sorted(Path(place).glob("*/lib"))
