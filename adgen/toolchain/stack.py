"""How much stack emitted C takes, as the compiler says.

Comes in: emitted C for the profile `embedded`.  Goes out: bytes by function.  Guaranteed: the C compiles as C99 without
a warning and without a runtime behind it; a number is an upper bound for that compiler and machine: the frame of the
function and of all helpers of the file together, as no function calls itself.  Functions of libm are not in it.
"""

from __future__ import annotations

import platform
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from adgen.diagnostics import AdgenError
from adgen.toolchain.extension import USER, Source, written
from adgen.toolchain.tuning import find_compiler

STRICT = ("-std=c99", "-pedantic-errors", "-Wall", "-Wextra", "-Wconversion", "-Wvla", "-Werror", "-ffreestanding")
LEVEL = "-O2"
USAGE = "-fstack-usage"


@dataclass(frozen=True)
class Stack:
    """Bytes by function, and by which compiler they were told; none where it does not tell."""

    bytes: Mapping[str, int]
    by: str

    def note(self, name: str) -> str:
        """A line about a function."""
        return f"stack: {self.bytes[name]} bytes at most ({self.by})" if name in self.bytes else f"stack: {self.by}"


def measure(source: Source) -> Stack:
    """The stack that the functions of emitted C take.

    Raises AdgenError when the C does not compile as it must.
    """
    compiler = find_compiler()
    machine = platform.machine()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "source.c").write_text(source.c_source, encoding="utf-8")
        (folder / source.header_name).write_text(source.header, encoding="utf-8")
        written(source.external, folder)
        command = [*STRICT, "-isystem", USER, LEVEL, "-c", "source.c", "-o", "source.o"]
        try:
            compiler.run([*command, USAGE], folder)
        except AdgenError:
            compiler.run(command, folder)  # it may not know the option
        usage = folder / "source.su"
        frames = dict(map(_frame, usage.read_text().splitlines())) if usage.is_file() else {}
    said = f"{compiler.version}, {machine}, {LEVEL} {USAGE}"
    if not frames:
        return Stack({}, f"not told by {compiler.version}")
    exported = {name for name in frames if f"int {name}(" in source.header or f"void {name}(" in source.header}
    helpers = sum(size for name, size in frames.items() if name not in exported)
    return Stack({name: frames[name] + helpers for name in sorted(exported)}, said)


def _frame(line: str) -> tuple[str, int]:
    """The function and the bytes of a line such as `source.c:12:5:f_grad<TAB>96<TAB>static`."""
    place, size, kind = line.split("\t")
    if kind != "static":
        raise AdgenError("AD503", f"a frame of {place} is {kind}", help="please report this with the function")
    return place.rpartition(":")[2], int(size)
