"""`adgen fuzz`: equivalent variants of a function must have its value and derivatives.

The variants' intermediate forms are run by the interpreter, which C is equal to and takes much longer to make.
Comes in: functions of a file.  Goes out: disagreements, each as two programs that are as short as could be found.
Guaranteed: a variant counts only when Python gives the same value for it, so a disagreement is a fault in a derivative
rule of the user's, or in adgen.
"""

from __future__ import annotations

import ast
import copy
import inspect
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from adgen.ahead.options import Options
from adgen.ahead.source import functions, load
from adgen.ahead.units import subject
from adgen.ahead.variants import CHANGES, bodies
from adgen.diagnostics import AdgenError
from adgen.frontend.rules import rules_of, with_rules
from adgen.ir.interpret import ProgramError, run
from adgen.operators.checking import joined
from adgen.runtime.annotations import parse_argument, parse_static
from adgen.runtime.convert import canonical, leaf_value
from adgen.runtime.programs import COTANGENT, TANGENT
from adgen.runtime.samples import apply, sample
from adgen.runtime.trees import flatten
from adgen.written import defined

Function = Callable[..., Any]
Tell = Callable[[str], None]
TOLERANCE = 1e-8
SINGLE_TOLERANCE = 1e-2
RULES = "derivative rules removed"


@dataclass(frozen=True)
class Disagreement:
    """Two programs that mean the same, and by how much a product of them differs."""

    function: str
    change: str
    product: str
    error: float
    original: str
    variant: str

    def text(self) -> str:
        """What the terminal shows."""
        return (
            f"{self.function}: {self.change} changes the {self.product} by {self.error:.1e}\n\n"
            f"{textwrap.indent(self.original, '    ')}\n\nand\n\n{textwrap.indent(self.variant, '    ')}"
        )


@dataclass(frozen=True)
class Program:
    """A function by its text, to be compiled in the namespace of its module; without `rules` its callees have none."""

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


@dataclass(frozen=True)
class Outcome:
    """What a program gives: in Python, and by its intermediate forms."""

    python: np.ndarray[Any, Any]
    products: Mapping[str, np.ndarray[Any, Any]]
    single: bool


def fuzz_file(path: Path, options: Options, variants: int, seed: int, tell: Tell) -> tuple[str, bool]:
    """A report on the functions of a file as text, and whether all variants agree."""
    lines, good = [], True
    for function in functions(load(path), options.function):
        found, tried, remark = fuzz(function, options, variants, seed, tell)
        good = good and found is None
        counts = f"{tried} variant{'s' * (tried != 1)} agree"
        lines.append(found.text() if found else f"{function.__name__}: {remark or counts}")
    return "\n".join(lines), good


def fuzz(
    function: Function, options: Options, variants: int, seed: int, tell: Tell
) -> tuple[Disagreement | None, int, str]:
    """The first disagreement, how many variants were tried, and why not where none could be."""
    options = replace(options, products=("value", "jvp", "vjp"), function=function.__name__)
    try:
        original = program_of(function)
        made = subject(original.function(), options, given(options, function))
    except (AdgenError, OSError, TypeError, SyntaxError) as error:
        return None, 0, f"skipped: {str(error).splitlines()[0]}"
    if made.wrt is None:
        return None, 0, "skipped: it has no derivative"
    arguments = sample(function, made.specs, seed)
    base = None if arguments is None else outcome(original, options, arguments)
    if arguments is None or base is None:
        return None, 0, "skipped: no inputs were found on which it gives finite numbers"
    tried = 0
    for change, variant in chosen(original, variants, Random(seed)):
        tell(f"{function.__name__}: {change}")
        other = outcome(variant, options, arguments)
        if other is None or not close(base.python, other.python, TOLERANCE):
            continue  # not a program, or not the same one
        tried += 1
        if (wrong := difference(base, other)) is not None:
            return shrunk(original, change, variant, options, arguments, wrong), tried, ""
    return None, tried, ""


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


def chosen(original: Program, count: int, random: Random) -> Iterator[tuple[str, Program]]:
    """The variant without rules, where there are any; then of each kind of change some, in a random order."""
    if original.rules is not None or any(map(removable, original.module.values())):
        yield RULES, replace(original, ruled=False)
    kinds = {name: list(change(original.tree)) for name, change in CHANGES.items()}
    made = [(name, tree) for name, trees in kinds.items() for tree in trees]
    random.shuffle(made)
    first = {name: (name, tree) for name, tree in reversed(made)}
    rest = [pair for pair in made if pair not in list(first.values())]
    for name, tree in [*first.values(), *rest][:count]:
        yield name, replace(original, tree=tree)


def removable(value: Any) -> bool:
    """True for a function that is there without its derivative rules too; one in C is not."""
    return rules_of(value) is not None and hasattr(value, "__wrapped__")


@contextmanager
def in_force(program: Program) -> Iterator[None]:
    """The module's functions with rules, replaced by those without where the program says so."""
    module = program.module
    assert isinstance(module, dict)
    before = {name: value for name, value in module.items() if removable(value) and not program.ruled}
    module.update({name: value.__wrapped__ for name, value in before.items()})
    try:
        yield
    finally:
        module.update(before)


def outcome(program: Program, options: Options, arguments: Mapping[str, Any]) -> Outcome | None:
    """What the program gives at some arguments; None when it cannot be run, or is refused."""
    own = copy.deepcopy(dict(arguments))
    with in_force(program), np.errstate(all="ignore"):
        try:
            function = program.function()
            result = apply(function, own)
        except Exception:  # a change may leave any mistake in a program
            return None
        try:
            return _outcome(program, function, options, arguments, result, own)
        except (AdgenError, ProgramError):
            return None


def _outcome(
    program: Program,
    function: Function,
    options: Options,
    arguments: Mapping[str, Any],
    result: Any,
    after: Mapping[str, Any],
) -> Outcome | None:
    if program.rules is not None and program.ruled:
        rules = program.rules if program.rules.saves else replace(program.rules, function=function)
        function = with_rules(function, rules)
    made = subject(function, options, given(options, function))
    leaves = made.primal.leaves
    values = [canonical(leaf_value(arguments, leaf.path), leaf.spec) for leaf in leaves]
    written = [leaf_value(after, leaves[position].path) for position in made.primal.mutated]
    python = joined([*(part for _, part, _ in flatten(made.primal.output, result, "value")), *written])
    shapes = {(TANGENT, *leaf.path): np.shape(value) for leaf, value in zip(leaves, values, strict=True)}
    pure = run(made.units["pure"].optimised, copy.deepcopy(values)).results
    shapes |= {(COTANGENT, position): np.shape(part) for position, part in enumerate(pure)}
    products = {"value": joined(pure)}
    for product in ("jvp", "vjp"):
        rng = np.random.default_rng(7)
        unit = made.units[product]
        seeds = [
            canonical(rng.normal(size=shapes[leaf.path]), leaf.spec) for leaf in unit.derived.leaves[len(leaves) :]
        ]
        products[product] = joined(run(unit.optimised, copy.deepcopy([*values, *seeds])).results)
    if not all(np.all(np.isfinite(part)) for part in products.values()):
        return None
    return Outcome(python, products, any(str(leaf.spec.element) == "f32" for leaf in leaves))


def close(first: np.ndarray[Any, Any], second: np.ndarray[Any, Any], tolerance: float) -> bool:
    """True when two results are equal but for rounding."""
    return first.shape == second.shape and distance(first, second) <= tolerance


def distance(first: np.ndarray[Any, Any], second: np.ndarray[Any, Any]) -> float:
    """The largest difference, relative to the largest number."""
    scale = max(float(np.max(np.abs(first), initial=0.0)), 1e-12)
    return float(np.max(np.abs(first - second), initial=0.0)) / scale


def difference(base: Outcome, other: Outcome) -> tuple[str, float] | None:
    """The product that differs most, and by how much; None when none does."""
    tolerance = SINGLE_TOLERANCE if base.single else TOLERANCE
    found = {
        product: distance(value, other.products[product])
        if value.shape == other.products[product].shape
        else float("inf")
        for product, value in base.products.items()
    }
    worst = max(found, key=lambda product: found[product])
    return (worst, found[worst]) if found[worst] > tolerance else None


# -- shrinking ---------------------------------------------------------------------------------------------------------


def shrunk(
    original: Program,
    change: str,
    variant: Program,
    options: Options,
    arguments: Mapping[str, Any],
    wrong: tuple[str, float],
) -> Disagreement:
    """The disagreement with as few statements as still show it."""
    pair = original, variant
    while (smaller := next(_smaller(*pair, change, options, arguments), None)) is not None:
        pair, wrong = smaller
    return Disagreement(original.tree.name, change, *wrong, pair[0].text, pair[1].text)


def _smaller(
    original: Program, variant: Program, change: str, options: Options, arguments: Mapping[str, Any]
) -> Iterator[tuple[tuple[Program, Program], tuple[str, float]]]:
    """Smaller pairs of programs that still disagree."""
    for tree in (*without_one(original.tree), *with_operand(original.tree)):
        base = replace(original, tree=tree)
        trees: Sequence[ast.FunctionDef] = [tree] if change == RULES else list(CHANGES[change](tree))
        first = outcome(base, options, arguments) if trees else None
        for other in trees if first is not None else ():
            changed = replace(variant, tree=other)
            second = outcome(changed, options, arguments)
            if first is None or second is None or not close(first.python, second.python, TOLERANCE):
                continue
            if (wrong := difference(first, second)) is not None:
                yield (base, changed), wrong


def without_one(tree: ast.FunctionDef) -> Iterator[ast.FunctionDef]:
    """The tree without one statement, or with a compound statement replaced by its body; the last ones first."""
    for number, body in enumerate(bodies(tree)):
        for position in reversed(range(len(body))):
            if isinstance(body[position], ast.Return):
                continue
            for inner in ([], getattr(body[position], "body", [])):
                changed = copy.deepcopy(tree)
                own = bodies(changed)[number]
                own[position : position + 1] = copy.deepcopy(inner)
                if own:
                    yield ast.fix_missing_locations(changed)


def with_operand(tree: ast.FunctionDef) -> Iterator[ast.FunctionDef]:
    """The tree with one operation replaced by one of its operands."""
    operations = [node for node in ast.walk(tree) if isinstance(node, ast.BinOp)]
    for number in range(len(operations)):
        for side in ("left", "right"):
            changed = copy.deepcopy(tree)
            target = [node for node in ast.walk(changed) if isinstance(node, ast.BinOp)][number]
            yield _Replace(target, getattr(target, side)).visit(changed)


class _Replace(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old = old
        self.new = new

    def visit(self, node: ast.AST) -> Any:
        """The new node for the old one."""
        return self.new if node is self.old else self.generic_visit(node)
