"""From functions to the entry points of a package, as IR.

Comes in: functions of the user's file and options.  Goes out: a `Subject` for each function that can be compiled, with
a `Unit` for each IR function to emit, and the reasons for those that cannot.  Guaranteed: a function asked for by name
is compiled or an `AdgenError`; no two entry points have the same name.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from adgen.ahead.options import DEFAULT_PRODUCTS, Options
from adgen.diagnostics import AdgenError
from adgen.driver import lower_function, prepared, translated
from adgen.emit.profile import PROFILES
from adgen.frontend.specs import ArraySpec, Lowered, Spec, StaticSpec, UnknownSpec, has_complex, has_complex_output
from adgen.ir.nodes import Function
from adgen.passes.linear import NotLinear
from adgen.passes.pipeline import Watch, unwatched
from adgen.passes.unchecked import unchecked
from adgen.runtime.annotations import parse_argument, parse_static, signature_specs
from adgen.runtime.differentiate import differentiate, plans, purified, taps_of
from adgen.runtime.faults import NotScalar
from adgen.runtime.missing import searches
from adgen.runtime.programs import MATRICES
from adgen.runtime.single import singled
from adgen.runtime.wrt import Wrt, has_floats, resolve
from adgen.toolchain.target import PROCESSOR, Target

# The IR functions that an entry point of each product calls, and what its name ends in.
PARTS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "value": {"": ("value",)},
    "grad": {"_grad": ("grad",), "_value_and_grad": ("value_and_grad",)},
    "jvp": {"_jvp": ("jvp",)},
    "vjp": {"_vjp": ("pure", "vjp")},
    "hvp": {"_hvp": ("hvp",)},
    **{product: {f"_{product}": (product,)} for product in MATRICES},
}

ALONG = ("jvp", "hvp", *MATRICES)  # products with tangents, of which taps have none


@dataclass(frozen=True, eq=False)
class Unit:
    """One product of one function: for what, what the driver made of it, and the IR function to emit."""

    product: str
    wrt: Wrt | None
    derived: Lowered
    optimised: Function

    @property
    def fixed(self) -> dict[tuple[int, int], int]:
        """The extents of its parameters that are numbers, by parameter and axis."""
        return {
            (position, axis): extent
            for position, leaf in enumerate(self.derived.leaves)
            if isinstance(leaf.spec, ArraySpec)
            for axis, extent in enumerate(leaf.spec.extents)
            if isinstance(extent, int)
        }


@dataclass(eq=False)
class Subject:
    """One function of the user's and all that is made of it; `entries` name the units that each entry point calls."""

    function: Callable[..., Any]
    name: str
    primal: Lowered
    wrt: Wrt | None
    inferred: tuple[str, ...]
    units: dict[str, Unit] = field(default_factory=dict)
    entries: dict[str, tuple[str, tuple[str, ...]]] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)

    @property
    def signature(self) -> inspect.Signature:
        """The parameters of the function."""
        return inspect.signature(self.function)

    @property
    def specs(self) -> dict[str, Spec]:
        """The types of the parameters."""
        return self.primal.specs


def subjects(
    functions: Sequence[Callable[..., Any]], options: Options, watch: Watch = unwatched
) -> tuple[list[Subject], dict[str, str]]:
    """The functions made into IR, and why not for those that were left out.

    Raises AdgenError when the one function asked for cannot be compiled, or none of many.
    """
    given = dict(parse_argument(text) for text in options.arguments)
    _check_names(functions, given, "--arg", "AD191")
    fixed = dict(parse_static(text) for text in options.statics)
    _check_names(functions, fixed, "--static", "AD191")
    given |= fixed
    found, skipped, errors = [], {}, []
    for function in functions:
        try:
            made = subject(function, options, given, watch)
            if len(functions) > 1:  # so that a function that C cannot hold is left out alone
                with watch("writing C"):
                    optimised = [unit.optimised for unit in made.units.values()]
                    translated(optimised, made.name, options.target, profile=PROFILES[options.profile])
            found.append(made)
        except AdgenError as error:
            if len(functions) == 1:
                raise
            errors.append(error)
            skipped[function.__name__] = str(error)
    if not found:
        raise errors[0]
    if options.wrt is not None:
        taps = [name for made in found for name in taps_of(made.primal.function)]
        _check_names(functions, [name for name in options.wrt if name not in taps], "--wrt", "AD123")
    _check_entries(found)
    return found, skipped


def subject(
    function: Callable[..., Any], options: Options, given: Mapping[str, Spec], watch: Watch = unwatched
) -> Subject:
    """One function and its products; `watch` is put around each stage.

    Raises AdgenError when it cannot be compiled.
    """
    names = inspect.signature(function).parameters
    specs = signature_specs(function, {name: spec for name, spec in given.items() if name in names})
    with watch("lowering"):
        primal, decided = _lowered(function, specs, options.trace_nan)
    if hasattr(function, "__adgen__"):
        primal = replace(primal, function=replace(primal.function, name=function.__name__))
    if options.unchecked:
        primal = replace(primal, function=unchecked(primal.function))
    if options.float32:
        primal = singled(primal)
    wrt = _wrt(primal, options, function.__name__)
    unknown = tuple(name for name, spec in specs.items() if isinstance(spec, UnknownSpec))
    made = Subject(function, function.__name__, primal, wrt, unknown)
    made.remarks += [*primal.warnings, *decided, *(searches(primal, wrt) if wrt is not None else ())]
    if wrt is None:
        made.remarks.append(f"{_underived(primal)}, so no derivative")
    else:
        made.remarks += plans(primal, wrt)
    for product in options.products:
        if product != "value" and (wrt is None or (product in ALONG and untapped(primal, wrt) is None)):
            continue
        try:
            _add(made, product, options, watch)
            if options.closed_form:
                _close(made, product)
        except NotScalar as error:
            if options.function is not None and options.products != DEFAULT_PRODUCTS:
                raise  # asked for by name, for this function
            made.remarks.append(f"no {product}: {error.message}")
        except NotLinear as error:
            if product != "jvp" or options.products != DEFAULT_PRODUCTS:
                raise
            made.remarks.append(f"no {product}: {error.message}")
    return made


def _lowered(function: Callable[..., Any], specs: dict[str, Spec], traced: bool) -> tuple[Lowered, list[str]]:
    """The IR of a function; where an int or bool decides what kinds of values there are, for its default.

    Also remarks that say so.  Raises AdgenError.
    """
    try:
        return lower_function(function, specs, traced), []
    except AdgenError as error:
        parameters = inspect.signature(function).parameters
        defaults = {name: parameters[name].default for name in error.deciders if name in parameters}
        fixed = {name: StaticSpec(value) for name, value in defaults.items() if value is not inspect.Parameter.empty}
        if not fixed:
            raise _with_static(error) from None
        try:
            primal = lower_function(function, specs | fixed, traced)
        except AdgenError:
            raise _with_static(error) from None
        return primal, [f"compiled for {n}={s}, which decides what is returned (--static)" for n, s in fixed.items()]


def _with_static(error: AdgenError) -> AdgenError:
    """The error, which also says what may help."""
    if not error.deciders:
        return error
    note = "or compile for one value: " + " ".join(f"--static {name}=..." for name in error.deciders)
    return type(error)(error.code, error.message, error.span, f"{error.help}; {note}" if error.help else note)


def _wrt(primal: Lowered, options: Options, name: str) -> Wrt | None:
    if has_complex_output(purified(primal).output):
        return None
    if options.wrt is None:
        return None if _underived(primal) else replace(resolve(None, primal.specs, name), memory=options.memory)
    own = tuple(name for name in options.wrt if name in primal.specs or name in taps_of(primal.function))
    if not own:
        return None
    resolved = resolve(own, primal.specs, name)
    return Wrt(resolved.names, "bare" if len(own) == 1 else "named", options.memory)


def _underived(primal: Lowered) -> str:
    """Why a function has no derivative for all its parameters; empty when it has."""
    if has_complex_output(purified(primal).output):
        return "its result is complex"
    if any(map(has_complex, primal.specs.values())):
        return "a parameter is complex and --wrt names no others"
    return "" if any(map(has_floats, primal.specs.values())) else "no floating-point parameter"


def _add(made: Subject, product: str, options: Options, watch: Watch) -> None:
    plain = PROFILES[options.profile].bare
    for ending, parts in PARTS[product].items():
        for part in parts:
            if part not in made.units:
                made.units[part] = unit_of(made.primal, made.wrt, part, plain, options.threads, watch, options.target)
        made.entries[made.name + ending] = (ending[1:] or "value", parts)


def _close(made: Subject, product: str) -> None:
    """Closed forms for the units of a product, where they take fewer operations."""
    from adgen.ahead.closed import closed

    pure = unit_of(made.primal, None, "pure")
    for parts in PARTS[product].values():
        for part in parts:
            made.units[part], remark = closed(made.primal, pure, made.units[part])
            made.remarks += [remark] if remark else []


def unit_of(
    primal: Lowered,
    wrt: Wrt | None,
    product: str,
    plain: bool = False,
    threads: int = 1,
    watch: Watch = unwatched,
    target: Target = PROCESSOR,
) -> Unit:
    """One product of a function, ready to be emitted for a number of threads or a target; `plain`: with loops alone."""
    if wrt is not None and product in ALONG:
        wrt = untapped(primal, wrt)
    with watch("differentiating"):
        derived = differentiate(primal, product, None if product in ("value", "pure") else wrt, states=not plain)
    with watch("optimising"):
        optimised = prepared(derived.function, target, plain, threads, lambda step: watch(f"optimising: {step}"))
    return Unit(product, wrt, derived, optimised)


def untapped(primal: Lowered, wrt: Wrt) -> Wrt | None:
    """What derivatives along a direction are for: the parameters that `wrt` names; None where it names taps alone."""
    names = tuple(name for name in wrt.names if name in primal.specs)
    return replace(wrt, names=names) if names else None


def _check_names(functions: Sequence[Callable[..., Any]], names: Any, option: str, code: str) -> None:
    """Refuse a name that is a parameter of none of the functions."""
    known = {name: None for function in functions for name in inspect.signature(function).parameters}
    for name in names:
        if name not in known:
            owner = f"`{functions[0].__name__}`" if len(functions) == 1 else "any function of the file"
            listed = ", ".join(f"`{parameter}`" for parameter in known) or "none"
            raise AdgenError(
                code, f"{option} names `{name}`, which is not a parameter of {owner}", help=f"parameters: {listed}"
            )


def _check_entries(found: Sequence[Subject]) -> None:
    """Refuse functions whose entry points would have the same name, such as `f_grad` of the user's beside `f`."""
    owner: dict[str, str] = {}
    for made in found:
        for name in {*made.entries, *(unit.optimised.name for unit in made.units.values())}:
            if owner.setdefault(name, made.name) != made.name:
                raise AdgenError(
                    "AD188",
                    f"`{name}` would be made for `{owner[name]}` and for `{made.name}`",
                    help="rename one of the functions, or compile them one at a time into different folders",
                )
