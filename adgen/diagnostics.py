"""What a user sees when something is wrong: spans of source text and the one exception type.

Comes in: a code, a message, the place in the user's file, a way out.  Goes out: `AdgenError`, whose text is
the message with the source line and a caret.  Guaranteed: rendering never fails, even when the file is gone.
"""

from __future__ import annotations

import linecache
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Span:
    """A range of source text: 1-based lines, 0-based columns, as in Python's `ast`."""

    file: str
    line: int
    column: int = 0
    end_line: int = 0
    end_column: int = 0

    @property
    def text(self) -> str:
        """The first source line of the span, without its line end; empty when it cannot be read."""
        return linecache.getline(self.file, self.line).rstrip("\n")

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column + 1}"


class AdgenError(Exception):
    """Everything adgen reports to a user: what is wrong, where, and how to get past it.

    `code` is stable (`AD204`); `message` is lower case and says what; `help` says how to get past it.
    `deciders` are parameters whose value, were it known when compiling, might decide what could not be decided.
    """

    deciders: tuple[str, ...] = ()

    def __init__(self, code: str, message: str, span: Span | None = None, help: str | None = None) -> None:
        self.code = code
        self.message = message
        self.span = span
        self.help = help
        super().__init__(render(code, message, span, help))

    @property
    def lineno(self) -> int | None:
        """The 1-based line of the user's file, or None when the fault has no place."""
        return self.span.line if self.span else None


def warn(text: str) -> None:
    """A `UserWarning` at the line outside of this package that led here."""
    level, frame = 1, sys._getframe()
    own = str(Path(__file__).parent)
    while frame.f_back is not None and (frame.f_code.co_filename.startswith((own, "<adgen"))):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, stacklevel=level)


def render(code: str, message: str, span: Span | None, help: str | None) -> str:
    """The text of a diagnostic: message, place, source line with a caret, help."""
    lines = [f"error[{code}]: {message}"]
    if span is not None:
        lines += excerpt(span)
    if help:
        lines.append(f"help: {help}")
    return "\n".join(lines)


def excerpt(span: Span) -> list[str]:
    """The place and the source line with a caret."""
    gutter = " " * len(str(span.line))
    lines = [f"{gutter}--> {span}"]
    source = span.text
    if source:
        single = span.end_line in (0, span.line)
        end = span.end_column if single and span.end_column > span.column else len(source.rstrip())
        width = max(1, end - span.column)
        lines.append(f"{span.line} | {source}")
        lines.append(f"{gutter} | {' ' * span.column}{'^' * width}")
    return lines
