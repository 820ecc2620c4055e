"""Two programs that should agree and do not, made smaller while they disagree.

Comes in: a function, a change of it, arguments on which they disagree.  Goes out: a `Disagreement`.  Guaranteed: both
programs give the same value in Python.
"""

from __future__ import annotations

import ast
import copy
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from adgen.ahead.variant_runs import TOLERANCE, Program, Setting, Way, close, difference, prepared, sound
from adgen.ahead.variants import CHANGES, bodies


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


def shrunk(
    original: Program,
    change: str,
    variant: Program,
    setting: Setting,
    way: Way,
    wrong: tuple[str, float],
) -> Disagreement:
    """The disagreement with as few statements as still show it; the variant is run in this `way`."""
    pair = original, variant
    while (smaller := next(_smaller(*pair, change, setting, way), None)) is not None:
        pair, wrong = smaller
    return Disagreement(original.tree.name, change, *wrong, pair[0].text, pair[1].text)


def _smaller(
    original: Program, variant: Program, change: str, setting: Setting, way: Way
) -> Iterator[tuple[tuple[Program, Program], tuple[str, float]]]:
    """Smaller pairs of programs that still disagree."""
    for tree in (*without_one(original.tree), *with_operand(original.tree)):
        base = replace(original, tree=tree)
        trees: Sequence[ast.FunctionDef] = list(CHANGES[change](tree)) if change in CHANGES else [tree]
        first = prepared(base, setting) if trees else None
        reference = sound(first)
        for other in trees if reference is not None else ():
            changed = replace(variant, tree=other)
            second = prepared(changed, setting)
            if first is None or reference is None or second is None:
                continue
            if not close(first.python, second.python, TOLERANCE):
                continue
            if (wrong := difference(first, reference, way([second])[0])) is not None:
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
