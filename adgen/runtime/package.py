"""The functions of a package that `adgen compile` wrote.

Comes in: the package's library and `interface.json`.  Goes out: functions that take and return NumPy arrays.
Guaranteed: nothing that compiles is needed; an argument that does not fit the type that the package was compiled for is
an `AdgenError` that names it.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from adgen.diagnostics import AdgenError
from adgen.frontend.complexes.types import Complex
from adgen.frontend.specs import ArraySpec, ScalarSpec, Spec, StaticSpec, StructSpec, bound
from adgen.ir.types import BOOL, Scalar
from adgen.runtime.bound import NOWHERE, WITHIN, bindable, bound_call, call_into
from adgen.runtime.calls import Entry
from adgen.runtime.codec import decode_constant, decode_program, decode_site, decode_spec
from adgen.runtime.convert import DTYPES, leaf_value, path_text
from adgen.runtime.directions import live_tangents, tangents
from adgen.runtime.placement import form_of, is_device_array, shape_of
from adgen.runtime.programs import MATRICES, TANGENT
from adgen.runtime.pullback import Pullback, given_leaves, leaves_of
from adgen.runtime.shortway import MISSING as NOT_GIVEN
from adgen.runtime.shortway import ShortWay, has_short_way
from adgen.runtime.signatures import ArgumentError, bind
from adgen.toolchain.fastcall import FILE, load_calls

Data = Any
INTERFACE = "interface.json"


def functions(library: Any, folder: str | Path) -> dict[str, Callable[..., Any]]:
    """The functions of the package in a folder, by name."""
    data = json.loads((Path(folder) / INTERFACE).read_text(encoding="utf-8"))
    sites = tuple(decode_site(site) for site in data["sites"])
    calls = load_calls(Path(folder) / FILE)
    programs = [decode_program(program, sites) for program in data["programs"]]
    entries = {program.name: Entry(program, library, calls=calls, telling=True) for program in programs}
    found = {}
    for item in data["functions"]:
        signature = Signature(item)
        for name, (product, programs) in item["entries"].items():
            made = MAKERS[product](signature, name, *(entries[program] for program in programs))
            made.__name__ = made.__qualname__ = name
            made.__doc__ = item["texts"][name]
            made.__module__ = data["package"]
            made.__signature__ = signature.shown(product)  # type: ignore[attr-defined]
            found[name] = made
    return found


class Signature:
    """The parameters of a function and the types that it was compiled for."""

    def __init__(self, item: Data) -> None:
        self.specs: dict[str, Spec] = {name: decode_spec(spec) for name, spec in item["specs"].items()}
        kinds = inspect._ParameterKind
        self.signature = inspect.Signature(
            [
                inspect.Parameter(
                    parameter["name"],
                    kinds[parameter["kind"]],
                    default=decode_constant(parameter["default"])
                    if "default" in parameter
                    else inspect.Parameter.empty,
                )
                for parameter in item["parameters"]
            ]
        )
        extents = [e for s in self.specs.values() if isinstance(s, ArraySpec) for e in s.extents if bound(e)]
        self.has_extents = len(set(extents)) < len(extents) or any(isinstance(extent, int) for extent in extents)

    def shown(self, product: str) -> inspect.Signature:
        """The parameters of an entry point of this product."""
        if product not in ("jvp", "hvp"):
            return self.signature
        tangent = inspect.Parameter("tangent", inspect.Parameter.KEYWORD_ONLY)
        return self.signature.replace(parameters=[*self.signature.parameters.values(), tangent])

    def without_out(self, kwargs: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
        """What is passed as `out`, unless that is a parameter, and the other keywords."""
        own = dict(kwargs)
        return (NOWHERE if "out" in self.specs else own.pop("out", NOWHERE)), own

    def arguments(self, name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any], leaves: Any) -> dict[str, Any]:
        """The arguments of a call, each of the type that it must have.

        Raises AdgenError for one that has not.
        """
        arguments = bind(self.signature, name, args, kwargs)
        for parameter, spec in self.specs.items():
            if isinstance(spec, ScalarSpec | ArraySpec):
                arguments[parameter] = fitted(arguments[parameter], spec, parameter)
            else:
                check_structure(arguments[parameter], spec, parameter)
        for leaf in leaves:
            if len(leaf.path) > 1 and leaf.path[0] in self.specs:
                fitted(leaf_value(arguments, leaf.path), leaf.spec, path_text(leaf.path))
        if self.has_extents:
            check_extents(self.specs, arguments)
        return arguments


# -- arguments -------------------------------------------------------------------------------------------------------


def fitted(value: Any, spec: ScalarSpec | ArraySpec, name: str) -> Any:
    """The argument as a number or an array of a dtype that can become the wanted one.

    Raises AdgenError when there is none.
    """
    if isinstance(spec, ArraySpec) and is_device_array(value):
        return _fitted_on_device(value, spec, name)
    array = value if isinstance(value, np.ndarray) else np.asarray(value)
    rank = spec.rank if isinstance(spec, ArraySpec) else 0
    weak = type(value) is float and spec.element.is_float  # Python has no others
    if array.ndim != rank or not (weak or _fits(array, spec.element)):
        given = f"an array of rank {array.ndim} and dtype {array.dtype}" if array.ndim else f"a {type(value).__name__}"
        raise _unfit(name, spec, given)
    return array if isinstance(spec, ArraySpec) else array.item()


def _fitted_on_device(value: Any, spec: ArraySpec, name: str) -> Any:
    """An array on a device, of which nothing can become anything else."""
    dtype, shape = form_of(value, name)
    if len(shape) != spec.rank or dtype != DTYPES[spec.element]:
        raise _unfit(name, spec, f"an array of rank {len(shape)} and dtype {dtype}")
    return value


def _unfit(name: str, spec: ScalarSpec | ArraySpec, given: str) -> AdgenError:
    wanted = f"an array {spec}" if isinstance(spec, ArraySpec) else f"a number of type {spec}"
    return ArgumentError(
        "AD173",
        f"argument `{name}` must be {wanted}, not {given}",
        help=f'pass that, or compile for the other type: --arg "{name.partition(".")[0].partition("[")[0]}: ..."',
    )


def _fits(array: np.ndarray[Any, Any], element: Scalar) -> bool:
    dtype = array.dtype
    if not array.ndim and element.is_integer and dtype.kind in "biu":
        return int(array) in element.numbers
    if element.is_integer or element == BOOL:
        return np.can_cast(dtype, DTYPES[element])
    kinds = "fc" if isinstance(element, Complex) else "f"
    return dtype.kind in "biu" or (dtype.kind in kinds and dtype.itemsize <= DTYPES[element].itemsize)


def check_structure(value: Any, spec: Spec, name: str) -> None:
    """Raise AdgenError unless a value is the static one that was compiled, or has the structure of the spec."""
    if isinstance(spec, StaticSpec):
        if type(value) is not type(spec.value) or value != spec.value:
            raise ArgumentError(
                "AD174",
                f"argument `{name}` is {value!r}, but the package was compiled for {spec.value!r}",
                help="leave it out, or compile again for that value",
            )
    elif isinstance(spec, StructSpec):
        for key, item in spec.items:
            try:
                inner = leaf_value(value, (key,))
            except (KeyError, IndexError, AttributeError, TypeError, ValueError):
                raise ArgumentError(
                    "AD173", f"argument `{name}` has no part {key!r}", help=f"pass a {spec.kind.__name__} with it"
                ) from None
            check_structure(inner, item, path_text((name, key)))


def check_extents(specs: Mapping[str, Spec], arguments: Mapping[str, Any]) -> None:
    """Raise AdgenError when extents are not what annotations such as `f64[n,3]` say, or differ where they say equal."""
    known: dict[str, tuple[int, str]] = {}
    for name, spec in specs.items():
        if not isinstance(spec, ArraySpec) or not spec.extents:
            continue
        for axis, (wanted, extent) in enumerate(zip(spec.extents, shape_of(arguments[name]), strict=True)):
            if not bound(wanted):
                continue
            size, owner = (wanted, "its type") if isinstance(wanted, int) else known.setdefault(wanted, (extent, name))
            if size != extent:
                raise ArgumentError(
                    "AD175",
                    f"argument `{name}` has extent {extent} on axis {axis}, but `{wanted}` is {size} by {owner}",
                    help=f"pass an array of type {spec}",
                )


# -- entry points ----------------------------------------------------------------------------------------------------


def plain_function(signature: Signature, name: str, entry: Entry, part: int | None = None) -> Callable[..., Any]:
    """A function that is one call of compiled code; with `part`, `out` is for that part of the results."""

    def slow(given: tuple[Any, ...], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        try:
            out, own = signature.without_out(kwargs)
            arguments = signature.arguments(name, args, own, entry.program.leaves)
            if short and _exact(given, signature.specs):
                short.learn(entry, signature.specs, arguments, given)
            if out is not NOWHERE:
                return call_into(entry, given_leaves(entry, arguments), out, part)
            return entry(arguments)
        except AdgenError as error:
            raise error.with_traceback(None) from None

    def bind(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Callable[[], Any]:
        out, own = signature.without_out(kwargs)
        arguments = signature.arguments(name, args, own, entry.program.leaves)
        return bound_call(entry, given_leaves(entry, arguments), out, part)

    def function(*args: Any, **kwargs: Any) -> Any:
        return slow((), args, kwargs)

    short = ShortWay(signature.signature, slow, part=part) if has_short_way(signature.signature) else None
    return bindable(short.function if short else function, bind)


def _exact(given: tuple[Any, ...], specs: Mapping[str, Spec]) -> bool:
    """True when there is something for each parameter, and nothing has to be converted but perhaps laid out anew.

    A default is of the type that was compiled for, and so is an option.
    """
    wanted = {"f64": float, "i64": int, "bool": bool}
    return len(given) == len(specs) and all(
        value is NOT_GIVEN
        or isinstance(spec, StaticSpec)
        or (isinstance(spec, ArraySpec) and type(value) is np.ndarray)
        or (isinstance(spec, ScalarSpec) and type(value) is wanted.get(str(spec.element)))
        for value, spec in zip(given, specs.values())
    )


def tangent_function(signature: Signature, name: str, entry: Entry) -> Callable[..., Any]:
    """A function that takes `tangent` besides."""

    def slow(given: tuple[Any, ...], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        try:
            out, own = signature.without_out(kwargs)
            tangent = own.pop(TANGENT, NOT_GIVEN)
            arguments = checked(args, tangent, own)
            primals = leaves_of(entry, arguments, allowed=True)
            directions = tangents(entry.program, tangent, primals)
            if short and _exact(given[:-1], signature.specs):
                short.learn_along(entry, signature.specs, arguments, given)
            if out is not NOWHERE:
                return call_into(entry, [*primals, *directions], out)
            return entry.run([*primals, *directions])
        except AdgenError as error:
            raise error.with_traceback(None) from None

    def checked(args: tuple[Any, ...], tangent: Any, kwargs: Mapping[str, Any]) -> dict[str, Any]:
        if tangent is NOT_GIVEN:
            raise ArgumentError("AD153", f"`{name}` needs a tangent", help="call it as f(x, tangent=v)")
        return signature.arguments(name, args, kwargs, entry.program.leaves)

    def bind(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Callable[[], Any]:
        out, own = signature.without_out(kwargs)
        tangent = own.pop(TANGENT, NOT_GIVEN)
        arguments = checked(args, tangent, own)
        directions = live_tangents(entry.program, tangent, leaves_of(entry, arguments, allowed=True))
        return bound_call(entry, [*given_leaves(entry, arguments), *directions], out)

    def function(*args: Any, **kwargs: Any) -> Any:
        return slow((), args, kwargs)

    usable = has_short_way(signature.signature) and TANGENT not in signature.specs
    short = ShortWay(signature.signature, slow, (TANGENT,)) if usable else None
    return bindable(short.function if short else function, bind)


def pullback_function(signature: Signature, name: str, primal: Entry, entry: Entry) -> Callable[..., Any]:
    """A function that gives the value and a pullback."""

    def function(*args: Any, **kwargs: Any) -> tuple[Any, Pullback]:
        try:
            arguments = signature.arguments(name, args, kwargs, primal.program.leaves)
            primals = leaves_of(primal, arguments, allowed=True)
            pullback = Pullback(primal, entry, primal.run(primals), primals)
        except AdgenError as error:
            raise error.with_traceback(None) from None
        return pullback.value, pullback

    return function


MAKERS: Mapping[str, Callable[..., Callable[..., Any]]] = {
    "value": plain_function,
    "grad": plain_function,
    "value_and_grad": partial(plain_function, part=WITHIN["value_and_grad"]),
    "jvp": tangent_function,
    "hvp": tangent_function,
    "vjp": pullback_function,
    **dict.fromkeys(MATRICES, plain_function),
}
