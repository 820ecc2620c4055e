"""C functions of the user's, as what an `external` operation runs.

Comes in: a C function's name, its parameters, the files that hold it.  Goes out: its prototype, and a call of it.
Guaranteed: files are what they were when the function was defined, and two functions print alike when they are the same
function of the same files.

The convention is that of emitted C.  A number is passed as it is, an array as a pointer to `const` elements in the
order of C, which an `int64_t` for each axis follows where `extents` says so.  A function that `returns` gives its only
output, a number, as its value; others take a pointer for each output behind the inputs, at what is zero before.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from adgen.diagnostics import AdgenError
from adgen.ir.types import Scalar
from adgen.ops.spelling import C_TYPES

FOLDER = "external"  # where the files lie beside the C that calls them


@dataclass(frozen=True)
class Files:
    """Files by name with their contents, and which of them are headers to include."""

    headers: tuple[str, ...] = ()
    contents: tuple[tuple[str, bytes], ...] = ()

    @property
    def sources(self) -> tuple[str, ...]:
        """The names of what is compiled."""
        return tuple(name for name, _ in self.contents if name.endswith(".c"))

    @property
    def digest(self) -> str:
        """A name for the contents."""
        found = hashlib.sha256(repr(self.headers).encode())
        for name, data in self.contents:
            found.update(f"{name} {len(data)} ".encode() + data)
        return found.hexdigest()[:16]


@dataclass(frozen=True)
class Parameter:
    """A parameter of a C function; `extents`: the extents of the array follow it."""

    name: str
    element: Scalar
    rank: int = 0
    extents: bool = False

    def texts(self, output: bool, named: bool) -> Iterator[str]:
        """Its declarations, with names or without."""
        pointer = " *" if self.rank or output else " " if named else ""
        const = "const " if self.rank and not output else ""
        yield f"{const}{C_TYPES[self.element]}{pointer}{self.name if named else ''}"
        if self.extents:
            yield from (f"int64_t {self.name}_n{axis}" if named else "int64_t" for axis in range(self.rank))


class Home(Protocol):
    """What compiles the files of a function and calls it."""

    def run(self, function: ForeignFunction, operands: Sequence[Any]) -> tuple[Any, ...]:
        """Call a function with numbers and arrays; fills the arrays and gives the numbers of the outputs."""

    def ready(self, function: ForeignFunction) -> object:
        """Raise AdgenError when the files do not compile, or declare something else."""


@dataclass(frozen=True, eq=False)
class ForeignFunction:
    """A C function."""

    name: str
    inputs: tuple[Parameter, ...]
    outputs: tuple[Parameter, ...]
    returns: bool
    files: Files
    home: Home

    @property
    def prototype(self) -> str:
        """Its declaration in C, with names."""
        return self.declared(self.name, named=True)

    def declared(self, what: str, named: bool = False) -> str:
        """The declaration of something of its type."""
        given = [text for parameter in self.inputs for text in parameter.texts(False, named)]
        if not self.returns:
            given += [text for parameter in self.outputs for text in parameter.texts(True, named)]
        result = C_TYPES[self.outputs[0].element] if self.returns else "void"
        return f"{result} {what}({', '.join(given) or 'void'})"

    def run(self, *operands: Any) -> tuple[Any, ...]:
        """Call it with the operands of an operation; gives the operation's results."""
        return self.home.run(self, operands)

    def __str__(self) -> str:
        return f"{self.name}@{self.files.digest}"


def files_of(functions: Iterable[ForeignFunction]) -> Files:
    """The files of several functions, in `FOLDER`.

    Raises AdgenError when two files of one name differ.
    """
    headers: dict[str, None] = {}
    contents: dict[str, bytes] = {}
    for function in sorted(functions, key=str):
        headers.update((f"{FOLDER}/{name}", None) for name in function.files.headers)
        for name, data in function.files.contents:
            if contents.setdefault(f"{FOLDER}/{name}", data) != data:
                raise AdgenError(
                    "AD157",
                    f"two different files `{name}` are needed by the C functions that are called here",
                    help="rename one of them",
                )
    return Files(tuple(sorted(headers)), tuple(sorted(contents.items())))
