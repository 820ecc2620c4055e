"""From C text to an importable extension: cffi in API mode, without setuptools.

Comes in: the emitted C source, header and declarations.  Goes out: the path of a shared library in the cache, and the
module loaded from such a path.  Guaranteed: the same text, compiler and Python give the same path; the emitted C is
compiled with warnings as errors, the wrapper that cffi writes is not.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Protocol

from adgen.diagnostics import AdgenError
from adgen.ops.foreign import Files
from adgen.toolchain.blas import Library, library_for
from adgen.toolchain.cache import cached, digest
from adgen.toolchain.cc import OPTIMISE, STANDARD, WARNINGS, Compiler, python_headers
from adgen.toolchain.fastcall import begin_calls
from adgen.toolchain.levels import level
from adgen.toolchain.link import SHARED, SUFFIX
from adgen.toolchain.openmp import threads_for
from adgen.toolchain.tuning import find_compiler

USER = "user"


class Source(Protocol):
    """What `emit` gives, as far as compiling it goes."""

    @property
    def c_source(self) -> str: ...
    @property
    def header(self) -> str: ...
    @property
    def cdef(self) -> str: ...
    @property
    def header_name(self) -> str: ...
    @property
    def calls(self) -> str: ...
    @property
    def external(self) -> Files: ...


def build(source: Source) -> Path:
    """The compiled extension of an emitted module, from the cache when it is there.

    Raises AdgenError when there is no compiler or it fails.
    """
    compiler = find_compiler()
    library = library_for(source.c_source) + threads_for(source.c_source, compiler)
    made_of = (
        source.c_source,
        source.header,
        source.cdef,
        source.calls,
        compiler.identity,
        sys.version,
        SUFFIX,
        source.external.digest,
    )
    key = digest(*made_of, *level(source.c_source), *library.compile, *library.link)
    name = f"_adgen_{key}"
    folder = cached("library", key, lambda folder: _compile(source, name, compiler, library, folder))
    return folder / f"{name}{SUFFIX}"


def _compile(source: Source, name: str, compiler: Compiler, library: Library, folder: Path) -> None:
    stem = Path(source.header_name).stem
    (folder / f"{stem}.c").write_text(source.c_source, encoding="utf-8")
    (folder / source.header_name).write_text(source.header, encoding="utf-8")
    moving = wrapper(name, source.cdef, f'#include "{source.header_name}"\n\n{source.calls}', folder)
    theirs = written(source.external, folder)
    flags = [*STANDARD, *OPTIMISE, *level(source.c_source), *compiler.native, *WARNINGS, *library.compile]
    function = [*flags, "-isystem", USER, "-c", f"{stem}.c", "-o", "function.o"]
    begin_calls()
    compiler.run_all([function, moving, *(compiling(file, compiler) for file in theirs)], folder)
    objects = ["function.o", "wrapper.o", *map(object_of, theirs)]
    compiler.run([*SHARED, *objects, "-o", f"{name}{SUFFIX}", *library.link, "-lm"], folder)
    for leftover in (*objects, "wrapper.c"):
        (folder / leftover).unlink()


def wrapper(name: str, cdef: str, text: str, folder: Path) -> list[str]:
    """Write `wrapper.c`, through which Python calls what `cdef` declares; the arguments that make `wrapper.o` of it."""
    from cffi import FFI

    ffi = FFI()
    ffi.cdef(cdef)
    ffi.set_source(name, text, compiler_verbose=0)
    ffi.emit_c_code(str(folder / "wrapper.c"))
    # not worth optimising: it only moves arguments
    return [*STANDARD, "-O1", "-w", "-D_GNU_SOURCE", f"-I{python_headers()}", "-c", "wrapper.c", "-o", "wrapper.o"]


def written(files: Files, folder: Path) -> list[str]:
    """Write the user's files below a folder, where emitted C does not find them but as a system's: its warnings are
    errors, theirs are not.  Gives the paths of those to compile."""
    for name, data in files.contents:
        (folder / USER / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / USER / name).write_bytes(data)
    return [f"{USER}/{name}" for name in files.sources]


def compiling(file: str, compiler: Compiler) -> list[str]:
    """The arguments that make an object of one of the user's files."""
    return [*STANDARD, *OPTIMISE, *compiler.native, "-c", file, "-o", object_of(file)]


def object_of(file: str) -> str:
    """The object file of a source file."""
    return f"{file.removesuffix('.c')}.o"


def load(path: Path) -> ModuleType:
    """The extension module at a path, loaded once per process.

    Raises AdgenError when it cannot be loaded.
    """
    name = path.name.removesuffix(SUFFIX)
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise AdgenError("AD505", f"there is no compiled module at {path}")
    try:
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    except ImportError as error:
        raise AdgenError("AD505", f"{path} cannot be loaded: {error}", help="compile it again") from error
    sys.modules[name] = module
    return module
