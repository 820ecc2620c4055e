"""Which parameters to differentiate for.

Comes in: `wrt` as users write it (a name, a position, a sequence of them, or nothing) and the specs of the arguments.
Goes out: `Wrt`, names and how the results are packed.  Guaranteed: every name is a parameter that holds floating-point
numbers, or of no parameter (then it is that of a tap, if there is one), none occurs twice; anything else is an
`AdgenError` that names `wrt`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Literal

import numpy as np

from adgen.diagnostics import AdgenError
from adgen.frontend.specs import ArraySpec, ScalarSpec, Spec, StructSpec, has_complex
from adgen.ir.types import INTEGERS

Packing = Literal["bare", "tuple", "named"]


@dataclass(frozen=True)
class Wrt:
    """Names of parameters and taps; results come `bare` (one), as a `tuple`, or `named` (a NamedTuple).

    `memory`: how many bytes the residuals of a loop may take in reverse mode; None: as many as they need.
    """

    names: tuple[str, ...]
    packing: Packing
    memory: int | None = None


def check_form(wrt: Any) -> None:
    """Refuse a `wrt` that is neither a name, a position nor a sequence of them, before any call is made."""
    for item in wrt if isinstance(wrt, list | tuple) else () if wrt is None else (wrt,):
        if isinstance(item, bool | np.bool_) or not isinstance(item, str | int | np.integer):
            raise AdgenError(
                "AD120",
                f"wrt must be a parameter's name or position or a sequence of them, not {item!r}",
                help='write for example wrt="x", wrt=0 or wrt=("x", "y")',
            )
    if isinstance(wrt, list | tuple) and not wrt:
        raise AdgenError("AD120", "wrt names no parameter", help="leave wrt out to differentiate for all of them")


def resolve(wrt: Any, specs: Mapping[str, Spec], function_name: str) -> Wrt:
    """The parameters that `wrt` means for arguments of these types.

    Raises AdgenError when it means none, one twice, or one without floating-point numbers.
    """
    parameters = tuple(specs)
    if wrt is None:
        for name in parameters:
            _check_real(name, specs[name])
        floats = tuple(name for name in parameters if has_floats(specs[name]))
        if not floats:
            kinds = ", ".join(f"`{name}` is {describe(spec)}" for name, spec in specs.items()) or "it has none"
            raise AdgenError(
                "AD121",
                f"`{function_name}` has no floating-point argument to differentiate for: {kinds}",
                help="pass floats: 2.0 instead of 2, an array of dtype float64",
            )
        return Wrt(floats, "bare" if len(floats) == 1 else "named")
    items = wrt if isinstance(wrt, list | tuple) else (wrt,)
    names = tuple(_name(item, parameters, function_name) for item in items)
    for position, name in enumerate(names):
        if name in names[:position]:
            raise AdgenError(
                "AD122",
                f"wrt contains `{name}` twice: {wrt!r}",
                help="list each parameter once, as a duplicate is a slip",
            )
    for name in names:
        if name in specs:
            _check_real(name, specs[name])
            _check_floats(name, specs[name])
    return Wrt(names, "tuple" if isinstance(wrt, list | tuple) else "bare")


def _name(item: str | int, parameters: Sequence[str], function_name: str) -> str:
    if isinstance(item, str):
        return item
    known = ", ".join(f"`{name}`" for name in parameters) or "none"
    if not -len(parameters) <= item < len(parameters):
        raise AdgenError(
            "AD123",
            f"wrt is {item}, but `{function_name}` has {len(parameters)} argument{'s' * (len(parameters) != 1)}",
            help=f"positions count from 0; its parameters are: {known}",
        )
    return parameters[item]


def check_taps(wrt: Wrt, parameters: Sequence[str], taps: Sequence[str], function_name: str) -> None:
    """Refuse a `wrt` with a name that is neither a parameter nor a tap, and a tap with the name of a parameter."""
    for name in taps:
        if name in parameters:
            message = f"`{name}` is a parameter of `{function_name}`, and the name of a tap"
            raise AdgenError("AD144", message, help="give the tap another name")
    for name in wrt.names:
        if name not in (*parameters, *taps):
            names = [*parameters, *taps]
            close = [other for other in names if other.lower() == name.lower()] or get_close_matches(name, names, 1)
            listed = ", ".join(f"`{other}`" for other in parameters) or "none"
            tapped = "".join(f", `{other}`" for other in taps)
            known = f"its parameters are: {listed}{'; its taps: ' + tapped[2:] if taps else ''}"
            or_tap = " nor tapped in it" if taps else ""
            raise AdgenError(
                "AD123",
                f"wrt names `{name}`, which is not a parameter of `{function_name}`{or_tap}",
                help=f"did you mean `{close[0]}`?" if close else known,
            )


def has_floats(spec: Spec) -> bool:
    """True when some part of an argument can carry a derivative."""
    if isinstance(spec, ScalarSpec | ArraySpec):
        return spec.element.is_float
    return isinstance(spec, StructSpec) and any(has_floats(item) for _, item in spec.items)


def _check_real(name: str, spec: Spec) -> None:
    if has_complex(spec):
        raise AdgenError(
            "AD142",
            f"argument `{name}` is complex, and derivatives are taken for real arguments",
            help="pass its real and imaginary parts as two arguments, or name the real arguments with wrt=",
        )


def describe(spec: Spec) -> str:
    """A few words for a message, with the dtype."""
    if isinstance(spec, ScalarSpec):
        return f"of dtype {DTYPE_NAMES[spec.element.name]}"
    if isinstance(spec, ArraySpec):
        return f"an array of dtype {DTYPE_NAMES[spec.element.name]}"
    if isinstance(spec, StructSpec):
        return f"a {spec.kind.__name__} without floating-point numbers"
    value = getattr(spec, "value", spec)
    if isinstance(value, bool | int | np.bool_ | np.integer):
        return f"of dtype {DTYPE_NAMES['bool' if isinstance(value, bool | np.bool_) else 'i64']}"
    return "None" if value is None else f"a {type(value).__name__}"


DTYPE_NAMES = {
    "f64": "float64",
    "f32": "float32",
    "bool": "bool",
    **{kind.name: f"{kind.full_name} (integer)" for kind in INTEGERS},
}


def _check_floats(name: str, spec: Spec) -> None:
    if has_floats(spec):
        return
    help = "pass a float: a derivative needs a continuous argument, so 2.0 instead of 2, or array.astype(float)"
    raise AdgenError("AD124", f"wrt names `{name}`, which is {describe(spec)} and has no derivative", help=help)
