"""`compile`: a function compiled for known types before it is called; `load`: what the command made, imported."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

from adgen.diagnostics import AdgenError
from adgen.frontend.specs import ArraySpec, Spec, StructSpec, UnknownSpec
from adgen.operators.products import Trace, plain_operator, tangent_operator, traced, vjp_operator
from adgen.runtime.annotations import parse_argument, signature_specs
from adgen.runtime.programs import MATRICES

Function = Callable[..., Any]
PRODUCTS = ("value", "grad", "value_and_grad", "jvp", "vjp", "hvp", *MATRICES)
DEFAULT_PRODUCTS = ("value", "grad", "value_and_grad")
PARTS = {"vjp": ("pure", "vjp")}


class Compiled:
    """A function and its products, compiled: `compiled(x)`, `compiled.grad(x)` and what else was asked for."""

    def __init__(self, function: Function, products: Mapping[str, Function]) -> None:
        self.function = function
        self.products = dict(products)
        self.__wrapped__ = function
        self.__doc__ = function.__doc__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The function's value."""
        return self.products["value"](*args, **kwargs)

    def bind(self, *args: Any, **kwargs: Any) -> Callable[[], Any]:
        """As `bind` of the function that `jit` gives."""
        bound: Callable[[], Any] = self.products["value"].bind(*args, **kwargs)  # type: ignore[attr-defined]
        return bound

    def __getattr__(self, name: str) -> Function:
        found: Function | None = self.__dict__.get("products", {}).get(name)
        if found is None:
            made = ", ".join(self.__dict__.get("products", {}))
            raise AttributeError(f"{name!r} was not compiled; there is {made}")
        return found

    def __repr__(self) -> str:
        return f"<compiled {self.function.__name__}: {', '.join(self.products)}>"


def compile(
    function: Function,
    arg: str | Iterable[str] = (),
    wrt: Any = None,
    emit: Iterable[str] = DEFAULT_PRODUCTS,
    trace_nan: Trace = None,
) -> Compiled:
    """Compile a function and its products now, for types from `arg`, its annotations, or its text.

    `arg` is text such as `"x: f64[n,d]"`, or several.  `emit` names the products; `trace_nan` is as with `grad`.
    """
    emit = tuple(dict.fromkeys(("value", *emit)))
    for product in emit:
        if product not in PRODUCTS:
            raise AdgenError("AD193", f"`{product}` cannot be emitted", help=f"choose from {', '.join(PRODUCTS)}")
    given = dict(parse_argument(text) for text in ((arg,) if isinstance(arg, str) else arg))
    specs = known_specs(function, signature_specs(function, given))
    products, source = {}, traced(function, trace_nan)
    for product in emit:
        made = products[product] = _operator(source, product, wrt)
        for part in PARTS.get(product, (product,)):
            made.__adgen__.entry(specs, part)  # type: ignore[attr-defined]
    return Compiled(function, products)


def _operator(function: Function, product: str, wrt: Any) -> Function:
    if product == "vjp":
        return vjp_operator(function, wrt)
    if product in ("jvp", "hvp"):
        return tangent_operator(function, product, wrt)
    return plain_operator(function, product, None if product == "value" else wrt)


def known_specs(function: Function, specs: Mapping[str, Spec]) -> dict[str, Spec]:
    """The specs with what had to be inferred filled in, and without extents, as a call would give them."""
    if any(isinstance(spec, UnknownSpec) for spec in specs.values()):
        from adgen.driver import lower_function

        specs = lower_function(function, specs).specs
    return {name: without_extents(spec) for name, spec in specs.items()}


def without_extents(spec: Spec) -> Spec:
    """The spec of every shape."""
    if isinstance(spec, ArraySpec):
        return replace(spec, extents=())
    if isinstance(spec, StructSpec):
        return replace(spec, items=tuple((key, without_extents(item)) for key, item in spec.items))
    return spec


def load(path: str | Path) -> ModuleType:
    """The package that `adgen compile` wrote, imported from wherever it is."""
    folder = Path(path).resolve()
    entry = folder / "__init__.py"
    if not entry.is_file():
        raise AdgenError(
            "AD129", f"there is no compiled package at `{path}`", help="pass the folder that `adgen compile` wrote"
        )
    stamp = (str(entry), entry.stat().st_ino, entry.stat().st_mtime_ns)  # another compile makes another file
    known = sys.modules.get(folder.name)
    if known is not None and getattr(known, "__stamp__", None) == stamp:
        return known
    spec = importlib.util.spec_from_file_location(folder.name, entry, submodule_search_locations=[str(folder)])
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    module.__stamp__ = stamp  # type: ignore[attr-defined]
    sys.modules[folder.name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[folder.name]
        raise
    return module
