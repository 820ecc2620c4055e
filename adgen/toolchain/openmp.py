"""Whether a compiler makes threads of `#pragma omp parallel`.

Comes in: C text and a compiler.  Goes out: what the compiler and the linker have to be told.  Guaranteed: text without
parallel loops is compiled without the library of threads; where a compiler has none, the loops run one part after the
other, which gives the same bits.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from adgen.toolchain.blas import Library
from adgen.toolchain.cache import digest, recall, remember
from adgen.toolchain.cc import Compiler

FLAG = "-fopenmp"
PROGRAM = "#include <omp.h>\nint f(void);\nint f(void) { return omp_get_max_threads(); }\n"


def threads_for(text: str, compiler: Compiler) -> Library:
    """What parallel loops in some C text need."""
    if "#pragma omp parallel" not in text or not has_threads(compiler):
        return Library()
    return Library((FLAG,), (FLAG,))


def has_threads(compiler: Compiler) -> bool:
    """True when the compiler links a program with threads; asked once."""
    key = digest(compiler.identity, FLAG)
    known = recall("openmp", key)
    if known is None:
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "t.c").write_text(PROGRAM)
            complaint = compiler.complaints([["-shared", "-fPIC", FLAG, "t.c", "-o", "t.so"]], Path(folder))
        known = [str(complaint == [None])]
        remember("openmp", key, known)
    return known == ["True"]
