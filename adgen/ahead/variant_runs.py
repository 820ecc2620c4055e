"""Programs by their text and what they give: in Python, by their intermediate forms, and as C.

Comes in: the syntax tree of a function, arguments.  Goes out: value, JVP and VJP along fixed directions.  Guaranteed:
every program of a module is run on the same arguments and directions, so that what differs is the program.
"""

from __future__ import annotations

import ast
import copy
import inspect
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Any

import numpy as np

from adgen.ahead.options import Options
from adgen.ahead.units import Subject, subject
from adgen.diagnostics import AdgenError
from adgen.driver import lower_function
from adgen.driver import program as described
from adgen.emit import emit
from adgen.frontend.rules import rules_of, with_rules, without_rules
from adgen.frontend.specs import Spec
from adgen.ir.interpret import ProgramError, run
from adgen.ir.nodes import walk
from adgen.ir.printer import print_function
from adgen.operators.checking import joined
from adgen.runtime.annotations import parse_argument, parse_static
from adgen.runtime.calls import Entry
from adgen.runtime.convert import canonical, leaf_value
from adgen.runtime.programs import COTANGENT, TANGENT
from adgen.runtime.samples import apply
from adgen.runtime.trees import flatten
from adgen.toolchain import build, load
from adgen.written import defined

Function = Callable[..., Any]
Vector = np.ndarray[Any, Any]
Products = dict[str, Vector]
Way = Callable[[Sequence["Prepared"]], list[Products]]
TOLERANCE = 1e-8
SINGLE_TOLERANCE = 1e-2
COMPILABLE = 4000  # operations of programs that become C


@dataclass(frozen=True)
class Program:
    """A function by its text, to be compiled in the namespace of its module, with the derivative `rules` of its own.

    Without `ruled` all rules that users gave are left out.
    """

    tree: ast.FunctionDef
    module: Mapping[str, Any]
    rules: Any = None
    ruled: bool = True

    @property
    def text(self) -> str:
        """The source, and what stands for a rule that was removed."""
        source = ast.unparse(ast.fix_missing_locations(self.tree))
        return source if self.ruled else f"{source}\n# without derivative rules: f.__wrapped__ in place of each f"

    def function(self) -> Function:
        """The function, which has a source that can be read."""
        source = ast.unparse(ast.fix_missing_locations(self.tree)) + "\n"
        namespace = self.module if isinstance(self.module, dict) else dict(self.module)
        return defined(source, "variant", self.tree.name, namespace)


def program_of(function: Function) -> Program:
    """The program of a function.  Raises OSError or AdgenError where its text cannot be had."""
    rules, plain = rules_of(function), inspect.unwrap(function)
    tree = ast.parse(textwrap.dedent(inspect.getsource(plain))).body[0]
    if not isinstance(tree, ast.FunctionDef) or plain.__closure__:
        raise AdgenError("AD195", f"`{plain.__name__}` is no function of a module", help="define it with `def`")
    tree.decorator_list = []
    return Program(tree, plain.__globals__, rules)


def given(options: Options, function: Function) -> dict[str, Any]:
    """The types of arguments that the command line gives, of those that the function has."""
    found = dict([*map(parse_argument, options.arguments), *map(parse_static, options.statics)])
    own = inspect.signature(function).parameters
    return {name: spec for name, spec in found.items() if name in own}


@dataclass(frozen=True)
class Setting:
    """What all variants of a function share: the types of the arguments, found for the function itself, and values.

    `known` are the programs that were made, by their intermediate form: many variants have the same.
    """

    options: Options
    specs: Mapping[str, Spec]
    arguments: Mapping[str, Any]
    known: dict[str, Subject] = field(default_factory=dict)

    def subject(self, function: Function) -> Subject:
        """A function and its products.  Raises AdgenError when it cannot be compiled."""
        key = nameless(print_function(lower_function(function, self.specs).function))
        if key not in self.known:
            self.known[key] = subject(function, self.options, self.specs)
        return self.known[key]


def nameless(text: str) -> str:
    """The text of a function with numbers in place of names, and without those of the results."""
    numbers: dict[str, str] = {}
    text = re.sub(r"\) -> \([^()]*\) \{", ") {", text)
    return re.sub(r"%\w+", lambda name: numbers.setdefault(name[0], f"%{len(numbers)}"), text)


@dataclass(frozen=True)
class Prepared:
    """A program and what it takes: its value in Python, its products, and for each of them the inputs."""

    python: Vector
    made: Subject
    inputs: Mapping[str, list[Any]]

    @property
    def single(self) -> bool:
        """True when float32 is involved."""
        return any(str(leaf.spec.element) == "f32" for leaf in self.made.primal.leaves)

    @property
    def size(self) -> int:
        """How many operations all products have."""
        return sum(1 for product in self.inputs for _ in walk(self.made.units[product].optimised.body))


def prepared(program: Program, setting: Setting) -> Prepared | None:
    """The program in a setting; None when it cannot be run, or is refused."""
    own = copy.deepcopy(dict(setting.arguments))
    with nullcontext() if program.ruled else without_rules(), np.errstate(all="ignore"):
        try:
            function = program.function()
            result = apply(function, own)
        except Exception:  # a change may leave any mistake in a program
            return None
        try:
            return _prepared(program, function, setting, result, own)
        except (AdgenError, ProgramError):
            return None


def _prepared(
    program: Program,
    function: Function,
    setting: Setting,
    result: Any,
    after: Mapping[str, Any],
) -> Prepared:
    if program.rules is not None and program.ruled:
        rules = program.rules if program.rules.saves else replace(program.rules, function=function)
        function = with_rules(function, rules)
    made = setting.subject(function)
    leaves = made.primal.leaves
    values = [canonical(leaf_value(setting.arguments, leaf.path), leaf.spec) for leaf in leaves]
    written = [leaf_value(after, leaves[position].path) for position in made.primal.mutated]
    python = joined([*(part for _, part, _ in flatten(made.primal.output, result, "value")), *written])
    shapes = {(TANGENT, *leaf.path): np.shape(value) for leaf, value in zip(leaves, values, strict=True)}
    pure = run(made.units["pure"].optimised, copy.deepcopy(values)).results  # `vjp` always brings it along
    shapes |= {(COTANGENT, position): np.shape(part) for position, part in enumerate(pure)}
    inputs = {"pure": values}
    for product in [product for product in ("jvp", "vjp") if product in made.units]:
        rng = np.random.default_rng(7)
        own = made.units[product].derived.leaves[len(leaves) :]
        inputs[product] = [*values, *(canonical(rng.normal(size=shapes[leaf.path]), leaf.spec) for leaf in own)]
    return Prepared(python, made, inputs)


def interpreted(programs: Sequence[Prepared]) -> list[Products]:
    """What the intermediate forms give; a product that fails gives nothing."""
    found: list[Products] = [{} for _ in programs]
    for each, products in zip(programs, found):
        for product, values in each.inputs.items():
            with suppress(ProgramError):
                products[product] = joined(run(each.made.units[product].optimised, copy.deepcopy(values)).results)
    return found


def compiled(programs: Sequence[Prepared]) -> list[Products]:
    """What C gives, all of it in one library; a product that fails gives nothing."""
    functions = {
        (number, product): replace(unit.optimised, name=f"{unit.optimised.name}_{number}")
        for number, each in enumerate(programs)
        for product in each.inputs
        for unit in [each.made.units[product]]
    }
    emitted = emit(list(functions.values()), "variants")
    library = load(build(emitted))
    found: list[Products] = [{} for _ in programs]
    for (number, product), function in functions.items():
        made, unit = programs[number].made, programs[number].made.units[product]
        entry = Entry(described(made.primal, unit.wrt, unit.derived, function, emitted), library)
        with suppress(Exception):  # whatever a check of the program raises
            result = entry.raw(*copy.deepcopy(programs[number].inputs[product]))
            parts = {leaf.index: part for leaf, part, _ in flatten(unit.derived.output, result, "")}
            found[number][product] = joined(parts[index] for index in sorted(parts))
    return found


def sound(each: Prepared | None) -> Products | None:
    """What the intermediate forms of a program give, where all of it is finite."""
    if each is None:
        return None
    (found,) = interpreted([each])
    good = all(np.all(np.isfinite(part)) for part in found.values()) and len(found) == len(each.inputs)
    return found if good else None


def affordable(programs: Sequence[Prepared]) -> list[int]:
    """The places of the first different programs, as many as a C compiler takes seconds for; always one."""
    places = list({id(each.made): place for place, each in reversed(list(enumerate(programs)))}.values())[::-1]
    sizes = list(accumulate(programs[place].size for place in places))
    return [place for place, size in zip(places, sizes) if size <= max(sizes[0], COMPILABLE)]


def close(first: Vector, second: Vector, tolerance: float) -> bool:
    """True when two results are equal but for rounding."""
    return first.shape == second.shape and distance(first, second) <= tolerance


def distance(first: Vector, second: Vector) -> float:
    """The largest difference, relative to the largest number; infinite where one is not a number."""
    scale = max(float(np.max(np.abs(first), initial=0.0)), 1e-12)
    found = float(np.max(np.abs(first - second), initial=0.0)) / scale
    return found if found == found else float("inf")


def difference(base: Prepared, one: Products, other: Products) -> tuple[str, float] | None:
    """The product that differs most, and by how much; None when none does."""
    tolerance = SINGLE_TOLERANCE if base.single else TOLERANCE
    found = {
        product: distance(value, other[product])
        if product in other and value.shape == other[product].shape
        else float("inf")
        for product, value in one.items()
    }
    worst = max(found, key=lambda product: found[product])
    return (worst, found[worst]) if found[worst] > tolerance else None
