"""The files of a package: module, stubs, C, library, IR of every stage, interface, report.

Comes in: subjects, what was emitted for them, the compiled library.  Goes out: the contents of the folder by path.
Guaranteed: the same input gives the same bytes.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from adgen.ahead.report import VERSION, Report
from adgen.ahead.stubs import StubEntry, Stubs
from adgen.ahead.units import Subject
from adgen.diagnostics import AdgenError
from adgen.driver import program
from adgen.emit import Emitted
from adgen.emit.cuda import EmittedCuda
from adgen.frontend.specs import StaticSpec
from adgen.ir.printer import print_function
from adgen.runtime.codec import encode_constant, encode_program, encode_site, encode_spec
from adgen.runtime.package import INTERFACE
from adgen.toolchain.fastcall import calls_library

INITIALISER = '''"""{title}

Compiled by adgen {version} from {source}.

{listing}
"""

from adgen.runtime.package import functions as _functions

from . import {library} as _library

_found = _functions(_library, __path__[0])
{assignments}
__all__ = [{names}]
'''
TEXTS = {
    "value": "`{name}`, compiled.",
    "grad": "The gradient of `{name}` for {wrt}.",
    "value_and_grad": "The value of `{name}` and its gradient for {wrt}.",
    "jvp": "The value of `{name}` and its derivative along `tangent`, a direction of {wrt}.",
    "vjp": "The value of `{name}` and a function from a cotangent of it to the gradient for {wrt}.",
    "hvp": "The second derivatives of `{name}` for {wrt} times `tangent`.",
    "jacobian": "The Jacobian of `{name}` for {wrt}, by columns or rows, whichever are cheaper for these shapes.",
    "jacfwd": "The Jacobian of `{name}` for {wrt}, by forward mode.",
    "jacrev": "The Jacobian of `{name}` for {wrt}, by reverse mode.",
    "hessian": "The second derivatives of `{name}` for {wrt}.",
}


def package_name(stem: str) -> str:
    """The package for a file `stem.py`."""
    return f"{stem}_ad"


def contents(
    stem: str, subjects: Sequence[Subject], emitted: Emitted, library: Path, report: Report
) -> dict[str, bytes]:
    """The files of the package by path below its folder."""
    texts = {
        "__init__.py": _initialiser(stem, subjects, library),
        "__init__.pyi": _stubs(subjects),
        "py.typed": "",
        **sources(stem, emitted),
        INTERFACE: json.dumps(interface(stem, subjects, emitted), indent=1) + "\n",
        "report.json": report.json(),
        **_stages(subjects),
    }
    written = {name: text.encode() for name, text in texts.items()}
    calls = calls_library()  # packages do without where it cannot be had
    compiled = (library, calls) if calls else (library,)
    return {**written, **dict(emitted.external.contents), **{path.name: path.read_bytes() for path in compiled}}


def sources(stem: str, emitted: Emitted) -> dict[str, str]:
    """The text that was compiled, by file."""
    if isinstance(emitted, EmittedCuda):
        return {
            f"{stem}.cu": emitted.c_source,
            emitted.cuda_header_name: emitted.cuda_header,
            f"{stem}_host.cu": emitted.cuda_host,
            emitted.header_name: emitted.header,
        }
    return {f"{stem}.c": emitted.c_source, f"{stem}.h": emitted.header}


def _stages(subjects: Sequence[Subject]) -> dict[str, str]:
    """The IR of every stage."""
    found = {}
    for subject in subjects:
        found[f"ir/{subject.name}.lowered.ir"] = print_function(subject.primal.function) + "\n"
        for unit in subject.units.values():
            found[f"ir/{subject.name}.{unit.product}.ir"] = print_function(unit.derived.function) + "\n"
            found[f"ir/{subject.name}.{unit.product}.optimised.ir"] = print_function(unit.optimised) + "\n"
    return found


def interface(stem: str, subjects: Sequence[Subject], emitted: Emitted) -> dict[str, Any]:
    """What `adgen.runtime.package` needs to know, as JSON data."""
    programs = [
        encode_program(program(subject.primal, unit.wrt, unit.derived, unit.optimised, emitted))
        for subject in subjects
        for unit in subject.units.values()
    ]
    return {
        "version": VERSION,
        "package": package_name(stem),
        "sites": [encode_site(site) for site in emitted.sites],
        "programs": programs,
        "functions": [_function(subject, emitted) for subject in subjects],
    }


def _function(subject: Subject, emitted: Emitted) -> dict[str, Any]:
    return {
        "name": subject.name,
        "parameters": [_parameter(subject, parameter) for parameter in subject.signature.parameters.values()],
        "specs": {name: encode_spec(spec) for name, spec in subject.specs.items()},
        "entries": {
            name: [product, [emitted.interfaces[subject.units[part].optimised.name].c_name for part in parts]]
            for name, (product, parts) in subject.entries.items()
        },
        "texts": {name: entry_text(subject, product) for name, (product, _) in subject.entries.items()},
    }


def _parameter(subject: Subject, parameter: inspect.Parameter) -> dict[str, Any]:
    data: dict[str, Any] = {"name": parameter.name, "kind": parameter.kind.name}
    if parameter.default is inspect.Parameter.empty:
        return data
    spec = subject.specs[parameter.name]
    try:
        data["default"] = encode_constant(spec.value if isinstance(spec, StaticSpec) else parameter.default)
    except AdgenError:
        if isinstance(spec, StaticSpec):
            raise
    return data  # a default that cannot be stored: the parameter must be given


def entry_text(subject: Subject, product: str) -> str:
    """One sentence about an entry point."""
    names = [f"`{name}`" for name in subject.wrt.names] if subject.wrt else []
    return TEXTS[product].format(name=subject.name, wrt=", ".join(names))


def _initialiser(stem: str, subjects: Sequence[Subject], library: Path) -> str:
    names = [name for subject in subjects for name in subject.entries]
    lines = [
        f"    {name}{subject.signature.replace(return_annotation=inspect.Signature.empty, parameters=_bare(subject))}"
        for subject in subjects
        for name in subject.entries
    ]
    return INITIALISER.format(
        title=f"{', '.join(subject.name for subject in subjects)}: compiled, with derivatives.",
        version=VERSION,
        source=f"{stem}.py",
        listing="\n".join(lines),
        library=library.name.partition(".")[0],
        assignments="\n".join(f'{name} = _found["{name}"]' for name in names),
        names=", ".join(f'"{name}"' for name in names),
    )


def _bare(subject: Subject) -> list[inspect.Parameter]:
    """The parameters by name alone."""
    empty = inspect.Parameter.empty
    return [p.replace(annotation=empty, default=empty) for p in subject.signature.parameters.values()]


def _stubs(subjects: Sequence[Subject]) -> str:
    stubs = Stubs()
    for subject in subjects:
        for name, (product, parts) in subject.entries.items():
            outputs = [subject.units[part].derived.output for part in parts]
            entry = StubEntry(name, product, outputs[-1], entry_text(subject, product), value=outputs[0])
            stubs.add(subject.signature, subject.specs, entry)
    return stubs.text()
