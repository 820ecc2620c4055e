"""`adgen fuzz`: equivalent variants of a function must have its value and derivatives.

The intermediate forms of all variants are run by the interpreter; then, as far as a budget reaches, those of the
function and its variants become C, in one library.
Comes in: functions of a file.  Goes out: disagreements, each as two programs that are as short as could be found.
Guaranteed: a variant counts only when Python gives the same value for it, so a disagreement is a fault in a derivative
rule of the user's, or in adgen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

from adgen.ahead.options import Options
from adgen.ahead.shrinking import Disagreement, shrunk
from adgen.ahead.source import functions, load
from adgen.ahead.units import Subject, subject
from adgen.ahead.variant_runs import (
    TOLERANCE,
    Prepared,
    Program,
    Setting,
    affordable,
    close,
    compiled,
    difference,
    given,
    interpreted,
    prepared,
    program_of,
    sound,
)
from adgen.ahead.variants import CHANGES
from adgen.diagnostics import AdgenError
from adgen.frontend.rules import Rules, of_library, rules_of
from adgen.passes.linear import NotLinear
from adgen.runtime.samples import sample

Function = Callable[..., Any]
Tell = Callable[[str], None]
RULES = "derivative rules removed"
COMPILED = "compilation"


def fuzz_file(path: Path, options: Options, variants: int, seed: int, tell: Tell) -> tuple[str, bool]:
    """A report on the functions of a file as text, and whether all variants agree."""
    lines, good = [], True
    for function in functions(load(path), options.function):
        found, remark = fuzz(function, options, variants, seed, tell)
        good = good and found is None
        lines.append(found.text() if found else f"{function.__name__}: {remark}")
    return "\n".join(lines), good


def fuzz(function: Function, options: Options, variants: int, seed: int, tell: Tell) -> tuple[Disagreement | None, str]:
    """The first disagreement, or how many variants agree, or why none could be tried."""
    options = replace(options, products=("value", "jvp", "vjp"), function=function.__name__)
    try:
        original = program_of(function)
        options, made = reversible(options, function, original)
    except (AdgenError, OSError, TypeError, SyntaxError) as error:
        return None, f"skipped: {str(error).splitlines()[0]}"
    if made.wrt is None:
        return None, "skipped: it has no derivative"
    arguments = sample(function, made.specs, seed)
    setting = Setting(options, made.specs, arguments or {})
    base = None if arguments is None else prepared(original, setting)
    reference = sound(base)
    if base is None or reference is None:
        return None, "skipped: no inputs were found on which it gives finite numbers"
    tried = [(COMPILED, original, base)]
    ruled = original.rules is not None or any(rules and not of_library(rules) for rules in rules_in(base))
    for change, variant in chosen(original, ruled, variants, Random(seed)):
        tell(f"{function.__name__}: {change}")
        other = prepared(variant, setting)
        if other is None or not close(base.python, other.python, TOLERANCE):
            continue  # not a program, or not the same one
        (found,) = interpreted([other])
        if (wrong := difference(base, reference, found)) is not None:
            return shrunk(original, change, variant, setting, interpreted, wrong), ""
        tried.append((change, variant, other))
    tell(f"{function.__name__}: compiling")
    some = affordable([other for _, _, other in tried])
    for place, found in zip(some, compiled([tried[place][2] for place in some])):
        change, variant, _ = tried[place]
        if (wrong := difference(base, reference, found)) is not None:
            return shrunk(original, change, variant, setting, compiled, wrong), ""
    count, different = len(tried) - 1, len(some)
    agree = "variant agrees" if count == 1 else "variants agree"
    return None, f"{count} {agree}, {different} different program{'s' * (different != 1)} as C"


def reversible(options: Options, function: Function, original: Program) -> tuple[Options, Subject]:
    """The function with both modes, or with reverse mode alone where a rule has no other."""
    try:
        return options, subject(original.function(), options, given(options, function))
    except NotLinear:
        alone = replace(options, products=("value", "vjp"))
        return alone, subject(original.function(), alone, given(alone, function))


def rules_in(base: Prepared) -> list[Rules | None]:
    """The derivative rules of the functions that a program calls."""
    return [rules_of(ruled.callee) for ruled in base.made.primal.ruled]


def chosen(original: Program, ruled: bool, count: int, random: Random) -> Iterator[tuple[str, Program]]:
    """The variant without rules, where there are any; then of each kind of change some, in a random order."""
    if ruled:
        yield RULES, replace(original, ruled=False)
    kinds = {name: list(change(original.tree)) for name, change in CHANGES.items()}
    made = [(name, tree) for name, trees in kinds.items() for tree in trees]
    random.shuffle(made)
    first = {name: (name, tree) for name, tree in reversed(made)}
    rest = [pair for pair in made if pair not in list(first.values())]
    for name, tree in [*first.values(), *rest][:count]:
        yield name, replace(original, tree=tree)
