"""Partials as text, so that no process but the one that writes them needs sympy.

Comes in: terms, or their text.  Goes out: the other.  Guaranteed: `read(write(term)) == term`; a row whose meaning is
not what its partials were derived from has none here, and they are derived again.

`o0` is an operand, `o1i` an integer one, `out` the result, `2.0` and `3i` are numbers, `(f t)` is a term as a float,
`(mul o0 out)` a row applied, `(add! o1i 1i)` one of integers.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from adgen.ops.derived import PARTIALS
from adgen.ops.registry import TABLE
from adgen.ops.terms import Apply, AsFloat, Number, Operand, Out, Term

if TYPE_CHECKING:
    from adgen.ops.elementwise import Elementwise

AS_FLOAT = "f"


def known(row: Elementwise) -> tuple[Term | None, ...] | None:
    """The partials of a row as they were written down; None when they have to be derived."""
    source, texts = PARTIALS.get(row.name, ("", ()))
    if source != meaning(row):
        return None
    return tuple(None if text is None else read(text) for text in texts)


def meaning(row: Elementwise) -> str:
    """What the partials of a row follow from."""
    fixed = "".join(f" {row.operands[k]}:{kind}" for k, kind in sorted(row.fixed.items()))
    return f"{' '.join(row.operands)} -> {row.sympy}{fixed}"


def write(term: Term) -> str:
    """The text of a term."""
    if isinstance(term, Number):
        return f"{int(term.value)}i" if term.integer else repr(float(term.value))
    if isinstance(term, Operand):
        return f"o{term.position}{'i' * term.integer}"
    if isinstance(term, Out):
        return "out"
    if isinstance(term, AsFloat):
        return f"({AS_FLOAT} {write(term.term)})"
    assert isinstance(term, Apply)
    return f"({term.row.name}{'!' * term.integer} {' '.join(map(write, term.arguments))})"


def read(text: str) -> Term:
    """The term of a text."""
    return _read(re.findall(r"[()]|[^\s()]+", text)[::-1])


def _read(tokens: list[str]) -> Term:
    """The term at the end of a list of tokens, which it takes away."""
    token = tokens.pop()
    if token != "(":
        return _leaf(token)
    name, arguments = tokens.pop(), []
    while tokens[-1] != ")":
        arguments.append(_read(tokens))
    tokens.pop()
    if name == AS_FLOAT:
        return AsFloat(arguments[0])
    return Apply(TABLE[name.rstrip("!")], tuple(arguments), name.endswith("!"))


def _leaf(token: str) -> Term:
    if token == "out":
        return Out()
    if token.startswith("o"):
        return Operand(int(token.strip("oi")), token.endswith("i"))
    return Number(int(token[:-1]), True) if token.endswith("i") else Number(float(token))


def module_text() -> str:
    """The text of `derived.py`: the partials of all rows that have a meaning and no partials of their own."""
    from adgen.ops.derive import derive

    lines = ['"""Partials that `derive` has found, as `written` reads them.  Written by a test: see tests/ops."""', ""]
    lines += [
        "from __future__ import annotations",
        "",
        "# fmt: off",
        "PARTIALS: dict[str, tuple[str, tuple[str | None, ...]]] = {",
    ]
    for name, row in sorted(TABLE.items()):
        if getattr(row, "sympy", "") and row.override is None:
            texts = ", ".join("None" if part is None else repr(write(part)) for part in derive(row))
            lines.append(f"    {name!r}: ({meaning(row)!r}, ({texts},)),")
    return "\n".join([*lines, "}", ""])
