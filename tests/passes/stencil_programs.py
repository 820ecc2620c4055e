"""Random time loops over stencils, as Python text: one or two fields, one or two axes, copied or in place."""

from __future__ import annotations

import random

FIELDS = ("u", "v")
INDICES = ("i", "j")
REACH = 2


def program(generator: random.Random) -> str:
    """The source of a function `f` of `u0, v0` of one or two axes, `c` and `steps`."""
    rank = generator.choice((1, 1, 2))
    fields = FIELDS[: generator.choice((1, 1, 2))]
    copied = generator.random() < 0.8
    lines = ["import numpy as np", "", "", "def f(u0, v0, c, steps):"]
    lines += [f"    {field} = {field}0.copy()" for field in FIELDS]
    lines.append("    for t in range(steps):")
    if copied:
        lines += [f"        {field}n = {field}.copy()" for field in fields]
    for field in fields if generator.random() < 0.5 else fields[:1]:
        lines += _nest(generator, rank, field, fields, copied)
    if copied:
        lines += [f"        {field} = {field}n" for field in fields]
    lines.append("    return c * np.sum(u * u) + np.sum(u * v)")
    return "\n".join(lines) + "\n"


def _nest(generator: random.Random, rank: int, field: str, fields: tuple[str, ...], copied: bool) -> list[str]:
    lines, indent = [], " " * 8
    for axis in range(rank):
        low, high = (generator.randint(REACH, REACH + 1) for _ in range(2))
        lines.append(f"{indent}for {INDICES[axis]} in range({low}, u0.shape[{axis}] - {high}):")
        indent += " " * 4
    terms = [_term(generator, rank, generator.choice(fields)) for _ in range(generator.randint(1, 5))]
    target = f"{field}n" if copied else field
    lines.append(f"{indent}{target}[{_index(generator, rank)}] = {' + '.join(terms)}")
    return lines


def _term(generator: random.Random, rank: int, field: str) -> str:
    element = f"{field}[{_index(generator, rank)}]"
    number = f"{generator.uniform(-0.5, 0.5):.2f}"
    other = f"{field}[{_index(generator, rank)}]"
    return generator.choice((f"{number} * {element}", f"c * {element}", f"{element} * {other}", f"np.sin({element})"))


def _index(generator: random.Random, rank: int) -> str:
    shifts = [generator.randint(-REACH, REACH) for _ in range(rank)]
    return ", ".join(f"{INDICES[axis]} + {shift}".replace("+ -", "- ") for axis, shift in enumerate(shifts))


def rank_of(source: str) -> int:
    """How many axes the fields of a program have."""
    return 2 if "for j in" in source else 1
