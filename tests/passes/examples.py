"""The before/after examples in the docstrings of passes."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import adgen.ir
import adgen.passes
from adgen.ir.nodes import Function


@dataclass(frozen=True)
class Example:
    """One docstring: the pass, the text it is given and the text it must give."""

    name: str
    apply: Callable[[Function], Function]
    before: str
    after: str


def examples() -> Iterator[Example]:
    """Every function of a pass whose docstring shows `Before:` and `After:`, one for each example."""
    for module in pkgutil.iter_modules([*adgen.passes.__path__, *adgen.ir.__path__]):
        package = "passes" if importlib.util.find_spec(f"adgen.passes.{module.name}") else "ir"
        loaded = importlib.import_module(f"adgen.{package}.{module.name}")
        for name, member in sorted(vars(loaded).items()):
            if (
                callable(member)
                and getattr(member, "__module__", "") == loaded.__name__
                and "Before:" in (member.__doc__ or "")
            ):
                for number, (before, after) in enumerate(split(member.__doc__)):
                    yield Example(f"{module.name}.{name}-{number}", member, before, after)


def split(docstring: str) -> Iterator[tuple[str, str]]:
    """The before and after texts of a docstring."""
    for part in docstring.split("Before:")[1:]:
        before, after = part.split("After:")
        yield _block(before), _block(after)


def _block(text: str) -> str:
    """The IR text of an example: from its first line to the brace that ends the function."""
    first, _, rest = text.partition("\n")
    lines = []
    for line in textwrap.dedent(rest).splitlines():
        if not line.strip():
            break
        lines.append(line)
    return "\n".join([first.strip(), *lines])
