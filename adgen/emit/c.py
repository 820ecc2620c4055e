"""A C module from IR functions.

Comes in: optimised functions and a module name.  Goes out: `Emitted`: a C source that compiles without warnings, its
header, the declarations for cffi, how each entry is called, and what each check means.  Guaranteed: the same functions
give the same text; the source needs libm alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from adgen.diagnostics import Span
from adgen.emit.cells import cell_declarations, cell_entries
from adgen.emit.functions import CFunction, Fixed, FunctionWriter
from adgen.emit.helpers import memory_helpers, vector_forms
from adgen.emit.interface import Interface
from adgen.emit.names import Names, called, mathematical
from adgen.emit.profile import HOSTED, Profile, require_flat
from adgen.emit.render import render
from adgen.emit.tables import Tables
from adgen.ir import core
from adgen.ir.calls import reachable
from adgen.ir.nodes import Function, Operation, walk
from adgen.ir.printer import print_function
from adgen.ops.foreign import Files, files_of
from adgen.ops.spelling import C_TYPES

MACROS = ("isnan", "isinf", "isfinite", "signbit")
HEADERS = ("math.h", "stdlib.h", "string.h")
BANNER = "/* Written by adgen.  Do not edit: compile the Python source again. */"
HINTS = """/* `omp simd` is a hint: no warning where it is not known (no -fopenmp-simd) or not followed */
#ifdef __GNUC__
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#endif
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
#endif"""


FILLED = """/* arrays are read as far as a loop has filled them, which compilers cannot always see */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif"""
DETAILS = {  # whether some check has more than two
    False: "two details of it in detail[0] and detail[1]",
    True: "up to four details of it in detail[0] to detail[3]",
}
LOCAL_ARRAY = re.compile(rf"\s*({'|'.join(C_TYPES.values())}) \w+\[\d+\];")


GROWING = """/*
 * Every function returns 0, or the number of the check that failed with {details},
 * or -1 when memory ran out.  work points to sizes[0] bytes, as the function NAME_sizes tells; the extents of array
 * results follow in sizes[1], sizes[2], ...  Array results and work must not overlap with anything else.
 */"""
FLAT = """/*
 * Every function returns 0, or the number of the check that failed with {details}.
 * work points to NAME_WORK_BYTES bytes, or where that depends on the arguments to sizes[0] bytes, as the function
 * NAME_sizes tells; it is aligned as a double is.  The extents of array results follow in sizes[1], sizes[2], ...
 * Array results and work must not overlap with anything else.
 */"""


@dataclass(frozen=True)
class Site:
    """A check of the emitted code: the Python exception, its message with {0} and {1}, its place."""

    exception: str
    message: str
    span: Span | None


@dataclass(frozen=True)
class Emitted:
    """The text of a C module and what a caller must know about it; `calls` is what calls from Python need besides."""

    name: str
    c_source: str
    header: str
    header_name: str
    cdef: str
    interfaces: Mapping[str, Interface]
    sites: tuple[Site, ...]
    external: Files = field(default_factory=Files)
    calls: str = ""


def emit(
    functions: Sequence[Function],
    module_name: str,
    notes: Mapping[str, str] | None = None,
    profile: Profile = HOSTED,
    fixed: Mapping[str, Fixed] | None = None,
) -> Emitted:
    """The C module of some functions; `notes` are lines for the comment above a function, `fixed` its known extents.

    Raises AdgenError when a function cannot be written for the profile.
    """
    if profile.bare:
        for function in functions:
            require_flat(function)
    foreign = {
        operation.attributes["external"]
        for function in functions
        for each in (function, *function.callees.values())
        for operation in walk(each.body)
        if operation.row is core.EXTERNAL
    }
    external = files_of(foreign)
    names = Names(declared(external))
    c_names = {function.name: names.claim(function.name) for function in functions}
    for name in c_names.values():
        names.taken.add(f"{name}_sizes")
    called, callee_names = claimed(functions, names)
    tables = Tables([*functions, *called.values()], names)
    sites: list[Operation] = []
    spelled: dict[str, None] = {}
    callees = [
        FunctionWriter(f, name, sites, spelled, tables.names, names.taken, callee_names[name], True).write("")
        for name, f in called.items()
    ]
    made = [
        FunctionWriter(
            function=f,
            c_name=c_names[f.name],
            sites=sites,
            helpers=spelled,
            tables=tables.names,
            file_names=names.taken,
            callees=callee_names[f.name],
            profile=profile,
            fixed=(fixed or {}).get(f.name, {}),
        ).write((notes or {}).get(f.name, ""))
        for f in functions
    ]
    header_name = f"{module_name}.h"
    lines = [line for f in (*callees, *made) for line in (*f.lines, *f.size_lines)]
    words = _words(lines)
    helpers = memory_helpers(lines)
    source = render(
        "c/source.c.j2",
        banner=BANNER,
        header_name=header_name,
        includes=headers(code("\n".join([*lines, *helpers, *spelled]))) if profile.bare else HEADERS,
        directives=[
            *(f'#include "{name}"' for name in external.headers),
            *([HINTS] if any("#pragma omp" in text for text in (*lines, *spelled)) else []),
            *([FILLED] if any(LOCAL_ARRAY.match(line) for line in lines) else []),
        ],
        helpers=[
            *helpers,
            *(vector_forms(words | _words(spelled)) if "for" in words and not profile.bare else []),
            *spelled,
        ],
        tables=[text for name, text in tables.texts.items() if name in words],
        callees=callees,
        functions=made,
    )
    guard = f"ADGEN_{re.sub(r'[^A-Za-z0-9]', '_', module_name).upper()}_H"
    entries = [f.interface for f in made]
    return Emitted(
        module_name,
        source,
        render(
            "c/header.h.j2",
            banner=BANNER,
            guard=guard,
            rules=(FLAT if profile.bare else GROWING).format(details=DETAILS["adgen_fail_four" in words]),
            functions=made,
        ),
        header_name,
        "\n".join([*(declaration(f) for f in made), cell_declarations(entries)]),
        {interface.name: interface for interface in entries},
        tuple(Site(o.attributes["exception"], o.attributes["message"], o.span) for o in sites),
        external,
        cell_entries(entries),
    )


def declared(files: Files) -> set[str]:
    """The names of functions and macros in the user's headers, which nothing else may have."""
    texts = [data.decode(errors="replace") for name, data in files.contents if not name.endswith(".c")]
    return {name for text in texts for name in (*called(text), *re.findall(r"#\s*define\s+(\w+)", text))}


def headers(text: str) -> list[str]:
    """The standard headers that some C needs; the emitted header has `stdbool.h` and `stdint.h`."""
    words = _words([text])
    return [
        *(["math.h"] if mathematical(called(text)) or words & {"NAN", "INFINITY", *MACROS} else []),
        *(["stddef.h"] if words & {"size_t", "NULL"} and "memset" not in words else []),
        *(["string.h"] if "memset" in words else []),
    ]


def code(text: str) -> str:
    """Some C without its comments."""
    return re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)


def _words(texts: Iterable[str]) -> set[str]:
    return set(re.findall(r"[A-Za-z_]\w*", "\n".join(texts)))


def claimed(functions: Sequence[Function], names: Names) -> tuple[dict[str, Function], dict[str, dict[str, str]]]:
    """The callees of all functions by their C names, and for each function and callee what it calls them.

    Callees that print the same, with all that they call, are one C function.
    """
    called: dict[str, Function] = {}
    callee_names: dict[str, dict[str, str]] = {}
    known: dict[str, str] = {}
    for function in functions:
        own: dict[str, str] = {}
        for name, callee in function.callees.items():
            text = print_function(reachable(replace(callee, callees=function.callees)), spans=True)
            if text not in known:
                known[text] = names.claim(name)
                called[known[text]] = callee
                callee_names[known[text]] = own
            own[name] = known[text]
        callee_names[function.name] = own
    return called, callee_names


def declaration(function: CFunction) -> str:
    """The prototypes of a function as cffi reads them."""
    text = f"{function.prototype};\n{function.sizes_prototype};"
    return re.sub(r"\bbool\b", "_Bool", text.replace("*restrict ", "*"))
