"""From CUDA text to an importable extension, by nvcc or by the emulator.

Comes in: an emitted CUDA module and a target.  Goes out: the path of an extension in the cache, which has the functions
for arrays of the host as an extension made of C has them.  Guaranteed: as for C, the same text, compilers and Python
give the same path, and the emitted text is compiled with warnings as errors.

The environment variable ADGEN_EMULATOR chooses how emulated code is compiled: `plain` (the default), `races`, which
counts accesses that meet, or `sanitized`.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Protocol

from adgen.diagnostics import AdgenError
from adgen.toolchain import emulated, nvcc
from adgen.toolchain.blas import Library
from adgen.toolchain.cache import cached, digest
from adgen.toolchain.cublas import library_for
from adgen.toolchain.extension import Source, wrapper
from adgen.toolchain.fastcall import begin_calls
from adgen.toolchain.link import SHARED, SUFFIX
from adgen.toolchain.ptxas import Usage, usages
from adgen.toolchain.target import FLAVOUR, Target
from adgen.toolchain.tuning import find_compiler


class CudaSource(Source, Protocol):
    """What `emit_cuda` gives, as far as compiling it goes."""

    @property
    def cuda_header(self) -> str: ...
    @property
    def cuda_header_name(self) -> str: ...
    @property
    def cuda_host(self) -> str: ...


def build_device(source: CudaSource, target: Target) -> Path:
    """The compiled extension of a CUDA module, from the cache when it is there.

    Raises AdgenError when there is no compiler or it fails.
    """
    text = (source.c_source, source.cuda_header, source.cuda_host, source.header, source.cdef, source.calls)
    if target.name == "cuda":
        archs = nvcc.architectures(target.architectures)
        identity = digest(nvcc.find_nvcc().identity, *archs)
    else:
        archs = ()
        identity = emulated.identity(flavour(), emulated.cpp_compiler()) + emulated.COUNTER
    library = library_for(source.c_source, target)
    key = digest(*text, identity, find_compiler().identity, sys.version, SUFFIX, *library.compile, *library.link)
    name = f"_adgen_{key}"

    def fill(folder: Path) -> None:
        stem = Path(source.cuda_header_name).stem
        for file, content in (
            (f"{stem}.cu", source.c_source),
            (f"{stem}_host.cu", source.cuda_host),
            (source.cuda_header_name, source.cuda_header),
            (source.header_name, source.header),
        ):
            (folder / file).write_text(content, encoding="utf-8")
        _wrapper(source, name, folder, target)
        if target.name == "cuda":
            _nvcc(stem, name, folder, archs, library)
        else:
            _emulated(source, stem, name, folder, library)
        for leftover in (*folder.glob("*.o"), folder / "wrapper.c"):
            leftover.unlink()

    return cached("library", key, fill) / f"{name}{SUFFIX}"


def kernel_usages(library: Path) -> tuple[Usage, ...]:
    """What nvcc has said about the kernels of an extension; nothing of an emulated one."""
    printed = library.parent / nvcc.PRINTED
    return usages(printed.read_text(encoding="utf-8")) if printed.is_file() else ()


def flavour() -> emulated.Flavour:
    """How emulated code is compiled.

    Raises AdgenError when the environment names no way.
    """
    given = os.environ.get(FLAVOUR, "").strip() or "plain"
    for known in emulated.FLAVOURS:
        if given == known:
            return known
    raise AdgenError(
        "AD198",
        f"{FLAVOUR} is `{given}`, which is no way to emulate",
        help=f"choose from {', '.join(emulated.FLAVOURS)}",
    )


def _wrapper(source: CudaSource, name: str, folder: Path, target: Target) -> None:
    """The C file through which Python calls."""
    counter = emulated.COUNTER if target.name != "cuda" else ""
    text = f'#include "{source.header_name}"\n\n{counter}\n{source.calls}'
    command = wrapper(name, f"{source.cdef}\n{counter}", text, folder)
    begin_calls()
    find_compiler().run(command, folder)


def _nvcc(stem: str, name: str, folder: Path, archs: tuple[str, ...], library: Library) -> None:
    compiler, flags = nvcc.find_nvcc(), [*nvcc.flags(archs), *library.compile]
    printed = compiler.run([*flags, "-c", f"{stem}.cu", "-o", "device.o"], folder)
    (folder / nvcc.PRINTED).write_text(printed, encoding="utf-8")
    compiler.run([*flags, "-c", f"{stem}_host.cu", "-o", "host.o"], folder)
    compiler.run([*flags, "-shared", "device.o", "host.o", "wrapper.o", "-o", f"{name}{SUFFIX}", *library.link], folder)


def _emulated(source: CudaSource, stem: str, name: str, folder: Path, library: Library) -> None:
    way = flavour()
    # what only moves arguments is not worth optimising
    for text, file, extra in ((source.c_source, stem, ()), (source.cuda_host, f"{stem}_host", ("-O0",))):
        emulated.compile_emulated(text, file, folder, way, (*extra, *library.compile)).rename(folder / f"{file}.o")
    compiler = emulated.cpp_compiler()
    objects = [f"{stem}.o", f"{stem}_host.o", "wrapper.o"]
    compiler.run([*SHARED, *objects, "-o", f"{name}{SUFFIX}", *emulated.linking(way, compiler)], folder)
