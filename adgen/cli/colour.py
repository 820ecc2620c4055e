"""Code on the terminal: with colours when there is one, plain text otherwise."""

from __future__ import annotations

import shutil
import sys
from itertools import zip_longest

import typer


def print_code(text: str, language: str) -> None:
    """Print code, coloured when standard output is a terminal."""
    if not sys.stdout.isatty():
        typer.echo(text)
        return
    from rich.console import Console
    from rich.syntax import Syntax

    Console().print(Syntax(text, language, background_color="default", word_wrap=False))


def print_side_by_side(left: str, right: str) -> None:
    """Print Python and C next to each other."""
    if not sys.stdout.isatty():
        typer.echo(columns(left.splitlines(), right.splitlines()))
        return
    from rich.console import Console
    from rich.syntax import Syntax
    from rich.table import Table

    table = Table.grid(padding=(0, 2), expand=True)
    table.add_column(ratio=2)
    table.add_column(ratio=3)
    table.add_row(*(Syntax(text, name, background_color="default") for text, name in ((left, "python"), (right, "c"))))
    Console(width=max(shutil.get_terminal_size().columns, 100)).print(table)


def columns(left: list[str], right: list[str]) -> str:
    """Two texts in two columns."""
    width = max((len(line) for line in left), default=0)
    return "\n".join(f"{a:<{width}} | {b}".rstrip() for a, b in zip_longest(left, right, fillvalue=""))
