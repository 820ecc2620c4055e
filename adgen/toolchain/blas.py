"""Finding the BLAS library that large products of matrices are left to.

Comes in: C text.  Goes out: what the compiler and the linker have to be told.  Guaranteed: text that calls no library
is compiled without one, and where the library is not installed the text does its own products.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

NAME = "ADGEN_BLAS"
PACKAGE = "scipy_openblas32"  # OpenBLAS as a wheel: 32-bit integers, and names that begin with `scipy_`


@dataclass(frozen=True)
class Library:
    """Arguments of the compiler and of the linker."""

    compile: tuple[str, ...] = ()
    link: tuple[str, ...] = ()

    def __add__(self, other: Library) -> Library:
        return Library(self.compile + other.compile, self.link + other.link)


def library_for(text: str) -> Library:
    """The library that some C text may call."""
    return installed() if NAME in text else Library()


@cache
def installed() -> Library:
    """The library that is installed; empty when there is none."""
    spec = find_spec(PACKAGE)
    folder = Path(spec.origin).parent / "lib" if spec and spec.origin else None
    if folder is None or not any(folder.glob("libscipy_openblas.*")):
        return Library()
    return Library((f"-D{NAME}(name)=scipy_##name",), (f"-L{folder}", "-lscipy_openblas", f"-Wl,-rpath,{folder}"))
