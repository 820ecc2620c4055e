"""An operator applied to a function: `grad(f)` and its like.

Comes in: a function and `wrt`.  Goes out: a function with the same parameters.  Guaranteed: each combination of
argument types is compiled once, whatever the shapes; later calls with the same types go straight to compiled code.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from adgen.diagnostics import AdgenError
from adgen.frontend.specs import Lowered, ScalarSpec, Spec, StaticSpec
from adgen.ir.types import BOOL, I64, Scalar
from adgen.operators.parallel import machine
from adgen.operators.specialise import specialise
from adgen.operators.targets import Target
from adgen.runtime.accumulate import into
from adgen.runtime.bound import NOWHERE, WITHIN, bindable, bound_call, call_into
from adgen.runtime.calls import Entry, not_on_a_device
from adgen.runtime.directions import live_tangents
from adgen.runtime.faults import NotScalar
from adgen.runtime.placement import is_device_array, shape_of
from adgen.runtime.programs import MATRICES, TANGENT
from adgen.runtime.pullback import given_leaves, leaves_of
from adgen.runtime.shortway import MISSING, ShortWay, has_short_way
from adgen.runtime.signatures import bind, describe_arguments, signature_of, specs_key
from adgen.runtime.wrt import Wrt, check_form, resolve
from adgen.sizes import bytes_of

UNDERIVED = ("value", "pure", "traced")
NESTING = (
    "value",
    "traced",
    "grad",
    "value_and_grad",
    *MATRICES,
)  # what is a function of the same arguments and of nothing else
ALONG = ("jvp", "hvp")
GRADIENTS = ("grad", "value_and_grad")


class Operator:
    """A product of a function, compiled for the types of the arguments it is called with."""

    def __init__(
        self, function: Callable[..., Any], product: str, wrt: Any = None, memory: str | int | None = None
    ) -> None:
        check_form(wrt)
        self.memory = bytes_of(memory)
        self.machine = machine()
        self.target = Target(function)
        self.product = product
        self.wrt = wrt
        self.signature = signature_of(self.target.function)
        self.name: str = getattr(function, "__name__", type(function).__name__)
        self.entries: dict[Any, Entry] = {}
        self.decisive: frozenset[str] = frozenset()
        self.lock = threading.RLock()
        self.short: ShortWay | None = None

    def arguments(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of a call by parameter name."""
        return bind(self.signature, self.name, (*self.target.first, *args), kwargs)

    def specs(self, arguments: Mapping[str, Any]) -> dict[str, Spec]:
        """The types of arguments, and the values of those that decide what kinds of values there are."""
        if not self.machine.target.is_device:
            for name, value in arguments.items():  # those inside of containers are found when the code is called
                if is_device_array(value):
                    raise not_on_a_device(name, self.name)
        specs = describe_arguments(arguments)
        return specs | {name: StaticSpec(arguments[name]) for name in self.decisive if _is_option(specs[name])}

    def resolved(self, specs: Mapping[str, Spec]) -> Wrt:
        """What `wrt` means for arguments of these types; a method's own object is not counted."""
        own = dict(list(specs.items())[len(self.target.first) :])
        return replace(resolve(self.wrt, own, self.name), memory=self.memory)

    def entry(self, specs: Mapping[str, Spec], product: str | None = None) -> Entry:
        """The compiled code for arguments of these types, compiled now if need be."""
        product = product or self.product
        key = (product, specs_key(specs))
        found = self.entries.get(key)
        if found is None:
            with self.lock:
                found = self.entries.get(key)
                if found is None:
                    wrt = None if product in UNDERIVED else self.resolved(specs)
                    found = self.entries[key] = specialise(self.target.function, specs, product, wrt, self.machine)
        return found

    def entry_at(self, arguments: Mapping[str, Any], product: str | None = None) -> Entry:
        """The compiled code for these arguments: for their types, or for the values of options where these decide."""
        failure: AdgenError | None = None
        before = self.decisive
        while True:
            specs = self.specs(arguments)
            try:
                return self.entry(specs, product)
            except AdgenError as error:
                failure = failure or error
                options = [name for name in error.deciders if _is_option(specs.get(name))]
                flags = [name for name in options if _is_option(specs.get(name), (BOOL,))]
                if not options:
                    self.decisive = before
                    raise failure from None
                self.decisive = self.decisive | frozenset(flags or options)

    def entry_for(self, arguments: Mapping[str, Any], product: str | None = None) -> Entry:
        """As `entry_at`; a result that should be a number and is an array is reported with its shape."""
        try:
            return self.entry_at(arguments, product)
        except NotScalar as error:
            pure = self.entry_at(arguments, "pure")
            shape = shape_of(pure.run(leaves_of(pure, arguments, allowed=True))) if error.is_array else None
            raise (error if shape is None else error.with_shape(shape)) from None

    def call(self, given: tuple[Any, ...], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """One call, whatever its arguments; `given` is how the short way sees them."""
        own, out = self.without_out(kwargs)
        accumulate = out is not NOWHERE and self.product in GRADIENTS and own.pop("accumulate", False)
        arguments = self.arguments(args, own)
        entry = self.entry_for(arguments)
        if self.short is not None and len(given) == len(arguments):
            self.short.learn(entry, self.specs(arguments), arguments, given)
        if accumulate:
            return self.added(entry(arguments), entry, out)
        if out is not NOWHERE:
            return call_into(entry, given_leaves(entry, arguments), out, WITHIN.get(self.product))
        return entry(arguments)

    def added(self, result: Any, entry: Entry, out: Any) -> Any:
        """The result, with its gradient added to the arrays `out`."""
        directions = entry.program.directions
        assert directions is not None
        if self.product == "grad":
            return into(directions, result, out, True)
        return result[0], into(directions, result[1], out, True)

    def without_out(self, kwargs: Mapping[str, Any]) -> tuple[dict[str, Any], Any]:
        """The keywords for the function, and what is passed as `out`, unless that is a parameter of it."""
        own = dict(kwargs)
        return own, NOWHERE if "out" in self.signature.parameters else own.pop("out", NOWHERE)

    def bind(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Callable[[], Any]:
        """A call with these arguments, which reads the arrays among them and writes into the same results."""
        options, out = self.without_out(kwargs)
        tangent = options.pop(TANGENT, MISSING) if self.takes_tangent else None
        if tangent is MISSING:
            raise self.no_tangent()
        arguments = self.arguments(args, options)
        entry = self.entry_for(arguments)
        leaves = given_leaves(entry, arguments)
        if self.takes_tangent:
            leaves += live_tangents(entry.program, tangent, leaves_of(entry, arguments, allowed=True))
        return bound_call(entry, leaves, out, WITHIN.get(self.product))

    def no_tangent(self) -> AdgenError:
        """The error for a call without a direction."""
        return AdgenError(
            "AD153", f"{self.product} of `{self.name}` needs a tangent", help="call it as f(x, tangent=v)"
        )

    @property
    def takes_tangent(self) -> bool:
        """True for products along a direction."""
        return self.product in ALONG

    def directed(self, specs: Mapping[str, Spec]) -> tuple[tuple[str, ...], bool]:
        """The parameters that a tangent is for, and whether it is that of the only one as it is."""
        wrt = self.resolved(specs)
        return wrt.names, wrt.packing == "bare"

    def lower(self, specs: Mapping[str, Spec], traced: bool = False, along: bool = False) -> Lowered:
        """The product as a function to differentiate further; `along`: a tangent is given too."""
        wrt = None if self.product in UNDERIVED else self.resolved(specs)
        from adgen.driver import lower_product

        if self.product not in NESTING and not (along and self.takes_tangent):
            raise AdgenError(
                "AD145",
                f"`{self.name}` has an operator on it that takes a direction or gives a matrix, so it cannot be "
                "differentiated further",
                help="higher derivatives come from grad: adgen.grad(adgen.grad(f)), adgen.jacobian(adgen.grad(f))",
            )

        return lower_product(self.target.function, specs, self.product, wrt, traced)


def _is_option(spec: Spec | None, kinds: tuple[Scalar, ...] = (BOOL, I64)) -> bool:
    """True for the type of an int or a bool."""
    return isinstance(spec, ScalarSpec) and spec.element in kinds


def function_of(operator: Operator) -> Callable[..., Any]:
    """The operator as a plain function: that is what is quickest to call, and works as a method too."""
    return bindable(dressed(short_way(operator) or long_way(operator), operator), operator.bind)


def long_way(operator: Operator) -> Callable[..., Any]:
    """A function for any parameters."""

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        try:
            return operator.call((), args, kwargs)
        except AdgenError as error:
            raise error.with_traceback(None) from None

    return wrapper


def short_way(operator: Operator) -> Callable[..., Any] | None:
    """A function with the parameters of the operator's function, which Python binds, so that nothing is packed.

    None when a parameter cannot be passed by position.
    """
    if operator.target.first or not has_short_way(operator.signature):
        return None

    def slow(given: tuple[Any, ...], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        try:
            return operator.call(given, args, kwargs)
        except AdgenError as error:
            raise error.with_traceback(None) from None

    operator.short = ShortWay(operator.signature, slow, part=WITHIN.get(operator.product))
    return operator.short.function


def dressed(wrapper: Callable[..., Any], operator: Operator) -> Callable[..., Any]:
    """The wrapper with the name, text and parameters of the function, and the operator behind it."""
    original = operator.target.original
    functools.update_wrapper(wrapper, original)
    vars(wrapper).pop("bind", None)  # that of an operator underneath
    wrapper.__adgen__ = operator  # type: ignore[attr-defined]
    return wrapper
