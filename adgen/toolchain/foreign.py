"""C functions of the user's, compiled and called.

Comes in: files, and functions that they declare.  Goes out: calls with numbers and arrays.  Guaranteed: what is wrong
with the files is an error that shows what the compiler said: a header or a source that does not compile, a declaration
of another type, a function that is nowhere defined.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from adgen.diagnostics import AdgenError
from adgen.ops.foreign import ForeignFunction, files_of
from adgen.ops.spelling import C_TYPES
from adgen.toolchain.cache import cached, digest
from adgen.toolchain.cc import STANDARD, Compiler, python_headers
from adgen.toolchain.extension import USER, compiling, load, object_of, written
from adgen.toolchain.link import SHARED, SUFFIX
from adgen.toolchain.tuning import find_compiler

INCLUDES = "#include <stdbool.h>\n#include <stdint.h>\n"


@dataclass(frozen=True)
class Foreign:
    """What compiles and calls C functions."""

    def ready(self, function: ForeignFunction) -> ModuleType:
        """The loaded library of a function.

        Raises AdgenError when its files do not compile, or declare something else.
        """
        compiler = find_compiler()
        key = digest(str(function), function.prototype, compiler.identity, SUFFIX)
        name = f"_adgen_foreign_{key}"
        folder = cached("foreign", key, lambda folder: _compile(function, name, compiler, folder))
        try:
            return load(folder / f"{name}{SUFFIX}")
        except AdgenError as error:
            message = f"`{function.name}` cannot be loaded: {error.message.rpartition(f'{SUFFIX}: ')[2]}"
            raise AdgenError("AD506", message, help="name the file that defines it in `sources=`") from None

    def run(self, function: ForeignFunction, operands: Sequence[Any]) -> tuple[Any, ...]:
        """Call a function with numbers and arrays; fills the arrays and gives the numbers of the outputs."""
        module = self.ready(function)
        called, given = getattr(module.lib, function.name), [_passed(module.ffi, operand) for operand in operands]
        if function.returns:
            return (called(*given),)
        first = len(given) - sum(output.rank > 0 for output in function.outputs)
        numbers, arrays, targets = [], iter(given[first:]), []
        for output in function.outputs:
            if not output.rank:
                numbers.append(module.ffi.new(f"{_cffi(C_TYPES[output.element])} *", 0))
            targets.append(next(arrays) if output.rank else numbers[-1])
        called(*given[:first], *targets)
        return tuple(number[0] for number in numbers)


def _compile(function: ForeignFunction, name: str, compiler: Compiler, folder: Path) -> None:
    """Fill a folder with the extension that calls a function."""
    from cffi import FFI

    files = files_of([function])
    sources = written(files, folder)
    headers = ", ".join(f"`{Path(header).name}`" for header in files.headers)
    includes = INCLUDES + "".join(f'#include "{header}"\n' for header in files.headers)
    declaration = f"{includes}{function.declared('(*adgen_declared)')} = {function.name};\n"
    flags = [*STANDARD, "-isystem", USER]
    for text, what in ((includes, "does not compile"), (declaration, f"does not declare `{function.prototype}`")):
        (folder / "check.c").write_text(text, encoding="utf-8")
        (said,) = compiler.complaints([[*flags, "-Wall", "-Werror", "-fsyntax-only", "check.c"]], folder)
        if said is not None:
            raise _refused(f"{headers} {what}", said)
    for source, said in zip(sources, compiler.complaints([compiling(each, compiler) for each in sources], folder)):
        if said is not None:
            raise _refused(f"`{Path(source).name}` does not compile", said)
    ffi = FFI()
    ffi.cdef(f"{_cffi(function.declared(function.name))};")
    ffi.set_source(name, includes, compiler_verbose=0)
    ffi.emit_c_code(str(folder / "wrapper.c"))
    wrapper = [*flags, "-O1", "-w", "-D_GNU_SOURCE", f"-I{python_headers()}", "-c", "wrapper.c", "-o", "wrapper.o"]
    compiler.run(wrapper, folder)
    compiler.run([*SHARED, "wrapper.o", *map(object_of, sources), "-o", f"{name}{SUFFIX}", "-lm"], folder)


def _refused(what: str, said: str) -> AdgenError:
    return AdgenError(
        "AD506",
        f"a C function cannot be called: {what}:\n{said}",
        help="`sources=` must name all that the files include; docs/derivatives.md says how C is given its arguments",
    )


def _cffi(text: str) -> str:
    """A declaration as cffi reads it."""
    return re.sub(r"\bbool\b", "_Bool", text)


def _passed(ffi: Any, operand: Any) -> Any:
    """An operand as cffi takes it."""
    if isinstance(operand, np.ndarray):
        return ffi.cast("void *", operand.ctypes.data)
    return operand.item() if isinstance(operand, np.generic) else operand
