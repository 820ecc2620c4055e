"""The entry of the front end: a Python function and the specs of its arguments become an IR function.

Comes in: a callable and specs by parameter name.  Goes out: `Lowered`.  Guaranteed: the IR function computes what the
Python function computes, in-place writes to arguments included, or `AdgenError` says what cannot be lowered and where.
"""

from __future__ import annotations

import functools
import inspect
import sys
import types
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from adgen.diagnostics import AdgenError, Span
from adgen.frontend import calls, module_variables, results, source
from adgen.frontend.arrays.agreement import Agreements
from adgen.frontend.complexes import library
from adgen.frontend.context import Context, Pattern
from adgen.frontend.dependencies import Dependency, fingerprint, namespace_of
from adgen.frontend.infer import Inference, LeafSpec, Refine, default
from adgen.frontend.making import argument, fill
from adgen.frontend.recursion import Recursive
from adgen.frontend.rules import rules_of
from adgen.frontend.specs import (
    Leaf,
    Lowered,
    Path,
    Ruled,
    ScalarSpec,
    Spec,
    StaticSpec,
    StructSpec,
    UnknownSpec,
    spec_leaves,
    value_of,
)
from adgen.ir.calls import reachable
from adgen.ir.nodes import Function
from adgen.ir.types import BOOL, I64

RECURSION_LIMIT = 40_000
MOST_ATTEMPTS = 300


Push = Callable[[Function, int], Function]


def lower(
    target: Callable[..., Any], specs: Mapping[str, Spec], push: Push | None = None, kinks: bool = False
) -> Lowered:
    """Lower a function for arguments of these specs; parameters without one take their default or are inferred.

    `push` gives the forward mode of a function for one parameter: Newton's method asks for it.  With `kinks` what is
    composed of several operations says where it has one.

    Raises AdgenError.
    """
    parameters = _parameters(target)
    complete = _complete(target, parameters, specs)
    unknown = {path: default(spec) for path, spec in spec_leaves(complete) if isinstance(spec, UnknownSpec)}
    with _deep_recursion():
        if not unknown:
            return _attempt(target, parameters, complete, {}, push, kinks)
        return _search(target, parameters, complete, unknown, push, kinks)


def _search(
    target: Callable[..., Any],
    parameters: dict[str, inspect.Parameter],
    specs: dict[str, Spec],
    start: dict[Path, LeafSpec],
    push: Push | None,
    kinks: bool,
) -> Lowered:
    """Refine unknown specs until the function can be lowered; the first failure is what a user is told."""
    stack, guesses = [start], deque[dict[Path, LeafSpec]]()
    tried: list[dict[Path, LeafSpec]] = []
    failure: AdgenError | None = None
    while (stack or guesses) and len(tried) < MOST_ATTEMPTS:
        guess = stack.pop() if stack else guesses.popleft()
        if guess in tried:
            continue
        tried.append(guess)
        try:
            return _attempt(target, parameters, specs, guess, push, kinks)
        except Refine as refine:
            failure = failure or refine.cause
            if refine.cause is not None:
                guesses.extend({**guess, **choice} for choice in refine.choices)
            else:
                stack.extend({**guess, **choice} for choice in reversed(refine.choices))
        except AdgenError as error:
            failure = failure or error
    raise failure or AdgenError("AD105", "the types of the arguments could not be inferred", _span(target), ANNOTATE)


ANNOTATE = 'annotate the parameters (`x: "f64[n]"`) or say their types with `--arg "x: f64[n]"`'


@contextmanager
def _deep_recursion() -> Iterator[None]:
    """Nested syntax and inlined calls need a deep Python stack."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, RECURSION_LIMIT))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


# -- the signature -----------------------------------------------------------------------------------------------------


def _parameters(target: Any) -> dict[str, inspect.Parameter]:
    if not callable(target):
        raise AdgenError("AD102", f"a function is needed, not a {type(target).__name__}", None)
    name = getattr(target, "__name__", type(target).__name__)
    inner = getattr(target, "__func__", target)
    has_source = source.python_function(inner) or source.call_method(target)
    if isinstance(target, type) or (has_source is None and not hasattr(target, "func")):
        reason = "it is a class" if isinstance(target, type) else "it is a built-in or compiled function"
        raise source.no_source(name, reason)
    try:
        return dict(inspect.signature(target).parameters)
    except (TypeError, ValueError):
        raise source.no_source(name, "its parameters cannot be read") from None


def _complete(
    target: Callable[..., Any], parameters: dict[str, inspect.Parameter], specs: Mapping[str, Spec]
) -> dict[str, Spec]:
    """A spec for every parameter."""
    for name in specs:
        if name not in parameters:
            known = ", ".join(parameters) or "none"
            raise AdgenError("AD103", f"there is no parameter `{name}`; the parameters are: {known}", _span(target))
    complete: dict[str, Spec] = {}
    for name, parameter in parameters.items():
        if name in specs:
            complete[name] = specs[name]
        elif parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            complete[name] = StructSpec(tuple if parameter.kind is parameter.VAR_POSITIONAL else dict, ())
        elif parameter.default is not parameter.empty:
            complete[name] = StaticSpec(parameter.default)
        else:
            complete[name] = UnknownSpec()
    return complete


def _filled(specs: Mapping[str, Spec], found: Mapping[Path, LeafSpec]) -> dict[str, Spec]:
    """The specs with what was inferred in place of the unknown ones."""

    def below(path: Path, spec: Spec) -> Spec:
        if isinstance(spec, StructSpec):
            return replace(spec, items=tuple((key, below((*path, key), inner)) for key, inner in spec.items))
        return found[path] if isinstance(spec, UnknownSpec) else spec

    return {name: below((name,), spec) for name, spec in specs.items()}


def _span(target: Any) -> Span | None:
    rules = rules_of(target)
    plain = getattr(target, "__func__", target) if rules is None else rules.function
    function = source.python_function(plain)
    if function is None:
        return None
    try:
        return source.code_of(function).span
    except AdgenError:
        return Span(function.__code__.co_filename, function.__code__.co_firstlineno)


# -- one attempt -------------------------------------------------------------------------------------------------------


@dataclass
class Recorder:
    """Notes what the lowered program reads from outside of itself, by its route from the target."""

    target: Any
    routes: dict[int, tuple[Any, ...]]
    kept: list[Any]
    found: dict[tuple[Any, ...], Dependency]

    def __call__(self, reader: Any, step: tuple[str, Any], value: Any) -> None:
        """`reader` (the code of a function, or a module) read `value`."""
        key = getattr(reader, "key", reader)
        base = self.routes.get(id(key))
        if base is None and step[0] == "global":  # a lambda, a comprehension, a method: by another way into the module
            base = self.routes.get(id(reader.module))
        if base is None:
            return
        route = (*base, step)
        if isinstance(value, types.ModuleType):
            self.learn(value, route)
            return
        if route not in self.found:
            self.found[route] = Dependency(route, fingerprint(value), self.target)
            self.learn(value, route)

    def through(self, callee: Any, dependency: Dependency) -> None:
        """The program depends on what a function that it calls by an operator depends on."""
        base, wrapped = self.routes.get(id(callee)), getattr(callee, "__wrapped__", None)
        inner = self.routes.get(id(wrapped)) if base is None else (*base, ("attribute", "__wrapped__"))
        if inner is not None:
            route = (*inner, *dependency.route)
            self.found.setdefault(route, Dependency(route, dependency.fingerprint, self.target))

    def reached(self, start: Any, steps: tuple[Any, ...], value: Any) -> None:
        """`value` was reached from something that has a route, other than by reading a name."""
        base = self.routes.get(id(start))
        if base is not None:
            self.learn(value, (*base, *steps))

    def learn(self, value: Any, route: tuple[Any, ...]) -> None:
        """What is reached through `value` has routes that start with its own."""
        self.kept.append(value)
        self.routes.setdefault(id(value), route)
        self.routes.setdefault(id(namespace_of(value)), route)
        function = source.python_function(value)
        if function is not None:
            self.routes.setdefault(id(function.__code__), route)


def _attempt(
    target: Callable[..., Any],
    parameters: dict[str, inspect.Parameter],
    specs: dict[str, Spec],
    guess: dict[Path, LeafSpec],
    push: Push | None,
    kinks: bool,
) -> Lowered:
    """Lower the function with these specs, again for every recursion that is found."""
    patterns: list[Pattern] = []
    while True:
        try:
            return _once(target, parameters, specs, guess, patterns, push, kinks)
        except Recursive as found:
            patterns.append(found.pattern)


def _once(
    target: Callable[..., Any],
    parameters: dict[str, inspect.Parameter],
    specs: dict[str, Spec],
    guess: dict[Path, LeafSpec],
    patterns: Sequence[Pattern],
    push: Push | None,
    kinks: bool,
) -> Lowered:
    """Lower the function with these specs, knowing some recursion."""
    filled = _filled(specs, guess)
    leaves = tuple(Leaf(path, spec) for path, spec in spec_leaves(filled) if not isinstance(spec, UnknownSpec))
    arguments = [argument(leaf) for leaf in leaves]
    name = getattr(target, "__name__", "the function")
    agreements = Agreements.of(leaves, arguments)
    ctx = Context(title=_function_name(target), patterns=patterns, agreements=agreements, push=push, taps={})
    ctx.builder.tells_kinks = kinks
    recorder = Recorder(target, {}, [], {})
    ctx.record = recorder
    function = source.python_function(getattr(target, "__func__", target))
    recorder.learn(function if function is not None else type(target).__call__, ())
    if rules_of(target) is not None:
        recorder.learn(target, ())
    if guess:
        ctx.inference = Inference(dict(guess), {a: leaf.path for a, leaf in zip(arguments, leaves)})
    ctx.scalars = {a: str(leaf.path[0]) for a, leaf in zip(arguments, leaves) if _is_option(leaf)}
    span = _span(target)

    def run(ctx: Context, values: Mapping[Path, Any]) -> Any:
        build = functools.partial(library.rebuilt, ctx)
        given = {name: value_of(values, (name,), spec, build=build) for name, spec in filled.items()}
        module_variables.begin(ctx)
        returned = calls.call(ctx, target, *_call_arguments(parameters, given), name)
        module_variables.finish(ctx)
        return returned

    try:
        made = fill(ctx, leaves, arguments, span, run)
    except AdgenError as error:
        error.deciders = tuple(ctx.deciders)
        raise
    results.require_result(ctx, made.output, made.mutated, name, span)
    lowered = reachable(replace(made.function, callees=ctx.callees))
    dependencies = tuple(recorder.found.values())
    warnings = tuple(dict.fromkeys(ctx.warnings))
    ruled = (*(Ruled(custom.callee, custom.given) for custom in ctx.customs), *ctx.ruled)
    return Lowered(lowered, leaves, made.output, made.mutated, filled, dependencies, warnings, ruled=ruled)


def _is_option(leaf: Leaf) -> bool:
    """True for a parameter that is an int or a bool."""
    return len(leaf.path) == 1 and isinstance(leaf.spec, ScalarSpec) and leaf.spec.element in (BOOL, I64)


def _call_arguments(
    parameters: dict[str, inspect.Parameter], values: dict[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    positional: list[Any] = []
    keywords: dict[str, Any] = {}
    for name, parameter in parameters.items():
        if parameter.kind is parameter.VAR_POSITIONAL:
            positional.extend(values[name])
        elif parameter.kind is parameter.VAR_KEYWORD:
            keywords.update(values[name])
        elif parameter.kind is parameter.KEYWORD_ONLY:
            keywords[name] = values[name]
        else:
            positional.append(values[name])
    return positional, keywords


def _function_name(target: Any) -> str:
    name = str(getattr(target, "__name__", type(target).__name__))
    return name if name.isidentifier() else "function"
