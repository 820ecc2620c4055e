"""A plain C function of doubles around an entry point, for libraries that take callbacks.

Comes in: an emitted module and the name of an entry point whose result is one double, and whose parameters are doubles
or one vector of them.  Goes out: the module with one function more, and the C type of that function.  Guaranteed: a
failed check, or too little memory, gives not-a-number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from adgen.emit.c import Emitted
from adgen.emit.interface import Parameter
from adgen.emit.render import render

ONE = "double (double)"
MANY = "double (int, double *)"


@dataclass(frozen=True)
class Callback:
    """A module that holds a function `name` of C type `signature`."""

    emitted: Emitted
    name: str
    signature: str


def callback(emitted: Emitted, entry: str) -> Callback:
    """The module with a callback around an entry point: of one number, or of how many there are and where."""
    interface = emitted.interfaces[entry]
    parameters = interface.parameters
    name = f"{interface.c_name}_callback"
    one = len(parameters) == 1 and not parameters[0].is_buffer
    signature, taken = (ONE, "double x") if one else (MANY, "int n, double *x")
    passed = "".join(f"{argument}, " for argument in (["x"] if one else _arguments(parameters)))
    text = render(
        "c/callback.c.j2",
        c_name=interface.c_name,
        name=name,
        signature=signature,
        parameters=taken,
        guards=[] if one or parameters[0].is_buffer else [f"if (n != {len(parameters)})", "    return NAN;"],
        passed=passed,
    )
    prototype = f"double {name}({taken});"
    return Callback(
        replace(
            emitted,
            c_source=emitted.c_source + text,
            header=emitted.header.replace("\n#endif", f"\n{prototype}\n\n#endif"),
            cdef=f"{emitted.cdef}\n{prototype}",
        ),
        name,
        signature,
    )


def _arguments(parameters: Sequence[Parameter]) -> list[str]:
    if parameters[0].is_buffer:
        return ["x", "n"]
    return [f"x[{position}]" for position in range(len(parameters))]
