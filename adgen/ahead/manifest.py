"""`manifest.json`: all that somebody must know who builds and calls a package of the profile `embedded`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from adgen.ahead.findings import renamed
from adgen.ahead.report import VERSION
from adgen.ahead.units import Subject, Unit
from adgen.emit import Emitted
from adgen.emit.c import code
from adgen.emit.interface import Interface, Parameter
from adgen.emit.names import called, mathematical
from adgen.emit.text import c_type
from adgen.frontend.specs import ArraySpec, bound
from adgen.toolchain.stack import STRICT, Stack

MANIFEST = "manifest.json"


def manifest(stem: str, subjects: Sequence[Subject], emitted: Emitted, stack: Stack | None, float32: bool) -> str:
    """The text of the manifest."""
    names = called(code(emitted.c_source))
    data = {
        "adgen": VERSION,
        "source": f"{stem}.py",
        "profile": "embedded",
        "standard": "C99",
        "real": "float" if float32 else "double",
        "sources": [f"{stem}.c", *emitted.external.sources],
        "headers": [f"{stem}.h", *emitted.external.headers],
        "compiled_with": " ".join(STRICT),
        "libm": mathematical(names),
        "libc": sorted(names & {"memset", "memcpy"}),
        "entry_points": [
            _entry(subject, unit, emitted, stack) for subject in subjects for unit in subject.units.values()
        ],
    }
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


def _entry(subject: Subject, unit: Unit, emitted: Emitted, stack: Stack | None) -> dict[str, Any]:
    interface = emitted.interfaces[unit.optimised.name]
    specs = [leaf.spec for leaf in unit.derived.leaves]
    arguments = [_argument(*pair) for pair in zip(interface.parameters, specs, strict=True)]
    results = [_result(result, interface, place) for place, result in enumerate(interface.results)]
    return {
        "name": interface.c_name,
        "function": subject.name,
        "product": unit.product,
        "signature": interface.prototype,
        "arguments": [*arguments, *results],
        "workspace": _workspace(subject, interface),
        "stack": _stack(interface, stack),
        "status": [{"code": 0, "meaning": "done"}, *(_status(emitted, number) for number in interface.checks)],
    }


def _argument(parameter: Parameter, spec: Any) -> dict[str, Any]:
    found: dict[str, Any] = {
        "name": parameter.c_name,
        "type": c_type(parameter.element),
        "direction": "inout" if parameter.written else "in",
    }
    if parameter.is_buffer:
        names = [f"{parameter.c_name}_n{axis}" for axis in range(parameter.rank)]
        known = spec.extents if isinstance(spec, ArraySpec) and len(spec.extents) == parameter.rank else ()
        found["extents"] = [extent if bound(extent) else None for extent in known] or [None] * parameter.rank
        found["extent_parameters"] = names
    return found


def _result(result: Parameter, interface: Interface, place: int) -> dict[str, Any]:
    found: dict[str, Any] = {"name": result.c_name, "type": c_type(result.element), "direction": "out"}
    if result.is_buffer:
        extents = interface.extents[place]
        found["extents"] = [int(extent) if extent.isdigit() else extent for extent in extents]
    return found


def _workspace(subject: Subject, interface: Interface) -> dict[str, Any]:
    return {
        "bytes": interface.room,
        "formula": renamed(interface.workspace, subject.specs),
        "macro": f"{interface.c_name.upper()}_WORK_BYTES" if interface.room is not None else None,
        "alignment": 8,
        "sizes": f"{interface.c_name}_sizes",
    }


def _stack(interface: Interface, stack: Stack | None) -> dict[str, Any]:
    if stack is None:
        return {"bytes": None, "by": "not measured"}
    return {"bytes": stack.bytes.get(interface.c_name), "by": stack.by}


def _status(emitted: Emitted, number: int) -> dict[str, Any]:
    site = emitted.sites[number - 1]
    found: dict[str, Any] = {"code": number, "exception": site.exception, "message": site.message}
    if site.span is not None:
        found |= {"file": site.span.file.replace("\\", "/").rpartition("/")[2], "line": site.span.line}
    return found
