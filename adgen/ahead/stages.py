"""The text of a function at each stage of its way to C."""

from __future__ import annotations

import inspect
from dataclasses import replace
from pathlib import Path

from adgen.ahead.formulas import latex_text
from adgen.ahead.options import Options
from adgen.ahead.source import functions, load
from adgen.ahead.units import Subject, subject
from adgen.diagnostics import AdgenError
from adgen.emit import emit
from adgen.emit.cuda import emit_cuda
from adgen.ir.nodes import Function
from adgen.ir.printer import print_function
from adgen.runtime.annotations import parse_argument
from adgen.toolchain.target import EMULATED


def stage_text(path: Path, options: Options, stage: str) -> str:
    """The text of the function that `options` name: `python`, `ir`, `tangent`, `adjoint`, `c`, `cuda`, `latex`, or
    `adjoint-c` for the C function of the adjoint alone.

    Raises AdgenError when it cannot be compiled.
    """
    (function,) = functions(load(path), options.function)
    if stage == "cuda" and not options.target.is_device:
        options = replace(options, target=EMULATED)
    if stage == "python":
        return inspect.getsource(inspect.unwrap(function)).rstrip()
    made = subject(function, options, dict(parse_argument(text) for text in options.arguments))
    if stage == "latex":
        return latex_text(made)
    if stage == "ir":
        return print_function(made.primal.function)
    if stage == "tangent":
        return print_function(_unit(made, "jvp"))
    adjoint = "grad" if "grad" in made.units else "vjp"
    if stage == "adjoint":
        return print_function(_unit(made, adjoint))
    if stage == "c":
        return emit([_unit(made, product) for product in made.units], made.name).c_source.rstrip()
    if stage == "cuda":
        return emit_cuda([_unit(made, product) for product in made.units], made.name).c_source.rstrip()
    derived = _unit(made, adjoint)
    emitted = emit([derived], made.name)
    return function_text(emitted.c_source, emitted.interfaces[derived.name].c_name)


def function_text(source: str, name: str) -> str:
    """One function of a C source."""
    start = source.index(f"\nint {name}(") + 1
    return source[start : source.index("\n}\n", start) + 2]


def _unit(made: Subject, product: str) -> Function:
    if product not in made.units:
        raise AdgenError(
            "AD194", f"`{made.name}` has no {product}: {'; '.join(made.remarks)}", help="show another stage: --stage ir"
        )
    return made.units[product].optimised
