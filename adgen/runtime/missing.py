"""Why a gradient is zero or missing, in words.

Comes in: a function that was lowered, what it is differentiated for, and perhaps arguments.  Goes out: a `Finding` for
each parameter.  Guaranteed: what is said to be zero is zero; the line named is one at which the derivative ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from adgen import ops
from adgen.diagnostics import AdgenError, Span, render
from adgen.frontend.dropped import dropped
from adgen.frontend.source import code_of, python_function
from adgen.frontend.specs import Lowered, OutputLeaf
from adgen.ir import core
from adgen.ir.interpret import ProgramError, run
from adgen.ir.nodes import Function, Operation, Value, walk
from adgen.ir.types import Buffer, is_float
from adgen.passes.cuts import CUT, Cut, cut, decides, endings, matters, watched
from adgen.passes.implicit import implicit
from adgen.passes.pipeline import optimise
from adgen.runtime.convert import DTYPES
from adgen.runtime.differentiate import differentiate, differentiated, keep, purified, taps_of
from adgen.runtime.wrt import Wrt

State = Literal["passes", "zero here", "partly zero here", "zero"]
TRIES = 40  # ways to a place that turns out not to matter
SEED = 0


@dataclass(frozen=True)
class Finding:
    """What is known of the gradient for one parameter, or one part of one.

    `state`: it `passes`; it is zero at the arguments given, as a whole or in part; or it is zero whatever they are.
    `span` is the first place at which it ends, `reason` says why, and `help` what can be done.
    """

    name: str
    state: State
    reason: str = ""
    span: Span | None = None
    help: str = ""

    @property
    def line(self) -> int | None:
        """The line of the file at which the derivative ends."""
        return self.span.line if self.span else None

    def __str__(self) -> str:
        if self.state == "passes":
            return f"{self.name}: a derivative passes"
        state = {"zero": "zero whatever the arguments are", "zero here": "zero at these arguments"}.get(self.state)
        first = f"{self.name}: {state or 'zero in part at these arguments'}"
        if not self.reason:
            return first
        lines = render("", self.reason, self.span, self.help or None).splitlines()
        return "\n".join([first, *(f"  {line}" for line in (lines[0].removeprefix("error[]: "), *lines[1:]))])


def findings(primal: Lowered, wrt: Wrt, target: Callable[..., Any], values: Sequence[Any] | None) -> list[Finding]:
    """A finding for each leaf of each parameter and for each tap in `wrt`; `values` are the leaves of the arguments."""
    function = gradient_of(primal)
    found = []
    zero = {} if values is None else zeros(primal, wrt, values)
    for name, value in sources(primal, wrt, function):
        ended = cut(function, value)
        if ended is not None:
            found.append(because(ended, name, target))
        elif name in zero and values is not None and value in function.parameters:
            found.append(_at_these(function, function.parameters.index(value), name, values, zero[name]))
        else:
            found.append(Finding(name, "passes"))
    return found


def gradient_of(primal: Lowered) -> Function:
    """The function whose gradient is taken: of its one number where there is one, else of all results."""
    pure = purified(primal)
    function = implicit(pure.function)
    output = pure.output
    if isinstance(output, OutputLeaf) and output.rank is None and output.element.is_float:
        return keep(function, [output.index])
    return function


def sources(primal: Lowered, wrt: Wrt, function: Function) -> Iterator[tuple[str, Value]]:
    """What derivatives are for: the leaves of parameters, then taps, with the names that users know them by."""
    for position in differentiated(primal.leaves, wrt):
        path = primal.leaves[position].path
        yield "".join([str(path[0]), *map(_part, path[1:])]), function.parameters[position]
    taps = taps_of(function)
    yield from ((name, taps[name]) for name in wrt.names if name in taps)


def _part(key: str | int) -> str:
    return f"[{key}]" if isinstance(key, int) else f".{key}"


def searches(primal: Lowered, wrt: Wrt) -> list[str]:
    """A warning for each parameter that the results depend on through decisions in loops alone, as with bisections."""
    function = gradient_of(primal)
    inside = {id(op) for loop in walk(function.body) if loop.row in core.LOOPS for r in loop.regions for op in walk(r)}
    found = []
    for name, value in sources(primal, wrt, function):
        ended = cut(function, value)
        if ended is not None and ended.operation is not None and ended.decides and id(ended.operation) in inside:
            line = f" (line {ended.operation.span.line})" if ended.operation.span else ""
            found.append(
                f"the gradient for `{name}` is zero: the result depends on it through comparisons alone{line}; {SEARCH}"
            )
    return found


# -- words -------------------------------------------------------------------------------------------------------

SEARCH = (
    "a search such as a bisection has the derivative of what it finds with `adgen.root`, `adgen.fixed_point` or a rule "
    "of its own, `adgen.custom_vjp`"
)


def because(ended: Cut, name: str, target: Callable[..., Any]) -> Finding:
    """The finding for a derivative that ends whatever the numbers are."""
    if ended.operation is not None:
        reason, help = words(ended.operation, name)
        return Finding(name, "zero", reason, ended.operation.span, help)
    return _unread(name, target)


def _unread(name: str, target: Callable[..., Any]) -> Finding:
    """The finding for a parameter that no result depends on."""
    function = python_function(getattr(target, "__func__", target))
    code = None if function is None else code_of(function)
    place = None if code is None else dropped(code, name.partition(".")[0].partition("[")[0])
    if code is None or place is None:
        help = "differentiate for a parameter that the result depends on: `wrt=`"
        return Finding(name, "zero", f"no result depends on `{name}`", code.span if code else None, help)
    if place.again is not None:
        reason = f"`{place.name}`, which depends on `{name}`, is overwritten in line {place.again} before it is used"
        return Finding(name, "zero", reason, place.span, "give the two values names of their own")
    reason = f"`{place.name}`, which depends on `{name}`, is not used for the result"
    return Finding(name, "zero", reason, place.span, "return what depends on it")


def words(operation: Operation, name: str) -> tuple[str, str]:
    """Why a derivative ends at an operation, and what can be done."""
    row = operation.row
    if decides(operation):
        return f"the result depends on `{name}` through comparisons alone, which have no derivative", SEARCH
    if row is ops.STOP:
        return "`stop_gradient` ends the derivative here", "leave it out where the derivative is wanted"
    if any(not is_float(result.type) for result in operation.results):
        return "an integer has no derivative", "compute with floats, and convert to integers for indices alone"
    if row is core.STORE:
        return f"what depends on `{name}` is overwritten here", "write to other elements, or to another array"
    if row is core.CUSTOM:
        return "the derivative rule used here gives zero", "correct the rule, if this is not what it should give"
    if getattr(row, "piecewise_constant", False):
        step = f"`{row.name}` is constant between its steps, so its derivative is zero"
        return step, "use a function that is not constant, or `adgen.custom_vjp` with a rule of your own"
    if row is ops.MUL:
        return "the other factor is zero here", "try other arguments"
    if row is ops.SELECT:
        return "what was chosen here does not depend on it", "try arguments for which the other value is chosen"
    return f"the derivative of `{row.name}` is zero at these numbers", "see docs/conventions.md, or try other arguments"


# -- at some numbers ---------------------------------------------------------------------------------------------


def zeros(primal: Lowered, wrt: Wrt, values: Sequence[Any]) -> dict[str, list[tuple[int, ...]] | None]:
    """Where gradients are zero at these arguments: the elements by name, None standing for all of them.

    The gradient is that along one random cotangent.  Nothing where the function raises.
    """
    derived = differentiate(primal, "vjp", replace(wrt, memory=None))
    pure = purified(primal).function
    try:
        shapes = [np.shape(result) for result in run(optimise(pure), _copies(values)).results]
        random = np.random.default_rng(SEED)
        seeds = []
        for leaf in derived.leaves[len(values) :]:
            draw = random.uniform(0.5, 1.5, shapes[int(leaf.path[1])])
            seeds.append(_typed(draw, leaf.kind))
        gradients = run(optimise(derived.function), [*_copies(values), *seeds]).results
    except ProgramError:
        return {}
    found: dict[str, list[tuple[int, ...]] | None] = {}
    names = [name for name, _ in sources(primal, wrt, pure)]
    for name, gradient in zip(names, gradients, strict=True):
        still = np.argwhere(np.asarray(gradient) == 0)
        if len(still):
            found[name] = None if len(still) == np.size(gradient) else [tuple(map(int, place)) for place in still]
    return found


def _at_these(
    function: Function,
    position: int,
    name: str,
    values: Sequence[Any],
    where: list[tuple[int, ...]] | None,
) -> Finding:
    """The finding for a gradient that is zero at these arguments, or in the elements `where`."""
    value = function.parameters[position]
    shape = np.shape(values[position])
    tangent = np.random.default_rng(SEED).uniform(0.5, 1.5, shape)
    shown = name
    if where is not None:
        tangent = np.zeros(shape)
        tangent[where[0]] = 1.0
        shown = f"{name}[{', '.join(map(str, where[0]))}]"
    state: State = "zero here" if where is None else "partly zero here"
    count = "" if where is None else f"{len(where)} of {int(np.prod(shape))} elements, the first {shown}: "
    try:
        place = _first_ending(function, position, [*_copies(values), _typed(tangent, value.type)])
    except AdgenError as error:
        return Finding(name, state, f"{count}no forward mode to follow it with: {error.message}", error.span)
    if place is None:
        return Finding(name, state, f"{count}no result depends on it at these arguments", None, "try other arguments")
    reason, help = words(place, shown)
    return Finding(name, state, count + reason, place.span, help)


def _first_ending(function: Function, position: int, arguments: list[Any]) -> Operation | None:
    """The first operation that ends a tangent and matters to the results, at these numbers."""
    for candidates in endings(function):
        places = list(candidates)
        for _ in range(TRIES):
            try:
                run(watched(function, [position], places), _copies(arguments))
                break
            except ProgramError as error:
                if error.exception != CUT:
                    return None
                place = places[int(error.message)]
                if matters(function, place):
                    return place
                places.remove(place)
    return None


def _copies(values: Sequence[Any]) -> list[Any]:
    return [value.copy() if isinstance(value, np.ndarray) else value for value in values]


def _typed(array: Any, kind: Any) -> Any:
    if isinstance(kind, Buffer):
        return np.ascontiguousarray(array, DTYPES[kind.element])
    return DTYPES[kind].type(array)


__all__ = ["Finding", "findings", "searches"]
