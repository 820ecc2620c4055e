"""Compiled functions that SciPy calls without going through Python."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from adgen.diagnostics import AdgenError
from adgen.driver import lower_function
from adgen.emit import callback, emit
from adgen.frontend.specs import ArraySpec, OutputLeaf, ScalarSpec
from adgen.ir.types import F64
from adgen.operators.compiled import known_specs
from adgen.passes.pipeline import optimise
from adgen.runtime.annotations import parse_argument, signature_specs
from adgen.runtime.differentiate import differentiate
from adgen.toolchain import build, load

Function = Callable[..., Any]


def low_level(function: Function, arg: str | Iterable[str] = ()) -> Any:
    """A function as a `scipy.LowLevelCallable`, which SciPy's integrators call without going through Python.

    Of one float: `double (double)`.  Of several floats, or of one vector: `double (int, double *)`, so that
    `quad(low_level(f), a, b, args=...)` integrates over the first one.  Types come from `arg` (as for `compile`),
    annotations, or use.  Where the function would raise, the result is not-a-number.
    """
    try:
        return _low_level(function, (arg,) if isinstance(arg, str) else arg)
    except AdgenError as error:
        raise error.with_traceback(None) from None


def _low_level(function: Function, arg: Iterable[str]) -> Any:
    from scipy import LowLevelCallable

    given = dict(parse_argument(text) for text in arg)
    primal = lower_function(function, known_specs(function, signature_specs(function, given)))
    name = primal.function.name
    specs, output = list(primal.specs.values()), primal.output
    numbers = bool(specs) and all(isinstance(spec, ScalarSpec) and spec.element == F64 for spec in specs)
    vector = len(specs) == 1 and isinstance(specs[0], ArraySpec) and (specs[0].element, specs[0].rank) == (F64, 1)
    if not numbers and not vector:
        listed = ", ".join(f"{key}: {spec}" for key, spec in primal.specs.items()) or "none"
        help = "its parameters must be floats, or one vector of them: use a closure for what is fixed"
        raise AdgenError("AD176", f"`{name}` cannot be called as C calls it: its parameters are {listed}", help=help)
    if not (isinstance(output, OutputLeaf) and output.rank is None and output.element == F64) or primal.mutated:
        help = "return one float, and write to a copy of the argument"
        raise AdgenError("AD176", f"`{name}` cannot be called as C calls it: its result is not one float", help=help)
    optimised = optimise(differentiate(primal, "pure", None).function)
    made = callback(emit([optimised], name), optimised.name)
    library = load(build(made.emitted))
    pointer = library.ffi.addressof(library.lib, made.name)
    return LowLevelCallable(library.ffi.cast(made.signature.replace("(", "(*)(", 1), pointer))
