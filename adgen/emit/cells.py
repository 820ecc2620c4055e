"""Entry points for calls from Python: functions of one form each, whose arguments lie in an array of cells.

Comes in: how each function is called.  Goes out: C text that stands beside the emitted source, and its declarations.
Guaranteed: `adgen_calls_NAME` holds the addresses of `int f(cells, work, detail)` and `void f_sizes(cells, sizes)`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from adgen.emit.interface import Interface, Parameter
from adgen.emit.render import render
from adgen.ir.types import BOOL, F64
from adgen.ops.spelling import C_TYPES


def cell_entries(interfaces: Sequence[Interface]) -> str:
    """The C text of the entry points."""
    return render("c/calls.c.j2", functions=[_names(interface) for interface in interfaces])


def cell_declarations(interfaces: Sequence[Interface]) -> str:
    """The declarations that cffi reads."""
    return "\n".join(f"extern void *const adgen_calls_{interface.c_name}[2];" for interface in interfaces)


def _names(interface: Interface) -> Mapping[str, str]:
    inputs = list(_inputs(interface.parameters))
    results = [f"cell[{len(inputs) + k}].pointer" for k in range(len(interface.results))]
    return {
        "name": interface.c_name,
        "arguments": "".join(f"{text}, " for text in (*inputs, *results)),
        "inputs": "".join(f"{text}, " for text in inputs),
    }


def _inputs(parameters: Iterable[Parameter]) -> Iterator[str]:
    place = 0
    for parameter in parameters:
        if parameter.is_buffer:
            yield f"cell[{place}].pointer"
            yield from (f"cell[{place + 1 + axis}].integer" for axis in range(parameter.rank))
            place += 1 + parameter.rank
            continue
        kind, cell = parameter.element, f"cell[{place}]"
        number = f"{cell}.number" if kind.is_float else f"{cell}.integer"
        exact = kind == F64 or C_TYPES[kind] == "int64_t"
        yield number if exact else f"{number} != 0" if kind == BOOL else f"({C_TYPES[kind]}){number}"
        place += 1
